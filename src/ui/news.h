/* news.h - what the log tells since the last look, for a screen that may have no room for the Log pane: one
 * line of it below everything, and the answer of many lines to what somebody typed as a page over the panes.
 */
#ifndef PW_NEWS_H
#define PW_NEWS_H
#include "ui/ui.h"

struct pw_news {
    int64_t began, before; /* of the session whose log it is, and what it had on record: pw_snapshot */
    int64_t n_log;         /* lines that were looked at */
    int n_findings;        /* that there were then */
    char typed[PW_COMMAND];
    int64_t first; /* line of the log that the answer begins with */
    int lines;     /* of it, so far */
    uint64_t seq;  /* its last event, or the command's; 0: no answer goes on */
    bool shown;    /* on the page */
    bool refused;  /* the message is the workbench's own, which isn't in the log: what the log tells of
                    * commands  before it comes a frame later and doesn't cover it. Until the next line. */
};

/* A line that somebody typed: its commands may answer at length. */
void pw_news_typed(struct pw_news *n, const char *line);
/* Puts what is new in the workbench's log into ui's message, or onto its page. */
void pw_news_read(struct pw_news *n, struct pw_ui *ui);

#endif
