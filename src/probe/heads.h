/* heads.h - what kind of head a head is: numbers of one attention map, each against a head that looks at
 * everything alike.
 *
 * Short sequences make raw numbers lie (such a head puts 0.31 on itself when there are 9 tokens), so chance
 * is worked out for the very tokens that are looked at. Any thread. */
#ifndef PW_PROBE_HEADS_H
#define PW_PROBE_HEADS_H
#include <stdbool.h>

enum pw_head_score {
    PW_HEAD_PREVIOUS,  /* mass on the token before */
    PW_HEAD_INDUCTION, /* on what followed earlier occurrences of the query's token */
    PW_HEAD_SELF,      /* on the query's own position */
    PW_HEAD_FIRST,     /* on the first position */
    PW_HEAD_GOLD,      /* on the task's gold pointers */
    PW_HEAD_ENTROPY,   /* bits */
    PW_HEAD_SPREAD,    /* entropy as a share of the largest possible */
    PW_HEAD_DISTANCE,  /* mean, in positions */
    PW_HEAD_SCORES
};

struct pw_head_score_info {
    const char *name, *unit; /* unit "": a share, 0..1 */
};
extern const struct pw_head_score_info pw_head_scores[PW_HEAD_SCORES];

/* What is looked at. */
struct pw_head_input {
    int T;
    bool causal;
    const int *tokens; /* [T] */
    int n_gold;
    const int (*gold)[2]; /* [n_gold] query and key, by query */
};

/* The scores of a map A [T,T], whose rows sum to one; NULL stands for the head that looks at all it sees
 * alike. NaN where the input has no query to tell by (no token occurs twice, there is no gold pointer). */
void pw_head_measure(double out[PW_HEAD_SCORES], const float *A, const struct pw_head_input *in);

/* How much a part of the scores [T,T] tells a query's keys apart: the variance over the keys that a query
 * sees, mean over queries. What is the same for all keys of a query counts for nothing, as in the softmax. */
double pw_head_variation(const float *part, int T, bool causal);

#endif
