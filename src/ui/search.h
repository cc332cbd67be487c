/* search.h - searches text in the focused pane: in the drawn cells, or in all lines that the pane can scroll
 * to.
 *
 * A text in lower case matches both cases; a capital in the text makes the match exact. */
#ifndef PW_SEARCH_H
#define PW_SEARCH_H
#include "ui/ui.h"

/* Returns the first match of text in s by that rule; NULL if there is none or text is empty. */
const char *pw_search_in(const char *s, const char *text);

void pw_search_begin(struct pw_ui *ui, const char *text); /* "" ends the search */
/* Previews the search for the line that the user is typing, if it is `find TEXT`. NULL or another line
 * restores the state before the preview. */
void pw_search_try(struct pw_ui *ui, const char *line);
void pw_search_next(struct pw_ui *ui, int direction); /* 1: next, -1: previous */
/* Counts and reports the matches in the drawn cells if the search changed. r: the focused pane's rectangle.
 */
void pw_search_settle(struct pw_ui *ui, struct pw_rect r);
/* Highlights the matches in that rectangle after the pane was drawn. */
void pw_search_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
