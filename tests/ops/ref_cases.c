/* ref_cases.c - random shapes and inputs for every operation: tails, one row, one head, full width. */
#include "tests/ops/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GUARD = 40 }; /* sentinels after every output: more than one register */
#define SENTINEL 0x1.234568p+60f

uint64_t ref_next(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * 0x2545F4914F6CDD1DULL;
}

float ref_normal(uint64_t *s)
{
    float sum = -2.0f;
    for (int i = 0; i < 4; i++)
        sum += (float)(ref_next(s) >> 40) * 0x1p-24f;
    return sum * 1.7320508f;
}

float *ref_random(uint64_t *s, size_t n, float scale)
{
    float *p = malloc(n > 0 ? n * sizeof *p : 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = scale * ref_normal(s);
    return p;
}

static int pick(uint64_t *s, const int *list, size_t n)
{
    return list[ref_next(s) % n];
}
#define PICK(s, ...) pick(s, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static int pick_rows(uint64_t *s)
{
    return PICK(s, 1, 2, 3, 5, 13, 14, 15, 20, 29, 64, 113, 120);
}

static int pick_width(uint64_t *s)
{
    return PICK(s, 1, 2, 8, 10, 13, 16, 17, 31, 32, 33, 48, 64, 100);
}

static int *indices(uint64_t *s, int n, int lowest, int limit)
{
    int *p = malloc(((size_t)n + 1) * sizeof *p);
    assert_non_null(p);
    for (int i = 0; i < n; i++)
        p[i] = lowest + (int)(ref_next(s) % (uint64_t)(limit - lowest));
    return p;
}

/* An output of n floats with old contents and sentinels behind. */
static float *output(uint64_t *s, size_t n)
{
    float *p = ref_random(s, n + GUARD, 1.0f);
    for (int i = 0; i < GUARD; i++)
        p[n + (size_t)i] = SENTINEL;
    return p;
}

/* Appends an output to *out, checks its sentinels and frees it. */
static void keep(struct ref_out *out, float *p, size_t n)
{
    for (int i = 0; i < GUARD; i++)
        if (p[n + (size_t)i] != SENTINEL)
            fail_msg("wrote %d floats beyond an output of %zu", i + 1, n);
    if (out->n + n > out->cap) {
        out->cap = 2 * (out->n + n);
        out->data = realloc(out->data, out->cap * sizeof(float));
        assert_non_null(out->data);
    }
    if (n > 0)
        memcpy(out->data + out->n, p, n * sizeof(float));
    out->n += n;
    free(p);
}

static struct pw_mat matrix(uint64_t *s, const struct pw_backend_ops *ops, int out, int in)
{
    struct pw_mat m = {ref_random(s, (size_t)out * (size_t)in, 1.0f / sqrtf((float)in)), out, in, NULL};
    m.pack = ref_random(s, ops->mat_pack_floats(out, in), 1.0f);
    return m;
}

static void drop(struct pw_mat *m)
{
    free((void *)m->w);
    free(m->pack);
}

/* linear needs prepare(), which is whole-machine: the case calls back into a chunk for the rest. */
struct linear {
    const struct pw_backend_ops *ops;
    struct pw_mat m;
    float *y, *pre, *x, *bias, *residual, *dx, *dy, *saved, *dw, *db;
    enum pw_act act;
    bool add;
    int R;
};

static void linear_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct linear *l = arg;
    (void)chunk;
    (void)worker;
    l->ops->linear_fwd(c, l->y, l->pre, l->x, &l->m, l->bias, l->residual, l->act, l->R);
    l->ops->linear_dx(c, l->dx, l->dy, &l->m, l->act, l->saved, l->add, l->R);
    l->ops->linear_dw(c, l->dw, l->db, l->dy, l->x, l->add, l->m.out, l->m.in, l->R);
}

