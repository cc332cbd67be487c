/* status.h - the status line: what is trained and looked at, how far it is, and whether it is on record. */
#ifndef PW_STATUS_H
#define PW_STATUS_H
#include "ui/ui.h"

void pw_status_draw(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r);

#endif
