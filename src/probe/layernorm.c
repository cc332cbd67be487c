/* layernorm.c - the probe layernorm: the proof of theorem 1 with layer normalisation before the MLP, as in
 * the paper's own layer (Kazemnejad et al. 2023, Eq. 3). The last sentence of C.1 says that "the layer-norm
 * operation can be bypassed as explained by Akyurek et al. (2023)".
 *
 * Two dimensions of the stream hold N - S/2 and -N - S/2, where S is the sum of the others. The mean is then
 * 0, and the standard deviation is N sqrt(2/C) up to a relative error of order |x|^2 / N^2. The norm thus
 * divides by a known constant, which the weights of the MLP undo. Attention writes 1/t to dimension 3 and
 * -1/t to dimension 4, so that the sum stays 0. The rest follows src/model/theorem.c:
 *
 *     t = 1 + sum_{k=1}^{T-1} 2k ReLU(1/k - u),   u = 1/t; the stream holds u already, so the MLP adds t - u
 *
 * ReLU is positively homogeneous, so everything may be scaled. A larger N reduces the influence of the other
 * dimensions' variance, but loses more of them to rounding: next to N, float32 has an absolute error of 2^-24
 * N. The backend's own kernels run the model. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "probe/draw.h"
#include "probe/own.h"

/* Neighbouring positions are 1 apart, so rounding to the nearest integer is correct below 0.5. */
#define COUNT 0.1

enum { ONE, BOS, POSITION, MINUS, LARGE, BALANCE, CONTENT, WIDTH = 8, VOCAB = 16, FIRST = 2, USE = 65 };

static const int sizes[] = {0, 4, 16, 64, 256, 1024, 4096}; /* N */

enum { SIZES = sizeof sizes / sizeof *sizes };

struct options {
    int T, large;
};

static const struct pw_opt opts[] = {
    {"T", PW_OPT_INT, offsetof(struct options, T), "32", 2, 64, NULL, 0,
     "number of positions that the MLP counts"},
    {"large", PW_OPT_INT, offsetof(struct options, large), "256", 1, 65536, NULL, 0,
     "N of the two large dimensions, for the claim"},
    {0},
};

struct state {
    int *tokens;
    float *stream; /* [2,T,WIDTH] */
    double *count; /* [SIZES + 1,T] the model's value for t; the last row: N = large */
    double worst[SIZES + 1];
};

static int size_of(const struct options *o, int i)
{
    return i < SIZES ? sizes[i] : o->large;
}

static enum pw_code begin_layernorm(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    struct pw_rng rng;
    (void)err;
    s->tokens = pw_alloc((size_t)o->T, sizeof *s->tokens);
    s->stream = pw_alloc((size_t)2 * o->T * WIDTH, sizeof *s->stream);
    s->count = pw_alloc((size_t)(SIZES + 1) * o->T, sizeof *s->count);
    pw_draw_init(&rng, p->in, USE, 0);
    for (int t = 0; t < o->T; t++)
        s->tokens[t] = t == 0 ? FIRST : FIRST + 1 + (int)pw_rng_below(&rng, VOCAB - FIRST - 1);
    p->units = SIZES + 1;
    return PW_OK;
}

/* Writes embeddings whose rows sum to 0. Two content dimensions are random. */
static void embed(struct pw_model *m, const struct pw_probe_in *in, int N)
{
    float e[VOCAB][WIDTH] = {{0}};
    struct pw_rng rng;
    pw_draw_init(&rng, in, USE, 1);
    for (int v = 0; v < VOCAB; v++) {
        e[v][ONE] = 1;
        e[v][BOS] = v == FIRST;
        e[v][CONTENT] = (float)pw_draw_normal(&rng);
        e[v][CONTENT + 1] = (float)pw_draw_normal(&rng);
        float half = (e[v][ONE] + e[v][BOS] + e[v][CONTENT] + e[v][CONTENT + 1]) / 2;
        e[v][LARGE] = (float)N - half;
        e[v][BALANCE] = -(float)N - half;
    }
    pw_own_put(m, "embed.weight", &e[0][0]);
}

/* Writes one head of width 1: uniform attention; the value is dimension 2, written to dimensions 3 and 4 (Eq.
 * 18, 19). */
static void attend(struct pw_model *m)
{
    float row[WIDTH] = {[ONE] = 1}, out[WIDTH] = {[POSITION] = 1, [MINUS] = -1};
    pw_own_put(m, "layers.0.attn.k.weight", row);
    row[ONE] = 0;
    row[BOS] = 1;
    pw_own_put(m, "layers.0.attn.v.weight", row);
    pw_own_put(m, "layers.0.attn.o.weight", out);
}