static void run_linear(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c,
                       uint64_t seed, struct ref_out *out)
{
    uint64_t s = seed;
    int R = pick_rows(&s), o = pick_width(&s), i = ref_next(&s) % 8 == 0 ? 260 : pick_width(&s);
    size_t ny = (size_t)R * (size_t)o, nx = (size_t)R * (size_t)i, nw = (size_t)o * (size_t)i;
    struct linear l = {.ops = ops, .R = R, .m = matrix(&s, ops, o, i)};
    s = seed + 77; /* the size of the pack may differ between tables */
    l.act = (enum pw_act)(ref_next(&s) % 4);
    l.add = ref_next(&s) % 2;
    l.x = ref_random(&s, nx, 1.0f);
    l.dy = ref_random(&s, ny, 1.0f);
    l.saved = ref_random(&s, nx, 2.0f);
    float *bias = ref_random(&s, (size_t)o, 1.0f), *residual = ref_random(&s, ny, 1.0f);
    l.bias = ref_next(&s) % 2 ? bias : NULL;
    l.y = output(&s, ny);
    l.dx = output(&s, nx);
    l.dw = output(&s, nw);
    float *pre = output(&s, ny), *db = output(&s, (size_t)o);
    l.pre = ref_next(&s) % 2 ? pre : NULL;
    l.db = ref_next(&s) % 2 ? db : NULL;
    uint64_t kind = ref_next(&s) % 3;
    l.residual = kind == 0 ? NULL : kind == 1 ? residual : l.y; /* in place */
    (void)c;
    if (be != NULL) {
        ops->prepare(be, &l.m, 1);
        ops->for_chunks(be, 1, linear_chunk, &l);
    } else {
        linear_chunk(NULL, 0, 0, &l);
    }
    keep(out, l.y, ny);
    keep(out, pre, ny);
    keep(out, l.dx, nx);
    keep(out, l.dw, nw);
    keep(out, db, (size_t)o);
    drop(&l.m);
    free(l.x);
    free(l.dy);
    free(l.saved);
    free(bias);
    free(residual);
}

static void run_norm(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                     struct ref_out *out)
{
    int R = pick_rows(&s), C = 1 + pick_width(&s);
    size_t n = (size_t)R * (size_t)C;
    enum pw_norm kind = (enum pw_norm)(ref_next(&s) % 3);
    uint64_t with = ref_next(&s);
    float eps = kind == PW_NORM_RMS ? 1e-6f : 1e-5f, scale = with & 4 ? 1.0f : 0.125f;
    float *x = ref_random(&s, n, 2.0f), *dy = ref_random(&s, n, 1.0f);
    float *gain = ref_random(&s, (size_t)C, 1.0f), *bias = ref_random(&s, (size_t)C, 1.0f);
    float *y = output(&s, n), *stat = output(&s, 2 * (size_t)R), *dx = output(&s, n);
    float *dg = output(&s, (size_t)C), *db = output(&s, (size_t)C);
    (void)be;
    ops->norm_fwd(c, y, stat, x, with & 1 ? gain : NULL, with & 2 ? bias : NULL, kind, eps, scale, R, C);
    ops->norm_bwd(c, dx, with & 1 ? dg : NULL, with & 2 ? db : NULL, dy, x, stat, with & 1 ? gain : NULL,
                  kind, scale, R, C);
    keep(out, y, n);
    keep(out, stat, 2 * (size_t)R);
    keep(out, dx, n);
    keep(out, dg, (size_t)C);
    keep(out, db, (size_t)C);
    free(x);
    free(dy);
    free(gain);
    free(bias);
}

static void run_embed(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                      struct ref_out *out)
{
    int R = pick_rows(&s), C = pick_width(&s), V = 13, P = 40;
    size_t n = (size_t)R * (size_t)C, nv = (size_t)V * (size_t)C, np = (size_t)P * (size_t)C;
    bool with = ref_next(&s) % 2;
    int *ids = indices(&s, R, 0, V), *pos = indices(&s, R, 0, P);
    float *table = ref_random(&s, nv, 1.0f), *added = ref_random(&s, np, 1.0f);
    float *x = output(&s, n), *dt = output(&s, nv), *da = output(&s, np);
    (void)be;
    ops->embed_fwd(c, x, table, ids, with ? added : NULL, with ? pos : NULL, R, C);
    ops->embed_bwd(c, dt, with ? da : NULL, x, ids, with ? pos : NULL, R, C);
    keep(out, x, n);
    keep(out, dt, nv);
    keep(out, da, np);
    free(ids);
    free(pos);
    free(table);
    free(added);
}

static void run_rotate(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                       struct ref_out *out)
{
    int R = pick_rows(&s), H = PICK(&s, 1, 2, 3, 8), D = PICK(&s, 2, 4, 8, 10, 16, 24, 34, 64), P = 50;
    int pairs = ref_next(&s) % 2 ? D / 2 : 1 + (int)(ref_next(&s) % (uint64_t)(D / 2));
    size_t n = (size_t)(R * 3 * H * D), np = (size_t)(P * pairs);
    enum pw_pairing pairing = ref_next(&s) % 2 ? PW_PAIRING_HALF : PW_PAIRING_INTERLEAVED;
    int *pos = indices(&s, R, 0, P);
    float *co = ref_random(&s, np, 1.0f), *si = ref_random(&s, np, 1.0f), *qkv = output(&s, n);
    (void)be;
    ops->rotate(c, qkv, co, si, pos, pairs, pairing, ref_next(&s) % 2, H, D, R);
    keep(out, qkv, n);
    free(co);
    free(si);
    free(pos);
}

