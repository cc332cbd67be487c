/* attention_scores.h - the scores of a block of queries, with all that an encoding adds to them
 * (attention_scores.c).
 *
 * One piece of scratch is read by all workers, and each worker has a room of its own. The sizes are for
 * sequences of up to Tp positions, a multiple of 16. */
#ifndef PW_CPU_ATTENTION_SCORES_H
#define PW_CPU_ATTENTION_SCORES_H
#include "kernels/cpu/mix.h"

struct pw_scoring {
    const float *keys; /* [E,ld] keys of the head, transposed, or with a walk [T,ld]; set by the caller */
    size_t ld;
    size_t third;                /* floats from the second saved map to the third; 0: there is none */
    float *walk;                 /* room of a walk */
    struct pw_relative relative; /* these four: cleared if attention has no such part */
    struct pw_mixing mixing;
    struct pw_context context;
    struct pw_select select; /* the caller begins each sequence */
};

size_t PW_OP(scoring_floats)(const struct pw_attn *a, int Tp);
size_t PW_OP(scoring_room_floats)(const struct pw_attn *a, int Tp);
void PW_OP(scoring_init)(struct pw_scoring *x, const struct pw_attn *a, int Tp, float *shared);
/* The place of the keys of head 0 in the shared scratch (select_begin). */
float *PW_OP(scoring_votes)(const struct pw_attn *a, int Tp, float *shared);
/* Take a worker's room. */
void PW_OP(scoring_room)(struct pw_scoring *x, const struct pw_attn *a, int Tp, float *room);
/* Set the keys of a head of a whole sequence. room: [E,Tp]. */
void PW_OP(scoring_keys)(struct pw_scoring *x, const struct pw_head *hd, float *room);

/* Write the scores of queries i .. i+m-1 on cols keys to s, with rows hd->Tp apart; -inf for hidden keys.
 * row: that of query i among the rows of hd->q. max [m] receives the largest score of each query. second
 * (NULL: not wanted), laid out as s, receives the derivatives of a function of scores, or the gates of a
 * scan; and the third map, behind it, the scores that the function reads. */
void PW_OP(score_block)(const struct pw_scoring *x, const struct pw_head *hd, float *s, float *second,
                        float *max, int row, int i, int m, int cols);

#endif
