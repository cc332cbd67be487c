/* batch.h - headless: a script runs to its end, results on standard output, progress on standard error. */
#ifndef PW_BATCH_H
#define PW_BATCH_H
#include <stdio.h>

#include "lab/lab.h"
#include "sessions/player.h"

/* Runs first, then script, which stands in file (or NULL), and returns when nothing is left to do: 0, or 1 if
 * a command failed (nothing after it runs). Draws a progress bar on standard error if that is a terminal. The
 * lab's on_event prints (report.h); what commands of the workbench answer goes to words. *signal: the one of
 * SIGTERM, SIGHUP and SIGINT that ended it early, so that the caller lets go of the lab in order; 0: none. */
int pw_batch_run(struct pw_lab *lab, const struct pw_commands *all, const char *first, const char *file,
                 const char *script, FILE *words, int *signal);
/* Blocks those, for it to read. Call it before any thread is made: threads inherit it. */
void pw_batch_block_signals(void);
/* The same with a recording, which is taken, in place of a laboratory. */
int pw_batch_replay(struct pw_player *recording, const struct pw_commands *all, const char *script,
                    FILE *words);

#endif
