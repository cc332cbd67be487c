/* audit_runs.c - the use that a model makes of positions, measured on the model itself: on the tables of its
 * encoding (pw_model_tables), the functions of its scores, and the scores of one token. No option of the
 * encoding is read.
 *
 * A frequency is the slope of an angle by position. The cosine and the sine of a position give the angle up
 * to whole turns. So positions 1, 2, 4, 8, ... are read one after the other: each estimate gives the number
 * of turns at the next position, and halves the error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/expr/score.h"
#include "probe/audit.h"

#define TURN     6.283185307179586
#define STRAIGHT 1e-3 /* most difference of an angle from a straight line, in radians */
#define STILL    1e-12
#define CAPPED   1e6 /* a score that no model has */

enum { LEAST = 64, DENSE = 256, WIDE = 1024, TURNS_READ = 4096 };

/* The angle of the vector (c, s), in -pi..pi, by Newton's method on base/maths.h. */
static double angle_of(double c, double s)
{
    double r = sqrt(c * c + s * s), a;
    if (r == 0)
        return 0;
    c /= r;
    s /= r;
    a = fabs(s) < 0.7071067811865476 ? s : s > 0 ? TURN / 4 - c : c - TURN / 4; /* right for c > 0 */
    if (c < 0 && fabs(s) < 0.7071067811865476)
        a = s >= 0 ? TURN / 2 - s : -TURN / 2 - s;
    for (int k = 0; k < 4; k++) {
        double off = s * pw_cos(a) - c * pw_sin(a); /* sine of what is missing */
        a += off + off * off * off / 6;
    }
    return a;
}

/* A pair's column of a table. */
struct column {
    const float *cosine, *sine;
    int pairs, p;
};

/* The angle from row `from` to row `to`, in -pi..pi. */
static double angle_between(const struct column *x, int from, int to)
{
    size_t a = (size_t)from * (size_t)x->pairs + (size_t)x->p,
           b = (size_t)to * (size_t)x->pairs + (size_t)x->p;
    double ca = (double)x->cosine[a], sa = (double)x->sine[a], cb = (double)x->cosine[b],
           sb = (double)x->sine[b];
    return angle_of(ca * cb + sa * sb, ca * sb - sa * cb);
}

static double nearest_turn(double angle, double to)
{
    return angle + TURN * floor((to - angle) / TURN + 0.5);
}

static double frequency_of(const struct column *x, int rows, bool *bent)
{
    double w = 0;
    for (int at = 1; at < rows; at *= 2)
        w = at == 1 ? angle_between(x, 0, 1) : nearest_turn(angle_between(x, 0, at), w * at) / at;
    for (int at = 1; at < rows; at += at / 3 + 1) {
        double off = angle_between(x, 0, at) - w * at;
        *bent = *bent || fabs(nearest_turn(off, 0)) > STRAIGHT;
    }
    return w;
}

/* Where a row of a head is in the file. */
static int row_of(const cJSON *origin, int row)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(origin, "rows"),
                *item = cJSON_GetArrayItem(rows, row);
    return cJSON_IsNumber(item) ? pw_audit_whole(item->valuedouble) : row;
}

/* Fills frequencies, rows, gain and offset of a layer from its tables. */
static void read_turns(struct pw_audit *a, struct pw_audit_layer *y, const struct pw_pe_tables *t,
                       const struct pw_pe_use_opts *use, const struct pw_config *cfg, const cJSON *origin)
{
    int pairs = use->pe->pairs(use->o.bytes, cfg), rows = t->rows < TURNS_READ ? t->rows : TURNS_READ;
    bool side = use->pe->pairing(use->o.bytes) == PW_PAIRING_INTERLEAVED;
    struct column slowest = {.pairs = 0};
    for (int p = 0; p < pairs && y->n < PW_AUDIT_PAIRS; p++) {
        struct column x = {t->cosine, t->sine, pairs, p};
        double c = (double)t->cosine[p], s = (double)t->sine[p], w = frequency_of(&x, rows, &a->bent);
        if (fabs(w) < STILL)
            continue;
        y->gain = y->n == 0 ? sqrt(c * c + s * s) : y->gain;
        y->first[y->n] = row_of(origin, side ? 2 * p : p);
        y->second[y->n] = row_of(origin, side ? 2 * p + 1 : p + pairs);
        y->pair[y->n] = p;
        if (slowest.pairs == 0 || fabs(w) < fabs(y->offset)) {
            slowest = x;
            y->offset = w;
        }
        y->w[y->n++] = w;
    }
    if (slowest.pairs > 0)
        y->offset =
            floor(1e4 * angle_of((double)t->cosine[slowest.p], (double)t->sine[slowest.p]) / y->offset +
                  0.5) /
            1e4;
}

