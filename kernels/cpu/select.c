/* select.c - selection (Leviathan et al. 2024; PW_SCAN_SELECT in kernels/backend.h): tokens vote, by their
 * scores in head 0, for keys that later tokens should not read. All heads subtract the sums of the votes.
 *
 * The sums of a query are those of the query before it and its votes, so a head keeps one row of them while
 * its queries ascend. The votes themselves are saved for the backward pass. Without one, each head computes
 * them again from the q and k of head 0, so a long sequence needs no memory for a map. */
#include "kernels/cpu/attention_block.h"

#include <math.h>
#include <string.h>

size_t PW_OP(select_floats)(const struct pw_attn *a, int Tp)
{
    return a->scan.kind == PW_SCAN_SELECT ? (size_t)pw_attn_width(a) * (size_t)Tp : 0;
}

size_t PW_OP(select_room_floats)(const struct pw_attn *a, int Tp)
{
    return a->scan.kind == PW_SCAN_SELECT ? (PW_BLOCK + 1) * (size_t)Tp : 0;
}

void PW_OP(select_room)(struct pw_select *x, int Tp, float *room)
{
    x->block = room;
    x->sum = room + PW_BLOCK * (size_t)Tp;
}

void PW_OP(select_begin)(struct pw_select *x, const struct pw_head *hd, float *keys)
{
    *x = (struct pw_select){.q = hd->q, .qw = hd->qw, .keys = keys, .ld = (size_t)hd->Tp};
    PW_OP(pack_transposed)(keys, x->ld, hd->k, hd->qw, hd->T, hd->E);
}

/* Write the votes of queries i .. i+m-1, with rows hd->Tp apart, to columns below cols. row: that of query i
 * among the rows of x->q. */
static void votes_block(const struct pw_select *x, const struct pw_head *hd, float *votes, int row, int i,
                        int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    v16 scale = v_set(hd->a->scale);
    pw_product(m, cols, hd->E, x->q + (size_t)row * x->qw, x->qw, 1, x->keys, x->ld, votes, Tp, false);
    for (int r = 0; r < m; r++, votes += Tp) {
        for (int j = 0; j < cols; j += 16) {
            v16 s = v_mul(v_load(votes + j), scale);
            s = v_select(v_less(v_zero(), s), s, v_zero());
            v_store(votes + j, v_select(pw_attn_seen_lanes(i + r - j), s, v_zero()));
        }
        votes[0] = 0.0f; /* the first token stays readable */
    }
}

void PW_OP(select_save)(struct pw_select *x, const struct pw_head *hd, float *votes)
{
    size_t Tp = (size_t)hd->Tp;
    for (int i = 0, rows = pw_attn_block_rows(hd->T), m; i < hd->T; i += m) {
        m = pw_attn_least(rows, hd->T - i);
        int cols = pw_to_16(i + m);
        votes_block(x, hd, votes + (size_t)i * Tp, i, i, m, cols);
        for (int r = 0; r < m; r++)
            for (int j = cols; j < hd->Tp; j += 16)
                v_store(votes + (size_t)(i + r) * Tp + j, v_zero());
    }
    x->votes = votes;
}

void PW_OP(select_keep)(struct pw_select *x, const struct pw_head *hd, float *lost, float *block, int T)
{
    size_t Tp = (size_t)hd->Tp;
    for (int i = T, rows = pw_attn_block_rows(hd->T - T), m; i < hd->T; i += m) {
        m = pw_attn_least(rows, hd->T - i);
        int cols = pw_to_16(i + m);
        votes_block(x, hd, block, i - T, i, m, cols);
        for (int r = 0; r < m; r++) {
            int own = i + r - 1; /* the keys that have a sum before these votes */
            float *to = lost + pw_lost_at(i + r);
            const float *before = own > 0 ? lost + pw_lost_at(own) : NULL;
            for (int j = 0; j <= i + r; j += 16) {
                v16 sum = v_zero();
                if (j < own)
                    sum = v_select(pw_attn_seen_lanes(own - j), v_load(before + j), sum);
                v_store(to + j, v_add(sum, v_load(block + (size_t)r * Tp + j)));
            }
        }
    }
    x->lost = lost;
}

/* Subtract sums from the scores of one query; own: the keys that have a sum. Return the largest score. */
static float subtract(float *s, const float *sum, int own, int cols)
{
    v16 most = v_set(-INFINITY);
    for (int j = 0; j < cols; j += 16) {
        v16 v = v_load(s + j);
        if (j < own)
            v = v_sub(v, v_select(pw_attn_seen_lanes(own - j), v_load(sum + j), v_zero()));
        most = v_max(v, most);
        v_store(s + j, v);
    }
    return v_largest(most);
}

void PW_OP(select_take)(const struct pw_select *x, const struct pw_head *hd, float *s, float *max, int i,
                        int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    if (x->lost != NULL) {
        for (int r = 0; r < m; r++)
            if (i + r > 1)
                max[r] = subtract(s + (size_t)r * Tp, x->lost + pw_lost_at(i + r - 1), i + r - 1, cols);
        return;
    }
    const float *votes = x->votes != NULL ? x->votes + (size_t)i * Tp : x->block;
    if (x->votes == NULL)
        votes_block(x, hd, x->block, i, i, m, cols);
    if (i == 0)
        memset(x->sum, 0, Tp * sizeof *x->sum);
    for (int r = 0; r < m; r++) {
        max[r] = subtract(s + (size_t)r * Tp, x->sum, i + r - 1, cols);
        for (int j = 0; j < cols; j += 16)
            v_store(x->sum + j, v_add(v_load(x->sum + j), v_load(votes + (size_t)r * Tp + j)));
    }
}

void PW_OP(select_collect)(const struct pw_head *hd, float *sums, const float *ds, bool first)
{
    size_t n = (size_t)hd->T * (size_t)hd->Tp;
    for (size_t i = 0; i < n; i += 16)
        v_store(sums + i, first ? v_load(ds + i) : v_add(v_load(sums + i), v_load(ds + i)));
}

void PW_OP(select_back)(const struct pw_head *hd, float *ds, const float *sums, const float *votes)
{
    size_t Tp = (size_t)hd->Tp;
    for (int j = 0; j < hd->T; j += 16) {
        v16 later = v_zero();
        for (int k = hd->T - 2; k >= j; k--) {
            size_t at = (size_t)k * Tp + (size_t)j;
            v16 d = v_load(ds + at);
            later = v_add(later, v_load(sums + at + Tp));
            v_store(ds + at, v_select(v_less(v_zero(), v_load(votes + at)), v_sub(d, later), d));
        }
    }
}
