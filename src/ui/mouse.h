/* mouse.h - what a button and the wheel mean: the same things that keys do.
 *
 * A click focuses; on a border or on the timeline it begins a drag, inside a pane it is the pane's. Only the
 * command that a click stands for leaves this file, never the click. */
#ifndef PW_MOUSE_H
#define PW_MOUSE_H
#include "ui/keys.h"

/* As pw_ui_key, for PW_KEY_MOUSE. Returns true while a drag goes on, whose every step is no change to undo.
 */
bool pw_ui_mouse(struct pw_ui *ui, const struct pw_input *in, struct pw_str *line);
/* The pointer has moved with no button held: what it is over is read out, as a click there would, but the
 * focus stays and no command comes of it. Returns whether anything has changed. */
bool pw_ui_hover(struct pw_ui *ui, const struct pw_input *in);

#endif
