/* commands.h - the commands of the workbench, one per file. Their context is a struct pw_app. */
#ifndef PW_UI_COMMANDS_H
#define PW_UI_COMMANDS_H
#include "command/command.h"

/* clang-format off */
extern const struct pw_command pw_ui_cmd_bind;
extern const struct pw_command pw_ui_cmd_config;
extern const struct pw_command pw_ui_cmd_copy;
extern const struct pw_command pw_ui_cmd_export;
extern const struct pw_command pw_ui_cmd_film;
extern const struct pw_command pw_ui_cmd_filter;
extern const struct pw_command pw_ui_cmd_find;
extern const struct pw_command pw_ui_cmd_focus;
extern const struct pw_command pw_ui_cmd_goto;
extern const struct pw_command pw_ui_cmd_play;
extern const struct pw_command pw_ui_cmd_present;
extern const struct pw_command pw_ui_cmd_press;
extern const struct pw_command pw_ui_cmd_quit;
extern const struct pw_command pw_ui_cmd_redo;
extern const struct pw_command pw_ui_cmd_reproduce;
extern const struct pw_command pw_ui_cmd_study;
extern const struct pw_command pw_ui_cmd_screenshot;
extern const struct pw_command pw_ui_cmd_set;
extern const struct pw_command pw_ui_cmd_show;
extern const struct pw_command pw_ui_cmd_source;
extern const struct pw_command pw_ui_cmd_unbind;
extern const struct pw_command pw_ui_cmd_undo;
extern const struct pw_command pw_ui_cmd_wait;
extern const struct pw_command pw_ui_cmd_zoom;
/* clang-format on */

/* All of these, NULL-terminated. */
extern const struct pw_command *const pw_ui_commands[];

#endif
