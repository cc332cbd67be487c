/* aware.c - see aware.h.
 *
 * Tolerances are relative to the range of a column. The slowest sinusoid of 64 columns changes by only 3e-6
 * over 20 positions; an absolute tolerance would take it for a constant. */
#include "probe/aware.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/fit.h"

#define INFORMATIVE 1e-8 /* a column with a smaller range is constant */
#define EQUAL       1e-6 /* relative to the range of the column */
#define APART       1e-3 /* rows at a larger distance are distinct */
#define LAMBDA      1e-3 /* of the ridge regression */

static const int lengths[] = {10, 13, 16, 20};

enum { LENGTHS = sizeof lengths / sizeof *lengths };

static const struct pw_pe_tables *tables_of_length(const struct pw_aware_tables *t, int l)
{
    return &t->at[l - PW_AWARE_FROM];
}

/* ---- level 1: rows */

static double entry(const struct pw_aware_tables *t, int l, int pos, int c)
{
    return (double)tables_of_length(t, l)->added[(size_t)pos * t->d + c];
}

/* The smallest range of a column over the lengths. */
static double range_of(const struct pw_aware_tables *t, int c)
{
    double least = INFINITY;
    for (int i = 0; i < LENGTHS; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int pos = 0; pos < lengths[i]; pos++) {
            low = fmin(low, entry(t, lengths[i], pos, c));
            high = fmax(high, entry(t, lengths[i], pos, c));
        }
        least = fmin(least, high - low);
    }
    return least;
}

/* The largest difference between entries of column c at the same place in two lengths. The place is counted
 * from the front, or from the end. */
static double difference(const struct pw_aware_tables *t, int c, bool from_end)
{
    double most = 0;
    for (int a = 0; a < LENGTHS; a++)
        for (int b = a + 1; b < LENGTHS; b++)
            for (int r = 0; r < lengths[a]; r++)
                most = fmax(most, fabs(entry(t, lengths[a], from_end ? lengths[a] - 1 - r : r, c) -
                                       entry(t, lengths[b], from_end ? lengths[b] - 1 - r : r, c)));
    return most;
}

/* The smallest distance between two rows of the longest length, in the chosen columns. */
static double apart(const struct pw_aware_tables *t, const bool *chosen)
{
    double least = INFINITY;
    for (int i = 0; i < PW_AWARE_TO; i++)
        for (int k = i + 1; k < PW_AWARE_TO; k++) {
            double sum = 0;
            for (int c = 0; c < t->d; c++)
                if (chosen[c]) {
                    double x = entry(t, PW_AWARE_TO, i, c) - entry(t, PW_AWARE_TO, k, c);
                    sum += x * x;
                }
            least = fmin(least, sqrt(sum));
        }
    return least;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n > 0 ? x[n / 2] : NAN;
}

void pw_aware_rows(struct pw_aware_rows *out, const struct pw_aware_tables *t)
{
    *out = (struct pw_aware_rows){0, 0, 0, NAN, NAN, NAN, NAN};
    if (tables_of_length(t, PW_AWARE_TO)->added == NULL)
        return;
    bool *chosen = pw_alloc(2 * (size_t)t->d, sizeof *chosen), *backward = chosen + t->d;
    double *f = pw_alloc(2 * (size_t)t->d, sizeof *f), *b = f + t->d;
    for (int c = 0; c < t->d; c++) {
        double range = range_of(t, c);
        if (range <= INFORMATIVE)
            continue;
        int n = out->informative++;
        f[n] = difference(t, c, false) / range;
        b[n] = difference(t, c, true) / range;
        out->forward += chosen[c] = f[n] <= EQUAL;
        out->backward += backward[c] = b[n] <= EQUAL;
    }
    if (out->forward > 0)
        out->apart_forward = apart(t, chosen);
    if (out->backward > 0)
        out->apart_backward = apart(t, backward);
    out->median_forward = median(f, out->informative);
    out->median_backward = median(b, out->informative);
    free(chosen);
    free(f);
}

