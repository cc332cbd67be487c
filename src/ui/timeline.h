/* timeline.h - the row of time: what happened to the current arm by step, and where the time cursor stands.
 * Of a recording alone it is everything that happened, by event.
 *
 * Live is the right end. Moving the cursor changes what is looked at, never the laboratory. */
#ifndef PW_TIMELINE_H
#define PW_TIMELINE_H
#include "ui/ui.h"

void pw_timeline_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);
/* The last step of the arm that is the current one at the right end, 0 without one; or the last event. */
int64_t pw_timeline_last(const struct pw_ui *ui);
/* Where on that axis is what is looked at. */
int64_t pw_timeline_now(const struct pw_ui *ui);
/* The place on it under a column of r, or of a tick drawn there; beyond the last it is live: -1. */
int64_t pw_timeline_at(const struct pw_ui *ui, struct pw_rect r, int x);
/* Goes there. */
void pw_timeline_go(struct pw_ui *ui, int64_t place);
/* Moves to the next tick or kept attention (direction 1) or the one before (-1): past the newest it is live,
 * before the oldest the beginning. */
void pw_timeline_move(struct pw_ui *ui, int direction);
/* The newest mark before what is looked at whose text has `text` in it, round the end; NULL: there is none.
 */
const struct pw_tick *pw_timeline_mark(const struct pw_ui *ui, const char *text);

#endif
