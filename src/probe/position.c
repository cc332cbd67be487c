/* position.c - the probe position: where is position stored? A linear readout of the position from the
 * residual stream, layer by layer (Haviv et al. 2022; Kazemnejad et al. 2023, section 5; the method: Alain
 * and Bengio 2017).
 *
 * Ridge regression maps the stream at token i of a sequence of T tokens to i, i/T, 1/(i+1) and ln(i+1).
 * Tokens are random, so the content carries no information on position. Lengths vary, so that i and i/T
 * differ. The first token is always the same and is left out. The readout is scored on other sequences,
 * because tokens of one sequence share information. It is also scored on longer sequences than it was fitted
 * on, at the positions beyond.
 *
 * R^2 means nothing without two controls. The first is the untrained twin: its random features already
 * predict a lot. The second has targets shuffled within each sequence, which no readout may predict. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "probe/draw.h"
#include "probe/fit.h"

/* Halves the weight of a direction of the stream that has a thousandth of a feature's variance. This suffices
 * against rounding, and is negligible if there are more rows than features. */
#define LAMBDA 1e-3
/* The largest R^2 of i on held-out sequences that counts as none. The shuffled control must stay below it. */
#define CONTROL 0.05

enum {
    TARGETS = 4,
    BOTH = 2 * TARGETS /* targets, then the shuffled targets */,
    USE_LENGTH = 4,
    USE_SHUFFLE = 5,
    HELD_OUT = 1 << 20
};

static const char *const targets[TARGETS] = {"i", "i/T", "1/(i+1)", "ln(i+1)"};

struct options {
    int samples, length;
};

static const struct pw_opt opts[] = {
    {"samples", PW_OPT_INT, offsetof(struct options, samples), "128", 4, 8192, NULL, 0,
     "sequences to fit the readout on; half as many to score it, and half as many longer ones"},
    {"length", PW_OPT_INT, offsetof(struct options, length), "0", 0, 65536, NULL, 0,
     "tokens of the longest sequence to fit on; 0: the length that the arm was trained on"},
    {0},
};

/* Sums over the positions that a readout was scored on. */
struct score {
    double n, error, square, y, yy; /* |error|, error^2, the target and its square */
};

struct side {
    struct pw_ridge *ridge; /* [L+1] one for each stream */
    double *weights;        /* [L+1][C+1,BOTH] */
    struct score *held;     /* [L+1,BOTH] held-out sequences, lengths up to T */
    struct score *beyond;   /* [L+1,TARGETS] longer sequences, positions from T on */
    struct score *by;       /* [longest] by position i, last layer */
};

struct state {
    int T, longest, streams, C;
    struct side side[2]; /* the arm, the untrained twin */
    float *resid;
    int *tokens, *place;
    double *y; /* [longest,BOTH] targets */
};

static enum pw_code begin_position(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct pw_config *c = pw_model_config(subject->model);
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    enum pw_code code = pw_draw_length(&s->T, p, subject, o->length, pw_draw_trained(p->in, subject), err);
    if (code != PW_OK)
        return code;
    s->longest = 2 * s->T <= c->context ? 2 * s->T : c->context;
    s->streams = c->layers + 1;
    s->C = c->width;
    size_t n = (size_t)s->streams;
    bool there = true;
    for (int i = 0; i < 2; i++) {
        struct side *d = &s->side[i];
        d->ridge = pw_alloc(n, sizeof *d->ridge);
        for (int l = 0; l < s->streams && there; l++)
            there = pw_ridge_init(&d->ridge[l], s->C, BOTH);
        d->weights = pw_alloc(n * (s->C + 1) * BOTH, sizeof *d->weights);
        d->held = pw_alloc(n * BOTH, sizeof *d->held);
        d->beyond = pw_alloc(n * TARGETS, sizeof *d->beyond);
        d->by = pw_alloc((size_t)s->longest, sizeof *d->by);
    }
    s->resid = pw_alloc(n * s->longest * s->C, sizeof *s->resid);
    s->tokens = pw_alloc(2 * (size_t)s->longest, sizeof *s->tokens);
    s->place = s->tokens + s->longest;
    s->y = pw_alloc((size_t)s->longest * BOTH, sizeof *s->y);
    p->units = 2 * (o->samples + s->streams + 2 * (o->samples / 2));
    return there ? PW_OK
                 : pw_fail(err, PW_ENOMEM, "probe position: out of memory for readouts of width %d", s->C);
}

