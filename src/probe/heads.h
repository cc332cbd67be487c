/* heads.h - scores that classify an attention head. Each score is one number of one attention map.
 *
 * Raw scores mislead on short sequences: with 9 tokens, uniform attention puts a mass of 0.31 on the query's
 * own position. pw_head_measure therefore also scores uniform attention on the same tokens, as the chance
 * level.
 *
 * Formulas: heads.c. Any thread. Nothing can fail. */
#ifndef PW_PROBE_HEADS_H
#define PW_PROBE_HEADS_H
#include <stdbool.h>

/* The scores of a head. */
enum pw_head_score {
    PW_HEAD_PREVIOUS,  /* attention mass on the previous token */
    PW_HEAD_INDUCTION, /* mass on the tokens that followed earlier occurrences of the query's token */
    PW_HEAD_SELF,      /* mass on the query's own position */
    PW_HEAD_FIRST,     /* mass on the first position */
    PW_HEAD_GOLD,      /* mass on the task's gold pointers */
    PW_HEAD_ENTROPY,   /* entropy, in bits */
    PW_HEAD_SPREAD,    /* entropy as a share of its maximum */
    PW_HEAD_DISTANCE,  /* mean distance, in positions */
    PW_HEAD_SCORES
};

/* Name and unit of a score. */
struct pw_head_score_info {
    const char *name, *unit; /* unit "": a share, 0..1 */
};
extern const struct pw_head_score_info pw_head_scores[PW_HEAD_SCORES];

/* The sequence that the attention map belongs to. */
struct pw_head_input {
    int T;
    bool causal;
    const int *tokens; /* [T] */
    int n_gold;
    const int (*gold)[2]; /* [n_gold] (query, key) positions, sorted by query */
    /* Entropy, spread and distance take long on long sequences. Above 1, they count only one of so many
     * blocks of PW_HEAD_BLOCK queries. */
    int every;
    /* [T] first[i]: the first position with the token of i; later[i]: the next one after i, T: none. NULL:
     * they are searched for, which takes long on long sequences. */
    const int *first, *later;
};
/* Fills first and later, [T] each. */
void pw_head_find_tokens(int *first, int *later, const int *tokens, int T);
enum { PW_HEAD_BLOCK = 16 };

/* Returns true if entropy, spread and distance count this query. */
bool pw_head_counts(const struct pw_head_input *in, int query);

/* The scores of a map whose rows come one after the other: begin, add for all queries in ascending order,
 * end. pw_head_measure gives the same values. */
struct pw_head_sums {
    double sum[PW_HEAD_SCORES];
    int n[PW_HEAD_SCORES];
    int gold; /* pointers that are counted */
};
void pw_head_begin(struct pw_head_sums *s);
/* Adds query i; row [T]: its weights, NULL: uniform attention. Only keys that it sees are read. */
void pw_head_add(struct pw_head_sums *s, const float *row, int i, const struct pw_head_input *in);
void pw_head_end(double out[PW_HEAD_SCORES], const struct pw_head_sums *s);

/* Writes the scores of the attention map A [T,T], whose rows sum to one. A = NULL: uniform attention over the
 * visible keys. A score is NaN if no query qualifies for it: no token occurs twice, or there is no gold
 * pointer. */
void pw_head_measure(double out[PW_HEAD_SCORES], const float *A, const struct pw_head_input *in);

/* Measures how strongly one additive part of the attention scores [T,T] separates the keys of a query.
 * Returns the variance over the keys that a query sees, averaged over queries. score [T,T]: the whole score,
 * -inf where a query does not see a key. A constant added to all keys of a query has no effect, as in the
 * softmax. */
double pw_head_variation(const float *part, const float *score, int T);
/* Returns that variance of one query, over the first n keys; it sees no other. */
double pw_head_variation_of(const float *part, const float *score, int n);

#endif