/* key [2] lives as long as the mask. */
static struct pw_dropout mask(uint64_t *s, uint32_t *key)
{
    static const float rates[] = {0.0f, 0.1f, 0.5f, 0.9f};
    key[0] = (uint32_t)ref_next(s);
    key[1] = (uint32_t)ref_next(s);
    uint32_t site = (uint32_t)ref_next(s) % 300;
    int row = (int)(ref_next(s) % 5000);
    return (struct pw_dropout){key, site, row, rates[ref_next(s) % 4]};
}

static void run_dropout(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                        struct ref_out *out)
{
    int R = pick_rows(&s), C = PICK(&s, 1, 3, 16, 63, 64, 65, 130);
    size_t n = (size_t)R * (size_t)C;
    uint32_t key[2];
    struct pw_dropout d = mask(&s, key);
    float *x = ref_random(&s, n, 1.0f), *y = output(&s, n), *z = output(&s, n);
    (void)be;
    ops->dropout(c, y, x, &d, R, C);
    ops->dropout(c, z, z, &d, R, C); /* in place */
    keep(out, y, n);
    keep(out, z, n);
    free(x);
}

static void run_attention(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c,
                          uint64_t s, struct ref_out *out)
{
    enum { SEQS = 3 };
    int H = PICK(&s, 1, 2, 3, 8), D = PICK(&s, 1, 4, 8, 10, 16, 20, 33, 64), P = 70, start[SEQS + 1] = {0};
    size_t maps = 0;
    for (int i = 0; i < SEQS; i++) {
        int T = PICK(&s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65);
        start[i + 1] = start[i] + T;
        maps += (size_t)(H * T * T);
    }
    int R = start[SEQS];
    size_t nq = (size_t)(R * 3 * H * D), nz = nq / 3, nb = (size_t)(H * (2 * P - 1));
    bool ordered = ref_next(&s) % 2, biased = ref_next(&s) % 2;
    int *pos = indices(&s, R, 0, P);
    for (int i = 0; i < SEQS && ordered; i++)
        for (int r = start[i]; r < start[i + 1]; r++)
            pos[r] = r - start[i] + i;
    float *qkv = ref_random(&s, nq, 1.0f), *bias = ref_random(&s, nb, 1.0f), *dz = ref_random(&s, nz, 1.0f);
    struct pw_attn a = {H, D, 1.0f / sqrtf((float)D), ref_next(&s) % 4 != 0, biased ? bias : NULL, P, NULL};
    uint32_t key[2];
    struct pw_dropout drop = mask(&s, key);
    struct pw_seqs seqs = {SEQS, start, R, 65};
    size_t ns = ops->attn_save_floats(H, start, SEQS);
    float *z = output(&s, nz), *probs = output(&s, maps), *scores = output(&s, maps);
    float *dqkv = output(&s, nq), *db = output(&s, nb), *save = output(&s, ns);
    a.drop = ref_next(&s) % 3 == 0 ? &drop : NULL;
    (void)be;
    ops->scores(c, scores, qkv, &a, biased ? pos : NULL, &seqs);
    ops->attention_fwd(c, z, save, ref_next(&s) % 2 ? probs : NULL, qkv, &a, biased ? pos : NULL, &seqs);
    ops->attention_bwd(c, dqkv, biased ? db : NULL, dz, z, qkv, save, &a, biased ? pos : NULL, &seqs);
    for (size_t i = 0; i < maps; i++)
        scores[i] = scores[i] == -INFINITY ? -1e9f : scores[i];
    keep(out, z, nz);
    keep(out, probs, maps);
    keep(out, scores, maps);
    keep(out, dqkv, nq);
    keep(out, db, nb);
    keep(out, save, ns);
    free(pos);
    free(qkv);
    free(bias);
    free(dz);
}

