/* report.h - events as lines of text, or as JSON: what headless and plain modes print. */
#ifndef PW_REPORT_H
#define PW_REPORT_H
#include <stdio.h>

#include "sessions/fold.h"

/* Prints what e means to a reader, before it is folded into s. Errors go to standard error as "pewter: ...";
 * most kinds print nothing as text. With json every event is one object on one line of out. */
void pw_report_event(FILE *out, const struct pw_event *e, const struct pw_snapshot *s, bool json);
/* What changed, for somebody who can't see it on a screen: arms, training, files. Prints nothing for what
 * pw_report_event tells. */
void pw_report_change(FILE *out, const struct pw_event *e, const struct pw_snapshot *s);

/* Tab-separated values, names first, as columns. */
void pw_report_columns(FILE *out, const char *tsv);
/* What goes wrong first, over all lengths and replicates of the latest evaluation; nothing where nothing
 * does. */
void pw_report_errors(FILE *out, const struct pw_arm_view *a);
/* Examples that an arm got wrong, in full. */
void pw_report_failing(FILE *out, const struct pw_ev_failing *v, int arm, int replica, int64_t step,
                       const struct pw_snapshot *s);
/* An encoding's table: report_table.c. */
void pw_report_table(FILE *out, const struct pw_ev_table *t, int arm, int replica,
                     const struct pw_snapshot *s);

/* A finding: its title, tables, plots as tables, claims with their verdicts. */
void pw_report_finding(FILE *out, const struct pw_finding *f);

#endif
