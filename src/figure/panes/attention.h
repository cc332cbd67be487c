/* attention.h - declarations shared by the pages of attention figures. Private to attention*.c. */
#ifndef PW_FIGURE_ATTENTION_H
#define PW_FIGURE_ATTENTION_H
#include "figure/figure_int.h"
#include "figure/map.h"
#include "plot/attention.h"

/* Kinds of pages: attention of the arm, or of a file. A file has no selected head or view, so its
 * probabilities and scores are separate pages. */
enum { PW_ATT_ARM, PW_ATT_FILE, PW_ATT_FILE_SCORES };

/* Returns the attention that the page draws: the arm's, or that of a file. */
const struct pw_ev_attention *pw_figure_attention_of(const struct pw_figure *f);
/* Fails with PW_EUSER if there is no attention, or the head does not exist. */
enum pw_code pw_figure_attention_check(struct pw_figure *f, struct pw_err *err);
/* Appends source, step and text of the attention to the caption; with gold, also explains the gold pointers.
 */
void pw_figure_caption_attention(struct pw_figure *f, bool gold);
/* Marks gold pointers on the map in b with diamonds of at most `most` points. */
void pw_figure_attention_gold(struct pw_figure *f, const struct pw_ev_attention *a, struct pw_box b,
                              double most);

/* One head's map. */
struct pw_figure_head {
    const struct pw_ev_attention *a;
    int layer, head, view;
    const uint16_t *map; /* NULL: probabilities */
};
struct pw_map pw_figure_head_map(const struct pw_figure *f, const struct pw_figure_head *h);
/* Returns the side of a map that fits into width together with the labels at its left; *label receives their
 * width. */
double pw_figure_head_side(const struct pw_ev_attention *a, double width, double *label);
/* Returns the height of the labels above the map: one line if every token fits over its column, otherwise
 * that of the longest token written upwards. */
double pw_figure_head_above(const struct pw_ev_attention *a, double side, double label);
/* Draws the map with frame, labels, the start of the answer and gold pointers. */
void pw_figure_head_draw(struct pw_figure *f, const struct pw_figure_head *h, const struct pw_map *m,
                         struct pw_box b);

/* ---- attention_arms.c: the same head of every line of f */
extern const struct pw_figure_several pw_figure_maps;
enum pw_code pw_figure_maps_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_maps_draw(struct pw_figure *f);

/* ---- attention_heads.c */
enum pw_code pw_figure_heads_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_heads_draw(struct pw_figure *f);

#endif
