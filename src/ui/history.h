/* history.h - the lines that were typed in earlier sessions, in a file that several programs can share.
 *
 * The file is $XDG_STATE_HOME/pewter/history, else ~/.local/state/pewter/history, with mode 0600. It has one
 * entry per line, the newest last. A repeated line is kept once, at its latest place. A line that begins with
 * a blank is not kept. If the file cannot be written, the history is in memory only. */
#ifndef PW_HISTORY_H
#define PW_HISTORY_H
#include "base/err.h"
#include "ui/disk.h"
#include <stdbool.h>

#define PW_HISTORY_MAX 1000

/* The history of one program. */
struct pw_history {
    int fd;               /* the file, opened for appending; -1: memory only */
    struct pw_disk *disk; /* borrowed: appends the lines; NULL: they are appended at once */
    int n;
    char **lines; /* [n] owned, oldest first; at most PW_HISTORY_MAX */
};

/* Reads the file; creates the file and its folder if they are missing. The history is usable even on failure:
 * the message says why lines will not be saved. */
enum pw_code pw_history_open(struct pw_history *h, struct pw_err *err);
void pw_history_close(struct pw_history *h);
/* Adds a copy of the line; returns true if the line was kept. */
bool pw_history_add(struct pw_history *h, const char *line);

#endif
