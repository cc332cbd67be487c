/* relative_weights.c - see relative.h: writes the weights of the model. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/own.h"
#include "probe/relative.h"

enum { ONE, BOS, POSITION, USE = 67 };

struct pw_relative_sizes pw_relative_of(int T)
{
    int waves = 2 * T - 1;
    return (struct pw_relative_sizes){T, waves, PW_RELATIVE_WAVES + waves + PW_RELATIVE_CONTENT,
                                      1 + waves + PW_RELATIVE_CONTENT};
}

double pw_relative_wave(int T, int m, int t)
{
    int k = m < T ? m + 1 : m - T + 1;
    double angle = 3.141592653589793 * (k * t % (2 * T)) / T;
    return m < T ? pw_cos(angle) : pw_sin(angle);
}

/* The weight of the cosine of frequency k in f, which is continued evenly with the period 2T. */
static double weight_of(const struct pw_relative_sizes *s, const double *f, int k)
{
    double sum = 0;
    for (int n = -s->T; n < s->T; n++)
        sum += f[abs(n)] * pw_cos(3.141592653589793 * (k * abs(n) % (2 * s->T)) / s->T);
    return sum / (k == 0 || k == s->T ? 2 * s->T : s->T);
}

static void write_first_layer(struct pw_model *m, const struct pw_relative_sizes *s,
                              const struct pw_probe_in *in)
{
    int C = s->C, D = s->D, T = s->T, F = T; /* T - 1 knots and the constant 1 */
    float *w = pw_alloc((size_t)PW_RELATIVE_VOCAB * C, sizeof *w);
    struct pw_rng rng;
    pw_draw_init(&rng, in, USE, 1);
    for (int v = 0; v < PW_RELATIVE_VOCAB; v++) {
        w[v * C + ONE] = 1;
        w[v * C + BOS] = v == PW_RELATIVE_FIRST;
        for (int c = 0; c < PW_RELATIVE_CONTENT; c++)
            w[v * C + PW_RELATIVE_WAVES + s->waves + c] = (float)pw_draw_normal(&rng);
    }
    pw_own_put(m, "embed.weight", w);
    free(w);
    w = pw_alloc((size_t)D * C, sizeof *w);
    pw_own_put(m, "layers.0.attn.q.weight", w); /* any W_q: all keys are equal, so attention is uniform */
    for (int d = 0; d < D; d++)
        w[d * C + ONE] = 1;
    pw_own_put(m, "layers.0.attn.k.weight", w);
    for (int d = 0; d < D; d++)
        w[d * C + ONE] = 0;
    w[BOS] = 1;
    pw_own_put(m, "layers.0.attn.v.weight", w);
    w[BOS] = 0;
    w[POSITION * D] = 1; /* [C,D] */
    pw_own_put(m, "layers.0.attn.o.weight", w);
    free(w);
    float *up = pw_alloc((size_t)F * C, sizeof *up), *down = pw_alloc((size_t)C * F, sizeof *down);
    for (int k = 1; k < T; k++) {
        up[(k - 1) * C + ONE] = 1.0F / (float)k;
        up[(k - 1) * C + POSITION] = -1;
    }
    up[(T - 1) * C + ONE] = 1;
    for (int g = 0; g < s->waves; g++) {
        double before = 0;
        for (int k = 1; k < T; k++) {
            double slope = (pw_relative_wave(s->T, g, k + 1) - pw_relative_wave(s->T, g, k)) * k * (k + 1);
            down[(PW_RELATIVE_WAVES + g) * F + k - 1] = (float)(slope - before);
            before = slope;
        }
        down[(PW_RELATIVE_WAVES + g) * F + T - 1] = (float)pw_relative_wave(s->T, g, 1);
    }
    pw_own_put(m, "layers.0.mlp.up.weight", up);
    pw_own_put(m, "layers.0.mlp.down.weight", down);
    free(up);
    free(down);
}

/* Writes queries and keys of the second layer: 1, the waves, content. */
static void write_second_layer(struct pw_model *m, const struct pw_relative_sizes *s,
                               const struct pw_probe_in *in, const double *f)
{
    int C = s->C, D = s->D;
    float *q = pw_alloc((size_t)D * C, sizeof *q), *k = pw_alloc((size_t)D * C, sizeof *k);
    struct pw_rng rng;
    q[ONE] = (float)weight_of(s, f, 0);
    k[ONE] = 1;
    for (int g = 0; g < s->waves; g++) {
        q[(1 + g) * C + PW_RELATIVE_WAVES + g] = (float)weight_of(s, f, g < s->T ? g + 1 : g - s->T + 1);
        k[(1 + g) * C + PW_RELATIVE_WAVES + g] = 1;
    }
    pw_draw_init(&rng, in, USE, 2);
    for (int d = D - PW_RELATIVE_CONTENT; d < D; d++)
        for (int c = C - PW_RELATIVE_CONTENT; c < C; c++) {
            q[d * C + c] = (float)pw_draw_normal(&rng);
            k[d * C + c] = (float)pw_draw_normal(&rng);
        }
    pw_own_put(m, "layers.1.attn.q.weight", q);
    pw_own_put(m, "layers.1.attn.k.weight", k);
    free(q);
    free(k);
}

void pw_relative_write(struct pw_model *m, const struct pw_probe_in *in, const struct pw_relative_sizes *at,
                       const double *f)
{
    write_first_layer(m, at, in);
    write_second_layer(m, at, in, f);
}
