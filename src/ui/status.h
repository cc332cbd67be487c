/* status.h - the status line: the tasks, the arms, their progress, and whether the session is being recorded.
 */
#ifndef PW_STATUS_H
#define PW_STATUS_H
#include "ui/ui.h"

void pw_status_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
