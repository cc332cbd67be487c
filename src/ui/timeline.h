/* timeline.h - the row of time: what happened to the current arm by step, and where the time cursor stands.
 *
 * Live is the right end. Moving the cursor changes what is looked at (ui->time), never the laboratory. */
#ifndef PW_TIMELINE_H
#define PW_TIMELINE_H
#include "ui/ui.h"

void pw_timeline_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);
/* The last step of the current arm; 0 without one. */
int64_t pw_timeline_last(const struct pw_ui *ui);
/* What is looked at: ui->time, or the last step where that is live or has not been reached. */
int64_t pw_timeline_now(const struct pw_ui *ui);
/* The step under a column of r, or of a tick drawn there; beyond the last step it is live: -1. */
int64_t pw_timeline_step_at(const struct pw_ui *ui, struct pw_rect r, int x);
/* Moves to the current arm's next tick or kept attention (direction 1) or the one before (-1): past the
 * newest it is live, before the oldest step 0. */
void pw_timeline_move(struct pw_ui *ui, int direction);
/* The newest mark before what is looked at whose text has `text` in it, round the end; NULL: there is none.
 */
const struct pw_tick *pw_timeline_mark(const struct pw_ui *ui, const char *text);

#endif