/* Fills slopes and the window from a bias. */
static void read_bias(struct pw_audit *a, struct pw_audit_layer *y, const struct pw_pe_tables *t, int heads)
{
    int last = t->P - 1, seen = 0;
    bool linear = true;
    while (seen < t->P && !isinf(pw_pe_bias_at(t, 0, last, last - seen)))
        seen++;
    y->window = seen < t->P ? seen : 0;
    y->n_slopes = heads < PW_AUDIT_HEADS ? heads : PW_AUDIT_HEADS;
    for (int h = 0; h < y->n_slopes; h++) {
        double here = (double)pw_pe_bias_at(t, h, last, last);
        y->slope[h] = seen > 1 ? here - (double)pw_pe_bias_at(t, h, last, last - 1) : 0;
        for (int d = 0; d < seen; d++) {
            double fall = here - (double)pw_pe_bias_at(t, h, last, last - d);
            linear = linear && fabs(fall - y->slope[h] * d) <= 1e-5 * fabs(fall) + 1e-6;
        }
    }
    bool flat = true;
    for (int h = 0; h < y->n_slopes; h++)
        flat = flat && y->slope[h] == 0;
    if (flat || !linear)
        y->n_slopes = 0;
    a->other = a->other || !linear;
}

/* The row of the file's table that the first token gets. */
static double first_row(struct pw_model *m, const struct pw_pe_tables *t, const cJSON *origin)
{
    int n, C = pw_model_config(m)->width;
    const struct pw_param *p = pw_model_pe_params(m, &n);
    float *row = pw_alloc((size_t)C, sizeof *row);
    double at = NAN;
    for (int r = 0; n > 0 && p->cols == C && r < p->rows && isnan(at); r++) {
        pw_model_read(m, row, p->offset + (size_t)r * (size_t)C, (size_t)C);
        if (memcmp(row, t->add[0], (size_t)C * sizeof *row) == 0)
            at = r;
    }
    free(row);
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(origin, "table_from");
    return at + (cJSON_IsNumber(from) ? from->valuedouble : 0);
}

/* Caps of scores. */
static enum pw_code read_caps(struct pw_audit *a, const struct pw_model *m, struct pw_err *err)
{
    const struct pw_pe_use_opts *use = pw_model_pe(m);
    struct pw_score *x;
    if ((use->pe->uses & PW_PE_SCORE) == 0)
        return PW_OK;
    if (pw_pe_computes(use->pe, PW_TABLE_SCORE)) { /* the layers have no cap of a config */
        a->other = true;
        return PW_OK;
    }
    x = calloc((size_t)a->layers, sizeof *x);
    if (x == NULL)
        return pw_fail(err, PW_ENOMEM, "probe audit: out of memory");
    use->pe->score(use->o.bytes, pw_model_config(m), (double)use->tune.offset, (double)use->tune.stretch, x);
    for (int l = 0; l < a->layers; l++) {
        float slope, value = pw_score_value(&x[l], (struct pw_score_pair){0}, (float)CAPPED, &slope);
        a->layer[l].cap = (double)value < CAPPED / 2 ? (double)value : 0;
        a->other = a->other || (double)value >= CAPPED / 2;
    }
    free(x);
    return PW_OK;
}

/* Divides rotated rows of a head by the gain. A rotation at one position changes no product. */
static void undo_gain(const struct pw_audit_layer *y, const struct pw_pe_use_opts *use,
                      const struct pw_config *cfg, float *head)
{
    if (y->n == 0 || y->gain == 1)
        return;
    bool side = use->pe->pairing(use->o.bytes) == PW_PAIRING_INTERLEAVED;
    int pairs = use->pe->pairs(use->o.bytes, cfg);
    for (int k = 0; k < y->n; k++) {
        int p = y->pair[k];
        head[side ? 2 * p : p] /= (float)y->gain;
        head[side ? 2 * p + 1 : p + pairs] /= (float)y->gain;
    }
}

