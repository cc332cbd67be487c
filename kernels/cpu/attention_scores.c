/* attention_scores.c - scores of a block of queries: q.k, what an encoding adds, and a function of them. */
#include "kernels/cpu/attention_scores.h"
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/cpu.h"
#include "kernels/score.h"

#include <math.h>
#include <string.h>

/* ---- scratch: relative keys, contextual positions, selection, then the mix */

static size_t before_selection(const struct pw_attn *a, int Tp)
{
    return PW_OP(relative_floats)(a, Tp, false) + PW_OP(context_floats)(a, Tp, false);
}

size_t PW_OP(scoring_floats)(const struct pw_attn *a, int Tp)
{
    return before_selection(a, Tp) + PW_OP(select_floats)(a, Tp) + PW_OP(mix_shared_floats)(a, Tp, false);
}

size_t PW_OP(scoring_room_floats)(const struct pw_attn *a, int Tp)
{
    return before_selection(a, Tp) + PW_OP(select_room_floats)(a, Tp) + PW_OP(mix_room_floats)(a, Tp) +
           pw_walk_room(a);
}

void PW_OP(scoring_init)(struct pw_scoring *x, const struct pw_attn *a, int Tp, float *shared)
{
    size_t relative = PW_OP(relative_floats)(a, Tp, false);
    *x = (struct pw_scoring){0};
    PW_OP(relative_init)(&x->relative, a, Tp, false, shared);
    PW_OP(context_init)(&x->context, a, Tp, false, shared + relative);
    PW_OP(mix_init)(&x->mixing, a, Tp, false, shared + before_selection(a, Tp) + PW_OP(select_floats)(a, Tp));
}

float *PW_OP(scoring_votes)(const struct pw_attn *a, int Tp, float *shared)
{
    return shared + before_selection(a, Tp);
}

void PW_OP(scoring_room)(struct pw_scoring *x, const struct pw_attn *a, int Tp, float *room)
{
    size_t relative = PW_OP(relative_floats)(a, Tp, false), votes = before_selection(a, Tp);
    x->relative.dots = room;
    PW_OP(context_room)(&x->context, room + relative);
    PW_OP(select_room)(&x->select, Tp, room + votes);
    if (a->mix != NULL)
        PW_OP(mix_room)(&x->mixing, Tp, room + votes + PW_OP(select_room_floats)(a, Tp));
    x->walk = room + votes + PW_OP(select_room_floats)(a, Tp) + PW_OP(mix_room_floats)(a, Tp);
}

/* ---- scores */

void PW_OP(scoring_keys)(struct pw_scoring *x, const struct pw_head *hd, float *room)
{
    x->keys = hd->a->walk != NULL ? hd->k : room;
    x->ld = hd->a->walk != NULL ? hd->qw : (size_t)hd->Tp;
    if (hd->a->walk == NULL)
        PW_OP(pack_transposed)(room, x->ld, hd->k, hd->qw, hd->T, hd->E);
}

/* terms: those of the keys; term: of the query; mixed: its mixed bias. */
V_INLINE v16 finish_score(v16 s, v16 scale, const float *bias, const float *terms, v16 term,
                          const float *mixed, m16 seen)
{
    s = v_mul(s, scale);
    if (bias != NULL)
        s = v_add(s, v_load_m(bias, seen));
    if (terms != NULL)
        s = v_add(s, v_sub(term, v_load(terms)));
    if (mixed != NULL)
        s = v_add(s, v_load(mixed));
    return v_select(seen, s, v_set(-INFINITY)); /* exp makes it an exact zero */
}

/* Add the slopes of query i and keys j .. j+15 to their scores. A score of -inf stays. */
V_INLINE v16 add_slopes(const struct pw_head *hd, v16 s, int i, int j)
{
    v16 both = v_add(v_set(pw_query_slope(hd, i)), v_load(hd->slopes + j));
    return v_add(s, v_mul(v_sub(v_load(hd->place + j), v_set(hd->place[i])), both));
}

/* Apply the function of scores to the keys of query i. slope [Tp] (NULL: not wanted) receives derivatives,
 * and `third` floats later, if third is not 0, the scores before the function. */
static __attribute__((noinline)) float apply_function(const struct pw_head *hd, float *row, float *slope,
                                                      size_t third, int i, int keys)
{
    float most = -INFINITY, by;
    if (slope != NULL && third > 0)
        memcpy(slope + third, row, (size_t)keys * sizeof *row);
    for (int j = 0; j < keys; j++) {
        struct pw_score_pair pair = {hd->pos[i], hd->pos[j], hd->h, pw_attn_learned(hd->a, hd->h)};
        row[j] = pw_score_value(hd->a->score, pair, row[j], &by);
        most = row[j] > most ? row[j] : most;
        if (slope != NULL)
            slope[j] = by;
    }
    return most;
}

