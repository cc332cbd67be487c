/* encoding.h - declarations shared by the pages of encoding figures, whose kinds are enum pw_encoding_view.
 * Private to encoding*.c. */
#ifndef PW_FIGURE_ENCODING_H
#define PW_FIGURE_ENCODING_H
#include "figure/figure_int.h"
#include "figure/map.h"
#include "plot/encoding.h"

/* The axes of a map of values by distance or position. */
struct pw_enc_sides {
    const char *x_name, *y_name;
    int every;   /* distances or positions per cell */
    int trained; /* last one seen in training, marked by a line after it; 0: none */
};

/* The direction of the line that ends the distances or positions seen in training; ALONG follows the
 * diagonal. */
enum pw_enc_line { PW_ENC_DOWN, PW_ENC_ACROSS, PW_ENC_ALONG };

/* ---- encoding_arms.c: the same pages for all lines of f */
bool pw_figure_has_values(const struct pw_figure *f, const struct pw_figure_line *l);
enum pw_code pw_figure_encodings_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_encodings_draw(struct pw_figure *f);

/* Returns the arm's table, or NULL if it has none that can be drawn. */
const struct pw_ev_table *pw_figure_table(const struct pw_figure *f);
/* Appends the encoding, its step and the range seen in training to the caption; marked: the drawing has a
 * line at that range's end. */
void pw_figure_caption_table(struct pw_figure *f, const struct pw_ev_table *t, const char *what, bool marked);
/* Draws a map into box with numbers at its left and below. */
void pw_figure_table_map(struct pw_figure *f, const struct pw_map *m, struct pw_box b,
                         const struct pw_enc_sides *sides, enum pw_enc_line line);

/* Draws values [heads,length] by distance as one strip per head, with a colour bar named `what`. Returns the
 * rest of the box. */
struct pw_box pw_figure_strips(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                               const char *what);
double pw_figure_strips_height(const struct pw_ev_table *t);
/* Draws one plot per head, all on one scale: values in the arm's colour, and others, if not NULL, in pen. */
void pw_figure_apart(struct pw_figure *f, const struct pw_ev_table *t, const float *values,
                     const float *others, struct pw_pen pen, struct pw_box b);
double pw_figure_apart_height(const struct pw_ev_table *t, double each);

/* encoding_difference.c: the arm's encoding minus that of the reference arm */
enum pw_code pw_figure_difference_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_difference_draw(struct pw_figure *f);

/* encoding_queries.c: a bias that depends on both positions; per head, the curves of some queries */
enum pw_code pw_figure_queries_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_queries_draw(struct pw_figure *f);

/* encoding_params.c: the learned parameters of a formula, each with its course over training and its entries
 */
enum pw_code pw_figure_params_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_params_draw(struct pw_figure *f);

/* encoding_rows.c: pages with maps: buckets of query and key, rotations, added rows and their cosines */
enum pw_code pw_figure_rows_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_rows_draw(struct pw_figure *f);
enum pw_code pw_figure_buckets_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_buckets_draw(struct pw_figure *f);

#endif
