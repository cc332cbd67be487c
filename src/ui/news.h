/* news.h - shows new log lines while the Log pane is hidden or too small. One line appears below the panes; a
 * long answer to a typed command opens as a page over them. */
#ifndef PW_NEWS_H
#define PW_NEWS_H
#include "ui/ui.h"

/* The log lines that were read, and the answer that is being collected. */
struct pw_news {
    int64_t began, before; /* identify the session: members of pw_snapshot */
    int64_t n_log;         /* log lines read so far */
    int n_findings;        /* findings at that time */
    char typed[PW_COMMAND];
    int64_t first; /* first log line of the answer */
    int lines;     /* lines of the answer so far */
    uint64_t seq;  /* of the answer's last event, or of the command; 0: no answer continues */
    bool shown;    /* the answer is on the page, or was */
    bool refused;  /* the workbench wrote the message; see pw_news_read */
};

/* Notes a line that the user typed: its commands possibly give long answers. */
void pw_news_typed(struct pw_news *n, const char *line);
/* Shows the new lines of the log as ui's message or on its page. A message of the workbench itself (refused)
 * is not in the log. Only an error replaces it until the user's next line, because notes of earlier commands
 * arrive a frame later. */
void pw_news_read(struct pw_news *n, struct pw_ui *ui);

#endif