/* Turn s, which holds q.k of queries i .. i+m-1 on cols keys with rows Tp apart, into scores; -inf for hidden
 * keys. slope: rows of derivatives of the function of scores, laid out as s; or NULL. max receives the
 * largest score of each row. Each pass here and below runs over all rows, without branches on the mask. The
 * steps within a row depend on each other, and the length of a causal row is hard to predict. */
static void finish_block(const struct pw_scoring *x, const struct pw_head *hd, float *s, float *slope,
                         float *max, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    v16 scale = v_set(hd->a->scale);
    const float *mixed = x->mixing.rows;
    for (int r = 0; r < m; r++) {
        int own = pw_keys_before(hd, i + r + 1);
        const float *bias = PW_OP(head_bias_row)(hd, i + r, own);
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(-INFINITY), term = hd->terms != NULL ? v_set(hd->terms[i + r]) : v_zero();
        for (int j = 0; j < cols; j += 16) {
            const float *b = bias != NULL ? bias + j : NULL, *t = hd->terms != NULL ? hd->terms + j : NULL;
            const float *w = mixed != NULL ? mixed + (size_t)r * Tp + j : NULL;
            v16 v = finish_score(v_load(row + j), scale, b, t, term, w, pw_attn_seen_lanes(own - j));
            if (hd->slopes != NULL)
                v = add_slopes(hd, v, i + r, j);
            most = v_max(v, most);
            v_store(row + j, v);
        }
        max[r] = v_largest(most);
        if (hd->a->score != NULL)
            max[r] =
                apply_function(hd, row, slope != NULL ? slope + (size_t)r * Tp : NULL, x->third, i + r, own);
    }
}

void PW_OP(score_block)(const struct pw_scoring *x, const struct pw_head *hd, float *s, float *second,
                        float *max, int row, int i, int m, int cols)
{
    const struct pw_attn *a = hd->a;
    const float *q = hd->q + (size_t)row * hd->qw;
    if (a->walk != NULL)
        PW_OP(walk_block)(hd, s, q, x->keys, x->ld, x->walk, i, m);
    else
        pw_product(m, cols, hd->E, q, hd->qw, 1, x->keys, x->ld, s, (size_t)hd->Tp, false);
    if (a->keys != NULL)
        PW_OP(relative_add)(&x->relative, hd, s, q, i, m);
    if (a->mix != NULL)
        PW_OP(mix_rows)(&x->mixing, hd, hd->base + row, i, m, cols);
    finish_block(x, hd, s, second, max, i, m, cols);
    if (a->scan.kind == PW_SCAN_CONTEXT)
        PW_OP(context_add)(&x->context, hd, s, second, max, q, i, m, cols);
    if (a->scan.kind == PW_SCAN_SELECT)
        PW_OP(select_take)(&x->select, hd, s, max, i, m, cols);
}

void PW_OP(scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s)
{
    int Tp = pw_to_16(pw_attn_longest(s)), E = pw_attn_width(a);
    size_t keys = (size_t)E * (size_t)Tp, block = PW_BLOCK * (size_t)Tp;
    size_t shared = PW_OP(scoring_floats)(a, Tp), room = PW_OP(scoring_room_floats)(a, Tp);
    float *kt = pw_ctx_scratch(c, keys + block + shared + room + pw_bias_floats(Tp) +
                                      pw_turned_floats(a, pw_attn_longest(s)));
    float *t = kt + keys, *bias = t + block + shared + room, max[PW_BLOCK];
    struct pw_scoring x;
    PW_OP(scoring_init)(&x, a, Tp, t + block);
    PW_OP(scoring_room)(&x, a, Tp, t + block + shared);
    for (int n = 0; n < s->n; n++) {
        const float *qk = pw_attn_turned_seq(bias + pw_bias_floats(Tp), qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++) {
            struct pw_head hd = pw_attn_head_of(qkv, qk, a, pos, s, n, h, bias);
            if (h == 0 && a->scan.kind == PW_SCAN_SELECT) {
                x.ld = (size_t)hd.Tp;
                PW_OP(select_begin)(&x.select, &hd, PW_OP(scoring_votes)(a, Tp, t + block));
                PW_OP(scoring_room)(&x, a, Tp, t + block + shared);
            }
            PW_OP(scoring_keys)(&x, &hd, kt);
            PW_OP(head_bias_load)(&hd);
            for (int i = 0, rows = pw_attn_block_rows(hd.T), m; i < hd.T; i += m) {
                m = pw_attn_least(rows, hd.T - i);
                int seen = pw_to_16(pw_keys_before(&hd, i + m));
                PW_OP(score_block)(&x, &hd, t, NULL, max, i, i, m, seen);
                pw_attn_tell_block(&hd, out, t, m, seen, -INFINITY);
                out += (size_t)m * (size_t)hd.T;
            }
        }
    }
}
