/* replay.h - prints a session without a screen. */
#ifndef PW_REPLAY_H
#define PW_REPLAY_H
#include "base/text.h"
#include "command/command.h"
#include "sessions/record.h"
#include <stdbool.h>
#include <stdio.h>

/* Calls each for every event, like pw_record_events. Sets *missing to one line about the parts that were left
 * out; empty if there are none. */
enum pw_code pw_replay_events(struct pw_record *r, bool (*each)(void *arg, struct pw_event *e), void *arg,
                              struct pw_str *missing, struct pw_err *err);

/* Prints a session in its order. json: every event as one JSON object per line. Else a log: commands, remarks
 * and errors with their time of day, answers and requested evaluations as they were printed originally. */
enum pw_code pw_replay_print(FILE *out, struct pw_record *r, bool json, struct pw_str *missing,
                             struct pw_err *err);

/* Prints a session as a script that re-runs it to the same bits. all: the known commands. */
enum pw_code pw_replay_script(FILE *out, struct pw_record *r, const struct pw_commands *all,
                              struct pw_str *missing, struct pw_err *err);

#endif
