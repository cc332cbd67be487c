/* ref_races.h - fabricated findings of races, as a study's `judge` makes them, and the verdicts of a study on
 * them. */
#ifndef PW_REF_RACES_H
#define PW_REF_RACES_H
#include "base/finding.h"
#include "sessions/fold.h"

/* Adds a finding with a table: a row for each name (NULL ends them). Columns: per cent in range and on longer
 * inputs (medians), then each run. Row i has the mean mean[i], and runs are `step` points apart. made:
 * "reproduce STUDY options"; NULL: not stated. */
void races_add(struct pw_snapshot *s, const char *study, const char *topic, const char *made,
               const char *const *rows, const double *mean, double step, double in_range, int runs);

/* Runs `judge STUDY options`. Options alternate between key and value, and end with NULL. */
void races_judge(struct pw_finding *f, const struct pw_snapshot *s, const char *study,
                 const char *const *options);

/* Runs `judge`, which must fail with this message. */
void races_refuse(const struct pw_snapshot *s, const char *study, const char *const *options,
                  const char *why);

/* The verdict of the claim whose text contains `text`. */
int races_verdict(const struct pw_finding *f, const char *text);

#endif
