/* batch.h - headless mode: runs a script to its end. Results go to standard output, progress to standard
 * error. */
#ifndef PW_BATCH_H
#define PW_BATCH_H
#include <stdio.h>

#include "lab/lab.h"
#include "sessions/player.h"

/* Runs `first`, then `script`, which was read from `file` (or NULL), and returns when no command is left.
 * Returns 0, or 1 if a command failed; later commands do not run. Draws a progress bar on standard error if
 * that is a terminal.
 *
 * The lab's on_event prints events (report.h); answers of workbench commands go to words. *signal is the
 * signal (SIGTERM, SIGHUP or SIGINT) that ended the run early, so that the caller can stop the lab in order;
 * else 0. */
int pw_batch_run(struct pw_lab *lab, const struct pw_commands *all, const char *first, const char *file,
                 const char *script, FILE *words, int *signal);
/* Blocks these signals so that pw_batch_run can read them. Call it before any thread is created, because
 * threads inherit the mask. */
void pw_batch_block_signals(void);
/* Like pw_batch_run, but for a recorded session without a lab. Takes ownership of the player. */
int pw_batch_replay(struct pw_player *recording, const struct pw_commands *all, const char *script,
                    FILE *words);

#endif
