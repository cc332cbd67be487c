/* timeline.h - the row of time: the events of the current arm by step, and the time cursor. In a replay
 * without a lab the row shows all events by their number.
 *
 * The right end is the live present. Moving the cursor changes the view, never the lab. */
#ifndef PW_TIMELINE_H
#define PW_TIMELINE_H
#include "ui/ui.h"

void pw_timeline_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);
/* The right end of the axis: the last step of the arm that is current in the present (0 without one), or the
 * last event. */
int64_t pw_timeline_last(const struct pw_ui *ui);
/* The position of the current view on that axis. */
int64_t pw_timeline_now(const struct pw_ui *ui);
/* Returns the position under a column of r, or of a tick drawn there; -1 (live) beyond the last one. */
int64_t pw_timeline_at(const struct pw_ui *ui, struct pw_rect r, int x);
/* Shows the moment at a position. */
void pw_timeline_go(struct pw_ui *ui, int64_t place);
/* Moves to the next tick or kept attention map (direction 1) or the previous one (-1). Past the newest is
 * live; before the oldest is the beginning. */
void pw_timeline_move(struct pw_ui *ui, int direction);
/* Returns the newest mark before the current view whose text contains `text`; the search wraps around. NULL:
 * there is none. */
const struct pw_tick *pw_timeline_mark(const struct pw_ui *ui, const char *text);

#endif
