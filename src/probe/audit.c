/* audit.c - the probe audit: does the encoding that a model's file asks for really run? One table for each
 * group of layers with equal rows: the value that runs, the value that the file asks for, and whether they
 * agree.
 *
 * Readers of checkpoints differ without a word in pairing, partial rotation, scaling and layers with another
 * base; logits are then wrong by a little at first, and by much beyond the trained length. So one side is
 * measured on the model (audit_runs.c), the other computed from the file's metadata (audit_asks.c), and no
 * code is shared. After `pe` or `tune` the rows show what differs from the file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "base/text.h"
#include "probe/audit.h"

/* Values agree up to this relative difference: tables and weights are in single precision. */
#define WITHIN 1e-5

enum { RUNS, ASKS, DIFFERS, AGREES, COLUMNS };
enum {
    DIMS,
    FIRST,
    LAST,
    EVERY,
    BASE,
    SLOWED_FIRST,
    SLOWED_LAST,
    PARTNER,
    GAIN,
    SCALE,
    CAP,
    WINDOW,
    OFFSET,
    SLOPE_FIRST,
    SLOPE_LAST,
    SLOPES,
    ROWS
};

static const char *const names[ROWS] = {
    "rotated dimensions",  "first frequency",      "last frequency",      "every frequency",
    "base of first pairs", "first pair slowed by", "last pair slowed by", "partner of row 0",
    "factor on cos, sin",  "factor on q.k",        "cap of scores",       "keys in the window",
    "first position",      "slope of head 0",      "slope of last head",  "every slope",
};

struct state {
    cJSON *origin; /* NULL: the model is from no file */
    struct pw_audit runs, asks;
};

/* The rows of one layer: [0] runs, [1] the file asks, [2] relative difference (NaN: one side has no value).
 */
struct sheet {
    double v[ROWS][3];
};

static enum pw_code begin_audit(struct pw_probing_at *p, struct pw_err *err)
{
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    (void)err;
    s->origin = pw_audit_origin(p->in->subject->model);
    p->units = 1;
    return PW_OK;
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    const struct pw_config *cfg = pw_model_config(p->in->subject->model);
    (void)i;
    if (s->origin != NULL)
        pw_audit_asks(&s->asks, s->origin, cfg);
    return pw_audit_runs(&s->runs, p->in->subject->model, s->origin, pw_audit_window(&s->asks), err);
}

static void fini_audit(struct pw_probing_at *p)
{
    struct state *s = p->state;
    pw_audit_fini(&s->runs);
    pw_audit_fini(&s->asks);
    cJSON_Delete(s->origin);
    free(s);
}

/* ---- rows */

static double difference(double runs, double asks)
{
    if (isnan(runs) && isnan(asks))
        return 0;
    return asks != 0 ? fabs(runs / asks - 1) : fabs(runs);
}

/* One side of the rows. base, dims: of the file. */
static void fill_side(struct sheet *x, int side, const struct pw_audit_layer *y, double base, int dims)
{
    int n = y->n, slopes = y->n_slopes;
    for (int r = 0; r < ROWS; r++)
        x->v[r][side] = NAN;
    x->v[DIMS][side] = 2 * n;
    if (n > 0) {
        x->v[FIRST][side] = y->w[0];
        x->v[LAST][side] = y->w[n - 1];
        x->v[PARTNER][side] = NAN;
        x->v[GAIN][side] = y->gain;
        for (int c = 0; c < n; c++)
            if (y->first[c] == 0 || y->second[c] == 0)
                x->v[PARTNER][side] = y->first[c] + y->second[c];
    }
    if (n > 1 && y->w[0] > 0 && y->w[1] > 0)
        x->v[BASE][side] = pw_pow(y->w[0] / y->w[1], n);
    if (n > 0 && !isnan(base)) {
        x->v[SLOWED_FIRST][side] = 1 / y->w[0];
        x->v[SLOWED_LAST][side] = pw_pow(base, -2.0 * (n - 1) / dims) / y->w[n - 1];
    }
    x->v[SCALE][side] = y->scale;
    x->v[CAP][side] = y->cap > 0 ? y->cap : NAN;
    x->v[WINDOW][side] = y->window > 0 ? (double)y->window : (double)NAN;
    x->v[OFFSET][side] = y->offset;
    if (slopes > 0) {
        x->v[SLOPE_FIRST][side] = y->slope[0];
        x->v[SLOPE_LAST][side] = y->slope[slopes - 1];
    }
}

/* The largest relative difference of all frequencies, or of all slopes. */
static double largest(const double *runs, int n, const double *asks, int m)
{
    double most = n == m ? 0 : NAN;
    for (int i = 0; i < n && n == m; i++)
        most = fmax(most, difference(runs[i], asks[i]));
    return most;
}

