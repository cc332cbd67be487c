/* attention.c - softmax attention over short ragged sequences, one head of one sequence at a time.
 *
 * All five products use gemm.c on small padded copies of the head, in blocks of at most 16 queries (or keys).
 * With a causal mask a block covers the keys of its last query only. Inside the block the probabilities of
 * hidden keys are exact zeros, which do not change a chain. Sums over a row leave hidden keys out.
 *
 * save: for each sequence and head the probabilities [T,Tp], with Tp = T rounded up to 16, and zeros for
 * hidden keys. In the same layout follow the derivatives of a function of scores, or the shares of a scan.
 * Without save, a worker has room for one block of queries, so a long sequence needs little memory. */
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/mix.h"
#include "kernels/score.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SHARED = 64 }; /* tokens of a lone sequence from which on the workers share its heads */

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

/* Apply the function of scores to the keys of query i. slope [Tp] (NULL: not wanted) receives derivatives. */
static __attribute__((noinline)) float apply_function(const struct pw_head *hd, float *row, float *slope,
                                                      int i, int keys)
{
    float most = -INFINITY, by;
    for (int j = 0; j < keys; j++) {
        struct pw_score_pair pair = {hd->pos[i], hd->pos[j], hd->h};
        row[j] = pw_score_value(hd->a->score, pair, row[j], &by);
        most = row[j] > most ? row[j] : most;
        if (slope != NULL)
            slope[j] = by;
    }
    return most;
}

/* Set x->rows for a block of queries in the worker's room. */
static void mix_block(struct pw_mixing *x, const struct pw_head *hd, float *room, int row, int i, int m,
                      int cols)
{
    PW_OP(mix_room)(x, hd->Tp, room);
    PW_OP(mix_rows)(x, hd, row, i, m, cols);
}

/* Turn s, which holds q.k of queries i .. i+m-1 on cols keys with rows Tp apart, into scores; -inf for hidden
 * keys. slope: rows of derivatives of the function of scores, laid out as s; or NULL. mixed: rows of mixed
 * bias, likewise. max receives the largest score of each row. Each pass here and below runs over all rows,
 * without branches on the mask. The steps within a row depend on each other, and the length of a causal row
 * is hard to predict. */
static void score_block(const struct pw_head *hd, float *s, float *slope, const float *mixed, float *max,
                        int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    v16 scale = v_set(hd->a->scale);
    for (int r = 0; r < m; r++) {
        int own = pw_keys_before(hd, i + r + 1);
        const float *bias = PW_OP(head_bias_row)(hd, i + r, own);
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(-INFINITY), term = hd->terms != NULL ? v_set(hd->terms[i + r]) : v_zero();
        for (int j = 0; j < cols; j += 16) {
            const float *b = bias != NULL ? bias + j : NULL, *t = hd->terms != NULL ? hd->terms + j : NULL;
            const float *x = mixed != NULL ? mixed + (size_t)r * Tp + j : NULL;
            v16 v = finish_score(v_load(row + j), scale, b, t, term, x, pw_attn_seen_lanes(own - j));
            if (hd->slopes != NULL)
                v = add_slopes(hd, v, i + r, j);
            most = v_max(v, most);
            v_store(row + j, v);
        }
        max[r] = v_largest(most);
        if (hd->a->score != NULL)
            max[r] = apply_function(hd, row, slope != NULL ? slope + (size_t)r * Tp : NULL, i + r, own);
    }
}

/* Turn the scores s of m queries into probabilities, 0 from column cols on. */
static void softmax_block(const struct pw_head *hd, float *s, const float *max, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float sum[PW_BLOCK];
    for (int r = 0; r < m; r++) {
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(max[r]), total = v_zero();
        for (int j = 0; j < cols; j += 16) {
            v16 e = v_exp(v_sub(v_load(row + j), most));
            total = v_add(total, e);
            v_store(row + j, e);
        }
        sum[r] = v_tree(total);
    }
    for (int r = 0; r < m; r++) {
        float *row = s + (size_t)r * Tp;
        struct v_divisor total = v_divisor(sum[r]);
        int j = 0;
        for (; j < cols; j += 16)
            v_store(row + j, v_quotient(v_load(row + j), &total));
        for (; j < hd->Tp; j += 16)
            v_store(row + j, v_zero());
    }
}

