/* lengths.h - the pages of the figures of length generalisation. For lengths*.c alone. */
#ifndef PW_FIGURE_LENGTHS_H
#define PW_FIGURE_LENGTHS_H
#include "figure/figure_int.h"
#include "plot/lengths.h"

enum pw_code pw_figure_grid_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_grid_draw(struct pw_figure *f);
enum pw_code pw_figure_errors_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_errors_draw(struct pw_figure *f);
enum pw_code pw_figure_tests_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_tests_draw(struct pw_figure *f);
enum pw_code pw_figure_failing_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_failing_draw(struct pw_figure *f);

/* Of all lines: the lengths that they have, was one evaluated, and have all the same task? */
void pw_figure_lengths_of(const struct pw_figure *f, struct pw_lengths *v);
bool pw_figure_evaluated(const struct pw_figure *f, const struct pw_figure_line *l);
bool pw_figure_has_pairs(const struct pw_figure *f, const struct pw_figure_line *l);
enum pw_code pw_figure_one_task(const struct pw_figure *f, struct pw_err *err);

/* " sort, trained on lengths 2 to 8", and how many samples a length were drawn. */
void pw_figure_say_task(struct pw_figure *f, const struct pw_lengths *v);

#endif
