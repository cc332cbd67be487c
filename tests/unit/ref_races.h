/* ref_races.h - findings of races as a study's `judge` leaves them, made by hand, and what the study says of
 * them. */
#ifndef PW_REF_RACES_H
#define PW_REF_RACES_H
#include "base/finding.h"
#include "sessions/fold.h"

/* A finding with a table: a row for each name (NULL ends them), per cent in range and on longer inputs
 * (medians), then run by run. Row i has the mean mean[i], and runs `step` points apart. made: "reproduce
 * STUDY options"; NULL: it doesn't say. */
void races_add(struct pw_snapshot *s, const char *study, const char *topic, const char *made,
               const char *const *rows, const double *mean, double step, double in_range, int runs);

/* `judge STUDY options`; ends with NULL, key and value by turns. */
void races_judge(struct pw_finding *f, const struct pw_snapshot *s, const char *study,
                 const char *const *options);

/* The same where it must fail with this message. */
void races_refuse(const struct pw_snapshot *s, const char *study, const char *const *options,
                  const char *why);

/* The verdict of the claim that contains text. */
int races_verdict(const struct pw_finding *f, const char *text);

#endif
