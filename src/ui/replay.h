/* replay.h - a recording without a screen. */
#ifndef PW_REPLAY_H
#define PW_REPLAY_H
#include "base/text.h"
#include "command/command.h"
#include "sessions/record.h"
#include <stdbool.h>
#include <stdio.h>

/* Goes through all that is recorded, as pw_record_events does. *missing gets what had to be left out, in one
 * line; nothing where that is nothing. */
enum pw_code pw_replay_events(struct pw_record *r, bool (*each)(void *arg, struct pw_event *e), void *arg,
                              struct pw_str *missing, struct pw_err *err);

/* Prints it, in its order: every event as one JSON object a line, or as a log: commands,
 * remarks and errors with their time of day, answers and asked evaluations as they were printed then. */
enum pw_code pw_replay_print(FILE *out, struct pw_record *r, bool json, struct pw_str *missing,
                             struct pw_err *err);

/* Prints it as a script that does it again, to the same bits. all: the commands that there are. */
enum pw_code pw_replay_script(FILE *out, struct pw_record *r, const struct pw_commands *all,
                              struct pw_str *missing, struct pw_err *err);

#endif