/* Turn the scores s of queries i .. i+m-1 into probabilities, 0 from column cols on. shares: of a scan, or
 * NULL.
 */
static void weights_block(const struct pw_head *hd, float *s, float *shares, const float *max, int i, int m,
                          int cols)
{
    if (hd->a->scan.kind == PW_SCAN_STICK)
        PW_OP(stick_block)(hd, s, shares, i, m, cols);
    else
        softmax_block(hd, s, max, m, cols);
}

/* Copy the first `cols` columns of m rows of s, Tp apart, to rows [T], and fill up with `rest`. */
static void tell_block(const struct pw_head *hd, float *to, const float *s, int m, int cols, float rest)
{
    for (int r = 0; r < m; r++, to += hd->T, s += hd->Tp) {
        int j = 0;
        for (; j < cols; j += 16)
            v_store_n(to + j, hd->T - j, v_load(s + j));
        for (; j < hd->T; j += 16)
            v_store_n(to + j, hd->T - j, v_set(rest));
    }
}

void PW_OP(scores)(struct pw_ctx *c, float *out, const float *qkv, const struct pw_attn *a, const int *pos,
                   const struct pw_seqs *s)
{
    int Tp = pw_to_16(pw_attn_longest(s)), E = pw_attn_width(a);
    size_t keys = (size_t)E * (size_t)Tp, block = PW_BLOCK * (size_t)Tp;
    size_t relative = PW_OP(relative_floats)(a, Tp, false), context = PW_OP(context_floats)(a, Tp, false);
    size_t bank = PW_OP(mix_shared_floats)(a, Tp, false), mix = bank + PW_OP(mix_room_floats)(a, Tp);
    float *kt = pw_ctx_scratch(c, keys + block + relative + context + mix + pw_bias_floats(Tp) +
                                      pw_turned_floats(a, pw_attn_longest(s)));
    float *t = kt + keys, *mixed = t + block + relative + context, *bias = mixed + mix, max[PW_BLOCK];
    struct pw_relative x;
    struct pw_context places;
    struct pw_mixing y;
    PW_OP(relative_init)(&x, a, Tp, false, t + block);
    PW_OP(context_init)(&places, a, Tp, false, t + block + relative);
    PW_OP(mix_init)(&y, a, Tp, false, mixed);
    for (int n = 0; n < s->n; n++) {
        const float *qk = pw_attn_turned_seq(bias + pw_bias_floats(Tp), qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++) {
            struct pw_head hd = pw_attn_head_of(qkv, qk, a, pos, s, n, h, bias);
            PW_OP(pack_transposed)(kt, (size_t)hd.Tp, hd.k, hd.qw, hd.T, E);
            PW_OP(head_bias_load)(&hd);
            for (int i = 0, rows = pw_attn_block_rows(hd.T), m; i < hd.T; i += m) {
                m = pw_attn_least(rows, hd.T - i);
                int seen = pw_to_16(pw_keys_before(&hd, i + m));
                const float *q = hd.q + (size_t)i * hd.qw;
                pw_product(m, seen, E, q, hd.qw, 1, kt, (size_t)hd.Tp, t, (size_t)hd.Tp, false);
                if (a->keys != NULL)
                    PW_OP(relative_add)(&x, &hd, t, q, i, m);
                if (a->mix != NULL)
                    mix_block(&y, &hd, mixed + bank, hd.base + i, i, m, seen);
                score_block(&hd, t, NULL, y.rows, max, i, m, seen);
                if (a->scan.kind == PW_SCAN_CONTEXT)
                    PW_OP(context_add)(&places, &hd, t, NULL, max, q, i, m, seen);
                tell_block(&hd, out, t, m, seen, -INFINITY);
                out += (size_t)m * (size_t)hd.T;
            }
        }
    }
}

