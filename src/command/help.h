/* help.h - what help.c and manual.c share. */
#ifndef PW_HELP_H
#define PW_HELP_H
#include "command/command.h"

/* "key=default" and what is allowed, as the columns of a row. */
void pw_help_describe(const struct pw_opt *opt, struct pw_str *key, struct pw_str *allowed);
/* The rows of both tables of a command, one after the other: i from 0; NULL behind the last. */
const struct pw_opt *pw_help_row(const struct pw_command *cmd, int i);

#endif
