/* loss.c - cross entropy with its gradient, and softmax.
 *
 * loss = (max - logit of the target) + log(sum), with the log in double, rounded once. d_logits = scale * p,
 * and scale * (p - 1) at the target. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/vmath.h"

#include "base/maths.h"

#include <math.h>
#include <string.h>

/* Load 16 logits divided by the temperature. Lanes from left on are -inf, so they affect neither maximum nor
 * sum. */
V_INLINE v16 load_logits(const float *x, int left, float temperature)
{
    v16 v = v_load_n(x, left);
    if (temperature != 1.0f)
        v = v_div(v, v_set(temperature));
    return left >= 16 ? v : v_select(m_first(left), v, v_set(-INFINITY));
}

static float largest(const float *x, int V, float temperature)
{
    v16 m = v_set(-INFINITY);
    for (int i = 0; i < V; i += 16)
        m = v_max(load_logits(x + i, V - i, temperature), m);
    return v_largest(m);
}

/* e [V] = exp(x / temperature - max); returns the sum. e may be NULL. */
static float exponentials(float *e, const float *x, int V, float temperature, float max)
{
    v16 s = v_zero();
    for (int i = 0; i < V; i += 16) {
        v16 v = v_exp(v_sub(load_logits(x + i, V - i, temperature), v_set(max)));
        if (e != NULL)
            v_store_n(e + i, V - i, v);
        s = v_add(s, v);
    }
    return v_tree(s);
}

/* Return the lowest index whose logit is max; 0 if there is none (a row with NaN). */
static int find(const float *x, int V, float max)
{
    for (int i = 0; i < V; i += 16) {
        unsigned hit = m_bits(v_equal(load_logits(x + i, V - i, 1.0f), v_set(max)));
        if (hit != 0)
            return i + __builtin_ctz(hit);
    }
    return 0;
}

void PW_OP(cross_entropy)(struct pw_ctx *c, float *loss, int *best, float *d_logits, const float *logits,
                          const int *targets, const float *scale, int N, int V)
{
    (void)c;
    for (int n = 0; n < N; n++, logits += V) {
        float *d = d_logits != NULL ? d_logits + (size_t)n * (size_t)V : NULL;
        best[n] = find(logits, V, largest(logits, V, 1.0f));
        float max = logits[best[n]];
        float sum = exponentials(d, logits, V, 1.0f, max);
        loss[n] = targets[n] < 0 ? 0.0f : (max - logits[targets[n]]) + (float)pw_log((double)sum);
        if (d == NULL)
            continue;
        if (targets[n] < 0) {
            memset(d, 0, (size_t)V * sizeof *d);
            continue;
        }
        struct v_divisor by = v_divisor(sum);
        float at_target = *scale * (d[targets[n]] / sum - 1.0f);
        for (int i = 0; i < V; i += 16) {
            v16 p = v_quotient(v_load_n(d + i, V - i), &by);
            v_store_n(d + i, V - i, v_mul(v_set(*scale), p));
        }
        d[targets[n]] = at_target;
    }
}

void PW_OP(softmax)(struct pw_ctx *c, float *p, const float *logits, float temperature, int N, int V)
{
    (void)c;
    for (int n = 0; n < N; n++, logits += V, p += V) {
        float max = largest(logits, V, temperature);
        float sum = exponentials(p, logits, V, temperature, max);
        struct v_divisor by = v_divisor(sum);
        for (int i = 0; i < V; i += 16)
            v_store_n(p + i, V - i, v_quotient(v_load_n(p + i, V - i), &by));
    }
}