size_t PW_OP(attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs)
{
    return (pw_attn_saves_two(a) ? 2 : 1) * pw_attn_maps_floats(a->heads, start, n_seqs);
}

/* The forward pass of one sequence. */
struct fwd {
    /* save, and slopes of a function or shares of a scan, of the sequence; NULL: no backward pass follows */
    float *z, *save, *slope;
    struct pw_maps maps; /* of the sequence */
    const float *qkv, *qk;
    const float *plain; /* as qk, for the scores that maps.content asks for */
    const struct pw_attn *a;
    const int *pos;
    const struct pw_seqs *s;
    int n;                    /* index of the sequence */
    struct pw_relative x;     /* with the table that all workers read */
    struct pw_mixing y;       /* with the bank that all workers read */
    struct pw_context places; /* likewise */
    const struct pw_ctx *all; /* the worker of the first room */
    float *rooms;
    /* Floats of a worker's room, which begins with the keys. Then the places of its other parts: values,
     * probabilities of a block, dropped ones, the block's scores, keys and scores of the content, relative
     * products, contextual positions, the mix, and the bias. */
    size_t room, values, block, dropped, scores, content_keys, content, relative, context, mix, bias;
};

static float *map_of(float *maps, int h, size_t T)
{
    return maps != NULL ? maps + (size_t)h * T * T : NULL;
}

/* The head as maps.content reads it. */
static struct pw_head plain_head(const struct fwd *f, int h)
{
    return pw_attn_head_of(f->qkv, f->plain, f->maps.content, f->pos, f->s, f->n, h, NULL);
}

/* Hand a block of m queries, of which p holds the probabilities, to the caller of the operation. wanted: with
 * its scores. */
static void tell_rows(const struct fwd *f, const struct pw_head *hd, float *room, const float *p, int i,
                      int m, bool wanted)
{
    const struct pw_maps *maps = &f->maps;
    size_t Tp = (size_t)hd->Tp;
    int seen = pw_to_16(pw_keys_before(hd, i + m));
    struct pw_map_rows rows = {.head = hd->h,
                               .query = i,
                               .n = m,
                               .keys = seen < hd->T ? seen : hd->T,
                               .stride = Tp,
                               .probs = p,
                               .scores = wanted ? room + f->scores : NULL};
    if (f->plain != NULL && wanted) {
        float *content = room + f->content, max[PW_BLOCK];
        struct pw_head plain = plain_head(f, hd->h);
        const float *q = plain.q + (size_t)i * plain.qw;
        pw_product(m, seen, plain.E, q, plain.qw, 1, room + f->content_keys, Tp, content, Tp, false);
        score_block(&plain, content, NULL, NULL, max, i, m, seen);
        rows.content = content;
    }
    maps->each(maps->arg, &rows);
}

