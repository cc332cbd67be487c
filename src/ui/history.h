/* history.h - the lines typed in earlier sessions, in a file that several programs may share.
 *
 * $XDG_STATE_HOME/pewter/history, else ~/.local/state/pewter/history; mode 0600, one line each, the newest
 * last. A line occurs once, at its latest place. A line that begins with a blank is not kept. Where the file
 * can't be written the history lives in memory only. */
#ifndef PW_HISTORY_H
#define PW_HISTORY_H
#include "base/err.h"
#include <stdbool.h>

#define PW_HISTORY_MAX 1000

struct pw_history {
    int fd; /* the file, for appending; -1: memory only */
    int n;
    char **lines; /* [n] oldest first; at most PW_HISTORY_MAX */
};

/* Reads the file, making it and its folder where they are missing. The history can be used even if this
 * fails: the message says why nothing will be kept. */
enum pw_code pw_history_open(struct pw_history *h, struct pw_err *err);
void pw_history_close(struct pw_history *h);
/* Takes a copy; returns whether the line was kept. */
bool pw_history_add(struct pw_history *h, const char *line);

#endif
