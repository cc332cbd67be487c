/* attention.h - reading a told attention: which views there are, values, labels, scores. */
#ifndef PW_PLOT_ATTENTION_H
#define PW_PLOT_ATTENTION_H
#include "sessions/fold.h"

/* Is there one, and whole? Nothing else here may be asked before. */
bool pw_att_usable(const struct pw_snapshot *s);
bool pw_att_hidden(const struct pw_ev_attention *a, int q, int k);
float pw_att_prob_of(const struct pw_ev_attention *a, int layer, int head, int q, int k);
/* The map of a view [T,T] of the head that is looked at; NULL: it wasn't told, or there is none (and of
 * probabilities, which are told of every head). */
const uint16_t *pw_att_matrix(const struct pw_ev_attention *a, int view);
/* "positional bias"; of rotary's "the rotation's part" */
const char *pw_att_view_name(const struct pw_ev_attention *a, int view);
const char *pw_att_label(const struct pw_ev_attention *a, int t);

/* Score k of a head; NaN where there is none. */
float pw_att_score(const struct pw_ev_attention *a, int layer, int head, int k);
int pw_att_n_scores(const struct pw_ev_attention *a);
/* The i-th of them in the order in which they are shown: what a head does for the task, and whether by
 * position or by content, come first. */
int pw_att_score_at(const struct pw_ev_attention *a, int i);

#endif
