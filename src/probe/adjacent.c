/* adjacent.c - the probe adjacent: are neighbouring position vectors similar? (Su 2024, kexue.fm 10347,
 * "Prior Knowledge".)
 *
 * It measures the cosine between rows that an encoding adds to the embeddings, for all pairs of rows k
 * positions apart. Sinusoidal rows have a built-in prior: the cosine is K(k) = (2/C) sum cos(k theta),
 * independent of the positions, and largest for neighbours. A learned table starts without a prior, with
 * cosines N(0,1/C) for every pair, and may learn one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/draw.h"

/* Tolerance between pairs at the same distance. Tables are float32. */
#define SAME 1e-5

struct options {
    int length;
};

static const struct pw_opt opts[] = {
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "number of positions, from the first one; 0: as many as the arm was trained on"},
    {0},
};

struct cosines {
    double mean, low, high;
};

struct state {
    int T, reach;          /* reach: distances 1..reach are measured */
    struct cosines *of[2]; /* [reach + 1], for the arm and its untrained twin */
};

static enum pw_code begin_adjacent(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_pe *pe = pw_model_pe(subject->model)->pe;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code == PW_OK && (pe->uses & PW_PE_ADDED) == 0)
        code = pw_fail(err, PW_EUSER, "probe adjacent: arm %d: encoding %s adds no rows to the embeddings",
                       subject->arm, pe->name);
    if (code != PW_OK)
        return code;
    s->reach = s->T / 2;
    for (int i = 0; i < 2; i++)
        s->of[i] = pw_alloc((size_t)s->reach + 1, sizeof *s->of[i]);
    p->units = 2;
    return PW_OK;
}

static double cosine(const float *a, const float *b, int C)
{
    double ab = 0, aa = 0, bb = 0;
    for (int c = 0; c < C; c++) {
        ab += (double)a[c] * (double)b[c];
        aa += (double)a[c] * (double)a[c];
        bb += (double)b[c] * (double)b[c];
    }
    return ab / sqrt(aa * bb);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    struct pw_model *m = i == 0 ? p->in->subject->model : p->in->subject->control;
    int C = pw_model_config(m)->width;
    struct pw_pe_tables t;
    enum pw_code code = pw_model_tables(m, s->T, &t, err);
    for (int k = 1; k <= s->reach && code == PW_OK; k++) {
        struct cosines *c = &s->of[i][k];
        *c = (struct cosines){.low = INFINITY, .high = -INFINITY};
        for (int n = 0; n + k < s->T; n++) {
            double v = cosine(t.added + (size_t)n * C, t.added + (size_t)(n + k) * C, C);
            c->mean += v / (s->T - k);
            c->low = v < c->low ? v : c->low;
            c->high = v > c->high ? v : c->high;
        }
    }
    if (code == PW_OK)
        pw_pe_tables_free(&t);
    return code;
}

static void claim_sines(const struct state *s, struct pw_finding *f)
{
    double spread = 0, next = -INFINITY;
    for (int k = 1; k <= s->reach; k++) {
        const struct cosines *c = &s->of[0][k];
        spread = fmax(spread, c->high - c->low);
        next = k > 1 ? fmax(next, c->high) : next;
    }
    pw_finding_claim(f,
                     spread <= SAME && s->of[0][1].low > next ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Su 2024: adjacent sinusoidal vectors are more similar than distant ones",
                     "cosine of neighbours %.4f, of other pairs at most %.4f; pairs at one distance differ "
                     "by %.1e (tolerance %g)",
                     s->of[0][1].mean, next, spread, SAME);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_pe *pe = pw_model_pe(subject->model)->pe;
    const struct state *s = p->state;
    (void)err;
    pw_finding_init(f, "adjacent", p->in->topic,
                    "cosine of the rows that arm %s adds to the embeddings, %d positions", subject->name,
                    s->T);
    int b = pw_finding_plot(f, "by distance: mean, minimum and maximum", "distance k", "cosine", s->reach, 2,
                            true);
    pw_finding_name(f, b, 0, "arm");
    pw_finding_name(f, b, 1, "untrained");
    for (int k = 1; k <= s->reach; k++) {
        pw_finding_x(f, b, k - 1, k);
        for (int i = 0; i < 2; i++)
            pw_finding_band(f, b, k - 1, i, s->of[i][k].mean, s->of[i][k].low, s->of[i][k].high);
    }
    b = pw_finding_table(f, "cosine of neighbours", 2, 1);
    pw_finding_col(f, b, 0, "mean");
    for (int i = 0; i < 2; i++) {
        pw_finding_row(f, b, i, "%s", i == 0 ? "arm" : "untrained");
        pw_finding_put(f, b, i, 0, s->of[i][1].mean);
    }
    if (strcmp(pe->name, "sinusoidal") == 0)
        claim_sines(s, f);
    if (strcmp(pe->name, "learned") == 0)
        pw_probe_remark_one(f, "adjacent");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->of[0]);
    free(s->of[1]);
    free(s);
}

const struct pw_probe pw_probe_adjacent = {
    .name = "adjacent",
    .summary = "similarity of neighbouring position vectors: cosine of the rows that an encoding adds",
    .source = "Su 2024 (kexue.fm 10347)",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_adjacent,
    .unit = unit,
    .end = end,
    .fini = fini,
};