static void fill_sheet(struct sheet *x, const struct state *s, int l)
{
    const struct pw_audit_layer *runs = &s->runs.layer[l],
                                *asks = s->asks.layer != NULL ? &s->asks.layer[l] : NULL;
    memset(x, 0, sizeof *x); /* compared by its bytes */
    fill_side(x, RUNS, runs, asks != NULL ? asks->base : NAN, asks != NULL ? asks->dims : 1);
    for (int r = 0; r < ROWS; r++)
        x->v[r][ASKS] = x->v[r][DIFFERS] = NAN;
    if (asks == NULL)
        return;
    fill_side(x, ASKS, asks, asks->base, asks->dims);
    for (int r = 0; r < ROWS; r++)
        x->v[r][DIFFERS] = difference(x->v[r][RUNS], x->v[r][ASKS]);
    x->v[EVERY][DIFFERS] = largest(runs->w, runs->n, asks->w, asks->n);
    x->v[SLOPES][DIFFERS] = largest(runs->slope, runs->n_slopes, asks->slope, asks->n_slopes);
    bool same = runs->n == asks->n;
    for (int c = 0; c < runs->n && same; c++)
        same = runs->first[c] == asks->first[c] && runs->second[c] == asks->second[c];
    if (runs->n > 0 && asks->n > 0 && !same && x->v[PARTNER][DIFFERS] == 0)
        x->v[PARTNER][DIFFERS] = NAN; /* row 0 has its partner, and another row has not */
}

static bool agrees(const struct sheet *x, int r)
{
    return x->v[r][DIFFERS] <= WITHIN;
}

/* Does either side have a value? */
static bool is_row(const struct sheet *x, int r)
{
    if (r == EVERY)
        return x->v[FIRST][RUNS] > 0 || x->v[FIRST][ASKS] > 0;
    if (r == SLOPES)
        return !isnan(x->v[SLOPE_FIRST][RUNS]) || !isnan(x->v[SLOPE_FIRST][ASKS]);
    return !isnan(x->v[r][RUNS]) || !isnan(x->v[r][ASKS]);
}

static bool equal_sheets(const struct sheet *a, const struct sheet *b)
{
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < 3; k++) {
            double x = a->v[r][k], y = b->v[r][k];
            bool close = k == DIFFERS ? (x <= WITHIN) == (y <= WITHIN) : difference(x, y) <= WITHIN;
            if (isnan(x) != isnan(y) || (!isnan(x) && !close))
                return false;
        }
    return true;
}

/* ---- the finding */

/* Writes the layers whose group is `group`: "layers 0-4, 6". */
static void write_layers(struct pw_str *out, const int *group, int n, int first)
{
    int count = 0;
    for (int l = first; l < n; l++)
        count += group[l] == first;
    pw_str_add(out, count > 1 ? "layers " : "layer ");
    for (int l = first, some = 0; l < n; l++) {
        int end = l;
        if (group[l] != first)
            continue;
        while (end + 1 < n && group[end + 1] == first)
            end++;
        pw_str_add(out, end > l ? "%s%d-%d" : "%s%d", some++ > 0 ? ", " : "", l, end);
        l = end;
    }
}

static void add_table(struct pw_finding *f, const struct sheet *x, const char *title, bool file)
{
    int n = 0, row = 0;
    for (int r = 0; r < ROWS; r++)
        n += is_row(x, r) && (file || (r != EVERY && r != SLOPES));
    int b = pw_finding_table(f, title, n, file ? COLUMNS : 1);
    pw_finding_col(f, b, RUNS, "runs");
    if (file) {
        pw_finding_col(f, b, ASKS, "file asks");
        pw_finding_col(f, b, DIFFERS, "differs by");
        pw_finding_col(f, b, AGREES, "agrees?");
    }
    for (int r = 0; r < ROWS; r++) {
        if (!is_row(x, r) || (!file && (r == EVERY || r == SLOPES)))
            continue;
        pw_finding_row(f, b, row, "%s", names[r]);
        pw_finding_put(f, b, row, RUNS, x->v[r][RUNS]);
        if (file) {
            pw_finding_put(f, b, row, ASKS, x->v[r][ASKS]);
            pw_finding_put(f, b, row, DIFFERS, x->v[r][DIFFERS]);
            pw_finding_put(f, b, row, AGREES, agrees(x, r));
        }
        row++;
    }
}

