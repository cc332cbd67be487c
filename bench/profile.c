/* profile.c - see profile.h: one timed wrapper for each operation of a step. */
#include "bench/profile.h"

#include <stdatomic.h>
#include <time.h>

static const struct pw_backend_ops *real;

enum where { WHOLE, CHUNK };

/* The cost of one operation. Workers add to it concurrently. */
struct cost {
    const char *name;
    enum where where;
    atomic_ullong calls, ns;
};

static unsigned long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static void spend(struct cost *c, unsigned long long begin)
{
    atomic_fetch_add_explicit(&c->ns, now() - begin, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
}

/* TIMED(where, op, (parameters), (arguments)) defines cost_op and timed_op. */
#define TIMED(where, op, parameters, arguments)                                                              \
    static struct cost cost_##op = {#op, where, 0, 0};                                                       \
    static void timed_##op parameters                                                                        \
    {                                                                                                        \
        unsigned long long begin = now();                                                                    \
        real->op arguments;                                                                                  \
        spend(&cost_##op, begin);                                                                            \
    }

TIMED(WHOLE, upload, (struct pw_backend * be, void *dst, const void *src, size_t bytes),
      (be, dst, src, bytes))
TIMED(WHOLE, download, (struct pw_backend * be, void *dst, const void *src, size_t bytes),
      (be, dst, src, bytes))
TIMED(WHOLE, for_chunks,
      (struct pw_backend * be, int n, void (*fn)(struct pw_ctx *, int, int, void *), void *arg),
      (be, n, fn, arg))
TIMED(WHOLE, prepare, (struct pw_backend * be, const struct pw_mat *mats, int n), (be, mats, n))
TIMED(WHOLE, reduce,
      (struct pw_backend * be, float *g, double *sumsq, int *spoilt, const float *slots, int n_slots,
       size_t stride, size_t n, const float *loss, int n_loss),
      (be, g, sumsq, spoilt, slots, n_slots, stride, n, loss, n_loss))
TIMED(WHOLE, adamw,
      (struct pw_backend * be, float *p, float *m, float *v, const float *g, const double *sumsq,
       const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h, double *moved),
      (be, p, m, v, g, sumsq, segs, n_segs, n_tiles, h, moved))

TIMED(CHUNK, embed_fwd,
      (struct pw_ctx * c, float *x, const float *table, const int *ids, const struct pw_added *a, int R,
       int C),
      (c, x, table, ids, a, R, C))
TIMED(CHUNK, embed_bwd,
      (struct pw_ctx * c, float *d_table, float *const *d_added, const float *dx, const int *ids,
       const struct pw_added *a, int R, int C),
      (c, d_table, d_added, dx, ids, a, R, C))
TIMED(CHUNK, norm_fwd,
      (struct pw_ctx * c, float *y, float *stat, const float *x, const float *gain, const float *bias,
       enum pw_norm kind, float eps, float scale, int R, int C),
      (c, y, stat, x, gain, bias, kind, eps, scale, R, C))
TIMED(CHUNK, norm_bwd,
      (struct pw_ctx * c, float *dx, float *d_gain, float *d_bias, const float *dy, const float *x,
       const float *stat, const float *gain, enum pw_norm kind, float scale, int R, int C),
      (c, dx, d_gain, d_bias, dy, x, stat, gain, kind, scale, R, C))
TIMED(CHUNK, linear_fwd,
      (struct pw_ctx * c, float *y, float *pre, const float *x, const struct pw_mat *m, const float *bias,
       const float *residual, enum pw_act act, int R),
      (c, y, pre, x, m, bias, residual, act, R))
TIMED(CHUNK, linear_dx,
      (struct pw_ctx * c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
       const float *saved, float scale, int R),
      (c, dx, dy, m, act, saved, scale, R))
TIMED(CHUNK, linear_dw,
      (struct pw_ctx * c, float *dw, float *d_bias, const float *dy, const float *x, bool add, int out,
       int in, int R),
      (c, dw, d_bias, dy, x, add, out, in, R))
TIMED(CHUNK, attention_fwd,
      (struct pw_ctx * c, float *z, float *save, const struct pw_maps *maps, const float *qkv,
       const struct pw_attn *a, const int *pos, const struct pw_seqs *s),
      (c, z, save, maps, qkv, a, pos, s))
TIMED(CHUNK, attention_bwd,
      (struct pw_ctx * c, float *dqkv, float *d_bias, float *d_keys, float *d_terms, const float *dz,
       const float *z, const float *qkv, const float *save, const struct pw_attn *a, const int *pos,
       const struct pw_seqs *s),
      (c, dqkv, d_bias, d_keys, d_terms, dz, z, qkv, save, a, pos, s))
TIMED(CHUNK, gather_bias_fwd,
      (struct pw_ctx * c, float *out, const float *param, const int *index, int H, int n),
      (c, out, param, index, H, n))
TIMED(CHUNK, gather_bias_bwd,
      (struct pw_ctx * c, float *d_param, const float *d_out, const int *index, int L, int H, int n),
      (c, d_param, d_out, index, L, H, n))
TIMED(CHUNK, fire_fwd,
      (struct pw_ctx * c, float *bias, const float *param, const struct pw_fire *f, int H, int P),
      (c, bias, param, f, H, P))
TIMED(CHUNK, fire_bwd,
      (struct pw_ctx * c, float *d_param, float *d_bias, const float *param, const struct pw_fire *f, int L,
       int H, int P),
      (c, d_param, d_bias, param, f, L, H, P))
TIMED(CHUNK, gather_rows, (struct pw_ctx * c, float *y, const float *x, const int *rows, int N, int C),
      (c, y, x, rows, N, C))
TIMED(CHUNK, scatter_rows,
      (struct pw_ctx * c, float *dx, const float *dy, const int *rows, int N, int R, int C),
      (c, dx, dy, rows, N, R, C))
TIMED(CHUNK, cross_entropy,
      (struct pw_ctx * c, float *loss, int *best, float *d_logits, const float *logits, const int *targets,
       const float *scale, int N, int V),
      (c, loss, best, d_logits, logits, targets, scale, N, V))
TIMED(CHUNK, dropout,
      (struct pw_ctx * c, float *y, const float *x, const struct pw_dropout *d, const float *residual, int R,
       int C),
      (c, y, x, d, residual, R, C))
TIMED(CHUNK, add, (struct pw_ctx * c, float *y, const float *x, size_t n), (c, y, x, n))
TIMED(CHUNK, zero, (struct pw_ctx * c, float *y, size_t n), (c, y, n))

static struct cost *const costs[] = {
    &cost_upload,          &cost_download,        &cost_for_chunks, &cost_prepare,       &cost_reduce,
    &cost_adamw,           &cost_embed_fwd,       &cost_embed_bwd,  &cost_norm_fwd,      &cost_norm_bwd,
    &cost_linear_fwd,      &cost_linear_dx,       &cost_linear_dw,  &cost_attention_fwd, &cost_attention_bwd,
    &cost_gather_bias_fwd, &cost_gather_bias_bwd, &cost_fire_fwd,   &cost_fire_bwd,      &cost_gather_rows,
    &cost_scatter_rows,    &cost_cross_entropy,   &cost_dropout,    &cost_add,           &cost_zero,
};

const struct pw_backend_ops *bench_profile(const struct pw_backend_ops *ops)
{
    static struct pw_backend_ops timed; /* operations that are not replaced below stay untimed */

    real = ops;
    timed = *ops;
    timed.upload = timed_upload;
    timed.download = timed_download;
    timed.for_chunks = timed_for_chunks;
    timed.prepare = timed_prepare;
    timed.reduce = timed_reduce;
    timed.adamw = timed_adamw;
    timed.embed_fwd = timed_embed_fwd;
    timed.embed_bwd = timed_embed_bwd;
    timed.norm_fwd = timed_norm_fwd;
    timed.norm_bwd = timed_norm_bwd;
    timed.linear_fwd = timed_linear_fwd;
    timed.linear_dx = timed_linear_dx;
    timed.linear_dw = timed_linear_dw;
    timed.attention_fwd = timed_attention_fwd;
    timed.attention_bwd = timed_attention_bwd;
    timed.gather_bias_fwd = timed_gather_bias_fwd;
    timed.gather_bias_bwd = timed_gather_bias_bwd;
    timed.fire_fwd = timed_fire_fwd;
    timed.fire_bwd = timed_fire_bwd;
    timed.gather_rows = timed_gather_rows;
    timed.scatter_rows = timed_scatter_rows;
    timed.cross_entropy = timed_cross_entropy;
    timed.dropout = timed_dropout;
    timed.add = timed_add;
    timed.zero = timed_zero;
    return &timed;
}

void bench_profile_reset(void)
{
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        atomic_store(&costs[i]->calls, 0);
        atomic_store(&costs[i]->ns, 0);
    }
}

void bench_profile_print(FILE *out)
{
    const char *comma = "";

    fputc('{', out);
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        const struct cost *c = costs[i];
        if (c->calls == 0)
            continue;
        fprintf(out, "%s\"%s\": {\"calls\": %llu, \"ms\": %.4f, \"chunk\": %s}", comma, c->name, c->calls,
                1e-6 * (double)c->ns, c->where == CHUNK ? "true" : "false");
        comma = ", ";
    }
    fputc('}', out);
}
