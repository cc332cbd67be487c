/* encoding.h - the pages of the figures of an encoding. For encoding*.c alone. */
#ifndef PW_FIGURE_ENCODING_H
#define PW_FIGURE_ENCODING_H
#include "figure/figure_int.h"
#include "figure/map.h"
#include "plot/encoding.h"

/* Where numbers stand beside a map of values by distance or position. */
struct pw_enc_sides {
    const char *x_name, *y_name;
    int every;   /* distances or positions from cell to cell */
    int trained; /* the last one that training met: a line behind it; 0: none */
};

/* Where distances, or positions, end that training met: a line down, across, or along the diagonal. */
enum pw_enc_line { PW_ENC_DOWN, PW_ENC_ACROSS, PW_ENC_ALONG };

/* Kinds of the pages that draw values by distance. */
enum { PW_ENC_BIAS, PW_ENC_SLOPES, PW_ENC_KERNEL, PW_ENC_DECAY };

/* ---- encoding_arms.c: these pages of f's lines */
bool pw_figure_has_values(const struct pw_figure *f, const struct pw_figure_line *l);
enum pw_code pw_figure_encodings_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_encodings_draw(struct pw_figure *f);

/* The arm's table; NULL where none is there that could be drawn. */
const struct pw_ev_table *pw_figure_table(const struct pw_figure *f);
/* What the encoding is, at which step, and what training met; marked: there is a line for it. */
void pw_figure_say_table(struct pw_figure *f, const struct pw_ev_table *t, const char *what, bool marked);
/* A map in box with numbers at its left and below. */
void pw_figure_table_map(struct pw_figure *f, const struct pw_map *m, struct pw_box b,
                         const struct pw_enc_sides *sides, enum pw_enc_line line);

/* Values [heads,length] by distance: a strip a head with the bar of what they are; returns the rest of the
 * box. */
struct pw_box pw_figure_strips(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                               const char *what);
double pw_figure_strips_height(const struct pw_ev_table *t);
/* Each head in a plot of its own, all of one scale: values in the arm's colour and, by pen, others, which may
 * be NULL. */
void pw_figure_apart(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                     const float *others, struct pw_pen pen, struct pw_box b);
double pw_figure_apart_height(const struct pw_ev_table *t, double each);

/* encoding_difference.c: the arm's encoding less that of the arm of reference */
enum pw_code pw_figure_difference_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_difference_draw(struct pw_figure *f);

/* encoding_queries.c: a bias by both positions, of each head the curves of some queries */
enum pw_code pw_figure_queries_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_queries_draw(struct pw_figure *f);

/* encoding_rows.c: kinds of a page of maps: buckets of query and key, turns, added rows, their cosines */
enum { PW_ENC_MATRIX, PW_ENC_TURNS, PW_ENC_ROWS, PW_ENC_COSINE, PW_ENC_KEYS };
enum pw_code pw_figure_rows_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_rows_draw(struct pw_figure *f);
enum pw_code pw_figure_buckets_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_buckets_draw(struct pw_figure *f);

#endif
