/* replay.h - a recording without a screen. */
#ifndef PW_REPLAY_H
#define PW_REPLAY_H
#include "base/err.h"
#include <stdbool.h>
#include <stdio.h>

/* Prints what was recorded in a session's folder, in its order: every event as one JSON object a line, or as
 * a log: commands, remarks and errors with their time of day, answers and asked evaluations as they were
 * printed then. */
enum pw_code pw_replay_print(FILE *out, const char *folder, bool json, struct pw_err *err);

#endif
