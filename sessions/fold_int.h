/* fold_int.h - the parts of the fold that have a file of their own. */
#ifndef PW_FOLD_INT_H
#define PW_FOLD_INT_H
#include "sessions/fold.h"

/* The replicate that an event is about; NULL: its arm is gone, or never had so many. */
struct pw_replicate_view *pw_fold_replicate(struct pw_snapshot *s, const struct pw_event *e);

/* ---- series.c: what only grows */
/* A point at a step; those at or after it are overwritten. */
void pw_series_add(struct pw_series *s, int64_t step, double ms, const struct pw_ev_step *v);
void pw_updates_add(struct pw_updates *u, int64_t step, const struct pw_ev_updates *v);
/* Its step, operations and time, exact match in range and beyond, and how many samples. */
void pw_track_add(struct pw_track *t, int64_t step, double flops, double ms, float in_range, float beyond,
                  int64_t samples);
/* Arrays of its own for what it shows of somebody else's. */
void pw_series_own(struct pw_series *s);
void pw_updates_own(struct pw_updates *u);
void pw_track_own(struct pw_track *t);
void pw_series_fini(struct pw_series *s);
void pw_updates_fini(struct pw_updates *u);
void pw_track_fini(struct pw_track *t);

/* ---- kept.c: attention over training time */
/* Keeps a copy of a, which is the arm's at step. */
void pw_kept_add(struct pw_snapshot *s, struct pw_arm_view *arm, int64_t step,
                 const struct pw_ev_attention *a);
void pw_kept_clear(struct pw_kept *k);

/* ---- findings.c: takes the finding of e */
void pw_findings_add(struct pw_snapshot *s, struct pw_event *e);
/* "awareness: six encodings at lengths 10 to 20; reproduced": a line of the log. */
void pw_findings_line(const struct pw_finding *f, char *out, size_t size);

/* ---- ticks.c: what the timeline shows */
void pw_ticks_add(struct pw_snapshot *s, enum pw_tick_kind kind, int arm, int64_t step, const char *text,
                  bool live);
void pw_ticks_drop(struct pw_snapshot *s, int arm); /* all of an arm's */

#endif
