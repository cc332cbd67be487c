/* attention_block.h - parts of attention on the cpu that the forward and the backward pass share: a
 * sequence's heads, and products of a block of rows. The functions are inline, so each instruction set has
 * its own. */
#ifndef PW_CPU_ATTENTION_BLOCK_H
#define PW_CPU_ATTENTION_BLOCK_H
#include "kernels/cpu/attention.h"
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vmath.h"

static inline bool pw_attn_ascending(const int *pos, int T)
{
    bool yes = true;
    for (int i = 1; i < T; i++)
        yes = yes && pos[i] == pos[0] + i;
    return yes;
}

/* Number of rows per block, so that n rows are split evenly. */
static inline int pw_attn_block_rows(int n)
{
    int blocks = (n + PW_BLOCK - 1) / PW_BLOCK;
    return blocks > 0 ? (n + blocks - 1) / blocks : 1;
}

static inline int pw_attn_least(int a, int b)
{
    return a < b ? a : b;
}

static inline int pw_attn_longest(const struct pw_seqs *s)
{
    int T = 0;
    for (int n = 0; n < s->n; n++)
        T = s->start[n + 1] - s->start[n] > T ? s->start[n + 1] - s->start[n] : T;
    return T;
}

/* Return the floats from one row of q, or of k, to the next; w: of qkv. */
static inline size_t pw_attn_row(const struct pw_attn *a, size_t w)
{
    return pw_attn_is_wide(a) ? 2 * (size_t)(a->heads * pw_attn_width(a)) : w;
}

/* Return the rows of sequence n with q and k transformed (rotate.c), or wide. */
static inline const float *pw_attn_turned_seq(float *room, const float *qkv, const struct pw_attn *a,
                                              const int *pos, const struct pw_seqs *s, int n)
{
    int base = s->start[n], w = 3 * a->heads * a->head_width;
    if (pw_attn_is_wide(a))
        return a->made->wide + (size_t)base * pw_attn_row(a, (size_t)w);
    return PW_OP(turned)(room, qkv + (size_t)base * (size_t)w, a, pos, base, s->start[n + 1] - base);
}

/* qk: the first transformed row of the sequence. */
static inline struct pw_head pw_attn_head_of(const float *qkv, const float *qk, const struct pw_attn *a,
                                             const int *pos, const struct pw_seqs *s, int n, int h,
                                             float *bias)
{
    int D = a->head_width, C = a->heads * D, base = s->start[n], T = s->start[n + 1] - base;
    struct pw_head hd = {.a = a, .w = 3 * (size_t)C, .h = h, .T = T, .D = D, .bias = bias};
    hd.E = pw_attn_width(a);
    hd.qw = pw_attn_row(a, hd.w);
    hd.q = qk + h * hd.E;
    hd.k = hd.q + a->heads * hd.E;
    hd.v = qkv + (size_t)base * hd.w + 2 * C + h * D;
    hd.base = base;
    hd.Tp = pw_to_16(T);
    hd.Dp = pw_to_16(D);
    hd.terms = pw_terms_room(a, bias, hd.Tp);
    pw_slopes_room(&hd);
    if (a->bias == NULL && a->keys == NULL && a->score == NULL && a->mix == NULL && hd.slopes == NULL)
        return hd;
    hd.pos = pos + base;
    hd.in_order = pw_attn_ascending(hd.pos, T);
    return hd;
}

V_INLINE m16 pw_attn_seen_lanes(int left)
{
    return m_first(left < 0 ? 0 : left > 16 ? 16 : left);
}

/* Copy the first `cols` columns of m rows of s, Tp apart, to rows [T], and fill up with `rest`. */
static inline void pw_attn_tell_block(const struct pw_head *hd, float *to, const float *s, int m, int cols,
                                      float rest)
{
    for (int r = 0; r < m; r++, to += hd->T, s += hd->Tp) {
        int j = 0;
        for (; j < cols; j += 16)
            v_store_n(to + j, hd->T - j, v_load(s + j));
        for (; j < hd->T; j += 16)
            v_store_n(to + j, hd->T - j, v_set(rest));
    }
}

/* Load 16 columns of m rows of x, Tp apart; rows that are missing are zeros. */
V_INLINE void pw_attn_load_tile(v16 t[16], const float *x, size_t Tp, int m)
{
    V_UNROLL
    for (int r = 0; r < 16; r++)
        t[r] = r < m ? v_load(x + (size_t)r * Tp) : v_zero();
}

/* Does the forward pass save a second map beside the probabilities? */
static inline bool pw_attn_saves_two(const struct pw_attn *a)
{
    return a->score != NULL || a->scan.kind == PW_SCAN_STICK || a->scan.kind == PW_SCAN_CONTEXT;
}

/* Does it also save the scores that a function of scores reads, as a third map? */
static inline bool pw_attn_saves_scores(const struct pw_attn *a)
{
    return a->score != NULL && a->learned != NULL;
}

/* Return the learned numbers of head h, which a function of scores reads; NULL: there are none. */
static inline const float *pw_attn_learned(const struct pw_attn *a, int h)
{
    return a->learned != NULL ? a->learned + (size_t)h * (size_t)a->n_learned : NULL;
}

/* Floats of the probabilities, or of the second or third map. */
static inline size_t pw_attn_maps_floats(int H, const int *start, int n_seqs)
{
    size_t sum = 0;
    for (int n = 0; n < n_seqs; n++) {
        size_t T = (size_t)(start[n + 1] - start[n]);
        sum += (size_t)H * T * ((T + 15) / 16 * 16);
    }
    return sum;
}

/* Floats of the saved votes of a sequence of T (select.c). */
static inline size_t pw_attn_votes_floats(const struct pw_attn *a, int T)
{
    return a->scan.kind == PW_SCAN_SELECT ? (size_t)T * (size_t)pw_to_16(T) : 0;
}

/* y = m rows of x, Tp apart, times the dropout mask of queries from i on; y may be x. */
static inline void pw_attn_drop_block(const struct pw_head *hd, float *y, const float *x, int i, int m)
{
    PW_OP(drop_rows)(y, x, hd->a->drop, hd->h, hd->base + i, m, hd->Tp, (size_t)hd->Tp);
}

#endif
