/* entry.h - messages about a session's name, when the program starts and ends. Main thread. */
#ifndef PW_ENTRY_H
#define PW_ENTRY_H
#include "command/command.h"
#include "sessions/event.h"
#include <stdio.h>

/* Checks the NAME of `pewter NAME` before a session of this name is created. all: the known commands. Fails
 * with PW_EUSER if NAME is a script, a command, or nearly a verb of the command line (replay, session,
 * sessions, devices, doctor), because the user probably meant that. */
enum pw_code pw_entry_check(const struct pw_commands *all, const char *name, struct pw_err *err);
/* Appends the first message of a new session. */
void pw_entry_greet(struct pw_str *out, const char *session);
/* Prints to `words` (the stream for messages) how to continue a session. Prints nothing if its folder is
 * gone, because an unused session is removed. Call it after pw_lab_destroy. */
void pw_entry_goodbye(FILE *words, const struct pw_ev_session *s);

#endif
