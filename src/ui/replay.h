/* replay.h - a recording without a screen. */
#ifndef PW_REPLAY_H
#define PW_REPLAY_H
#include "base/text.h"
#include "sessions/record.h"
#include <stdbool.h>
#include <stdio.h>

/* Prints all that is recorded, in its order: every event as one JSON object a line, or as a log: commands,
 * remarks and errors with their time of day, answers and asked evaluations as they were printed then.
 * *missing gets what had to be left out, in one line; nothing where that is nothing. */
enum pw_code pw_replay_print(FILE *out, struct pw_record *r, bool json, struct pw_str *missing,
                             struct pw_err *err);

#endif
