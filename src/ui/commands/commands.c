/* commands.c - the commands that belong to the workbench. */
#include "ui/commands/commands.h"

const struct pw_command *const pw_ui_commands[] = {
    &pw_ui_cmd_focus,      &pw_ui_cmd_present, &pw_ui_cmd_quit,
    &pw_ui_cmd_screenshot, &pw_ui_cmd_set,     &pw_ui_cmd_show,
    &pw_ui_cmd_wait,       &pw_ui_cmd_zoom,    NULL,
};
