/* terms.c - terms of rows (kernels/backend.h): running sums of a function of a layer's projection.
 *
 * The function is applied to all numbers of a sequence at once. The sums come after it, sixteen heads at a
 * time, because rows have few heads and each row waits for the row before. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/vmath.h"
#include "kernels/score.h"

/* Replace the n numbers of y by running sums over rows of H, from `before` on (NULL: from +0). */
static void sum_down(float *y, const float *before, int H, int rows)
{
    for (int h = 0; h < H; h += 16) {
        v16 sum = v_zero();
        for (int r = 0; r < rows; r++) {
            float *at = y + (size_t)r * (size_t)H + h;
            v16 v = v_load_n(at, H - h);
            sum = r > 0 ? v_add(sum, v) : before != NULL ? v_add(v_load_n(before + h, H - h), v) : v;
            v_store_n(at, H - h, sum);
        }
    }
}

/* The program f at g[i]. g has a column for each head. */
static float function_at(const struct pw_score *f, const float *g, int i, int H, float *slope)
{
    return pw_score_value(f, (struct pw_score_pair){.h = i % H}, g[i], slope);
}

static void terms_of(float *y, const float *g, const float *before, const struct pw_score *f, int H, int rows)
{
    int n = rows * H;
    for (int i = 0; f == NULL && i < n; i += 16)
        v_store_n(y + i, n - i, v_log_sigmoid(v_load_n(g + i, n - i)));
    for (int i = 0; f != NULL && i < n; i++) {
        float slope;
        y[i] = function_at(f, g, i, H, &slope);
    }
    sum_down(y, before, H, rows);
}

void PW_OP(terms_fwd)(struct pw_ctx *c, float *y, const float *g, const float *before,
                      const struct pw_score *f, int H, const struct pw_seqs *s, int R)
{
    (void)c;
    if (s == NULL)
        terms_of(y, g, before, f, H, R);
    for (int n = 0; s != NULL && n < s->n; n++) {
        size_t at = (size_t)s->start[n] * (size_t)H;
        terms_of(y + at, g + at, NULL, f, H, s->start[n + 1] - s->start[n]);
    }
}

/* dg of `rows` rows of one sequence: first the sums from the last row up, then the derivatives. */
static void terms_of_bwd(float *dg, const float *dy, const float *g, const struct pw_score *f, int H,
                         int rows)
{
    int n = rows * H;
    for (int h = 0; h < H; h += 16) {
        v16 sum = v_zero();
        for (int r = rows - 1; r >= 0; r--) {
            size_t at = (size_t)r * (size_t)H + (size_t)h;
            sum = v_add(sum, v_load_n(dy + at, H - h));
            v_store_n(dg + at, H - h, sum);
        }
    }
    for (int i = 0; f != NULL && i < n; i++) {
        float slope;
        function_at(f, g, i, H, &slope);
        dg[i] *= slope;
    }
    for (int i = 0; f == NULL && i < n; i += 16) {
        v16 s, minus;
        v_sigmoid(v_load_n(g + i, n - i), &s, &minus);
        v_store_n(dg + i, n - i, v_mul(v_load_n(dg + i, n - i), minus));
    }
}

void PW_OP(terms_bwd)(struct pw_ctx *c, float *dg, const float *dy, const float *g, const struct pw_score *f,
                      int H, const struct pw_seqs *s)
{
    (void)c;
    for (int n = 0; n < s->n; n++) {
        size_t at = (size_t)s->start[n] * (size_t)H;
        terms_of_bwd(dg + at, dy + at, g + at, f, H, s->start[n + 1] - s->start[n]);
    }
}
