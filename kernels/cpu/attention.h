/* attention.h - one head of one sequence, as the files of attention see it. */
#ifndef PW_CPU_ATTENTION_H
#define PW_CPU_ATTENTION_H
#include "kernels/cpu/ops.h"
#include <stdbool.h>

enum { PW_BLOCK = 16 }; /* rows at a time, at most */

/* T positions, D its width, Tp and Dp rounded up to 16. */
struct pw_head {
    const struct pw_attn *a;
    const float *q, *k, *v; /* first row; rows are w floats apart */
    size_t w;
    const int *pos; /* of this sequence; used with a bias or relative keys only */
    int base;       /* its first row */
    int h, T, Tp, D, Dp;
    bool in_order; /* position ids ascend by one */
    float *bias;   /* scratch [2*Tp+16]: bias of distance T-1-y at y (in_order), or of one query's keys */
};

static inline int pw_to_16(int n)
{
    return (n + 15) / 16 * 16;
}

/* Keys that queries up to i (exclusive) see. */
static inline int pw_keys_before(const struct pw_head *hd, int i)
{
    return hd->a->causal ? i : hd->T;
}

/* ---- attention_bias.c; of a bias by distance they use scratch, so many floats. */
static inline size_t pw_bias_floats(int Tp)
{
    return 2 * (size_t)Tp + 16;
}
void PW_OP(head_bias_load)(const struct pw_head *hd); /* once a head */
/* The bias of query i on keys 0.. ; entries from n on are undefined. NULL: there is none. */
const float *PW_OP(head_bias_row)(const struct pw_head *hd, int i, int n);
/* Adds ds [T,Tp] to the gradient, queries ascending; no row is needed any more then. */
void PW_OP(head_bias_grad)(const struct pw_head *hd, float *d_bias, const float *ds);

/* ---- rotate.c: where q and k turn. R rows of qkv whose ids begin at pos[first]; their scratch: the angles,
 * and behind them the rows. */
static inline size_t pw_angles_floats(const struct pw_turn *t)
{
    return 2 * (size_t)pw_to_16(2 * t->pairs);
}
static inline size_t pw_turned_floats(const struct pw_attn *a, int R)
{
    size_t row = 3 * (size_t)(a->heads * a->head_width);
    return a->turn != NULL ? pw_angles_floats(a->turn) + (size_t)R * row : 0;
}
/* The rows with q and k as they enter the dot product; of those that have turned v is left out. */
const float *PW_OP(turned)(float *room, const float *rows, const struct pw_attn *a, const int *pos, int first,
                           int R);
/* Their gradients, in place. */
void PW_OP(turn_back)(float *rows, const struct pw_attn *a, const int *pos, int first, int R, float *room);

/* ---- relative.c. What a call needs of them, in one piece of scratch: its size, for sequences of up to T,
 * and what becomes of it. */
struct pw_relative {
    int rows, ld;  /* of the table; rounded up to 16 */
    float *across; /* [D,ld] the table across, its last row first */
    float *dots;   /* [PW_BLOCK,ld] a block's queries times that */
    float *table;  /* [rows,Dp] backward only, from here on */
    float *sums;   /* [T,ld] of dS, by query and row */
    float *lanes;  /* [rows,16] of one such row, where ids are in no order */
};
size_t PW_OP(relative_floats)(const struct pw_attn *a, int T, bool backward); /* without keys: 0 */
void PW_OP(relative_init)(struct pw_relative *x, const struct pw_attn *a, int T, bool backward, float *room);
/* s, rows Tp apart: q.k of queries i .. i+m-1, whose first is q, on their keys; becomes q.k + q.a. */
void PW_OP(relative_add)(const struct pw_relative *x, const struct pw_head *hd, float *s, const float *q,
                         int i, int m);
/* dq, their gradient before it is scaled, goes on over the table's rows; ds is theirs, rows Tp apart. */
void PW_OP(relative_dq)(const struct pw_relative *x, const struct pw_head *hd, float *dq, const float *ds,
                        int i, int m);
/* After all queries of the head: adds to d_keys [rows,D]; q [T,Dp]. */
void PW_OP(relative_dkeys)(const struct pw_relative *x, const struct pw_head *hd, float *d_keys,
                           const float *q);

#endif
