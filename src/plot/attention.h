/* attention.h - reads an attention event: its views, values, labels and scores. Pure functions of a snapshot;
 * nothing is allocated. layer, head, q (query) and k (key) count from 0; T is the length of the sequence. */
#ifndef PW_PLOT_ATTENTION_H
#define PW_PLOT_ATTENTION_H
#include "sessions/fold.h"

/* Returns true if the snapshot has a complete attention. Call it before any other function here. */
bool pw_att_usable(const struct pw_snapshot *s);
/* Returns true if the causal mask hides key k from query q. */
bool pw_att_hidden(const struct pw_ev_attention *a, int q, int k);
/* Returns the tokens per cell of pooled maps each way; 1: there are none. */
int pw_att_pool(const struct pw_ev_attention *a);
/* Returns the attention probability of query q on key k; of a head that is only pooled, the largest of the
 * cell. */
float pw_att_prob_of(const struct pw_ev_attention *a, int layer, int head, int q, int k);
/* Returns the largest probability of a cell, 0 <= row, col < ceil(T / pw_att_pool). */
float pw_att_cell_of(const struct pw_ev_attention *a, int layer, int head, int row, int col);
/* Returns the map [T,T] in half precision of a view of the selected head. NULL: the event does not have this
 * view. NULL also for probabilities, which exist for every head (pw_att_prob_of). */
const uint16_t *pw_att_matrix(const struct pw_ev_attention *a, int view);
/* Returns the name of a view: "positional bias"; with rotary "content by rotation". */
const char *pw_att_view_name(const struct pw_ev_attention *a, int view);
/* Returns the share of the earlier tokens that a head keeps at token t, 0..1; NaN: the event does not have
 * it. */
float pw_att_gate(const struct pw_ev_attention *a, int layer, int head, int t);
/* Returns true if votes of tokens take something from each score (selection): then the gate of a pair is
 * minus what it has lost, and tokens have no gates of their own. */
bool pw_att_loses(const struct pw_ev_attention *a);
/* Are these numbers factors of reflections, 0..2? Otherwise they are shares, 0..1. */
bool pw_att_reflects(const struct pw_ev_attention *a);
/* Does this view show them below the map? */
bool pw_att_shows_gates(const struct pw_ev_attention *a, int view);
/* Returns the label of token t. */
const char *pw_att_label(const struct pw_ev_attention *a, int t);

/* Returns score k of a head, 0 <= k < pw_att_n_scores; NaN if there is none. */
float pw_att_score(const struct pw_ev_attention *a, int layer, int head, int k);
int pw_att_n_scores(const struct pw_ev_attention *a);
/* Returns the index of the i-th score in display order: first the gold pointers' score, then the parts of
 * position and gate, then the others. */
int pw_att_score_at(const struct pw_ev_attention *a, int i);

#endif
