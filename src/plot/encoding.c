/* encoding.c - numbers and texts derived from an encoding's tables. */
#include "plot/encoding.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define TURN 6.283185307179586

/* Distances are negative for later keys, so there the larger absolute value is written first. */
void pw_bucket_range(const struct pw_ev_table *t, int b, char text[32])
{
    int from = t->bucket_from[b], end = pw_bucket_end(t, b);
    bool later = pw_bucket_later(t, b);
    const char *sign = later ? "-" : "";

    if (from == INT_MAX || end <= from)
        snprintf(text, 32, "none");
    else if (end == INT_MAX)
        snprintf(text, 32, later ? "–-%d" : "%d–", from);
    else if (end == from + 1)
        snprintf(text, 32, "%s%d", sign, from);
    else
        snprintf(text, 32, "%s%d–%s%d", sign, later ? end - 1 : from, sign, later ? from : end - 1);
}

void pw_bucket_untrained(const struct pw_ev_table *t, struct pw_str *out)
{
    struct pw_str list = {0};
    int n = 0;

    for (int b = 0; b < t->n_buckets; b++) {
        int last = b;
        if (pw_bucket_seen(t, b) != 0)
            continue;
        while (last + 1 < t->n_buckets && pw_bucket_seen(t, last + 1) == 0)
            last++;
        pw_str_add(&list, n > 0 ? ", %d" : " %d", b);
        if (last > b)
            pw_str_add(&list, "–%d", last);
        n += last - b + 1;
        b = last;
    }
    if (n > 0)
        pw_str_add(out, "never trained: bucket%s%s", n > 1 ? "s" : "", list.s);
    else
        pw_str_add(out, "every bucket was seen in training");
    pw_str_fini(&list);
}

double pw_rotary_wavelength(const struct pw_ev_table *t, int pair)
{
    return TURN / (double)t->frequencies[pair];
}

double pw_rotary_coverage(const struct pw_ev_table *t, int pair)
{
    double turns = t->trained > 0 ? t->trained / pw_rotary_wavelength(t, pair) : 0;
    return turns < 1 ? turns : 1;
}

double pw_rotary_cosine(const struct pw_ev_table *t, int d)
{
    double sum = 0;

    for (int i = 0; i < t->pairs; i++)
        sum += cos(d * (double)t->frequencies[i]);
    return sum / t->pairs;
}

double pw_rotary_bound(const struct pw_ev_table *t, int d)
{
    double re = 0, im = 0;

    for (int i = 0; i < t->pairs; i++) {
        re += cos(d * (double)t->frequencies[i]);
        im += sin(d * (double)t->frequencies[i]);
    }
    return hypot(re, im) / t->pairs;
}

double pw_rows_cosine(const struct pw_ev_table *t, int a, int b)
{
    double dot = 0, aa = 0, bb = 0;

    for (int i = 0; i < t->width; i++) {
        double x = (double)t->added[(size_t)a * t->width + i], y = (double)t->added[(size_t)b * t->width + i];
        dot += x * y, aa += x * x, bb += y * y;
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : NAN;
}

void pw_key_range(const struct pw_ev_table *t, int r, char text[32])
{
    int distance = t->key_from + r;
    bool last = r == t->n_keys - 1, first = r == 0 && t->key_from < 0;

    snprintf(text, 32, "%s%d%s", first ? "–" : "", distance, last && !first ? "–" : "");
}

double pw_key_norm(const struct pw_ev_table *t, int r)
{
    double sum = 0;

    for (int d = 0; d < t->key_width; d++) {
        double x = (double)t->keys[(size_t)r * t->key_width + d];
        sum += x * x;
    }
    return sqrt(sum);
}

double pw_fire_threshold(const struct pw_ev_table *t)
{
    return t->fire_threshold > 0 ? fabs((double)t->fire_factor * (double)t->fire_threshold) : NAN;
}

double pw_fire_measure(const struct pw_ev_table *t, int query)
{
    return fmax((double)t->fire_from + query * (double)t->fire_step, pw_fire_threshold(t));
}

double pw_fire_fraction(const struct pw_ev_table *t, int query, int d)
{
    const double least = 1e-6; /* the backend's constant, which avoids a division by 0 at c = 0 */
    double c = fabs((double)t->fire_c);

    return log1p(c * d * (double)t->fire_step) / (log1p(c * pw_fire_measure(t, query)) + least);
}

void pw_fire_text(const struct pw_ev_table *t, struct pw_str *out)
{
    pw_str_add(out, "c %.4g, L %.4g = |%.4g x %g|", fabs((double)t->fire_c), pw_fire_threshold(t),
               (double)t->fire_factor, (double)t->fire_threshold);
}

void pw_bias_query_text(const struct pw_ev_table *t, struct pw_str *out)
{
    if (pw_table_bias_query(t) >= 0)
        pw_str_add(out, " of the query at %d", pw_table_bias_query(t));
}

void pw_tensor_shape(const struct pw_table_tensor *x, char text[32])
{
    if (x->rows > 0)
        snprintf(text, 32, "[%d,%d]", x->rows, x->cols);
    else
        snprintf(text, 32, "[%d]", x->cols);
}

const char *pw_kernel_how(const struct pw_ev_table *t)
{
    if (t->kernel != NULL && t->bias != NULL && t->by_layer)
        return pw_table_bias_query(t) >= 0
                   ? "kernel: this layer's bias, mean over the queries that see the distance"
                   : "kernel: this layer's bias";
    if (t->kernel != NULL && t->bias != NULL && pw_table_bias_query(t) >= 0)
        return "kernel: the bias, mean over the queries that have the distance, the same in every layer";
    if (t->kernel != NULL && t->bias != NULL)
        return "kernel: the bias, the same in every layer";
    if (t->kernel != NULL && t->keys != NULL)
        return "kernel: q.a of the distance's relative key a, mean over all queries";
    if (t->kernel != NULL && t->frequencies != NULL)
        return "kernel: mean of q.R(d)k over all pairs, turned to distance d";
    if (t->kernel != NULL && t->added == NULL)
        return "kernel: what tokens add to scores at the distance, mean over the samples";
    if (t->kernel != NULL)
        return "kernel: the positions' own term, layer 0, norm frozen";
    if (t->added != NULL && t->score != NULL)
        return "mean score: beyond layer 0 no part depends on positions only";
    if (t->score != NULL)
        return "mean score: no part depends on the encoding only";
    return "not measured: Enter measures it";
}

float pw_enc_scale(const float *v, size_t n)
{
    float top = 1e-6f;

    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]) && fabsf(v[i]) > top)
            top = fabsf(v[i]);
    return top;
}
