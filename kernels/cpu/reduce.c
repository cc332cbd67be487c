/* reduce.c - add the gradient slots in order, compute the sum of squares for clipping, and test that it is
 * finite.
 *
 * A tile is one work item, so the split does not depend on the number of threads. The caller adds the tiles'
 * sums in ascending order. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/simd.h"

#include <math.h>

struct job {
    float *g;
    double *partial;
    const float *slots;
    int n_slots;
    size_t stride, n;
};

static void reduce_tile(void *arg, int item, int worker)
{
    const struct job *j = arg;
    size_t first = (size_t)item * PW_TILE;
    int n = (int)(j->n - first < PW_TILE ? j->n - first : PW_TILE);
    v16 s = v_zero();
    (void)worker;
    for (int i = 0; i < n; i += 16) {
        const float *slot = j->slots + first + i;
        v16 v = v_load_n(slot, n - i);
        for (int k = 1; k < j->n_slots; k++)
            v = v_add(v, v_load_n(slot + (size_t)k * j->stride, n - i));
        v_store_n(j->g + first + i, n - i, v);
        s = v_fma(v, v, s);
    }
    j->partial[item] = (double)v_tree(s);
}

void PW_OP(reduce)(struct pw_backend *be, float *g, double *sumsq, int *spoilt, const float *slots,
                   int n_slots, size_t stride, size_t n, const float *loss, int n_loss)
{
    size_t tiles = (n + PW_TILE - 1) / PW_TILE;
    struct job j = {g, pw_cpu_partial(be, tiles), slots, n_slots, stride, n};
    pw_pool_run(be->pool, (int)tiles, reduce_tile, &j);
    double sum = 0.0;
    for (size_t t = 0; t < tiles; t++)
        sum += j.partial[t];
    bool finite = isfinite(sum);
    for (int i = 0; i < n_loss && finite; i++)
        finite = isfinite(loss[i]);
    if (!finite)
        *spoilt = 1;
    *sumsq = *spoilt != 0 ? NAN : sum;
}
