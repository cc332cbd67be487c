/* variance_report.c - builds the finding of the probe variance: plots, slopes and claims. See variance.c. */
#include "probe/variance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/fit.h"

/* SLOPE_WITHIN: slope of ln(mean square) against ln(position); theory -1. A point averages WIDTH * AVERAGES =
 * 32768 numbers, so its standard deviation is 0.8 %. */
#define SLOPE_WITHIN 0.02
#define LINE_WITHIN  0.02
/* Adds the line of layer l: |mean value|^2 + s^2 R_n, mean over heads. */
static void add_line(const struct pw_variance *s, struct pw_variance_side *d, const struct pw_config *c,
                     int l, int samples)
{
    int H = c->heads, D = c->head_width, L = c->layers, T = s->T;
    double rows = (double)samples * T;
    for (int h = 0; h < H; h++) {
        double mean = 0;
        for (int e = h * D; e < (h + 1) * D; e++) {
            double m = d->mean[(size_t)l * H * D + e] / rows;
            mean += m * m / D;
        }
        double variance = d->squares[l * H + h] / rows / D - mean;
        for (int t = 0; t < T; t++) /* a sum over samples, like the other rows of ms */
            d->ms[((size_t)PW_MS_LINE * L + l) * T + t] +=
                (mean * samples + variance * d->weights[((size_t)l * H + h) * T + t]) / H;
    }
}

/* The slope of ln y against ln n over positions from `from` on. */
static double log_slope(const double *y, int from, int T)
{
    double *x = pw_alloc(2 * (size_t)T, sizeof *x), *ln = x + T;
    for (int t = from; t < T; t++) {
        x[t] = pw_log(t + 1);
        ln[t] = pw_log(y[t]);
    }
    double slope = pw_fit_line(x + from, ln + from, T - from).slope;
    free(x);
    return slope;
}

static double off_line(const double *y, const double *line, int from, int T)
{
    double sum = 0;
    for (int t = from; t < T; t++)
        sum += fabs(y[t] / line[t] - 1) / (T - from);
    return sum;
}

static void add_average(const struct pw_variance *s, struct pw_finding *f)
{
    const double *const curves[] = {s->distinct, s->repeated, s->repeats};
    const char *const names[] = {"all different", "tokens repeat", "line of repeats", "1/n"};
    int b = pw_finding_plot(f, "uniform attention over iid N(0,1) values: mean square of the average",
                            "keys n", "mean square", PW_VARIANCE_KEYS, 4, false);
    f->blocks[b].n_reference = 2;
    f->blocks[b].log_x = f->blocks[b].log_y = true;
    for (int k = 0; k < 4; k++)
        pw_finding_name(f, b, k, "%s", names[k]);
    for (int t = 0; t < PW_VARIANCE_KEYS; t++) {
        pw_finding_x(f, b, t, t + 1);
        for (int k = 0; k < 3; k++)
            pw_finding_y(f, b, t, k, curves[k][t] / PW_VARIANCE_AVERAGES);
        pw_finding_y(f, b, t, 3, 1.0 / (t + 1));
    }
    double slope = log_slope(s->distinct, 0, PW_VARIANCE_KEYS),
           off = off_line(s->repeated, s->repeats, 0, PW_VARIANCE_KEYS);
    pw_finding_claim(f, fabs(slope + 1) <= SLOPE_WITHIN ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Su 2024: an average of n iid values has the mean square sigma^2/n (slope -1)",
                     "slope %.4f over n = 1..%d (tolerance %g)", slope, PW_VARIANCE_KEYS, SLOPE_WITHIN);
    pw_finding_claim(
        f, off <= LINE_WITHIN ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
        "with repeated tokens, the mean square is sigma^2 times the sum over tokens of (sum of weights)^2",
        "mean deviation %.4f (tolerance %g)", off, LINE_WITHIN);
}

static void add_layer(const struct pw_variance *s, struct pw_finding *f, int l, int L, int samples)
{
    const struct {
        const char *name;
        int side, measure;
    } curves[] = {{"output", 0, PW_MS_OUTPUT},
                  {"stream", 0, PW_MS_STREAM},
                  {"untrained output", 1, PW_MS_OUTPUT},
                  {"untrained stream", 1, PW_MS_STREAM},
                  {"line", 0, PW_MS_LINE},
                  {"untrained line", 1, PW_MS_LINE}};
    char title[64];
    snprintf(title, sizeof title, "layer %d: mean square by position", l);
    int b = pw_finding_plot(f, title, "keys n", "mean square", s->T, 6, false);
    f->blocks[b].n_reference = 2;
    f->blocks[b].log_x = f->blocks[b].log_y = true;
    for (int k = 0; k < 6; k++) {
        pw_finding_name(f, b, k, "%s", curves[k].name);
        for (int t = 0; t < s->T; t++)
            pw_finding_y(f, b, t, k,
                         s->side[curves[k].side].ms[((size_t)curves[k].measure * L + l) * s->T + t] /
                             samples);
    }
    for (int t = 0; t < s->T; t++)
        pw_finding_x(f, b, t, t + 1);
}

/* Adds a table of slopes. They start at the second position: the first has one key, the first word. */
static void add_slopes(const struct pw_variance *s, struct pw_finding *f, int L)
{
    const char *const heads[] = {"output", "stream", "share in norm", "off its line"};
    int b =
        pw_finding_table(f, "slope of ln(mean square) against ln n; mean distance from the line", 2 * L, 4);
    f->blocks[b].decimals = 3;
    for (int k = 0; k < 4; k++)
        pw_finding_col(f, b, k, "%s", heads[k]);
    for (int l = 0; l < L; l++)
        for (int i = 0; i < 2; i++) {
            const double *ms[PW_MS];
            for (int k = 0; k < PW_MS; k++)
                ms[k] = s->side[i].ms + ((size_t)k * L + l) * s->T;
            pw_finding_row(f, b, 2 * l + i, "layer %d%s", l, i ? ", untrained" : "");
            for (int k = 0; k < 3; k++)
                pw_finding_put(f, b, 2 * l + i, k, log_slope(ms[k], 1, s->T));
            pw_finding_put(f, b, 2 * l + i, 3, off_line(ms[PW_MS_OUTPUT], ms[PW_MS_LINE], 1, s->T));
        }
}

void pw_variance_report(struct pw_variance *s, const struct pw_probe_in *in, int samples,
                        struct pw_finding *f)
{
    const struct pw_probe_subject *subject = in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    pw_finding_init(f, "variance", in->topic,
                    "mean square of attention's output by position: the case of Su 2024, and arm %s on %d "
                    "sequences of %d random tokens",
                    subject->name, samples, s->T);
    add_average(s, f);
    for (int l = 0; l < c->layers; l++) {
        for (int i = 0; i < 2; i++)
            add_line(s, &s->side[i], c, l, samples);
        add_layer(s, f, l, c->layers, samples);
    }
    add_slopes(s, f, c->layers);
    if (pw_probe_nope(subject, false))
        pw_probe_remark_one(f, "variance");
    pw_finding_remark(f, "erratum: Su 2024 sums v_{n,i}; it must be v_{m,i}, m = 1..n");
    pw_finding_remark(f, "a norm sets the mean square of the whole stream to 1; 'share in norm' is the slope "
                         "of attention's share of it");
}
