/* fold_int.h - the parts of the fold that have a file of their own. */
#ifndef PW_FOLD_INT_H
#define PW_FOLD_INT_H
#include "sessions/fold.h"

/* The replicate that an event is about; NULL: its arm is gone, or never had so many. */
struct pw_replicate_view *pw_fold_replicate(struct pw_snapshot *s, const struct pw_event *e);

/* ---- kept.c: attention over training time */
/* Keeps a copy of a, which is the arm's at step. */
void pw_kept_add(struct pw_snapshot *s, struct pw_arm_view *arm, int64_t step,
                 const struct pw_ev_attention *a);
void pw_kept_clear(struct pw_kept *k);

/* ---- ticks.c: what the timeline shows */
void pw_ticks_add(struct pw_snapshot *s, enum pw_tick_kind kind, int arm, int64_t step, const char *text,
                  bool live);
void pw_ticks_drop(struct pw_snapshot *s, int arm); /* all of an arm's */

#endif
