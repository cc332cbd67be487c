/* report.h - the results of a study as findings (base/finding.h), and as files.
 *
 * A report is a function of the study and its results: the same results give the same bytes, except for the
 * line of costs. Any thread, but files by one at a time (figure/figure.h). */
#ifndef PW_STUDY_REPORT_H
#define PW_STUDY_REPORT_H
#include <stdio.h>

#include "base/finding.h"
#include "figure/figure.h"
#include "study/results.h"

/* Make the finding of a task: exact match or loss by length with intervals over seeds, a table of arms, a
 * table of comparisons, and a remark for each comparison. The caller frees it. */
void pw_study_finding(struct pw_finding *f, const struct pw_results *r, const char *name, int task);

/* All findings of a study: one for each task; then the mean reciprocal ranks over pairs of task and seed, if
 * there are several tasks and a pair has results of all arms. results, name and text (of the study) are
 * borrowed. */
struct pw_study_report {
    const struct pw_results *results;
    const char *name, *text;
    int n;
    struct pw_finding *findings; /* [n] */
};
void pw_study_report_init(struct pw_study_report *x, const struct pw_results *r, const char *name,
                          const char *text);
void pw_study_report_fini(struct pw_study_report *x);

/* Print the report as text: all findings, then pw_study_print_end. */
void pw_study_print(FILE *out, const struct pw_study_report *x);
/* Print the method, the number of cells, the digest, the costs, and how to compute it again. */
void pw_study_print_end(FILE *out, const struct pw_study_report *x);
/* Append the commands that make the report, in one line without comments. */
void pw_study_commands(struct pw_str *out, const struct pw_study_report *x);
/* Draw a finding of the report, or a part of one. The caller frees d->svg. */
enum pw_code pw_study_draw(struct pw_figure_drawn *d, const struct pw_study_report *x,
                           const struct pw_finding *f, struct pw_err *err);
/* Append a page that stands alone. */
enum pw_code pw_study_html(struct pw_str *out, const struct pw_study_report *x, struct pw_err *err);
/* Write report.txt, report.html, cells.csv, and a picture of each task as SVG and PDF to a folder, which is
 * made. */
enum pw_code pw_study_files(const char *to, const struct pw_study_report *x, struct pw_err *err);

#endif
