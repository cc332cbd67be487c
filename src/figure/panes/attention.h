/* attention.h - what the pages of the figures of attention share. For attention*.c alone. */
#ifndef PW_FIGURE_ATTENTION_H
#define PW_FIGURE_ATTENTION_H
#include "figure/figure_int.h"
#include "figure/map.h"
#include "plot/attention.h"

/* Kinds of a page: whose attention, and of a file, in which nobody looks at one head, what of it. */
enum { PW_ATT_ARM, PW_ATT_FILE, PW_ATT_FILE_SCORES };

const struct pw_ev_attention *pw_figure_attention_of(const struct pw_figure *f);
/* PW_EUSER: there is none, or not that head. */
enum pw_code pw_figure_attention_check(struct pw_figure *f, struct pw_err *err);
/* Whose, when and on what, in the caption; gold: it is marked. */
void pw_figure_attention_say(struct pw_figure *f, bool gold);
/* Where a correct head would look, in a map that takes box: diamonds of at most so many points. */
void pw_figure_attention_gold(struct pw_figure *f, const struct pw_ev_attention *a, struct pw_box b,
                              double most);

/* One head's map. */
struct pw_figure_head {
    const struct pw_ev_attention *a;
    int layer, head, view;
    const uint16_t *map; /* NULL: probabilities */
};
struct pw_map pw_figure_head_map(const struct pw_figure *f, const struct pw_figure_head *h);
/* The side of a map that takes width with the labels at its left, and theirs. */
double pw_figure_head_side(const struct pw_ev_attention *a, double width, double *label);
/* Above it: a line where every token fits over its column, else as much as the longest takes upright. */
double pw_figure_head_above(const struct pw_ev_attention *a, double side, double label);
/* With frame, labels, the answer's beginning and gold pointers. */
void pw_figure_head_draw(struct pw_figure *f, const struct pw_figure_head *h, const struct pw_map *m,
                         struct pw_box b);

/* ---- attention_arms.c: of f's lines */
extern const struct pw_figure_several pw_figure_maps;
enum pw_code pw_figure_maps_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_maps_draw(struct pw_figure *f);

/* ---- attention_heads.c */
enum pw_code pw_figure_heads_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_heads_draw(struct pw_figure *f);

#endif
