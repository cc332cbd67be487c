/* attention.h - interface between the files of attention on the cpu: one head of one sequence, its bias, its
 * rotation and its relative keys.
 *
 * Callers pass scratch memory of the size that the *_floats functions return; the functions keep no memory of
 * their own and cannot fail. A worker calls them for its own chunk. */
#ifndef PW_CPU_ATTENTION_H
#define PW_CPU_ATTENTION_H
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include <stdbool.h>

enum { PW_BLOCK = 16 }; /* largest number of rows processed at a time */

/* One head of one sequence: T positions, head width D; Tp and Dp are T and D rounded up to 16. */
struct pw_head {
    const struct pw_attn *a;
    const float *q, *k, *v; /* first row; rows are w floats apart */
    size_t w;
    int E;          /* entries of q and k; D, unless they are wide */
    size_t qw;      /* floats from one row of q, or of k, to the next */
    const int *pos; /* position ids of this sequence; only used with a bias or relative keys */
    int base;       /* first row of the sequence */
    int h, T, Tp, D, Dp;
    bool in_order; /* position ids ascend by one */
    float *terms;  /* [Tp] the head's terms of all rows; NULL: none */
    /* [Tp] the slopes of all keys, and all position ids as floats; NULL: none */
    float *slopes, *place;
    /* Scratch [2*Tp+16]: the bias of distance T-1-y at index y (in_order), or the bias of one query's
     * keys. */
    float *bias;
};

/* Number of keys that are visible to at least one of the queries before i (exclusive). */
static inline int pw_keys_before(const struct pw_head *hd, int i)
{
    return hd->a->causal ? i : hd->T;
}

/* Are q and k those that the encoding made? */
static inline bool pw_attn_is_wide(const struct pw_attn *a)
{
    return a->made != NULL && a->made->wide != NULL;
}

/* Return the entries of a head of q and k. */
static inline int pw_attn_width(const struct pw_attn *a)
{
    return pw_attn_is_wide(a) ? a->made->width : a->head_width;
}

/* ---- attention_bias.c. Scratch for a bias by distance, then for the head's terms, then for slopes and ids
 * of keys, in floats. */
static inline size_t pw_terms_at(int Tp)
{
    return 2 * (size_t)Tp + 16;
}
static inline size_t pw_bias_floats(int Tp)
{
    return pw_terms_at(Tp) + 3 * (size_t)Tp;
}
/* Return the place of the terms in this scratch; NULL: there are none. */
static inline float *pw_terms_room(const struct pw_attn *a, float *bias, int Tp)
{
    return a->terms != NULL && bias != NULL ? bias + pw_terms_at(Tp) : NULL;
}
/* Set the places of slopes and ids in this scratch; NULL: there are none. */
static inline void pw_slopes_room(struct pw_head *hd)
{
    bool some = hd->a->made != NULL && hd->a->made->slopes != NULL && hd->bias != NULL;
    hd->slopes = some ? hd->bias + pw_terms_at(hd->Tp) + hd->Tp : NULL;
    hd->place = some ? hd->slopes + hd->Tp : NULL;
}
/* Return the slope of query i. */
static inline float pw_query_slope(const struct pw_head *hd, int i)
{
    return hd->a->made->slopes[(size_t)(hd->base + i) * 2 * (size_t)hd->a->heads + (size_t)hd->h];
}
void PW_OP(head_bias_load)(const struct pw_head *hd); /* once per head */
/* Return the bias of query i on keys 0..n-1, or NULL if there is no bias. Entries from n on are undefined. */
const float *PW_OP(head_bias_row)(const struct pw_head *hd, int i, int n);
/* Set d_terms of the head's rows, H numbers apart, from ds [T,Tp]. It overwrites hd->terms. */
void PW_OP(head_terms_grad)(const struct pw_head *hd, float *d_terms, const float *ds);
/* Set d_slopes of the head's rows, 2H numbers apart, from ds [T,Tp]. */
void PW_OP(head_slopes_grad)(const struct pw_head *hd, float *d_slopes, const float *ds);
/* Add ds [T,Tp] to the bias gradient, queries ascending. Call it when no bias row is needed any more. */
void PW_OP(head_bias_grad)(const struct pw_head *hd, float *d_bias, const float *ds);