bool pw_aware_forward(const struct pw_aware_rows *r)
{
    return r->forward > 0 && r->apart_forward > APART;
}

bool pw_aware_backward(const struct pw_aware_rows *r)
{
    return r->backward > 0 && r->apart_backward > APART;
}

/* ---- properties 3.1 and 3.2 */

/* Returns true if lengths l and m have the same row at place r, in the chosen columns. The place is counted
 * from the front, or from the end. */
static bool same_rows(const struct pw_aware_tables *t, const double *range, int l, int m, int r,
                      bool from_end)
{
    for (int c = 0; c < t->d; c++)
        if (range[c] > 0 && fabs(entry(t, l, from_end ? l - 1 - r : r, c) -
                                 entry(t, m, from_end ? m - 1 - r : r, c)) > EQUAL * range[c])
            return false;
    return true;
}

void pw_aware_property(struct pw_aware_property *out, const struct pw_aware_tables *t, bool from_end)
{
    double *range = pw_alloc((size_t)t->d, sizeof *range); /* of a chosen column; 0: not chosen */
    int chosen = 0;
    *out = (struct pw_aware_property){0, 0, 0};
    for (int pass = 0; pass < 2 && chosen == 0 && tables_of_length(t, PW_AWARE_TO)->added != NULL; pass++)
        for (int c = 0; c < t->d; c++) {
            double all = range_of(t, c);
            bool take = all > INFORMATIVE && (pass == 1 || difference(t, c, from_end) <= EQUAL * all);
            range[c] = take ? all : 0;
            chosen += take;
        }
    for (int l = PW_AWARE_FROM; l < PW_AWARE_TO && chosen > 0; l++)
        for (int a = 0; a < l; a++)
            for (int b = 0; b < l; b++) {
                bool applies = same_rows(t, range, l, PW_AWARE_TO, a, from_end);
                out->pairs++;
                out->applies += applies;
                out->right += applies && same_rows(t, range, l, PW_AWARE_TO, b, from_end);
            }
    free(range);
}

/* ---- level 2: scores */

/* Rotates x by the angles of position pos, into out [D]. */
static void turn(double *out, const double *x, const struct pw_aware_tables *t, const struct pw_pe_tables *at,
                 int pos)
{
    int pairs = t->pairs;
    memcpy(out, x, (size_t)t->D * sizeof *out);
    for (int p = 0; p < pairs; p++) {
        int a = t->pairing == PW_PAIRING_HALF ? p : 2 * p,
            b = t->pairing == PW_PAIRING_HALF ? p + pairs : 2 * p + 1;
        double c = (double)at->cosine[(size_t)pos * pairs + p], s = (double)at->sine[(size_t)pos * pairs + p];
        out[a] = c * x[a] - s * x[b];
        out[b] = s * x[a] + c * x[b];
    }
}

static double score(const struct pw_aware_tables *t, int l, int i, int j, const double *q, const double *k,
                    double *room)
{
    const struct pw_pe_tables *at = tables_of_length(t, l);
    double sum = 0;
    if (at->added != NULL) {
        for (int c = 0; c < t->d; c++)
            sum += (q[c] + entry(t, l, i, c)) * (k[c] + entry(t, l, j, c));
        return sum / sqrt(t->d);
    }
    if (at->cosine != NULL) {
        turn(room, q, t, at, i);
        turn(room + t->D, k, t, at, j);
        q = room;
        k = room + t->D;
    }
    const float *relative =
        at->keys != NULL
            ? at->keys +
                  (size_t)pw_key_row(&(struct pw_attn){.causal = true, .reach = t->reach}, i - j) * t->D
            : NULL;
    for (int c = 0; c < t->D; c++)
        sum += q[c] * (k[c] + (relative != NULL ? (double)relative[c] : 0));
    sum /= sqrt(t->D);
    return at->bias != NULL || at->dense != NULL ? sum + (double)pw_pe_bias_at(at, 0, i, j) : sum;
}