/* Writes the MLP with F = T + 1 units: T - 1 knots, the constant 1, and u. */
static void count_up(struct pw_model *m, int T, int N)
{
    int F = T + 1;
    float *up = pw_alloc((size_t)F * WIDTH, sizeof *up), *down = pw_alloc((size_t)F * WIDTH, sizeof *down);
    double undo = (N > 0 ? N : 1) * sqrt(2.0 / WIDTH);
    for (int k = 1; k < T; k++) {
        up[(k - 1) * WIDTH + ONE] = 1.0F / (float)k;
        up[(k - 1) * WIDTH + POSITION] = -1;
        down[POSITION * F + k - 1] = (float)(2 * k * undo);
    }
    up[(T - 1) * WIDTH + ONE] = up[T * WIDTH + POSITION] = 1;
    down[POSITION * F + T - 1] = (float)undo;
    down[POSITION * F + T] = (float)-undo;
    pw_own_put(m, "layers.0.mlp.up.weight", up);
    pw_own_put(m, "layers.0.mlp.down.weight", down);
    free(up);
    free(down);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct pw_model *m = NULL;
    int T = o->T, N = size_of(o, i);
    struct pw_config cfg = pw_own_config(1, WIDTH, 1, 1, T, VOCAB, true);
    cfg.norm = PW_NORM_LAYER;
    cfg.norm_at = PW_NORM_AT_FF; /* Eq. 3 */
    cfg.ffn = T + 1;
    enum pw_code code = pw_own_model(&m, p->in, &cfg, NULL, 0, err);
    if (code != PW_OK)
        return code;
    embed(m, p->in, N);
    attend(m);
    count_up(m, T, N);
    code = pw_model_inspect(m, s->tokens, T, &(struct pw_inspection){.resid = s->stream}, err);
    for (int t = 1; t <= T && code == PW_OK; t++) {
        double says = (double)s->stream[(size_t)(T + t - 1) * WIDTH + POSITION];
        s->count[i * T + t - 1] = says;
        s->worst[i] = fmax(s->worst[i], fabs(says - t));
    }
    pw_model_destroy(m);
    return code;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct state *s = p->state;
    (void)err;
    pw_finding_init(f, "layernorm", "",
                    "theorem 1 with a LayerNorm before the MLP: T=%d, two dimensions at +-N", o->T);
    int b = pw_finding_table(f, "largest error of t, t = 1..T", SIZES, 1);
    pw_finding_col(f, b, 0, "error");
    int plot = pw_finding_plot(f, "dimension 3 after the layer", "t", "dimension 3", o->T, 3, false);
    f->blocks[plot].n_reference = 1;
    pw_finding_name(f, plot, 0, "N = %d", o->large);
    pw_finding_name(f, plot, 1, "N = 0: not bypassed");
    pw_finding_name(f, plot, 2, "t");
    for (int i = 0; i < SIZES; i++) {
        pw_finding_row(f, b, i, "N = %d", sizes[i]);
        pw_finding_put(f, b, i, 0, s->worst[i]);
    }
    for (int t = 1; t <= o->T; t++) {
        pw_finding_x(f, plot, t - 1, t);
        pw_finding_y(f, plot, t - 1, 0, s->count[SIZES * o->T + t - 1]);
        pw_finding_y(f, plot, t - 1, 1, s->count[t - 1]);
        pw_finding_y(f, plot, t - 1, 2, t);
    }
    pw_finding_claim(f, s->worst[SIZES] <= COUNT ? PW_CLAIM_REPRODUCED : PW_CLAIM_INCONCLUSIVE, /* one N */
                     "Kazemnejad et al. 2023, C.1: layer normalisation can be bypassed (Akyurek et al. 2023)",
                     "t = 1..%d after the norm of Eq. 3: error %.1e with two dimensions at +-%d (tolerance "
                     "%g), without them %.3g",
                     o->T, s->worst[SIZES], o->large, COUNT, s->worst[0]);
    pw_finding_remark(f,
                      "a larger N reduces the influence of the other dimensions on the standard deviation, "
                      "but float32 keeps fewer of their digits beside N; the best N lies in between");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->tokens);
    free(s->stream);
    free(s->count);
    free(s);
}

const struct pw_probe pw_probe_layernorm = {
    .name = "layernorm",
    .summary = "theorem 1 with layer normalisation, bypassed by two large dimensions",
    .source = "Kazemnejad et al. 2023, Eq. 3 and C.1; Akyurek et al. 2023",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_layernorm,
    .unit = unit,
    .end = end,
    .fini = fini,
};
