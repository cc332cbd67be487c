/* commands.h - the table of all commands that the lab runs, one file each, in the order in which help lists
 * them. */
#ifndef PW_COMMANDS_H
#define PW_COMMANDS_H
#include "command/command.h"

extern const struct pw_command *const pw_lab_commands[]; /* NULL-terminated */

#endif