/* The factor on q.k of each layer, from the scores of one token: least squares over the heads. */
static enum pw_code read_scales(struct pw_audit *a, struct pw_model *m, const cJSON *origin,
                                struct pw_err *err)
{
    int H = a->heads, D = a->head_width, n = a->layers * H, token = 0;
    float *content = pw_alloc((size_t)n * (size_t)(1 + 2 * D), sizeof *content), *q = content + n,
          *k = q + (size_t)n * (size_t)D;
    struct pw_inspection out = {.content = content, .q = q, .k = k, .whole = true};
    enum pw_code code = pw_model_inspect(m, &token, 1, &out, err);
    bool folded = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(origin, "inverse_layers"));
    for (int l = 0; code == PW_OK && l < a->layers; l++) {
        struct pw_audit_layer *y = &a->layer[l];
        double with = 0, square = 0;
        for (int h = l * H; h < (l + 1) * H; h++) {
            double dot = 0;
            undo_gain(y, pw_model_pe(m), pw_model_config(m), q + (size_t)h * (size_t)D);
            undo_gain(y, pw_model_pe(m), pw_model_config(m), k + (size_t)h * (size_t)D);
            for (size_t c = (size_t)h * (size_t)D; c < (size_t)(h + 1) * (size_t)D; c++)
                dot += (double)q[c] * (double)k[c];
            with += (double)content[h] * dot;
            square += dot * dot;
        }
        y->scale = square > 0 ? with / square : NAN;
        if (folded)
            y->scale /= l + 1;
    }
    free(content);
    return code;
}

/* Fills the layers from the tables. */
static void read_tables(struct pw_audit *a, struct pw_model *m, const struct pw_pe_tables *t,
                        const cJSON *origin)
{
    const struct pw_pe_use_opts *use = pw_model_pe(m);
    unsigned uses = use->pe->uses;
    double row = (uses & PW_PE_ADDED) != 0 && pw_pe_learns_rows(use->pe) ? first_row(m, t, origin) : NAN;
    a->other = (uses & (PW_PE_KEYS | PW_PE_CONTENT)) != 0 || pw_pe_gains(use) || use->pe->key_turns ||
               ((uses & PW_PE_ADDED) != 0 && !pw_pe_learns_rows(use->pe));
    for (int l = 0; l < a->layers; l++) {
        struct pw_pe_tables at = pw_pe_tables_at(t, l);
        struct pw_audit_layer *y = &a->layer[l];
        y->gain = 1;
        y->offset = row;
        y->base = NAN;
        if ((uses & PW_PE_ROTATION) != 0)
            read_turns(a, y, &at, use, pw_model_config(m), origin);
        if ((uses & PW_PE_BIASES) != 0)
            read_bias(a, y, &at, a->heads);
    }
}

enum pw_code pw_audit_runs(struct pw_audit *a, struct pw_model *m, const cJSON *origin, int window,
                           struct pw_err *err)
{
    const struct pw_config *cfg = pw_model_config(m);
    const struct pw_pe *pe = pw_model_pe(m)->pe;
    int P = (pe->uses & PW_PE_DENSE) != 0    ? DENSE
            : (pe->uses & PW_PE_BIASES) != 0 ? (window + 2 > WIDE ? window + 2 : WIDE)
                                             : LEAST;
    int most = cfg->context - (pw_pe_learns_rows(pe) ? (int)pw_model_pe(m)->tune.offset : 0);
    struct pw_pe_tables t;
    P = P > most || pe->rows_by_length != NULL ? most : P;
    *a = (struct pw_audit){.layers = cfg->layers, .heads = cfg->heads, .head_width = cfg->head_width};
    enum pw_code code = pw_model_tables(m, P, &t, err);
    if (code != PW_OK)
        return code;
    a->layer = pw_alloc((size_t)a->layers, sizeof *a->layer);
    read_tables(a, m, &t, origin);
    pw_pe_tables_free(&t);
    code = read_caps(a, m, err);
    return code == PW_OK ? read_scales(a, m, origin, err) : code;
}