/* One sequence, in pieces. */
static void run_cached(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                       struct ref_out *out)
{
    int H = PICK(&s, 1, 2, 3, 8), D = PICK(&s, 1, 4, 8, 10, 16, 20, 33, 64), P = 70, C = H * D;
    int n = PICK(&s, 1, 2, 7, 15, 16, 17, 20, 33, 48, 65), cap = n + PICK(&s, 0, 1, 5, 16, 40);
    size_t nz = (size_t)(n * C), nb = (size_t)(H * (2 * P - 1));
    bool biased = ref_next(&s) % 2, ordered = ref_next(&s) % 2, causal = ref_next(&s) % 8 != 0;
    int *pos = indices(&s, n, 0, P);
    for (int i = 0; i < n && ordered; i++)
        pos[i] = i + 2;
    float *qkv = ref_random(&s, 3 * nz, 1.0f), *bias = ref_random(&s, nb, 1.0f);
    struct pw_attn a = {H, D, 1.0f / sqrtf((float)D), causal, biased ? bias : NULL, P, NULL};
    float *z = output(&s, nz), *cache;
    uint64_t cuts = ref_next(&s);
    s = cuts;
    cache = ref_random(&s, ops->attn_cache_floats(H, D, cap) + GUARD, 1.0f); /* its size differs */
    for (int i = 0; i < GUARD; i++)
        cache[ops->attn_cache_floats(H, D, cap) + (size_t)i] = SENTINEL;
    (void)be;
    for (int t = 0, R; t < n; t += R) {
        R = causal ? PICK(&cuts, 1, 1, 2, 17, n) : n;
        R = R < n - t ? R : n - t;
        ops->attention_cached(c, z + t * C, cache, qkv + t * 3 * C, &a, biased ? pos : NULL, cap, t, R);
    }
    keep(out, z, nz);
    for (int i = 0; i < GUARD; i++)
        assert_true(cache[ops->attn_cache_floats(H, D, cap) + (size_t)i] == SENTINEL);
    free(cache);
    free(pos);
    free(qkv);
    free(bias);
}

static void run_gather(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                       struct ref_out *out)
{
    int H = PICK(&s, 1, 2, 3, 8, 12), n = PICK(&s, 1, 2, 15, 16, 17, 139), rows = 9;
    int R = pick_rows(&s), C = pick_width(&s), N = 0;
    size_t nt = (size_t)(H * n), np = (size_t)(rows * H), nx = (size_t)R * (size_t)C;
    int *index = indices(&s, n, -1, rows), *scored = indices(&s, R + 1, 0, R);
    for (int r = 0; r < R; r++)
        if (ref_next(&s) % 2)
            scored[N++] = r;
    if (ref_next(&s) % 2)
        scored[N++] = -1;
    float *param = ref_random(&s, np, 1.0f), *d_out = ref_random(&s, nt, 1.0f), *x = ref_random(&s, nx, 1.0f);
    float *table = output(&s, nt), *dp = output(&s, np), *y = output(&s, (size_t)N * (size_t)C);
    float *dx = output(&s, nx);
    (void)be;
    ops->gather_bias_fwd(c, table, param, index, H, n);
    ops->gather_bias_bwd(c, dp, d_out, index, H, n);
    ops->gather_rows(c, y, x, scored, N, C);
    ops->scatter_rows(c, dx, y, scored, N, R, C);
    keep(out, table, nt);
    keep(out, dp, np);
    keep(out, y, (size_t)N * (size_t)C);
    keep(out, dx, nx);
    free(index);
    free(scored);
    free(param);
    free(d_out);
    free(x);
}

/* Two heads of one tensor: the second has a table and, where there is one head only, takes its place. */
static void run_put(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                    struct ref_out *out)
{
    int R = pick_rows(&s), H = PICK(&s, 1, 2, 3, 8), D = PICK(&s, 1, 2, 15, 16, 17, 64), P = 7;
    size_t n = (size_t)R * (size_t)H * (size_t)D;
    int *pos = indices(&s, R, 0, P);
    float *table = ref_random(&s, (size_t)P * (size_t)D, 1.0f), *z = output(&s, n);
    (void)be;
    ops->put_head(c, z, NULL, NULL, 0, H, D, R);
    ops->put_head(c, z, table, pos, H - 1, H, D, R);
    keep(out, z, n);
    free(table);
    free(pos);
}

static void run_loss(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                     struct ref_out *out)
{
    int N = pick_rows(&s), V = PICK(&s, 1, 2, 13, 16, 17, 40, 128);
    size_t n = (size_t)N * (size_t)V;
    int *targets = indices(&s, N, -1, V), *best = indices(&s, N, 0, V);
    float *logits = ref_random(&s, n, 4.0f), *loss = output(&s, (size_t)N), *d = output(&s, n);
    float *p = output(&s, n), *q = output(&s, n), *arg = output(&s, (size_t)N), *bare = output(&s, (size_t)N);
    float scale = 1.0f / 37.0f;
    (void)be;
    if (V > 2)
        logits[V - 1] = logits[V / 2] = 20.0f; /* a tie goes to the lowest id */
    ops->cross_entropy(c, loss, best, d, logits, targets, &scale, N, V);
    for (int i = 0; i < N; i++)
        arg[i] = (float)best[i];
    ops->cross_entropy(c, bare, best, NULL, logits, targets, &scale, N, V);
    ops->softmax(c, p, logits, 0.7f, N, V);
    ops->softmax(c, q, logits, 1.0f, N, V);
    keep(out, loss, (size_t)N);
    keep(out, bare, (size_t)N);
    keep(out, arg, (size_t)N);
    keep(out, d, n);
    keep(out, p, n);
    keep(out, q, n);
    free(targets);
    free(best);
    free(logits);
}

