/* dispersion.c - how attention thins out as sequences get longer: the entropy of each head's rows by the
 * number of keys (Su, kexue.fm 10347, the fourth shortcoming; Velickovic et al. 2024).
 *
 * A query with n keys has the entropy H_n = -sum a ln a, at most ln n, and e^H is the number of keys that it
 * effectively looks at. A head that keeps its grip has e^H independent of n, one that disperses goes with n:
 * the slope of H against ln n is 0 or 1. ALiBi's bias alone saturates, whatever the content adds: for zero
 * content H -> -ln(1 - e^-m) + m e^-m / (1 - e^-m) for slope m.
 *
 * Measured on test samples of the task, prompt and right answer, rows of the answer: there the model has
 * something to look for. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/fit.h"
#include "probe/probe.h"

struct options {
    int samples;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "16", 1, 4096, NULL, 0,
     "of each length, from the trained lengths' first to the test's last"},
    {0},
};

struct state {
    int first, lengths, heads; /* of the subject: layers * heads */
    float *probs;
    int *tokens, cap;
    double *entropy; /* [lengths,heads] sums over rows */
    double *keys;    /* [lengths] sums of ln n, */
    int *rows;       /* [lengths] over so many */
};

static enum pw_code begin(struct pw_probing_at *p, struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct options *o = p->opts;
    const struct pw_config *c = pw_model_config(in->subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    s->first = in->lengths.lo;
    s->lengths = in->test.hi - s->first + 1;
    s->heads = c->layers * c->heads;
    s->cap = c->context;
    s->tokens = pw_alloc((size_t)s->cap, sizeof *s->tokens);
    s->entropy = pw_alloc((size_t)s->lengths * s->heads, sizeof *s->entropy);
    s->keys = pw_alloc((size_t)s->lengths, sizeof *s->keys);
    s->rows = pw_alloc((size_t)s->lengths, sizeof *s->rows);
    s->probs = malloc((size_t)s->heads * s->cap * s->cap * sizeof *s->probs);
    if (s->probs == NULL)
        return pw_fail(err, PW_ENOMEM, "probe dispersion: out of memory for %d heads of %d tokens", s->heads,
                       s->cap);
    p->units = s->lengths * o->samples;
    return PW_OK;
}

static double entropy(const float *row, int n)
{
    double h = 0;
    for (int j = 0; j < n; j++)
        if (row[j] > 0)
            h -= row[j] * pw_log(row[j]);
    return h;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    int at = i / o->samples, n_prompt, T = 0;
    bool causal = pw_model_config(p->in->subject->model)->causal;
    if (p->in->has(p->in->arg, s->first + at))
        T = p->in->sequence(p->in->arg, s->first + at, i % o->samples, s->tokens, s->cap, &n_prompt);
    if (T == 0) /* none, or longer than the model's context */
        return PW_OK;
    enum pw_code code = pw_model_inspect(p->in->subject->model, s->tokens, T,
                                         &(struct pw_inspection){.probs = s->probs}, err);
    for (int h = 0; code == PW_OK && h < s->heads; h++)
        for (int t = n_prompt - 1; t < T; t++)
            s->entropy[at * s->heads + h] += entropy(s->probs + ((size_t)h * T + t) * T, causal ? t + 1 : T);
    for (int t = n_prompt - 1; code == PW_OK && t < T; t++, s->rows[at]++)
        s->keys[at] += pw_log(causal ? t + 1 : T);
    return code;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    const struct pw_config *c = pw_model_config(subject->model);
    double *x = pw_alloc((size_t)s->lengths, sizeof *x), *y = pw_alloc((size_t)s->lengths, sizeof *y);
    int points = 0;
    for (int i = 0; i < s->lengths; i++)
        points += s->rows[i] > 0;
    if (points < 2) {
        free(x);
        free(y);
        return pw_fail(err, PW_EUSER,
                       "probe dispersion: the task has samples of %d length%s that fit; it takes "
                       "two",
                       points, points == 1 ? "" : "s");
    }
    pw_finding_init(f, "dispersion", p->in->topic,
                    "entropy of attention by length, arm %s, answer's rows of %d "
                    "samples a length",
                    subject->name, o->samples);
    int plot =
        pw_finding_plot(f, "mean entropy of a layer's heads", "ln keys", "nats", points, c->layers + 1, true);
    int table = pw_finding_table(f, "slope of entropy against ln keys (0 keeps its grip, 1 disperses)",
                                 c->layers, c->heads);
    f->blocks[plot].n_reference = 1;
    f->blocks[table].decimals = 3;
    pw_finding_name(f, plot, c->layers, "uniform: ln n");
    for (int l = 0; l < c->layers; l++) {
        pw_finding_name(f, plot, l, "layer %d", l);
        pw_finding_row(f, table, l, "layer %d", l);
    }
    for (int h = 0; h < c->heads; h++)
        pw_finding_col(f, table, h, "head %d", h);
    for (int i = 0, k = 0; i < s->lengths; i++) {
        if (s->rows[i] == 0)
            continue;
        x[k] = s->keys[i] / s->rows[i];
        pw_finding_x(f, plot, k, x[k]);
        pw_finding_y(f, plot, k, c->layers, x[k]);
        for (int l = 0; l < c->layers; l++) {
            double mean = 0, low = INFINITY, high = 0;
            for (int h = 0; h < c->heads; h++) {
                double e = s->entropy[i * s->heads + l * c->heads + h] / s->rows[i];
                mean += e / c->heads;
                low = e < low ? e : low;
                high = e > high ? e : high;
            }
            pw_finding_band(f, plot, k, l, mean, low, high);
        }
        k++;
    }
    for (int h = 0; h < s->heads; h++) {
        for (int i = 0, k = 0; i < s->lengths; i++)
            if (s->rows[i] > 0)
                y[k++] = s->entropy[i * s->heads + h] / s->rows[i];
        pw_finding_put(f, table, h / c->heads, h % c->heads, pw_fit_line(x, y, points).slope);
    }
    free(x);
    free(y);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    if (s == NULL)
        return;
    free(s->probs);
    free(s->tokens);
    free(s->entropy);
    free(s->keys);
    free(s->rows);
    free(s);
}

const struct pw_probe pw_probe_dispersion = {
    .name = "dispersion",
    .summary = "entropy of attention as sequences get longer, head by head",
    .source = "Su 2024 (kexue.fm 10347); Velickovic et al. 2024",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM,
    .begin = begin,
    .unit = unit,
    .end = end,
    .fini = fini,
};
