/* ref_double.c - reference for values: the operations in double precision from their definitions, rounded
 * once at the end.
 *
 * The code is independent of the kernels. It uses matrices where the kernels use chains, and the quotient and
 * product rules where the kernels use rearranged forms. The order of additions doesn't matter here. */
#include "tests/ops/ref_double.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *ref_room(size_t n)
{
    double *p = calloc(n > 0 ? n : 1, sizeof *p);
    if (p == NULL)
        abort();
    return p;
}

void ref_softmax(double *p, int rows, int n)
{
    for (int r = 0; r < rows; r++, p += n) {
        double max = -INFINITY, sum = 0;
        for (int i = 0; i < n; i++)
            max = fmax(max, p[i]);
        for (int i = 0; i < n; i++)
            sum += p[i] = exp(p[i] - max);
        for (int i = 0; i < n; i++)
            p[i] /= sum;
    }
}

static size_t pack_floats(int out, int in, bool backward)
{
    (void)out;
    (void)in;
    (void)backward;
    return 0; /* ref_double reads the weights themselves */
}

static void embed_fwd(struct pw_ctx *c, float *x, const float *table, const int *ids,
                      const struct pw_added *a, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int i = 0; i < C; i++) {
            double x_ri = (double)a->scale * (double)table[(ids != NULL ? ids[r] : r) * C + i];
            for (int k = 0; k < a->n; k++)
                if (!a->halves)
                    x_ri += (double)a->table[k][a->row[k][r] * C + i];
                else if (i / (C / 2) == k)
                    x_ri += (double)a->table[k][a->row[k][r] * (C / 2) + i % (C / 2)];
            x[r * C + i] = (float)x_ri;
        }
}

/* Adds scale times columns from..from+W-1 of dx [R,stride] to the rows of d [.,W] that `at` names. */
static void scatter_sum(float *d, const float *dx, const int *at, int R, int W, int stride, int from,
                        double scale)
{
    int rows = 0;
    for (int r = 0; r < R; r++)
        rows = at[r] + 1 > rows ? at[r] + 1 : rows;
    double *sum = ref_room((size_t)(rows * W));
    for (int r = 0; r < R; r++)
        for (int i = 0; i < W; i++)
            sum[at[r] * W + i] += scale * (double)dx[r * stride + from + i];
    for (int i = 0; i < rows * W; i++)
        d[i] = (float)((double)d[i] + sum[i]);
    free(sum);
}

static void embed_bwd(struct pw_ctx *c, float *d_table, float *const *d_added, const float *dx,
                      const int *ids, const struct pw_added *a, int R, int C)
{
    (void)c;
    int W = a->halves ? C / 2 : C;
    if (d_table != NULL)
        scatter_sum(d_table, dx, ids, R, C, C, 0, (double)a->scale);
    for (int k = 0; d_added != NULL && k < a->n; k++)
        scatter_sum(d_added[k], dx, a->row[k], R, W, C, a->halves ? k * W : 0, 1);
}

static void norm_fwd(struct pw_ctx *c, float *y, float *stat, const float *x, const float *gain,
                     const float *bias, enum pw_norm kind, float eps, float scale, int R, int C)
{
    (void)c;
    for (int r = 0; r < R; r++, x += C, y += C) {
        double mean = 0, square = 0, rstd = 1;
        for (int i = 0; i < C && kind == PW_NORM_LAYER; i++)
            mean += (double)x[i] / C;
        for (int i = 0; i < C; i++)
            square += ((double)x[i] - mean) * ((double)x[i] - mean) / C;
        if (kind != PW_NORM_NONE)
            rstd = 1 / sqrt(square + (double)eps);
        stat[2 * r] = (float)mean;
        stat[2 * r + 1] = (float)rstd;
        for (int i = 0; i < C; i++) {
            bool plain = kind == PW_NORM_NONE;
            double g = gain != NULL && !plain ? (double)gain[i] : 1,
                   b = bias != NULL && !plain ? (double)bias[i] : 0;
            y[i] = (float)((double)scale * (((double)x[i] - mean) * rstd * g + b));
        }
    }
}

