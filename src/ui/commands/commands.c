/* commands.c - the table of the workbench's commands. */
#include "ui/commands/commands.h"

/* clang-format off */
const struct pw_command *const pw_ui_commands[] = {
    &pw_ui_cmd_focus,
    &pw_ui_cmd_zoom,
    &pw_ui_cmd_show,
    &pw_ui_cmd_press,
    &pw_ui_cmd_goto,
    &pw_ui_cmd_play,
    &pw_ui_cmd_find,
    &pw_ui_cmd_filter,
    &pw_ui_cmd_copy,
    &pw_ui_cmd_screenshot,
    &pw_ui_cmd_film,
    &pw_ui_cmd_export,
    &pw_ui_cmd_source,
    &pw_ui_cmd_reproduce,
    &pw_ui_cmd_study,
    &pw_ui_cmd_present,
    &pw_ui_cmd_wait,
    &pw_ui_cmd_set,
    &pw_ui_cmd_bind,
    &pw_ui_cmd_unbind,
    &pw_ui_cmd_undo,
    &pw_ui_cmd_redo,
    &pw_ui_cmd_config,
    &pw_ui_cmd_quit,
    NULL,
};
/* clang-format on */
