/* manual.h - the manual page. */
#ifndef PW_MANUAL_H
#define PW_MANUAL_H
#include "command/command.h"

/* Prints the manual page for troff (man macros) to standard output, from the usage text and the commands. */
void pw_manual_print(const struct pw_commands *all);

#endif
