/* entry.h - how one gets into a session by its name, and back. */
#ifndef PW_ENTRY_H
#define PW_ENTRY_H
#include "command/command.h"
#include "sessions/event.h"
#include <stdio.h>

/* Fails where `pewter NAME` must not make a session: NAME is a script, a command, or nearly a verb, so that
 * something else was meant. */
enum pw_code pw_entry_check(const struct pw_commands *all, const char *name, struct pw_err *err);
/* Appends the first message in a new session. */
void pw_entry_greet(struct pw_str *out, const char *session);
/* Prints a line that says how to come back to a session, if its folder is there: one that nobody has used was
 * removed. Call it once the laboratory has ended. */
void pw_entry_goodbye(FILE *words, const struct pw_ev_session *s);

#endif
