/* lengths.h - declarations shared by the pages of length generalisation figures. Private to lengths*.c. */
#ifndef PW_FIGURE_LENGTHS_H
#define PW_FIGURE_LENGTHS_H
#include "figure/figure_int.h"
#include "plot/lengths.h"

/* The members prepare and draw of the pages (struct pw_figure_page): pairs, first errors, paired tests,
 * failing examples. */
enum pw_code pw_figure_grid_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_grid_draw(struct pw_figure *f);
enum pw_code pw_figure_errors_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_errors_draw(struct pw_figure *f);
enum pw_code pw_figure_tests_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_tests_draw(struct pw_figure *f);
enum pw_code pw_figure_failing_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_failing_draw(struct pw_figure *f);

/* Running text: by context length, and with kind 1 by position. */
enum pw_code pw_figure_loss_prepare(struct pw_figure *f, struct pw_err *err);
void pw_figure_loss_draw(struct pw_figure *f);
bool pw_figure_has_loss(const struct pw_figure *f, const struct pw_figure_line *l);

/* About the lines of f: test a line for pairs; fail with PW_EUSER if the lines have different tasks. */
bool pw_figure_has_pairs(const struct pw_figure *f, const struct pw_figure_line *l);
enum pw_code pw_figure_one_task(const struct pw_figure *f, struct pw_err *err);

/* Appends " sort, trained on lengths 2 to 8" and the number of samples per length to the caption. */
void pw_figure_caption_task(struct pw_figure *f, const struct pw_lengths *v);

#endif
