/* commands.h - one command a file; their context is a struct pw_app. */
#ifndef PW_UI_COMMANDS_H
#define PW_UI_COMMANDS_H
#include "command/command.h"

extern const struct pw_command pw_ui_cmd_focus, pw_ui_cmd_present, pw_ui_cmd_quit, pw_ui_cmd_screenshot,
    pw_ui_cmd_set, pw_ui_cmd_show, pw_ui_cmd_wait, pw_ui_cmd_zoom;

/* All of them; NULL-terminated. */
extern const struct pw_command *const pw_ui_commands[];

#endif