static void run_add(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c, uint64_t s,
                    struct ref_out *out)
{
    size_t n = ref_next(&s) % 70;
    float *x = ref_random(&s, n, 1.0f), *y = output(&s, n), *z = output(&s, n);
    (void)be;
    ops->add(c, y, x, n);
    ops->zero(c, z, n);
    keep(out, y, n);
    keep(out, z, n);
    free(x);
}

static void run_optimiser(const struct pw_backend_ops *ops, struct pw_backend *be, struct pw_ctx *c,
                          uint64_t s, struct ref_out *out)
{
    static const struct pw_adamw_seg segs[] = {
        {0, 17, 0, 1e-2f, 0.05f, 10.0f, 20.0f},
        {32, 1, 1, 1e-3f, 0.0f, 1.0f, 1.0f},
        {48, 5000, 2, 3e-3f, 0.1f, 1.5f, 1.2f},
        {5056, 4096, 4, 3e-3f, 0.0f, 1.5f, 1.2f},
    };
    size_t n = PICK(&s, 9152, 9153, 12289, 16384), stride = n + 16;
    int slots = PICK(&s, 1, 2, 8);
    struct pw_adamw h = {0.9f, 0.95f, 1e-8f, ref_next(&s) % 2 ? 1.0f : 0.0f};
    float *slot = ref_random(&s, (size_t)slots * stride, 1.0f), *g = output(&s, n);
    float *p = output(&s, n), *m = output(&s, n), *v = output(&s, n), *norm = output(&s, 1);
    float *norms = output(&s, 8), *rest = output(&s, 8);
    float loss[3] = {1.0f, ref_next(&s) % 4 == 0 ? INFINITY : 2.0f, 3.0f};
    double sumsq[2] = {-1.0, ref_next(&s) % 8 == 0}, moved[8];
    (void)c;
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] * v[i];
    ops->reduce(be, g, sumsq, slot, slots, stride, n);
    *norm = (float)sqrt(sumsq[0]);
    ops->guard(be, sumsq, loss, 3);
    ops->adamw(be, p, m, v, g, sumsq, segs, 4, 5, &h, moved);
    for (int i = 0; i < 8; i++) { /* the bits that a float has no room for, small beside the tolerance */
        norms[i] = (float)sqrt(moved[i]);
        rest[i] = (float)((moved[i] - (double)(float)moved[i]) * 1e-3);
    }
    keep(out, norm, 1);
    keep(out, norms, 8);
    keep(out, rest, 8);
    keep(out, g, n);
    keep(out, p, n);
    keep(out, m, n);
    keep(out, v, n);
    free(slot);
}

const struct ref_case ref_cases[] = {
    {"linear", run_linear, true, 2e-5},
    {"norm", run_norm, false, 2e-5},
    {"embed", run_embed, false, 2e-6},
    {"rotate", run_rotate, false, 1e-6},
    {"attention", run_attention, false, 2e-5},
    {"gather", run_gather, false, 1e-6},
    {"loss", run_loss, false, 2e-6},
    {"add", run_add, false, 1e-6},
    {"optimiser", run_optimiser, true, 5e-6},
    {"cached", run_cached, false, 2e-5},
    {"dropout", run_dropout, false, 1e-6},
    {"put", run_put, false, 0.0},
    {NULL, NULL, false, 0.0},
};

struct call {
    const struct ref_case *rc;
    const struct pw_backend_ops *ops;
    uint64_t seed;
    struct ref_out *out;
};

static void run_in_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct call *k = arg;
    (void)chunk;
    (void)worker;
    k->rc->run(k->ops, NULL, c, k->seed, k->out);
}

void ref_run(const struct ref_case *rc, const struct pw_backend_ops *ops, struct pw_backend *be,
             uint64_t seed, struct ref_out *out)
{
    struct call k = {rc, ops, seed * 0x9E3779B97F4A7C15ULL + 1, out};
    *out = (struct ref_out){0};
    if (be != NULL && !rc->whole)
        ops->for_chunks(be, 1, run_in_chunk, &k);
    else
        rc->run(ops, be, NULL, k.seed, out);
}
