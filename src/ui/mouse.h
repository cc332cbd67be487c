/* mouse.h - interprets the mouse button and the wheel. Both can only do what keys can do.
 *
 * A click focuses a pane. On a border or on the timeline it begins a drag; inside a pane the pane handles it.
 * The output is the command of a click, never the click. */
#ifndef PW_MOUSE_H
#define PW_MOUSE_H
#include "ui/keys.h"

/* Like pw_ui_key, for PW_KEY_MOUSE. Returns true during a drag: the single moves of a drag are not changes to
 * undo. */
bool pw_ui_mouse(struct pw_ui *ui, const struct pw_input *in, struct pw_str *line);
/* Handles a move of the pointer with no button held: the pane reads out the place under the pointer like
 * after a click. The focus stays, and no command results. Returns true if anything changed. */
bool pw_ui_hover(struct pw_ui *ui, const struct pw_input *in);

#endif
