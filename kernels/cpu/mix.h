/* mix.h - the bias that a query mixes (struct pw_mix, mix.c), for attention on the cpu. Without a mix the
 * sizes are 0 and mix_init clears the struct; the other functions need one. */
#ifndef PW_CPU_MIX_H
#define PW_CPU_MIX_H
#include "kernels/cpu/attention.h"

struct pw_mixing {
    int ld, Mp; /* reach and mixes, rounded up to 16 */
    /* [M,ld] the bank, last distance first; in the backward pass its gradient. */
    float *bank;
    float *down;        /* [ld,Mp] backward: the bank, transposed */
    float *by_distance; /* [T,ld] backward: sums of dS by query and distance */
    float *dots;        /* [PW_BLOCK,ld] forward: a block's mixed bias by distance */
    float *rows;        /* [PW_BLOCK,Tp] forward: the same by key, 0 out of reach */
    float *scaled;      /* [PW_BLOCK or T,Mp] weights times gains */
};

/* Floats that all workers read, for sequences of up to T positions, and of one worker's room. */
size_t PW_OP(mix_shared_floats)(const struct pw_attn *a, int T, bool backward);
size_t PW_OP(mix_room_floats)(const struct pw_attn *a, int Tp);
void PW_OP(mix_init)(struct pw_mixing *x, const struct pw_attn *a, int T, bool backward, float *shared);
/* Take the worker's room; forward only. */
void PW_OP(mix_room)(struct pw_mixing *x, int Tp, float *room);
/* Set x->rows of queries i .. i+m-1, for the first cols keys. row: that of query i among mix->weights. */
void PW_OP(mix_rows)(const struct pw_mixing *x, const struct pw_head *hd, int row, int i, int m, int cols);
/* Set d_weights of these queries from ds [m,Tp]. Then, after all queries of the head: add to the gradient of
 * the bank in x. store: write it to mix->d_bank, after all heads. */
void PW_OP(mix_dweights)(const struct pw_mixing *x, const struct pw_head *hd, const float *ds, int i, int m);
void PW_OP(mix_dbank)(const struct pw_mixing *x, const struct pw_head *hd);
void PW_OP(mix_store_dbank)(const struct pw_mixing *x, const struct pw_attn *a);

#endif