/* Writes the scores [l,l] of one content at length l. */
static void fill(double *s, const struct pw_aware_tables *t, int l, const double *q, const double *k,
                 double *room)
{
    for (int i = 0; i < l; i++)
        for (int j = 0; j <= i; j++)
            s[i * l + j] = score(t, l, i, j, q, k, room);
}

void pw_aware_scores(struct pw_aware_scores *out, const struct pw_aware_tables *t, const double *q,
                     const double *k, int contents)
{
    double *s[LENGTHS], *room = pw_alloc(2 * (size_t)t->D, sizeof *room), low = INFINITY, high = -INFINITY;
    *out = (struct pw_aware_scores){0, 0, 0};
    for (int a = 0; a < LENGTHS; a++)
        s[a] = pw_alloc((size_t)lengths[a] * lengths[a], sizeof **s);
    for (int c = 0; c < contents; c++) {
        for (int a = 0; a < LENGTHS; a++)
            fill(s[a], t, lengths[a], q + c * t->d, k + c * t->d, room);
        for (int a = 0; a < LENGTHS; a++) {
            int l = lengths[a];
            for (int i = 0; i < l; i++)
                for (int j = 0; j <= i; j++) {
                    double x = s[a][i * l + j];
                    low = fmin(low, x);
                    high = fmax(high, x);
                    out->relative =
                        fmax(out->relative, fabs(x - s[a][(i - j) * l])); /* (i-j, 0): the same distance */
                    for (int b = a + 1; b < LENGTHS; b++) {
                        int m = lengths[b], up = m - l;
                        out->forward = fmax(out->forward, fabs(x - s[b][i * m + j]));
                        out->backward = fmax(out->backward, fabs(x - s[b][(i + up) * m + j + up]));
                    }
                }
        }
    }
    for (int a = 0; a < LENGTHS; a++)
        free(s[a]);
    free(room);
    double range = high > low ? high - low : 1;
    out->forward /= range;
    out->backward /= range;
    out->relative /= range;
}

/* ---- level 3: linear decoding */

static const float *row_of(const struct pw_aware_tables *t, int l, int pos, const float *nothing)
{
    return tables_of_length(t, l)->added != NULL ? tables_of_length(t, l)->added + (size_t)pos * t->d
                                                 : nothing;
}

bool pw_aware_decode(struct pw_aware_decoded *out, const struct pw_aware_tables *t)
{
    double *w = pw_alloc(2 * (size_t)(t->d + 1), sizeof *w), error[2] = {0}, sum[2] = {0}, square[2] = {0};
    float *nothing = pw_alloc((size_t)t->d, sizeof *nothing);
    int n = 0;
    bool well = true;
    for (int left = PW_AWARE_FROM; well && left <= PW_AWARE_TO; left++) {
        struct pw_ridge r;
        if (!(well = pw_ridge_init(&r, t->d, 2)))
            break;
        for (int l = PW_AWARE_FROM; l <= PW_AWARE_TO; l++)
            for (int pos = 0; l != left && pos < l; pos++)
                pw_ridge_add(&r, row_of(t, l, pos, nothing), (const double[]){pos, l - 1 - pos});
        pw_ridge_solve(&r, w, LAMBDA);
        pw_ridge_fini(&r);
        for (int pos = 0; pos < left; pos++, n++)
            for (int k = 0; k < 2; k++) {
                double y = k == 0 ? pos : left - 1 - pos;
                double e = y - pw_ridge_predict(w, row_of(t, left, pos, nothing), t->d, 2, k);
                error[k] += e * e;
                sum[k] += y;
                square[k] += y * y;
            }
    }
    free(w);
    free(nothing);
    if (well) {
        out->position = 1 - error[0] / (square[0] - sum[0] * sum[0] / n);
        out->reverse = 1 - error[1] / (square[1] - sum[1] * sum[1] / n);
    }
    return well;
}
