/* manual.h - the manual page. */
#ifndef PW_MANUAL_H
#define PW_MANUAL_H
#include "command/command.h"

/* Prints it for troff (man macros), on standard output. */
void pw_manual_print(const struct pw_commands *all);

#endif