/* ---- rotate.c: the transformation of q and k by position (struct pw_turn). R rows of qkv, whose position
 * ids begin at pos[first]. Scratch: first the angles, then the transformed rows. */
static inline size_t pw_angles_floats(const struct pw_turn *t)
{
    return 2 * (size_t)pw_to_16(2 * t->pairs);
}
static inline size_t pw_turned_floats(const struct pw_attn *a, int R)
{
    size_t row = 3 * (size_t)(a->heads * a->head_width);
    return a->turn != NULL ? pw_angles_floats(a->turn) + (size_t)R * row : 0;
}
/* Return the rows with q and k as they enter the dot product. If they were transformed, the result is in room
 * and its v is undefined. */
const float *PW_OP(turned)(float *room, const float *rows, const struct pw_attn *a, const int *pos, int first,
                           int R);
/* Undo the transformation on the gradients of q and k, in place. */
void PW_OP(turn_back)(float *rows, const struct pw_attn *a, const int *pos, int first, int R, float *room);

/* ---- scan.c: stick-breaking weights of queries i .. i+m-1, in a block of rows Tp apart, on cols keys. s
 * holds their scores and becomes their weights, 0 from column cols on. taken (NULL: not wanted) receives the
 * share that each key takes of what is left, laid out as s. */
void PW_OP(stick_block)(const struct pw_head *hd, float *s, float *taken, int i, int m, int cols);
/* ds holds dP of these queries and becomes dS; p holds their weights. */
void PW_OP(stick_block_bwd)(const struct pw_head *hd, float *ds, const float *p, const float *taken, int i,
                            int m, int cols);

/* ---- context.c: contextual positions. One piece of scratch for sequences of up to Tp positions;
 * context_floats gives its size (0 without them) and context_init divides it. Each worker needs a room of its
 * own of that size, which context_room puts in place of the common one. */
struct pw_context {
    int ld, Tp;
    float *across; /* [D,ld] the table */
    float *dots;   /* [PW_BLOCK,ld] a block's queries times the table */
    float *places; /* [PW_BLOCK,Tp] positions of its keys */
    float *gates;  /* [PW_BLOCK,Tp], if they are not saved */
    float *rows;   /* [n,Dp] the transposed table; this and the next for the backward pass only */
    float *sums;   /* [T,ld] sums of dS by query and column */
};
size_t PW_OP(context_floats)(const struct pw_attn *a, int Tp, bool backward);
void PW_OP(context_init)(struct pw_context *x, const struct pw_attn *a, int Tp, bool backward, float *room);
void PW_OP(context_room)(struct pw_context *x, float *room);
/* s holds the scores of queries i .. i+m-1 on cols keys and receives their part; q points to the first of
 * these queries. gates (NULL: not wanted) receives the gates, laid out as s; max the new largest scores. */
void PW_OP(context_add)(const struct pw_context *x, const struct pw_head *hd, float *s, float *gates,
                        float *max, const float *q, int i, int m, int cols);
/* ds, the gradient of these scores, becomes that of the scores without the part. */
void PW_OP(context_back)(const struct pw_context *x, const struct pw_head *hd, float *ds, const float *gates,
                         int i, int m, int cols);
/* After all queries of the head, and after dq was multiplied by scale: continue dq of the head over the
 * table, and add to d_rows [D,n] (NULL: not wanted). q [T,Dp]. */
void PW_OP(context_rows)(const struct pw_context *x, const struct pw_head *hd, float *dq, float *d_rows,
                         const float *q);

/* ---- select.c: selection. One piece of scratch for the keys of head 0, of sequences of up to Tp positions,
 * which select_begin fills; each worker needs a room of its own (select_room). Both have 0 floats without
 * selection. */
