/* ref_figure.h - figures read back: what every one of them has to be. */
#ifndef REF_FIGURE_H
#define REF_FIGURE_H
#include "figure/figure.h"

/* The defaults, of a pane and a page of it; "": the first that there is something for. */
struct pw_figure_options figure_options(const char *pane, const char *page);
/* The picture's text; fails where there is none. */
void figure_svg(struct pw_str *out, const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Sound XML, small, the same bytes twice, all text inside of the picture, with title, description and the
 * commands. Where it is too narrow it says so, and is right at the width that it asks for. */
void figure_check(const struct pw_snapshot *s, const struct pw_figure_options *o);
/* Of a picture's text: tags nest, attributes are quoted, entities are known. Returns how many <text> there
 * are. */
int figure_read(const struct pw_str *doc);
/* It fails with this in its one line, and draws nothing. */
void figure_fails(const struct pw_snapshot *s, const struct pw_figure_options *o, const char *message);
/* screen_race_of after the command that made it. */
struct pw_snapshot *figure_race(int replicates);

#endif
