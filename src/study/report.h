/* report.h - the results of a study as findings (base/finding.h), and as files.
 *
 * A report is a function of the study and its results: the same results give the same bytes, except for the
 * line of costs. Any thread, but files by one at a time (figure/figure.h). */
#ifndef PW_STUDY_REPORT_H
#define PW_STUDY_REPORT_H
#include <stdio.h>

#include "base/finding.h"
#include "study/results.h"

/* Make the finding of a task: exact match or loss by length with intervals over seeds, a table of arms, a
 * table of comparisons, and a remark for each comparison. The caller frees it. */
void pw_study_finding(struct pw_finding *f, const struct pw_results *r, const char *name, int task);
/* Make the finding over all tasks: mean reciprocal ranks. Returns false if there are fewer than two tasks
 * with results of all arms. */
bool pw_study_ranks(struct pw_finding *f, const struct pw_results *r, const char *name);

/* Print the report as text: all findings, what is missing, and how to compute it again. */
void pw_study_print(FILE *out, const struct pw_results *r, const char *name, const char *text);
/* Write report.txt, report.html, cells.csv, and a picture of the curves of each task as SVG and PDF to a
 * folder, which is made. */
enum pw_code pw_study_files(const char *to, const struct pw_results *r, const char *name, const char *text,
                            struct pw_err *err);

#endif
