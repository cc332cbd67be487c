/* plain.h - pewter without a screen: lines in, lines out, nothing is ever repainted.
 *
 * For screen readers, for TERM=dumb, and for pipes. Typed lines take effect at once as at the prompt; lines
 * from a pipe or a file are a script, and the program ends when it is done. The lab's on_event prints
 * (report.h). */
#ifndef PW_PLAIN_H
#define PW_PLAIN_H
#include "command/command.h"
#include "lab/lab.h"
#include <stdio.h>

/* Runs until `quit` or the end of input; script (or NULL) comes first. Returns the exit status: 1 if a line
 * of a script failed or a signal ended it, which is *signal then, else 0. pw_app_block_signals must have been
 * called before the lab was made. */
int pw_plain_run(struct pw_lab *lab, const struct pw_commands *all, const char *script, FILE *words,
                 int *signal);

#endif