/* dx_i = sum over j of (dy_j scale gain_j) * d xhat_j / d x_i, with the Jacobian written out. */
static void norm_bwd(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                     const float *x, const float *stat, const float *gain, enum pw_norm kind, float scale,
                     int R, int C)
{
    double *dg = ref_room((size_t)C), *db = ref_room((size_t)C);
    (void)c;
    for (int r = 0; r < R; r++, x += C, dy += C, dx += C) {
        double mean = (double)stat[2 * r], rstd = (double)stat[2 * r + 1];
        bool none = kind == PW_NORM_NONE;
        for (int i = 0; i < C; i++) {
            double sum = 0, xi = ((double)x[i] - mean) * rstd;
            for (int j = 0; j < C; j++) {
                double xj = ((double)x[j] - mean) * rstd, jac = i == j;
                if (!none)
                    jac = rstd * (jac - (kind == PW_NORM_LAYER ? 1.0 / C : 0) - xi * xj / C);
                sum += (double)dy[j] * (double)scale * (gain != NULL && !none ? (double)gain[j] : 1) * jac;
            }
            dx[i] = (float)((double)dx[i] + sum);
            dg[i] += (double)dy[i] * (double)scale * xi;
            db[i] += (double)dy[i] * (double)scale;
        }
    }
    for (int i = 0; i < C && kind != PW_NORM_NONE; i++) {
        if (d_gain != NULL)
            d_gain[i] = (float)((double)d_gain[i] + dg[i]);
        if (d_bias != NULL)
            d_bias[i] = (float)((double)d_bias[i] + db[i]);
    }
    free(dg);
    free(db);
}

double ref_double_act(double x, enum pw_act act)
{
    switch (act) {
    case PW_ACT_RELU: return x > 0 ? x : 0;
    case PW_ACT_GELU: return 0.5 * x * erfc(-x * sqrt(0.5));
    case PW_ACT_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    case PW_ACT_SILU: return x / (1 + exp(-x));
    case PW_ACT_NONE: break;
    }
    return x;
}

/* Central differences: with h = 1e-4 in double precision the error is below 1e-8. */
double ref_double_slope(double x, enum pw_act act)
{
    double h = 1e-4;
    if (act == PW_ACT_RELU)
        return x > 0;
    return (ref_double_act(x + h, act) - ref_double_act(x - h, act)) / (2 * h);
}

static void linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                       const float *bias, const float *residual, enum pw_act act, int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int o = 0; o < m->out; o++) {
            double v = bias != NULL ? (double)bias[o] : 0;
            for (int i = 0; i < m->in; i++)
                v += (double)x[r * m->in + i] * (double)m->w[o * m->in + i];
            if (pre != NULL)
                pre[r * m->out + o] = (float)v;
            v = ref_double_act(v, act) + (residual != NULL ? (double)residual[r * m->out + o] : 0);
            y[r * m->out + o] = (float)v;
        }
}

static void linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m, enum pw_act act,
                      const float *saved, float scale, int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int i = 0; i < m->in; i++) {
            int at = r * m->in + i;
            double v = 0;
            for (int o = 0; o < m->out; o++)
                v += (double)dy[r * m->out + o] * (double)m->w[o * m->in + i];
            if (act != PW_ACT_NONE)
                v *= ref_double_slope((double)saved[at], act);
            dx[at] = (float)(v * (double)scale);
        }
}

static void linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x, bool add,
                      int out, int in, int R)
{
    (void)c;
    for (int o = 0; o < out; o++) {
        double b = add && d_bias != NULL ? (double)d_bias[o] : 0;
        for (int r = 0; r < R; r++)
            b += (double)dy[r * out + o];
        if (d_bias != NULL)
            d_bias[o] = (float)b;
        for (int i = 0; i < in; i++) {
            double v = add ? (double)dw[o * in + i] : 0;
            for (int r = 0; r < R; r++)
                v += (double)dy[r * out + o] * (double)x[r * in + i];
            dw[o * in + i] = (float)v;
        }
    }
}

static void rotate(struct pw_ctx *c, float *qkv, const struct pw_turn *t, const int *pos, int H, int D, int R)
{
    (void)c;
    ref_double_turn(qkv, t, pos, false, H, D, R);
}

