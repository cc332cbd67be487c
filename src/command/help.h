/* help.h - helpers shared by help.c (the command `help`), manual.c (the manual page)
 * and reference.c (the reference pages). */
#ifndef PW_HELP_H
#define PW_HELP_H
#include "command/command.h"

/* Append the columns of an option row: "key=default", and the allowed values. */
void pw_help_describe(const struct pw_opt *opt, struct pw_str *key, struct pw_str *allowed);
/* Return row i, from 0, of both option tables of a command taken together; NULL past the last. */
const struct pw_opt *pw_help_row(const struct pw_command *cmd, int i);

#endif
