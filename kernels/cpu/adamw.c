/* adamw.c - AdamW (Loshchilov and Hutter 2019) over segments of the flat parameter buffer.
 *
 *   d = k*g;  m = fmaf(beta1, m, (1-beta1)*d);  v = fmaf(beta2, v, (1-beta2)*(d*d))
 *   step = (m*c1) / (sqrt(v*c2) + eps);  p = fmaf(-lr, step, fmaf(-(lr*decay), p, p))
 *
 * 1-beta and lr*decay are rounded to float; k = clip/norm is computed in double and rounded once.
 *
 * The size of the update is summed in the same pass, while the parameters are in registers. A tile gives two
 * sums, and the calling thread adds them up segment by segment. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <math.h>
#include <string.h>

struct job {
    float *p, *m, *v;
    const float *g;
    const struct pw_adamw_seg *segs;
    const struct pw_adamw *h;
    float k;
    int n_segs, items;
    size_t tiles;    /* number of tiles of all segments */
    double *partial; /* [tiles,2] */
};

static size_t seg_tiles(const struct pw_adamw_seg *s)
{
    return (s->n + PW_TILE - 1) / PW_TILE;
}

/* Updates n entries of a segment from entry `first` on. */
static void update(const struct job *j, const struct pw_adamw_seg *s, size_t first, int n, double sums[2])
{
    const struct pw_adamw *h = j->h;
    v16 b1 = v_set(h->beta1), b2 = v_set(h->beta2), keep1 = v_set(1.0f - h->beta1);
    v16 keep2 = v_set(1.0f - h->beta2), eps = v_set(h->eps), minus_lr = v_set(-s->lr);
    v16 c1 = v_set(s->c1), c2 = v_set(s->c2), minus_decay = v_set(-(s->lr * s->decay)), k = v_set(j->k);
    v16 moved = v_zero(), before = v_zero();
    for (int i = 0; i < n; i += 16) {
        size_t at = s->place + first + (size_t)i;
        float *param = j->p + s->offset + first + i;
        int left = n - i;
        v16 d = v_mul(k, v_load_n(j->g + at, left));
        v16 m = v_fma(b1, v_load_n(j->m + at, left), v_mul(keep1, d));
        v16 v = v_fma(b2, v_load_n(j->v + at, left), v_mul(keep2, v_mul(d, d)));
        v16 step = v_div(v_mul(m, c1), v_add(v_sqrt(v_mul(v, c2)), eps));
        v16 old = v_load_n(param, left);
        v16 p = v_fma(minus_lr, step, v_fma(minus_decay, old, old)), by = v_sub(p, old);
        moved = v_fma(by, by, moved);
        before = v_fma(old, old, before);
        v_store_n(j->m + at, left, m);
        v_store_n(j->v + at, left, v);
        v_store_n(param, left, p);
    }
    sums[0] = (double)v_tree(moved);
    sums[1] = (double)v_tree(before);
}

/* Item i updates the tiles from i*tiles/items to (i+1)*tiles/items, counted over all segments. */
static void update_item(void *arg, int item, int worker)
{
    const struct job *j = arg;
    size_t from = j->tiles * (size_t)item / (size_t)j->items;
    size_t to = j->tiles * (size_t)(item + 1) / (size_t)j->items;
    (void)worker;
    for (int s = 0; s < j->n_segs && j->segs[s].tile < to; s++) {
        const struct pw_adamw_seg *seg = &j->segs[s];
        size_t n = seg_tiles(seg), b = from > seg->tile ? from - seg->tile : 0;
        for (; b < n && seg->tile + b < to; b++) {
            size_t left = seg->n - b * PW_TILE;
            update(j, seg, b * PW_TILE, (int)(left < PW_TILE ? left : PW_TILE),
                   j->partial + 2 * (seg->tile + b));
        }
    }
}

void PW_OP(adamw)(struct pw_backend *be, float *p, float *m, float *v, const float *g, const double *sumsq,
                  const struct pw_adamw_seg *segs, int n_segs, size_t n_tiles, const struct pw_adamw *h,
                  double *moved)
{
    if (!isfinite(*sumsq)) {
        memset(moved, 0, 2 * (size_t)n_segs * sizeof *moved);
        return;
    }
    double norm = sqrt(*sumsq);
    float k = h->clip > 0.0f && norm > (double)h->clip ? (float)((double)h->clip / norm) : 1.0f;
    struct job j = {p, m, v, g, segs, h, k, n_segs, 4 * be->threads, n_tiles, NULL};
    j.partial = pw_cpu_partial(be, 2 * j.tiles);
    pw_pool_run(be->pool, j.items, update_item, &j);
    const double *tile = j.partial;
    for (int s = 0; s < n_segs; s++) {
        double *sum = moved + 2 * s;
        sum[0] = sum[1] = 0.0;
        for (size_t t = 0; t < seg_tiles(&segs[s]); t++, tile += 2) {
            sum[0] += tile[0];
            sum[1] += tile[1];
        }
    }
}