static void gather_bias_fwd(struct pw_ctx *c, float *out, const float *param, const int *index, int H, int n)
{
    (void)c;
    for (int i = 0; i < H * n; i++)
        out[i] = index[i % n] < 0 ? 0 : param[index[i % n] * H + i / n];
}

static void gather_bias_bwd(struct pw_ctx *c, float *d_param, const float *d_out, const int *index, int L,
                            int H, int n)
{
    (void)c;
    for (int row = 0; row < n; row++) /* each parameter row once, at its first occurrence in index */
        for (int h = 0; h < H && index[row] >= 0; h++) {
            double sum = 0;
            bool first = true;
            for (int j = 0; j < n; j++) {
                first = first && (j >= row || index[j] != index[row]);
                for (int l = 0; l < L; l++)
                    sum += index[j] == index[row] ? (double)d_out[(l * H + h) * n + j] : 0;
            }
            if (first)
                d_param[index[row] * H + h] = (float)((double)d_param[index[row] * H + h] + sum);
        }
}

static void put_head(struct pw_ctx *c, float *z, const float *table, const int *pos, int h, int H, int D,
                     int R)
{
    (void)c;
    for (int r = 0; r < R; r++)
        for (int d = 0; d < D; d++)
            z[(r * H + h) * D + d] = table != NULL ? table[pos[r] * D + d] : 0;
}

static void gather_rows(struct pw_ctx *c, float *y, const float *x, const int *rows, int N, int C)
{
    (void)c;
    for (int i = 0; i < N * C; i++)
        y[i] = rows[i / C] < 0 ? 0 : x[rows[i / C] * C + i % C];
}

static void scatter_rows(struct pw_ctx *c, float *dx, const float *dy, const int *rows, int N, int R, int C)
{
    (void)c;
    for (int i = 0; i < R * C; i++) {
        dx[i] = 0;
        for (int n = 0; n < N; n++)
            if (rows[n] == i / C)
                dx[i] = dy[n * C + i % C];
    }
}

static void cross_entropy(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V)
{
    double *p = ref_room((size_t)V);
    (void)c;
    for (int n = 0; n < N; n++, logits += V) {
        best[n] = 0;
        for (int i = 0; i < V; i++) {
            p[i] = (double)logits[i];
            best[n] = logits[i] > logits[best[n]] ? i : best[n];
        }
        ref_softmax(p, 1, V);
        double most = (double)logits[best[n]], at = targets[n] < 0 ? 0 : (double)logits[targets[n]];
        loss[n] = targets[n] < 0 ? 0 : (float)(most - at - log(p[best[n]]));
        for (int i = 0; d_logits != NULL && i < V; i++)
            d_logits[n * V + i] = targets[n] < 0 ? 0 : (float)((double)*scale * (p[i] - (i == targets[n])));
    }
    free(p);
}

static void softmax(struct pw_ctx *c, float *out, const float *logits, float temperature, int N, int V)
{
    double *p = ref_room((size_t)(N * V));
    (void)c;
    for (int i = 0; i < N * V; i++)
        p[i] = (double)logits[i] / (double)temperature;
    ref_softmax(p, N, V);
    for (int i = 0; i < N * V; i++)
        out[i] = (float)p[i];
    free(p);
}

static void add(struct pw_ctx *c, float *y, const float *x, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)y[i] + (double)x[i]);
}

static void zero(struct pw_ctx *c, float *y, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++)
        y[i] = 0;
}

static void dropout(struct pw_ctx *c, float *y, const float *x, const struct pw_dropout *d,
                    const float *residual, int R, int C)
{
    (void)c;
    for (int i = 0; i < R * C; i++)
        y[i] = (float)((double)x[i] * (ref_mask(d, 0, i / C, i % C) > 0 ? 1 / (1 - (double)d->rate) : 0) +
                       (residual != NULL ? (double)residual[i] : 0));
}

static void reduce(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss)
{
    double sum = 0, all;
    (void)be;
    for (size_t i = 0; i < n; i++) {
        double v = 0;
        for (int s = 0; s < n_slots; s++)
            v += (double)slots[(size_t)s * stride + i];
        g[i] = (float)v;
        sum += v * v;
    }
    all = sum;
    for (int i = 0; i < n_loss; i++)
        all += (double)loss[i];
    if (!isfinite(all))
        *spoilt = 1;
    *sumsq = *spoilt != 0 ? (double)NAN : sum;
}