static void target(double *y, int i, int T)
{
    y[0] = i;
    y[1] = (double)i / T;
    y[2] = 1.0 / (i + 1);
    y[3] = pw_log(i + 1);
}

/* Computes streams and targets of sequence `index`. Its length is `exactly`, or if that is 0, random in the
 * upper half up to T. */
static enum pw_code run(const struct pw_probing_at *p, int side, uint64_t index, int exactly, int *length,
                        struct pw_err *err)
{
    const struct pw_probe_subject *subject = p->in->subject;
    struct state *s = p->state;
    struct pw_rng rng;
    pw_draw_init(&rng, p->in, USE_LENGTH, index);
    int least = s->T / 2 + 1, T = least + (int)pw_rng_below(&rng, (uint32_t)(s->T - least + 1));
    *length = T = exactly > 0 ? exactly : T;
    pw_draw_tokens(s->tokens, T, p->in, index);
    pw_draw_init(&rng, p->in, USE_SHUFFLE, index);
    for (int i = 0; i < T; i++)
        s->place[i] = i;
    pw_draw_shuffle(&rng, s->place + 1, T - 1);
    for (int i = 0; i < T; i++) {
        target(s->y + (size_t)i * BOTH, i, T);
        target(s->y + (size_t)i * BOTH + TARGETS, s->place[i], T);
    }
    return pw_model_inspect(side == 0 ? subject->model : subject->control, s->tokens, T,
                            &(struct pw_inspection){.resid = s->resid}, err);
}

static void fit(struct state *s, struct side *d, int T)
{
    for (int l = 0; l < s->streams; l++)
        for (int i = 1; i < T; i++)
            pw_ridge_add(&d->ridge[l], s->resid + ((size_t)l * T + i) * s->C, s->y + (size_t)i * BOTH);
}

static void add_score(struct score *k, double y, double read)
{
    k->n++;
    k->error += fabs(read - y);
    k->square += (read - y) * (read - y);
    k->y += y;
    k->yy += y * y;
}

/* Scores the readouts. Sequences of at most T tokens count for the fitted range, longer ones for the
 * positions beyond. */
static void judge(struct state *s, struct side *d, int T)
{
    bool longer = T > s->T;
    for (int l = 0; l < s->streams; l++)
        for (int i = longer ? s->T : 1; i < T; i++)
            for (int k = 0; k < (longer ? TARGETS : BOTH); k++) {
                const double *w = d->weights + (size_t)l * (s->C + 1) * BOTH;
                double y = s->y[(size_t)i * BOTH + k];
                double read = pw_ridge_predict(w, s->resid + ((size_t)l * T + i) * s->C, s->C, BOTH, k);
                add_score(longer ? &d->beyond[l * TARGETS + k] : &d->held[l * BOTH + k], y, read);
                if (k == 0 && l == s->streams - 1)
                    add_score(&d->by[i], y, read);
            }
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    struct side *d = &s->side[i % 2];
    int side = i % 2, T = 0;
    i /= 2;
    if (i >= o->samples && i < o->samples + s->streams) {
        int l = i - o->samples;
        pw_ridge_solve(&d->ridge[l], d->weights + (size_t)l * (s->C + 1) * BOTH, LAMBDA);
        return PW_OK;
    }
    if (i < o->samples) {
        enum pw_code code = run(p, side, (uint64_t)i, 0, &T, err);
        if (code == PW_OK)
            fit(s, d, T);
        return code;
    }
    bool longer = i >= o->samples + s->streams + o->samples / 2;
    if (longer && s->longest == s->T)
        return PW_OK;
    enum pw_code code = run(p, side, (uint64_t)i + HELD_OUT, longer ? s->longest : 0, &T, err);
    if (code == PW_OK)
        judge(s, d, T);
    return code;
}

/* ---- the finding */

static double r2(const struct score *k)
{
    return k->n > 0 ? 1 - k->square / (k->yy - k->y * k->y / k->n) : NAN;
}

static double mean_error(const struct score *k)
{
    return k->n > 0 ? k->error / k->n : NAN;
}

