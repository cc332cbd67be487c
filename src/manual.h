/* manual.h - the manual pages. */
#ifndef PW_MANUAL_H
#define PW_MANUAL_H
#include "command/command.h"

/* Prints a manual page for troff (man macros) to standard output. page NULL: pewter(1), from the usage text.
 * "commands": pewter-commands(7), from the commands. "formulas": pewter-formulas(7), the language of `pe
 * expr`. */
void pw_manual_print(const struct pw_commands *all, const char *page);
/* Appends the sections of pewter-formulas(7): manual_formulas.c. */
void pw_manual_formulas(struct pw_str *out);

#endif
