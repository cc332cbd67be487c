/* step.h - one decoding step of a snapshot: how a token was chosen, and the parts of a logit (direct logit
 * attribution, model/attribution.h). Pure functions; results point into the snapshot. */
#ifndef PW_PLOT_STEP_H
#define PW_PLOT_STEP_H
#include "sessions/fold.h"

/* The step to draw. */
struct pw_step_view {
    int pos;                             /* position of the selected token */
    const struct pw_ev_token *t;         /* the token; NULL: not decoded yet */
    const struct pw_ev_inspection *look; /* its candidates and parts; NULL: not emitted yet */
};
/* Selects the step to draw; returns false if no token is decoded. While an answer is decoded again, the last
 * step with parts stays. */
bool pw_step_select(const struct pw_snapshot *s, struct pw_step_view *v);

/* The display name of a part; a head as PW_HEAD. */
void pw_step_part_name(const struct pw_inspection_part *part, char name[24]);

/* Ranks are shown from 1. */
static inline long long pw_step_rank(int rank)
{
    return 1LL + rank;
}

/* A logit minus the logit of the best token (for the best: minus the second), or minus the
 * mean over the vocabulary. */
struct pw_contrast {
    const struct pw_ev_inspection *k;
    int chosen, against; /* indices into k->token; against -1: the mean */
};
struct pw_contrast pw_contrast_of(const struct pw_ev_inspection *k, int chosen, bool mean);
/* The difference as the sum of all parts, and as computed from the logits of the forward pass. */
double pw_contrast_sum(const struct pw_contrast *c);
double pw_contrast_logits(const struct pw_contrast *c);
/* Returns all k->n_parts parts, by absolute value or in the order of the stream.
 * The caller frees the array. */
struct pw_contrast_part {
    int part;
    double value;
};
struct pw_contrast_part *pw_contrast_parts(const struct pw_contrast *c, bool in_order);

#endif
