/* ref_figure.h - reads figures back, and checks the properties that every figure must have. */
#ifndef REF_FIGURE_H
#define REF_FIGURE_H
#include "figure/figure.h"

/* The default options for a pane and its page; page "": the first page that has content. */
struct pw_figure_options figure_options(const char *pane, const char *page);
/* Draws the figure as SVG. A failure fails the test. */
void figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Checks a figure: well-formed XML, small, the same bytes twice, all text inside the picture. It must have
 * title, description and the commands. If the picture is too narrow it must say so, and be right at the width
 * that it asks for. */
void figure_check(const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Parses the SVG: tags nest, attributes are quoted, entities are known. Returns the number of <text>
 * elements. */
int figure_read(const struct pw_str *doc);
/* Draws a figure that must fail with this one line, and draw nothing. */
void figure_fails(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *message);
/* screen_race_of, with the command that makes the race. */
struct pw_snapshot *figure_race(int replicas);

#endif
