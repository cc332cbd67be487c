/* plain.h - pewter without a screen: lines in, lines out, and no line is ever repainted.
 *
 * Plain mode is for screen readers, for TERM=dumb and for pipes. Typed lines take effect at once, as at the
 * prompt. Lines from a pipe or a file are a script, and the program ends after the last one. The lab's
 * on_event prints events (report.h). */
#ifndef PW_PLAIN_H
#define PW_PLAIN_H
#include "command/command.h"
#include "lab/lab.h"
#include <stdio.h>

/* Runs script (or NULL), then the input, until `quit` or the end of input. Returns the exit status: 1 if a
 * script's line failed or a signal ended the run, else 0. *signal is that signal, or 0. Call
 * pw_app_block_signals before the lab is created. */
int pw_plain_run(struct pw_lab *lab, const struct pw_commands *all, const char *script, FILE *words,
                 int *signal);

#endif
