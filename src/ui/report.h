/* report.h - prints events as lines of text or as JSON, for the headless and plain modes. */
#ifndef PW_REPORT_H
#define PW_REPORT_H
#include <stdio.h>

#include "sessions/fold.h"

/* Prints event e before it is folded into s. Errors go to standard error as "pewter: ..."; most kinds print
 * no text. With json, every event becomes one object on one line of out. */
void pw_report_event(FILE *out, const struct pw_event *e, const struct pw_snapshot *s, bool json);
/* Prints changes that a user without a screen would miss: arms, training, files. Prints nothing for events
 * that pw_report_event prints. */
void pw_report_change(FILE *out, const struct pw_event *e, const struct pw_snapshot *s);

/* Prints tab-separated values, whose first line has the names, as aligned columns. */
void pw_report_columns(FILE *out, const char *tsv);
/* Prints the first errors in answers, over all lengths and replicas of the latest evaluation. Prints nothing
 * if there are none. */
void pw_report_errors(FILE *out, const struct pw_arm_view *a);
/* Prints an arm's failing examples in full. */
void pw_report_failing(FILE *out, const struct pw_ev_failing *v, int arm, int replica, int64_t step,
                       const struct pw_snapshot *s);
/* Prints an encoding's table; in report_table.c. */
void pw_report_table(FILE *out, const struct pw_ev_table *t, int arm, int replica,
                     const struct pw_snapshot *s);

#endif