struct pw_select {
    const float *q; /* queries of head 0; rows are qw floats apart */
    size_t qw;
    const float *keys; /* [E,ld] keys of head 0, transposed */
    size_t ld;
    const float *votes; /* [T,Tp] votes of the sequence; NULL: each block is computed */
    const float *lost;  /* rows of struct pw_scan, in place of votes; NULL: none */
    float *block;       /* [PW_BLOCK,Tp] votes of a block */
    float *sum;         /* [Tp] sums of the votes of all earlier queries */
};
size_t PW_OP(select_floats)(const struct pw_attn *a, int Tp);
size_t PW_OP(select_room_floats)(const struct pw_attn *a, int Tp);
void PW_OP(select_room)(struct pw_select *x, int Tp, float *room);
/* Begin a sequence, of which hd is the head 0. */
void PW_OP(select_begin)(struct pw_select *x, const struct pw_head *hd, float *keys);
/* Fill votes [T,Tp], which blocks then read. */
void PW_OP(select_save)(struct pw_select *x, const struct pw_head *hd, float *votes);
/* Fill the rows of lost from T on, which blocks then read. x->q has the rows from T on; block
 * [PW_BLOCK,Tp]. */
void PW_OP(select_keep)(struct pw_select *x, const struct pw_head *hd, float *lost, float *block, int T);
/* Subtract the sums of votes from the scores s of queries i .. i+m-1 on cols keys; max receives the new
 * largest scores. A head calls it for ascending blocks from query 0 on, unless there is lost. */
void PW_OP(select_take)(const struct pw_select *x, const struct pw_head *hd, float *s, float *max, int i,
                        int m, int cols);
/* Add ds [T,Tp] of a head to sums, or copy it if it is the first. */
void PW_OP(select_collect)(const struct pw_head *hd, float *sums, const float *ds, bool first);
/* Add to ds of head 0 the gradient that its votes have from the sums over all heads. */
void PW_OP(select_back)(const struct pw_head *hd, float *ds, const float *sums, const float *votes);
/* ---- walk.c: the walk over the keys (struct pw_walk). walk_floats: scratch of the backward pass for
 * sequences of up to T positions; 0 without a walk. */
size_t PW_OP(walk_floats)(const struct pw_attn *a, int T);
/* Floats of a worker's room for walk_block. */
static inline size_t pw_walk_room(const struct pw_attn *a)
{
    return a->walk != NULL ? 16 * (size_t)a->head_width : 0;
}
/* Write the products of queries i .. i+m-1 and their keys to s, with rows hd->Tp apart. q is the first of
 * these queries, with rows hd->qw apart; the rows of keys are ld apart. Entries of hidden keys up to the next
 * multiple of 16 are undefined. */
void PW_OP(walk_block)(const struct pw_head *hd, float *s, const float *q, const float *keys, size_t ld,
                       float *room, int i, int m);
/* The gradients of a head: sets dq and dk of its rows, hd->qw apart, and those of struct pw_walk, from ds
 * [T,Tp]. q and k [T,Dp]. */
void PW_OP(walk_grad)(const struct pw_head *hd, float *dq, float *dk, const float *ds, const float *q,
                      const float *k, float *room);

/* ---- relative.c: relative keys (Shaw et al. 2018). One piece of scratch for sequences of up to T positions;
 * relative_floats gives its size and relative_init divides it. */
struct pw_relative {
    int rows, ld;  /* rows of the table; rows rounded up to 16 */
    float *across; /* [D,ld] the transposed table, last row first */
    float *dots;   /* [PW_BLOCK,ld] a block's queries times the transposed table */
    float *table;  /* [rows,Dp] the table; this and the next ones for the backward pass only */
    float *sums;   /* [T,ld] sums of dS by query and table row */
    float *lanes;  /* [rows,16] lanes of one query's sums, used if position ids are not in order */
};
size_t PW_OP(relative_floats)(const struct pw_attn *a, int T, bool backward); /* 0 without relative keys */
void PW_OP(relative_init)(struct pw_relative *x, const struct pw_attn *a, int T, bool backward, float *room);
/* s [m,Tp] holds q.k of queries i .. i+m-1 on their keys, and becomes q.k + q.a. q points to the first of
 * these queries. */
void PW_OP(relative_add)(const struct pw_relative *x, const struct pw_head *hd, float *s, const float *q,
                         int i, int m);
/* Continue dq, the gradient of these queries before scaling, over the rows of the table. ds [m,Tp] belongs to
 * the same queries. */
void PW_OP(relative_dq)(const struct pw_relative *x, const struct pw_head *hd, float *dq, const float *ds,
                        int i, int m);
/* After all queries of the head: add to d_keys [rows,D]. q [T,Dp]. */
void PW_OP(relative_dkeys)(const struct pw_relative *x, const struct pw_head *hd, float *d_keys,
                           const float *q);

#endif
