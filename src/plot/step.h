/* step.h - one step of decoding in a snapshot: what led to a token, and a logit taken apart. */
#ifndef PW_PLOT_STEP_H
#define PW_PLOT_STEP_H
#include "sessions/fold.h"

/* What there is to draw. */
struct pw_step_view {
    int pos;                       /* position of the token that is looked at */
    const struct pw_ev_token *t;   /* it; NULL: not decoded yet */
    const struct pw_ev_look *look; /* what led to it; NULL: not told yet */
};
/* False: nothing is decoded. While an answer is decoded anew the last look stays. */
bool pw_step_look_at(const struct pw_snapshot *s, struct pw_step_view *v);

/* A part's name as it is shown: a head as PW_HEAD. */
void pw_step_part_name(const struct pw_look_part *part, char name[24]);

/* Ranks as they are shown: from 1. */
static inline long long pw_step_rank(int rank)
{
    return 1LL + rank;
}

/* A logit against the runner-up's (of the best: the second), or the mean over the vocabulary. */
struct pw_contrast {
    const struct pw_ev_look *k;
    int chosen, against; /* index into k->token; against -1: the mean */
};
struct pw_contrast pw_contrast_of(const struct pw_ev_look *k, int chosen, bool mean);
/* What all parts together add to the difference, and what the forward pass' logits say. */
double pw_contrast_sum(const struct pw_contrast *c);
double pw_contrast_logits(const struct pw_contrast *c);
/* All k->n_parts parts, the largest first or in the order of the stream; the caller frees. */
struct pw_part {
    int part;
    double value;
};
struct pw_part *pw_contrast_parts(const struct pw_contrast *c, bool in_order);

#endif