static void fwd_head(struct pw_ctx *c, void *arg, int h)
{
    const struct fwd *f = arg;
    const struct pw_attn *a = f->a;
    float *kt = f->rooms + (size_t)(c - f->all) * f->room, *v = kt + f->values, *d = kt + f->dropped;
    float max[PW_BLOCK];
    struct pw_relative x = f->x;
    struct pw_mixing y = f->y;
    struct pw_head hd = pw_attn_head_of(f->qkv, f->qk, a, f->pos, f->s, f->n, h, kt + f->bias);
    int D = a->head_width;
    size_t T = (size_t)hd.T, Tp = (size_t)hd.Tp, Dp = (size_t)hd.Dp, C = (size_t)(a->heads * D);
    float *z = f->z + (size_t)f->s->start[f->n] * C + h * D;
    float *save = f->save != NULL ? f->save + (size_t)h * T * Tp : NULL;
    float *slope = f->slope != NULL ? f->slope + (size_t)h * T * Tp : NULL;
    float *scores = map_of(f->maps.scores, h, T), *probs = map_of(f->maps.probs, h, T);
    struct pw_context places = f->places;
    x.dots = kt + f->relative;
    PW_OP(context_room)(&places, kt + f->context);
    PW_OP(pack_transposed)(kt, Tp, hd.k, hd.qw, hd.T, hd.E);
    PW_OP(pack_rows)(v, Dp, hd.v, hd.w, hd.T, D);
    PW_OP(head_bias_load)(&hd);
    if (f->plain != NULL) {
        struct pw_head plain = plain_head(f, h);
        PW_OP(pack_transposed)(kt + f->content_keys, Tp, plain.k, plain.qw, hd.T, plain.E);
    }
    for (int i = 0, rows = pw_attn_block_rows(hd.T), m; i < hd.T; i += m) {
        m = pw_attn_least(rows, hd.T - i);
        int seen = pw_keys_before(&hd, i + m), cols = pw_to_16(seen);
        const float *q = hd.q + (size_t)i * hd.qw;
        float *p = save != NULL ? save + (size_t)i * Tp : kt + f->block;
        pw_product(m, cols, hd.E, q, hd.qw, 1, kt, Tp, p, Tp, false);
        if (a->keys != NULL)
            PW_OP(relative_add)(&x, &hd, p, q, i, m);
        if (a->mix != NULL)
            mix_block(&y, &hd, kt + f->mix, hd.base + i, i, m, cols);
        float *by = slope != NULL ? slope + (size_t)i * Tp : NULL;
        score_block(&hd, p, by, y.rows, max, i, m, cols);
        if (a->scan.kind == PW_SCAN_CONTEXT)
            PW_OP(context_add)(&places, &hd, p, by, max, q, i, m, cols);
        if (scores != NULL)
            tell_block(&hd, scores + (size_t)i * T, p, m, cols, -INFINITY);
        bool wanted = f->maps.each != NULL && f->maps.wants(f->maps.arg, h, i, m);
        for (int r = 0; r < m && wanted; r++)
            memcpy(kt + f->scores + (size_t)r * Tp, p + (size_t)r * Tp, (size_t)cols * sizeof *p);
        weights_block(&hd, p, by, max, i, m, cols);
        if (probs != NULL)
            tell_block(&hd, probs + (size_t)i * T, p, m, cols, 0.0f);
        if (f->maps.each != NULL)
            tell_rows(f, &hd, kt, p, i, m, wanted);
        if (a->drop != NULL) {
            pw_attn_drop_block(&hd, d, p, i, m);
            p = d;
        }
        pw_product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * C, C, false);
    }
}

/* Divide a worker's room; relative and context: floats of the relative products and of the positions. */
static void divide_room(struct fwd *f, size_t relative, size_t context, int Tmax)
{
    const struct pw_attn *a = f->a;
    const struct pw_maps *maps = &f->maps;
    size_t keys = (size_t)pw_attn_width(a) * (size_t)Tmax, block = PW_BLOCK * (size_t)Tmax;
    bool content = maps->each != NULL && maps->content != NULL;
    f->values = keys;
    f->block = f->values + (size_t)Tmax * (size_t)pw_to_16(a->head_width);
    f->dropped = f->block + (f->save == NULL ? block : 0);
    f->scores = f->dropped + (a->drop != NULL ? block : 0);
    f->content_keys = f->scores + (maps->each != NULL ? block : 0);
    f->content = f->content_keys + (content ? (size_t)pw_attn_width(maps->content) * (size_t)Tmax : 0);
    f->relative = f->content + (content ? block : 0);
    f->context = f->relative + relative;
    f->mix = f->context + context;
    f->bias = f->mix + PW_OP(mix_room_floats)(a, Tmax);
    f->room = (f->bias + pw_bias_floats(Tmax) + 15) / 16 * 16;
}

