/* search.h - text in the focused pane: what is drawn, or all that a pane can scroll to.
 *
 * Small letters match both cases; a capital in the text makes it exact. */
#ifndef PW_SEARCH_H
#define PW_SEARCH_H
#include "ui/ui.h"

/* Where text occurs first in s, by that rule; NULL: nowhere, or text is empty. */
const char *pw_search_in(const char *s, const char *text);

void pw_search_begin(struct pw_ui *ui, const char *text); /* "" ends it */
/* The line that is being typed: while it is `find TEXT`, TEXT is what is searched for. NULL, or another one:
 * everything is as it was before. */
void pw_search_try(struct pw_ui *ui, const char *line);
void pw_search_next(struct pw_ui *ui, int direction); /* 1: next, -1: previous */
/* Highlights the matches in the focused pane's rectangle, after the pane was drawn, and counts them. */
void pw_search_draw(struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