/* The frequencies by pair: what runs, what the file asks for, and the file's without its scaling. */
static void add_plot(struct pw_finding *f, const struct state *s, int l, const char *layers)
{
    const struct pw_audit_layer *runs = &s->runs.layer[l],
                                *asks = s->asks.layer != NULL ? &s->asks.layer[l] : NULL;
    int n = asks != NULL && asks->n > runs->n ? asks->n : runs->n, curves = asks != NULL ? 3 : 1;
    char title[PW_FINDING_TEXT];
    if (n < 2 || runs->n == 0)
        return;
    snprintf(title, sizeof title, "%.180s: frequencies in radians per token", layers);
    int b = pw_finding_plot(f, title, "pair", "frequency", n, curves, false);
    f->blocks[b].log_y = true;
    f->blocks[b].n_reference = asks != NULL ? 2 : 0;
    pw_finding_name(f, b, 0, "runs");
    if (asks != NULL) {
        pw_finding_name(f, b, 1, "file asks");
        pw_finding_name(f, b, 2, "file, not scaled");
    }
    for (int c = 0; c < n; c++) {
        pw_finding_x(f, b, c, c);
        if (c < runs->n)
            pw_finding_y(f, b, c, 0, runs->w[c]);
        if (asks != NULL && c < asks->n) {
            pw_finding_y(f, b, c, 1, asks->w[c]);
            pw_finding_y(f, b, c, 2, pw_pow(asks->base, -2.0 * c / asks->dims));
        }
    }
}

static void add_verdict(struct pw_finding *f, const struct sheet *x, const char *layers, const char *file)
{
    struct pw_str text = {0};
    int n = 0;
    for (int r = 0; r < ROWS; r++)
        if (is_row(x, r) && !agrees(x, r) && !(r > DIMS && r <= GAIN && x->v[DIMS][RUNS] == 0))
            pw_str_add(&text, "%s%s", n++ > 0 ? "; " : "", names[r]);
    if (n == 0)
        pw_finding_remark(f, "%.100s: every value agrees with %s", layers, file);
    else
        pw_finding_remark(f, "%.100s: differs from %s in: %s", layers, file, pw_str_text(&text));
    pw_str_fini(&text);
}

static void add_groups(struct pw_finding *f, const struct state *s, const char *file)
{
    int n = s->runs.layers, *group = pw_alloc((size_t)n, sizeof *group);
    struct sheet *x = pw_alloc((size_t)n, sizeof *x);
    for (int l = 0; l < n; l++) {
        fill_sheet(&x[l], s, l);
        group[l] = 0;
        while (group[l] < l && !equal_sheets(&x[group[l]], &x[l])) /* infinities equal nothing */
            group[l]++;
    }
    for (int l = 0; l < n; l++) {
        struct pw_str layers = {0}, title = {0};
        if (group[l] != l)
            continue;
        write_layers(&layers, group, n, l);
        pw_str_add(&title, "%s", layers.s);
        if (s->asks.layer != NULL)
            pw_str_add(&title, ": the file asks for %s", s->asks.layer[l].text);
        add_table(f, &x[l], title.s, s->asks.layer != NULL);
        add_plot(f, s, l, layers.s);
        if (s->asks.layer != NULL)
            add_verdict(f, &x[l], layers.s, file);
        pw_str_fini(&layers);
        pw_str_fini(&title);
    }
    free(group);
    free(x);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    struct state *s = p->state;
    const struct pw_probe_subject *subject = p->in->subject;
    const char *file = s->asks.gguf ? "the GGUF file" : "config.json";
    struct pw_str pe = {0};
    (void)err;
    pw_pe_print(pw_model_pe(subject->model), &pe);
    if (s->asks.layer != NULL)
        pw_finding_init(f, "audit", p->in->topic,
                        "arm %d, %s: the encoding that runs beside the one that %s asks for", subject->arm,
                        s->asks.family, file);
    else
        pw_finding_init(f, "audit", p->in->topic, "arm %d: the encoding that runs", subject->arm);
    add_groups(f, s, file);
    if (s->asks.layer == NULL)
        pw_finding_remark(
            f, "the model is from no file of another program, so there is nothing to compare with; "
               "'model from=PATH' opens one");
    pw_finding_remark(f, "runs: %s, context %d", pw_str_text(&pe), pw_model_config(subject->model)->context);
    if (s->runs.bent)
        pw_finding_remark(
            f, "some angles that run are not proportional to the position; their frequency is that of "
               "the longest distance");
    if (s->runs.other)
        pw_finding_remark(f, "the encoding also does things for which this table has no row");
    if (s->asks.layer != NULL)
        pw_audit_traps(f, &s->asks, s->origin, pw_model_config(subject->model));
    pw_str_fini(&pe);
    return PW_OK;
}

const struct pw_probe pw_probe_audit = {
    .name = "audit",
    .summary =
        "the frequencies, pairing, scaling, window and slopes that run, beside those that the model's file "
        "asks for",
    .source = "Su et al. 2021; Press et al. 2022; Peng et al. 2023; transformers, modeling_rope_utils.py",
    .detail =
        "What runs is measured on the model. What the file asks for is computed from config.json or GGUF's\n"
        "metadata alone. A row agrees if the two differ by less than 1e-5. After `pe` or `tune` the rows\n"
        "show what differs from the file. Remarks name the known traps of the model's family. A model that\n"
        "is from no file has only the values that run.",
    .takes = PW_PROBE_ARM,
    .begin = begin_audit,
    .unit = unit,
    .end = end,
    .fini = fini_audit,
};
