/* fold_int.h - parts of the fold that have files of their own: series, kept attention, findings, ticks. */
#ifndef PW_FOLD_INT_H
#define PW_FOLD_INT_H
#include "sessions/fold.h"

/* Return the replica that an event refers to; NULL if the arm or the replica does not exist. */
struct pw_replica_view *pw_fold_replica(struct pw_snapshot *s, const struct pw_event *e);

/* ---- series.c: series over training steps */
/* Append a point at a step. Existing points at this step or later are removed first. */
void pw_series_add(struct pw_series *s, int64_t step, double ms, const struct pw_ev_step *v);
void pw_updates_add(struct pw_updates *u, int64_t step, const struct pw_ev_updates *v);
/* The values of a point, as in struct pw_track. */
struct pw_track_point {
    float in_range, beyond, held, held_beyond;
    int64_t samples;
};
/* Append an evaluation: its step, operations, time and values. */
void pw_track_add(struct pw_track *t, int64_t step, double flops, double ms,
                  const struct pw_track_point *point);
/* Replace arrays that belong to another owner by copies. */
void pw_series_own(struct pw_series *s);
void pw_updates_own(struct pw_updates *u);
void pw_track_own(struct pw_track *t);
void pw_series_fini(struct pw_series *s);
void pw_updates_fini(struct pw_updates *u);
void pw_track_fini(struct pw_track *t);

/* ---- kept.c: the pinned prompt's attention over training */
/* Returns the item of n >= 3 between the first and the last whose neighbours are closest in the square root
 * of their steps. step: that of the first item; the items are `apart` bytes apart. kept.c */
int pw_most_crowded(const int64_t *step, size_t apart, int n);
/* Keep a copy of a, the attention of the arm's replica at `step`; may drop older copies, and drops those of
 * another replica. */
void pw_kept_add(struct pw_snapshot *s, struct pw_arm_view *arm, int replica, int64_t step,
                 const struct pw_ev_attention *a);
/* Free all copies. */
void pw_kept_clear(struct pw_kept *k);

/* ---- course.c: learned parameters over training */
/* Keep the values of the arm's new table; may drop an older point, and drops those of another replica. */
void pw_course_add(struct pw_arm_view *arm, uint64_t seq);
void pw_course_clear(struct pw_course *c);

/* ---- findings.c: move the finding of e into s */
void pw_findings_add(struct pw_snapshot *s, struct pw_event *e);
/* Write the log line of a finding: "awareness: six encodings at lengths 10 to 20; reproduced". */
void pw_findings_line(const struct pw_finding *f, char *out, size_t size);

/* ---- ticks.c: entries of the timeline */
void pw_ticks_add(struct pw_snapshot *s, enum pw_tick_kind kind, int arm, int64_t step, const char *text,
                  bool live);
void pw_ticks_drop(struct pw_snapshot *s, int arm); /* removes all of an arm */

#endif