static void digest(struct pw_backend *be, uint64_t *sums, const float *x, size_t n, uint64_t first)
{
    ref_plain.digest(be, sums, x, n, first); /* integer arithmetic, so the reference for bits is exact */
}

static void adamw(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved)
{
    double norm = sqrt(*sumsq), k = h->clip > 0 && norm > (double)h->clip ? (double)h->clip / norm : 1;
    double b1 = (double)h->beta1, b2 = (double)h->beta2;
    (void)be;
    (void)n_tiles;
    for (int s = 0; s < n_segs; s++) {
        moved[2 * s] = moved[2 * s + 1] = 0;
        for (size_t e = 0; isfinite(norm) && e < segs[s].n; e++) {
            size_t i = segs[s].place + e;
            float *param = p + segs[s].offset + e;
            double old = (double)*param;
            double d = k * (double)g[i], lr = (double)segs[s].lr;
            double mi = b1 * (double)m[i] + (1 - b1) * d, vi = b2 * (double)v[i] + (1 - b2) * d * d;
            double step = mi * (double)segs[s].c1 / (sqrt(vi * (double)segs[s].c2) + (double)h->eps);
            m[i] = (float)mi;
            v[i] = (float)vi;
            *param = (float)(old * (1 - lr * (double)segs[s].decay) - lr * step);
            moved[2 * s] += ((double)*param - old) * ((double)*param - old);
            moved[2 * s + 1] += old * old;
        }
    }
}

const struct pw_backend_ops ref_double = {
    .abi = PW_BACKEND_ABI,
    .name = "double",
    .summary = "the oracle for values",
    .host = true,
    .mixes = true,
    .mat_pack_floats = pack_floats,
    .reduce = reduce,
    .adamw = adamw,
    .digest = digest,
    .embed_fwd = embed_fwd,
    .embed_bwd = embed_bwd,
    .norm_fwd = norm_fwd,
    .norm_bwd = norm_bwd,
    .linear_fwd = linear_fwd,
    .linear_dx = linear_dx,
    .linear_dw = linear_dw,
    .gate_fwd = ref_double_gate_fwd,
    .gate_bwd = ref_double_gate_bwd,
    .heads_fwd = ref_double_heads_fwd,
    .heads_bwd = ref_double_heads_bwd,
    .cap_fwd = ref_double_cap_fwd,
    .cap_bwd = ref_double_cap_bwd,
    .clip_fwd = ref_double_clip_fwd,
    .clip_bwd = ref_double_clip_bwd,
    .rotate = rotate,
    .turn_bwd = ref_double_turn_bwd,
    .scores = ref_double_scores,
    .attention_fwd = ref_double_attention_fwd,
    .attn_save_floats = ref_double_save_floats,
    .attention_cached = ref_double_attention_cached,
    .attn_cache_floats = ref_double_cache_floats,
    .attention_bwd = ref_double_attention_bwd,
    .gather_bias_fwd = gather_bias_fwd,
    .gather_bias_bwd = gather_bias_bwd,
    .fire_fwd = ref_double_fire_fwd,
    .fire_bwd = ref_double_fire_bwd,
    .expr_fwd = pw_expr_fwd_ref,
    .expr_bwd = pw_expr_bwd_ref,
    .terms_fwd = ref_double_terms_fwd,
    .terms_bwd = ref_double_terms_bwd,
    .slopes_fwd = ref_double_slopes_fwd,
    .slopes_bwd = ref_double_slopes_bwd,
    .polar_fwd = ref_double_polar_fwd,
    .polar_bwd = ref_double_polar_bwd,
    .planes_make = ref_double_planes_make,
    .planes_make_bwd = ref_double_planes_make_bwd,
    .planes_fwd = ref_double_planes_fwd,
    .planes_bwd = ref_double_planes_bwd,
    .walk_fwd = ref_double_walk_fwd,
    .walk_bwd = ref_double_walk_bwd_rows,
    .put_head = put_head,
    .gather_rows = gather_rows,
    .scatter_rows = scatter_rows,
    .cross_entropy = cross_entropy,
    .softmax = softmax,
    .add = add,
    .dropout = dropout,
    .zero = zero,
};
