/* attention.c - softmax attention over short ragged sequences, one head of one sequence at a time.
 *
 * All five products use gemm.c on small padded copies of the head, in blocks of at most 16 queries (or keys).
 * With a causal mask a block covers the keys of its last query only. Inside the block the probabilities of
 * hidden keys are exact zeros, which do not change a chain. Sums over a row leave hidden keys out.
 *
 * save: for each sequence and head the probabilities [T,Tp], with Tp = T rounded up to 16, and zeros for
 * hidden keys. If scores go through a function, its derivatives follow, in the same layout. */
#include "kernels/cpu/attention.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vmath.h"
#include "kernels/score.h"

#include <assert.h>
#include <math.h>

enum { SHARED = 64 }; /* tokens of a lone sequence from which on the workers share its heads */

static bool ascending(const int *pos, int T)
{
    bool yes = true;
    for (int i = 1; i < T; i++)
        yes = yes && pos[i] == pos[0] + i;
    return yes;
}

/* Number of rows per block, so that n rows are split evenly. */
static int block_rows(int n)
{
    int blocks = (n + PW_BLOCK - 1) / PW_BLOCK;
    return blocks > 0 ? (n + blocks - 1) / blocks : 1;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int longest(const struct pw_seqs *s)
{
    int T = 0;
    for (int n = 0; n < s->n; n++)
        T = s->start[n + 1] - s->start[n] > T ? s->start[n + 1] - s->start[n] : T;
    return T;
}

/* Return the rows of sequence n with q and k transformed (rotate.c). */
static const float *turned_seq(float *room, const float *qkv, const struct pw_attn *a, const int *pos,
                               const struct pw_seqs *s, int n)
{
    int base = s->start[n], w = 3 * a->heads * a->head_width;
    return PW_OP(turned)(room, qkv + (size_t)base * (size_t)w, a, pos, base, s->start[n + 1] - base);
}

/* c [m,n], with rows ldc apart, over panels of 32 columns. */
static void product(int m, int n, int K, const float *a, size_t ras, size_t cas, const float *b, size_t bs,
                    float *c, size_t ldc)
{
    for (int j = 0; j < n; j += PW_PANEL)
        PW_OP(panel)(m, least(n - j, PW_PANEL), K, a, ras, cas, b + j, bs, c + j, ldc, false);
}

/* qk: the first transformed row of the sequence. */
static struct pw_head head_of(const float *qkv, const float *qk, const struct pw_attn *a, const int *pos,
                              const struct pw_seqs *s, int n, int h, float *bias)
{
    int D = a->head_width, C = a->heads * D, base = s->start[n], T = s->start[n + 1] - base;
    struct pw_head hd = {.a = a, .w = 3 * (size_t)C, .h = h, .T = T, .D = D, .bias = bias};
    hd.q = qk + h * D;
    hd.k = hd.q + C;
    hd.v = qkv + (size_t)base * hd.w + 2 * C + h * D;
    hd.base = base;
    hd.Tp = pw_to_16(T);
    hd.Dp = pw_to_16(D);
    if (a->bias == NULL && a->keys == NULL && a->score == NULL)
        return hd;
    hd.pos = pos + base;
    hd.in_order = ascending(hd.pos, T);
    return hd;
}

V_INLINE v16 finish_score(v16 s, v16 scale, const float *bias, m16 seen)
{
    s = v_mul(s, scale);
    if (bias != NULL)
        s = v_add(s, v_load_m(bias, seen));
    return v_select(seen, s, v_set(-INFINITY)); /* exp makes it an exact zero */
}

V_INLINE m16 seen_lanes(int left)
{
    return m_first(left < 0 ? 0 : left > 16 ? 16 : left);
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

/* Turn s, which holds q.k of queries i .. i+m-1 on cols keys with rows Tp apart, into scores; -inf for hidden
 * keys. slope: rows of derivatives of the function of scores, laid out as s; or NULL. max receives the
 * largest score of each row. Each pass here and below runs over all rows, without branches on the mask. The
 * steps within a row depend on each other, and the length of a causal row is hard to predict. */
static void score_block(const struct pw_head *hd, float *s, float *slope, float *max, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    v16 scale = v_set(hd->a->scale);
    for (int r = 0; r < m; r++) {
        int own = pw_keys_before(hd, i + r + 1);
        const float *bias = PW_OP(head_bias_row)(hd, i + r, own);
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(-INFINITY);
        for (int j = 0; j < cols; j += 16) {
            const float *b = bias != NULL ? bias + j : NULL;
            v16 v = finish_score(v_load(row + j), scale, b, seen_lanes(own - j));
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
    int Tp = pw_to_16(longest(s)), D = a->head_width;
    size_t keys = (size_t)D * (size_t)Tp, block = PW_BLOCK * (size_t)Tp;
    size_t relative = PW_OP(relative_floats)(a, Tp, false);
    float *kt =
        pw_ctx_scratch(c, keys + block + relative + pw_bias_floats(Tp) + pw_turned_floats(a, longest(s)));
    float *t = kt + keys, *bias = t + block + relative, max[PW_BLOCK];
    struct pw_relative x;
    PW_OP(relative_init)(&x, a, Tp, false, t + block);
    for (int n = 0; n < s->n; n++) {
        const float *qk = turned_seq(bias + pw_bias_floats(Tp), qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++) {
            struct pw_head hd = head_of(qkv, qk, a, pos, s, n, h, bias);
            PW_OP(pack_transposed)(kt, (size_t)hd.Tp, hd.k, hd.w, hd.T, D);
            PW_OP(head_bias_load)(&hd);
            for (int i = 0, rows = block_rows(hd.T), m; i < hd.T; i += m) {
                m = least(rows, hd.T - i);
                int seen = pw_to_16(pw_keys_before(&hd, i + m));
                const float *q = hd.q + (size_t)i * hd.w;
                product(m, seen, D, q, hd.w, 1, kt, (size_t)hd.Tp, t, (size_t)hd.Tp);
                if (a->keys != NULL)
                    PW_OP(relative_add)(&x, &hd, t, q, i, m);
                score_block(&hd, t, NULL, max, i, m, seen);
                tell_block(&hd, out, t, m, seen, -INFINITY);
                out += (size_t)m * (size_t)hd.T;
            }
        }
    }
}

/* Floats of the probabilities, or of the derivatives. */
static size_t maps_floats(int H, const int *start, int n_seqs)
{
    size_t sum = 0;
    for (int n = 0; n < n_seqs; n++) {
        size_t T = (size_t)(start[n + 1] - start[n]);
        sum += (size_t)H * T * ((T + 15) / 16 * 16);
    }
    return sum;
}

size_t PW_OP(attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs)
{
    return (a->score != NULL ? 2 : 1) * maps_floats(a->heads, start, n_seqs);
}

/* y = m rows of x, Tp apart, times the dropout mask of queries from i on; y may be x. */
static void drop_block(const struct pw_head *hd, float *y, const float *x, int i, int m)
{
    PW_OP(drop_rows)(y, x, hd->a->drop, hd->h, hd->base + i, m, hd->Tp, (size_t)hd->Tp);
}

/* The forward pass of one sequence. */
struct fwd {
    float *z, *save, *slope; /* save and slope of the sequence */
    struct pw_maps maps;     /* of the sequence */
    const float *qkv, *qk;
    const struct pw_attn *a;
    const int *pos;
    const struct pw_seqs *s;
    int n;                    /* index of the sequence */
    struct pw_relative x;     /* with the table that all workers read */
    const struct pw_ctx *all; /* the worker of the first room */
    float *rooms;             /* a worker's keys, values, dropped probabilities, relative products and bias */
    size_t room, values, dropped, relative, bias; /* floats of a room; where its parts begin */
};

static float *map_of(float *maps, int h, size_t T)
{
    return maps != NULL ? maps + (size_t)h * T * T : NULL;
}

static void fwd_head(struct pw_ctx *c, void *arg, int h)
{
    const struct fwd *f = arg;
    const struct pw_attn *a = f->a;
    float *kt = f->rooms + (size_t)(c - f->all) * f->room, *v = kt + f->values, *d = kt + f->dropped;
    float max[PW_BLOCK];
    struct pw_relative x = f->x;
    struct pw_head hd = head_of(f->qkv, f->qk, a, f->pos, f->s, f->n, h, kt + f->bias);
    int D = a->head_width;
    size_t T = (size_t)hd.T, Tp = (size_t)hd.Tp, Dp = (size_t)hd.Dp, C = (size_t)(a->heads * D);
    float *z = f->z + (size_t)f->s->start[f->n] * C + h * D, *save = f->save + (size_t)h * T * Tp;
    float *slope = a->score != NULL ? f->slope + (size_t)h * T * Tp : NULL;
    float *scores = map_of(f->maps.scores, h, T), *probs = map_of(f->maps.probs, h, T);
    x.dots = kt + f->relative;
    PW_OP(pack_transposed)(kt, Tp, hd.k, hd.w, hd.T, D);
    PW_OP(pack_rows)(v, Dp, hd.v, hd.w, hd.T, D);
    PW_OP(head_bias_load)(&hd);
    for (int i = 0, rows = block_rows(hd.T), m; i < hd.T; i += m) {
        m = least(rows, hd.T - i);
        int seen = pw_keys_before(&hd, i + m);
        const float *q = hd.q + (size_t)i * hd.w;
        float *p = save + (size_t)i * Tp;
        product(m, pw_to_16(seen), D, q, hd.w, 1, kt, Tp, p, Tp);
        if (a->keys != NULL)
            PW_OP(relative_add)(&x, &hd, p, q, i, m);
        score_block(&hd, p, slope != NULL ? slope + (size_t)i * Tp : NULL, max, i, m, pw_to_16(seen));
        if (scores != NULL)
            tell_block(&hd, scores + (size_t)i * T, p, m, pw_to_16(seen), -INFINITY);
        softmax_block(&hd, p, max, m, pw_to_16(seen));
        if (probs != NULL)
            tell_block(&hd, probs + (size_t)i * T, p, m, pw_to_16(seen), 0.0f);
        if (a->drop != NULL) {
            drop_block(&hd, d, p, i, m);
            p = d;
        }
        product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * C, C);
    }
}

void PW_OP(attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int T = longest(s), Tmax = pw_to_16(T), D = a->head_width;
    bool share = c->alone != NULL && s->n == 1 && T >= SHARED;
    struct fwd f = {z,
                    save,
                    save + maps_floats(a->heads, s->start, s->n),
                    .qkv = qkv,
                    .a = a,
                    .pos = pos,
                    .s = s,
                    .all = share ? c->alone->ctx : c};
    f.maps = maps != NULL ? *maps : (struct pw_maps){0};
    f.values = (size_t)D * (size_t)Tmax;
    f.dropped = f.values + (size_t)Tmax * (size_t)pw_to_16(D);
    f.relative = f.dropped + (a->drop != NULL ? PW_BLOCK * (size_t)Tmax : 0);
    size_t relative = PW_OP(relative_floats)(a, Tmax, false);
    f.bias = f.relative + relative;
    f.room = (f.bias + pw_bias_floats(Tmax) + 15) / 16 * 16;
    size_t rooms = f.room * (size_t)(share ? c->alone->threads : 1);
    f.rooms = pw_ctx_scratch(c, rooms + relative + pw_turned_floats(a, T));
    PW_OP(relative_init)(&f.x, a, Tmax, false, f.rooms + rooms);
    for (f.n = 0; f.n < s->n; f.n++) {
        size_t rows = (size_t)(s->start[f.n + 1] - s->start[f.n]), heads = (size_t)a->heads;
        f.qk = turned_seq(f.rooms + rooms + relative, qkv, a, pos, s, f.n);
        if (share)
            pw_ctx_share(c, a->heads, fwd_head, &f);
        for (int h = 0; h < a->heads && !share; h++)
            fwd_head(c, &f, h);
        f.maps.scores = map_of(f.maps.scores, a->heads, rows);
        f.maps.probs = map_of(f.maps.probs, a->heads, rows);
        f.save += heads * rows * (size_t)pw_to_16((int)rows);
        f.slope += heads * rows * (size_t)pw_to_16((int)rows);
    }
}

size_t PW_OP(attn_cache_floats)(int H, int D, int cap)
{
    return (size_t)H * ((size_t)D * (size_t)pw_to_16(cap) + (size_t)cap * (size_t)pw_to_16(D));
}

/* The cache of a head has the layout that attention_fwd uses: keys [D,cap rounded up to 16], transposed, and
 * values [cap,Dp]. So a new token only adds a column and a row. */
void PW_OP(attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    int D = a->head_width, n = T + R, C = a->heads * D;
    size_t ld = (size_t)pw_to_16(cap), Dp = (size_t)pw_to_16(D), Tp = (size_t)pw_to_16(n);
    size_t relative = PW_OP(relative_floats)(a, n, false);
    size_t shared = pw_bias_floats((int)Tp) + pw_turned_floats(a, R);
    float *p = pw_ctx_scratch(c, PW_BLOCK * Tp + relative + shared), max[PW_BLOCK];
    struct pw_head hd = {.a = a, .w = 3 * (size_t)C, .pos = pos, .T = n, .Tp = (int)Tp, .D = D};
    struct pw_relative x;
    PW_OP(relative_init)(&x, a, n, false, p + PW_BLOCK * Tp);
    hd.bias = p + PW_BLOCK * Tp + relative;
    hd.q = PW_OP(turned)(hd.bias + pw_bias_floats((int)Tp), qkv, a, pos, T, R);
    hd.k = hd.q + C;
    hd.v = qkv + 2 * C;
    hd.in_order = (a->bias != NULL || a->keys != NULL) && ascending(pos, n);
    assert(n <= cap && a->drop == NULL);
    for (; hd.h < a->heads; hd.h++, hd.q += D, hd.k += D, hd.v += D, z += D) {
        float *kt = cache, *v = kt + (size_t)D * ld;
        for (size_t r = 0; r < (size_t)R; r++)
            for (size_t d = 0; d < (size_t)D; d++) {
                kt[d * ld + (size_t)T + r] = hd.k[r * hd.w + d];
                v[((size_t)T + r) * Dp + d] = hd.v[r * hd.w + d];
            }
        PW_OP(head_bias_load)(&hd);
        for (int i = 0, rows = block_rows(R), m; i < R; i += m) {
            m = least(rows, R - i);
            int seen = pw_keys_before(&hd, T + i + m);
            const float *q = hd.q + (size_t)i * hd.w;
            product(m, pw_to_16(seen), D, q, hd.w, 1, kt, ld, p, Tp);
            if (a->keys != NULL)
                PW_OP(relative_add)(&x, &hd, p, q, T + i, m);
            score_block(&hd, p, NULL, max, T + i, m, pw_to_16(seen));
            softmax_block(&hd, p, max, m, pw_to_16(seen));
            product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * (size_t)C, (size_t)C);
        }
        cache += PW_OP(attn_cache_floats)(1, D, cap);
    }
}

/* Turn ds, which holds dP of queries i .. i+m-1 on cols keys, into dS = P * (dP - sum of P*dP); p holds P. */
static void softmax_block_bwd(const struct pw_head *hd, float *ds, const float *p, int i, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float sum[PW_BLOCK];
    for (int r = 0; r < m; r++) {
        int own = pw_keys_before(hd, i + r + 1);
        size_t row = (size_t)r * Tp;
        v16 total = v_zero();
        for (int j = 0; j < cols; j += 16) {
            v16 t = v_fma(v_load(p + row + j), v_load(ds + row + j), total);
            total = v_select(seen_lanes(own - j), t, total);
        }
        sum[r] = v_tree(total);
    }
    for (int r = 0; r < m; r++) {
        size_t row = (size_t)r * Tp;
        v16 total = v_set(sum[r]);
        for (int j = 0; j < cols; j += 16) /* hidden keys: p is 0 */
            v_store(ds + row + j, v_mul(v_load(p + row + j), v_sub(v_load(ds + row + j), total)));
        for (int j = cols; j < hd->Tp; j += 16)
            v_store(ds + row + j, v_zero());
    }
}

/* Multiply ds of m queries by the derivatives of the function of scores, on cols keys. */
static void slope_block(const struct pw_head *hd, float *ds, const float *slope, int i, int m, int cols)
{
    for (int r = 0; r < m; r++, ds += hd->Tp, slope += hd->Tp)
        for (int j = 0, own = pw_keys_before(hd, i + r + 1); j < cols; j += 16) {
            v16 v = v_mul(v_load(ds + j), v_load(slope + j));
            v_store(ds + j, v_select(seen_lanes(own - j), v, v_zero()));
        }
}

static void scale_rows(float *y, size_t stride, int R, int n, float scale)
{
    for (int r = 0; r < R; r++, y += stride)
        for (int i = 0; i < n; i += 16)
            v_store_n(y + i, n - i, v_mul(v_load_n(y + i, n - i), v_set(scale)));
}

void PW_OP(attention_bwd)(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, const float *dz,
                          const float *z, const float *qkv, const float *save, const struct pw_attn *a,
                          const int *pos, const struct pw_seqs *s)
{
    int Tmax = pw_to_16(longest(s)), D = a->head_width;
    size_t C = (size_t)(a->heads * D);
    size_t cols = (size_t)D * (size_t)Tmax, rows = (size_t)Tmax * (size_t)pw_to_16(D);
    size_t square = (size_t)Tmax * (size_t)Tmax, dropped = a->drop != NULL ? square : 0;
    size_t relative = PW_OP(relative_floats)(a, Tmax, true);
    size_t shared = pw_bias_floats(Tmax) + pw_turned_floats(a, longest(s));
    float *vt = pw_ctx_scratch(c, cols + 3 * rows + square + dropped + relative + shared);
    float *q = vt + cols, *k = q + rows, *g = k + rows, *ds = g + rows, *masked = ds + square;
    float *bias = masked + dropped + relative, *room = bias + pw_bias_floats(Tmax);
    struct pw_relative x;
    PW_OP(relative_init)(&x, a, Tmax, true, masked + dropped);
    assert((d_bias == NULL || a->bias != NULL) && (d_keys == NULL || a->keys != NULL));
    const float *slope = save + maps_floats(a->heads, s->start, s->n);
    (void)z; /* not needed: with the probabilities at hand, P*dP is summed directly */
    for (int n = 0; n < s->n; n++) {
        const float *qk = turned_seq(room, qkv, a, pos, s, n);
        for (int h = 0; h < a->heads; h++) {
            struct pw_head hd = head_of(qkv, qk, a, pos, s, n, h, bias);
            size_t Tp = (size_t)hd.Tp, Dp = (size_t)hd.Dp, w = hd.w;
            const float *p = save; /* the factor of v in the forward pass */
            if (a->drop != NULL) {
                drop_block(&hd, masked, save, 0, hd.T);
                p = masked;
            }
            const float *dzh = dz + (size_t)s->start[n] * C + h * D;
            float *dq = dqkv + (size_t)s->start[n] * w + h * D, *dk = dq + C, *dv = dk + C;
            PW_OP(pack_transposed)(vt, Tp, hd.v, w, hd.T, D);
            PW_OP(pack_rows)(q, Dp, hd.q, w, hd.T, D);
            PW_OP(pack_rows)(k, Dp, hd.k, w, hd.T, D);
            PW_OP(pack_rows)(g, Dp, dzh, C, hd.T, D);
            int step = block_rows(hd.T);
            for (int i = 0, m; i < hd.T; i += m) {
                m = least(step, hd.T - i);
                int seen = pw_keys_before(&hd, i + m);
                float *d = ds + (size_t)i * Tp;
                product(m, pw_to_16(seen), D, g + (size_t)i * Dp, Dp, 1, vt, Tp, d, Tp);
                if (a->drop != NULL)
                    drop_block(&hd, d, d, i, m);
                softmax_block_bwd(&hd, d, save + (size_t)i * Tp, i, m, pw_to_16(seen));
                if (a->score != NULL)
                    slope_block(&hd, d, slope + (size_t)i * Tp, i, m, pw_to_16(seen));
                product(m, D, seen, d, Tp, 1, k, Dp, dq + (size_t)i * w, w);
                if (a->keys != NULL)
                    PW_OP(relative_dq)(&x, &hd, dq + (size_t)i * w, d, i, m);
            }
            for (int j = 0, m; j < hd.T; j += m) {
                m = least(step, hd.T - j);
                int first = a->causal ? j : 0; /* first query that sees a key of this block */
                size_t at = (size_t)first * Tp + (size_t)j;
                product(m, D, hd.T - first, ds + at, 1, Tp, q + (size_t)first * Dp, Dp, dk + (size_t)j * w,
                        w);
                product(m, D, hd.T - first, p + at, 1, Tp, g + (size_t)first * Dp, Dp, dv + (size_t)j * w, w);
            }
            scale_rows(dq, w, hd.T, D, a->scale);
            scale_rows(dk, w, hd.T, D, a->scale);
            if (d_bias != NULL)
                PW_OP(head_bias_grad)(&hd, d_bias, ds);
            if (d_keys != NULL)
                PW_OP(relative_dkeys)(&x, &hd, d_keys, q);
            save += (size_t)hd.T * Tp;
            slope += (size_t)hd.T * Tp;
        }
        int base = s->start[n];
        PW_OP(turn_back)(dqkv + (size_t)base * 3 * C, a, pos, base, s->start[n + 1] - base, room);
    }
}