void PW_OP(attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int T = pw_attn_longest(s), Tmax = pw_to_16(T);
    bool share = c->alone != NULL && s->n == 1 && T >= SHARED, slopes = save != NULL && pw_attn_saves_two(a);
    struct fwd f = {z,
                    save,
                    slopes ? save + pw_attn_maps_floats(a->heads, s->start, s->n) : NULL,
                    .qkv = qkv,
                    .a = a,
                    .pos = pos,
                    .s = s,
                    .all = share ? c->alone->ctx : c};
    f.maps = maps != NULL ? *maps : (struct pw_maps){0};
    bool content = f.maps.each != NULL && f.maps.content != NULL;
    size_t relative = PW_OP(relative_floats)(a, Tmax, false), turned = pw_turned_floats(a, T);
    size_t context = PW_OP(context_floats)(a, Tmax, false);
    divide_room(&f, relative, context, Tmax);
    size_t rooms = f.room * (size_t)(share ? c->alone->threads : 1);
    size_t plain = content ? pw_turned_floats(f.maps.content, T) : 0;
    size_t mix = PW_OP(mix_shared_floats)(a, Tmax, false);
    f.rooms = pw_ctx_scratch(c, rooms + context + relative + turned + plain + mix);
    float *shared = f.rooms + rooms + context;
    PW_OP(context_init)(&f.places, a, Tmax, false, f.rooms + rooms);
    PW_OP(relative_init)(&f.x, a, Tmax, false, shared);
    PW_OP(mix_init)(&f.y, a, Tmax, false, shared + relative + turned + plain);
    for (f.n = 0; f.n < s->n; f.n++) {
        size_t rows = (size_t)(s->start[f.n + 1] - s->start[f.n]), heads = (size_t)a->heads;
        size_t saved = heads * rows * (size_t)pw_to_16((int)rows);
        f.qk = pw_attn_turned_seq(shared + relative, qkv, a, pos, s, f.n);
        if (content)
            f.plain = pw_attn_turned_seq(shared + relative + turned, qkv, f.maps.content, pos, s, f.n);
        if (share)
            pw_ctx_share(c, a->heads, fwd_head, &f);
        for (int h = 0; h < a->heads && !share; h++)
            fwd_head(c, &f, h);
        f.maps.scores = map_of(f.maps.scores, a->heads, rows);
        f.maps.probs = map_of(f.maps.probs, a->heads, rows);
        f.save += f.save != NULL ? saved : 0;
        f.slope += f.slope != NULL ? saved : 0;
    }
}

size_t PW_OP(attn_cache_floats)(int H, int D, int cap)
{
    return (size_t)H * ((size_t)D * (size_t)pw_to_16(cap) + (size_t)cap * (size_t)pw_to_16(D));
}

/* The pass over rows that continue a sequence. */
struct cached {
    float *z, *cache;
    struct pw_head first; /* the head 0, without a room for its bias */
    const struct pw_attn *a;
    int cap, T, R;
    struct pw_relative x;     /* with the table that all workers read */
    struct pw_mixing y;       /* with the bank that all workers read */
    struct pw_context places; /* likewise */
    const struct pw_ctx *all; /* the worker of the first room */
    float *rooms; /* a worker's probabilities of a block, relative products, positions, mix and bias */
    size_t room, relative, context, mix, bias;
};

/* The cache of a head has the layout that attention_fwd uses: keys [D,cap rounded up to 16], transposed, and
 * values [cap,Dp]. So a new token only adds a column and a row. */
