/* entry.h - messages about a session's name: on entry, in a new session, on exit. Main thread. */
#ifndef PW_ENTRY_H
#define PW_ENTRY_H
#include "command/command.h"
#include "sessions/event.h"
#include <stdio.h>

/* Checks the NAME of `pewter NAME` before a new session is made. Fails if NAME is a script, a command or
 * close to a verb: then the user meant something else. */
enum pw_code pw_entry_check(const struct pw_commands *all, const char *name, struct pw_err *err);
/* Appends the first message of a new session. */
void pw_entry_greet(struct pw_str *out, const char *session);
/* Prints how to return to a session, if its folder still exists (an unused session is removed). Call it after
 * pw_lab_destroy. */
void pw_entry_goodbye(FILE *words, const struct pw_ev_session *s);

#endif