static void add_layers(const struct state *s, struct pw_finding *f)
{
    static const char *const rows[] = {"", ", untrained", ", shuffled"};
    static const char *const errors[] = {"error of i", "beyond, R2 of i", "beyond, error"};
    int b = pw_finding_table(f, "R^2 of each target on held-out sequences; mean |error| of i, tokens",
                             3 * s->streams, TARGETS + 3);
    int plot = pw_finding_plot(f, "R^2 of i by layer, held-out sequences", "stream before layer", "R^2",
                               s->streams, 3, false);
    f->blocks[b].decimals = 2;
    for (int k = 0; k < TARGETS; k++)
        pw_finding_col(f, b, k, "R2 %s", targets[k]);
    for (int k = 0; k < 3; k++) {
        pw_finding_col(f, b, TARGETS + k, "%s", errors[k]);
        pw_finding_name(f, plot, k, "%s", k == 0 ? "arm" : rows[k] + 2);
    }
    for (int l = 0; l < s->streams; l++) {
        pw_finding_x(f, plot, l, l);
        for (int r = 0; r < 3; r++) {
            const struct side *d = &s->side[r == 1];
            const struct score *held = d->held + l * BOTH + (r == 2 ? TARGETS : 0);
            int row = 3 * l + r;
            pw_finding_row(f, b, row, "stream %d%s", l, rows[r]);
            pw_finding_y(f, plot, l, r, r2(held));
            for (int k = 0; k < TARGETS; k++)
                pw_finding_put(f, b, row, k, r2(&held[k]));
            pw_finding_put(f, b, row, TARGETS, mean_error(held));
            if (r < 2) {
                pw_finding_put(f, b, row, TARGETS + 1, r2(&d->beyond[l * TARGETS]));
                pw_finding_put(f, b, row, TARGETS + 2, mean_error(&d->beyond[l * TARGETS]));
            }
        }
    }
}

static void add_places(const struct state *s, struct pw_finding *f)
{
    int b = pw_finding_plot(f, "mean |error| of i by position, after the last layer", "position i", "tokens",
                            s->longest - 1, 2, false);
    pw_finding_name(f, b, 0, "arm");
    pw_finding_name(f, b, 1, "untrained");
    for (int i = 1; i < s->longest; i++) {
        pw_finding_x(f, b, i - 1, i);
        for (int k = 0; k < 2; k++)
            pw_finding_y(f, b, i - 1, k, mean_error(&s->side[k].by[i]));
    }
}

/* The largest R^2 of i over all streams with shuffled targets. */
static double largest_shuffled(const struct state *s)
{
    double most = -INFINITY;
    for (int i = 0; i < 2 * s->streams; i++)
        most = fmax(most, r2(&s->side[i % 2].held[i / 2 * BOTH + TARGETS]));
    return most;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    const struct pw_probe_subject *subject = p->in->subject;
    const struct state *s = p->state;
    double shuffled = largest_shuffled(s);
    (void)err;
    pw_finding_init(f, "position", p->in->topic,
                    "linear readout of the position from the stream of arm %s: fitted on %d sequences of %d "
                    "to %d random tokens, scored on %d others",
                    subject->name, o->samples, s->T / 2 + 1, s->T, o->samples / 2);
    add_layers(s, f);
    add_places(s, f);
    pw_finding_remark(f, "control: R^2 with shuffled positions is at most %.3f (%s %g)", shuffled,
                      shuffled <= CONTROL ? "as expected, below the limit of"
                                          : "TOO LARGE: no number of this finding is valid; the limit is",
                      CONTROL);
    if (pw_probe_nope(subject, true))
        pw_probe_remark_one(f, "position");
    if (s->longest == s->T)
        pw_finding_remark(f, "the arm's context has no room for longer sequences: there are no results "
                             "beyond the fitted length");
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    for (int i = 0; i < 2; i++) {
        for (int l = 0; l < s->streams && s->side[i].ridge != NULL; l++)
            pw_ridge_fini(&s->side[i].ridge[l]);
        free(s->side[i].ridge);
        free(s->side[i].weights);
        free(s->side[i].held);
        free(s->side[i].beyond);
        free(s->side[i].by);
    }
    free(s->resid);
    free(s->tokens);
    free(s->y);
    free(s);
}

const struct pw_probe pw_probe_position = {
    .name = "position",
    .summary = "linear readout of the position from each layer, with controls",
    .source = "Haviv et al. 2022; Kazemnejad et al. 2023, section 5",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .takes = PW_PROBE_ARM | PW_PROBE_CONTROL,
    .begin = begin_position,
    .unit = unit,
    .end = end,
    .fini = fini,
};