static void cached_head(struct pw_ctx *c, void *arg, int h)
{
    const struct cached *f = arg;
    const struct pw_attn *a = f->a;
    struct pw_head hd = f->first;
    struct pw_relative x = f->x;
    struct pw_mixing y = f->y;
    int T = f->T, R = f->R, D = a->head_width, E = hd.E;
    size_t ld = (size_t)pw_to_16(f->cap), Dp = (size_t)pw_to_16(D), C = (size_t)(a->heads * D);
    size_t Tp = (size_t)hd.Tp;
    float *kt = f->cache + (size_t)h * PW_OP(attn_cache_floats)(1, E, f->cap), *v = kt + (size_t)E * ld;
    float *p = f->rooms + (size_t)(c - f->all) * f->room, *z = f->z + h * D, max[PW_BLOCK];
    hd.h = h;
    hd.q += h * E;
    hd.k += h * E;
    hd.v += h * D;
    hd.bias = p + f->bias;
    hd.terms = pw_terms_room(a, hd.bias, hd.Tp);
    struct pw_context places = f->places;
    pw_slopes_room(&hd);
    x.dots = p + f->relative;
    PW_OP(context_room)(&places, p + f->context);
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t d = 0; d < (size_t)E; d++)
            kt[d * ld + (size_t)T + r] = hd.k[r * hd.qw + d];
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t d = 0; d < (size_t)D; d++)
            v[((size_t)T + r) * Dp + d] = hd.v[r * hd.w + d];
    PW_OP(head_bias_load)(&hd);
    for (int i = 0, rows = pw_attn_block_rows(R), m; i < R; i += m) {
        m = pw_attn_least(rows, R - i);
        int seen = pw_keys_before(&hd, T + i + m), cols = pw_to_16(seen);
        const float *q = hd.q + (size_t)i * hd.qw;
        pw_product(m, cols, E, q, hd.qw, 1, kt, ld, p, Tp, false);
        if (a->keys != NULL)
            PW_OP(relative_add)(&x, &hd, p, q, T + i, m);
        if (a->mix != NULL)
            mix_block(&y, &hd, f->rooms + (size_t)(c - f->all) * f->room + f->mix, i, T + i, m, cols);
        score_block(&hd, p, NULL, y.rows, max, T + i, m, cols);
        if (a->scan.kind == PW_SCAN_CONTEXT)
            PW_OP(context_add)(&places, &hd, p, NULL, max, q, T + i, m, cols);
        weights_block(&hd, p, NULL, max, T + i, m, cols);
        pw_product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * C, C, false);
    }
}

void PW_OP(attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    int D = a->head_width, n = T + R, C = a->heads * D, Tp = pw_to_16(n);
    bool share = c->alone != NULL && R >= SHARED;
    size_t relative = PW_OP(relative_floats)(a, n, false), context = PW_OP(context_floats)(a, Tp, false);
    struct cached f = {z, cache, .a = a, .cap = cap, .T = T, .R = R, .all = share ? c->alone->ctx : c};
    f.relative = PW_BLOCK * (size_t)Tp;
    f.context = f.relative + relative;
    f.mix = f.context + context;
    f.bias = f.mix + PW_OP(mix_room_floats)(a, Tp);
    f.room = (f.bias + pw_bias_floats(Tp) + 15) / 16 * 16;
    size_t rooms = f.room * (size_t)(share ? c->alone->threads : 1);
    size_t turned = pw_turned_floats(a, R), mix = PW_OP(mix_shared_floats)(a, n, false);
    f.rooms = pw_ctx_scratch(c, rooms + context + relative + turned + mix);
    float *shared = f.rooms + rooms + context;
    PW_OP(context_init)(&f.places, a, Tp, false, f.rooms + rooms);
    PW_OP(relative_init)(&f.x, a, n, false, shared);
    PW_OP(mix_init)(&f.y, a, n, false, shared + relative + turned);
    f.first = (struct pw_head){.a = a, .w = 3 * (size_t)C, .pos = pos, .T = n, .Tp = Tp, .D = D};
    bool wide = a->made != NULL && a->made->wide != NULL;
    f.first.E = pw_attn_width(a);
    f.first.qw = wide ? 2 * (size_t)(a->heads * f.first.E) : f.first.w;
    f.first.q = wide ? a->made->wide : PW_OP(turned)(shared + relative, qkv, a, pos, T, R);
    f.first.k = f.first.q + a->heads * f.first.E;
    f.first.v = qkv + 2 * C;
    f.first.in_order = (a->bias != NULL || a->keys != NULL || a->mix != NULL) && pw_attn_ascending(pos, n);
    assert(n <= cap && a->drop == NULL);
    if (share)
        pw_ctx_share(c, a->heads, cached_head, &f);
    for (int h = 0; h < a->heads && !share; h++)
        cached_head(c, &f, h);
}
