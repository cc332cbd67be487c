/* encoding_pair.c - two encodings side by side: their effects on the scores, and their parameters if they are
 * of one family. */
#include "base/alloc.h"
#include "plot/encoding.h"
#include <math.h>
#include <stdlib.h>

static bool zero_kernel(const struct pw_ev_table *t)
{
    return pw_table_empty(t);
}

void pw_enc_pair_init(struct pw_enc_pair *p, const struct pw_ev_table *a, const struct pw_ev_table *b)
{
    *p = (struct pw_enc_pair){.a = a, .b = b};
    p->heads = a->heads < b->heads ? a->heads : b->heads;
    p->length = a->length < b->length ? a->length : b->length;
    p->kernels = (a->kernel != NULL || zero_kernel(a)) && (b->kernel != NULL || zero_kernel(b));
    const float *va = p->kernels ? a->kernel : a->score, *vb = p->kernels ? b->kernel : b->score;
    if (!p->kernels && (va == NULL || vb == NULL))
        return;
    size_t n = (size_t)p->heads * p->length;
    p->from = pw_alloc(3 * n, sizeof *p->from);
    p->to = p->from + n;
    p->minus = p->to + n;
    for (int h = 0; h < p->heads; h++)
        for (int d = 0; d < p->length; d++) {
            size_t i = (size_t)h * p->length + d;
            const float *x = va != NULL ? va + (size_t)h * a->length : NULL;
            const float *y = vb != NULL ? vb + (size_t)h * b->length : NULL;
            p->from[i] = x != NULL ? x[d] - x[0] : 0;
            p->to[i] = y != NULL ? y[d] - y[0] : 0;
            p->minus[i] = p->from[i] - p->to[i];
        }
    p->common = (struct pw_ev_table){.heads = p->heads, .length = p->length, .trained = a->trained};
}

void pw_enc_pair_fini(struct pw_enc_pair *p)
{
    free(p->from);
    *p = (struct pw_enc_pair){0};
}

void pw_enc_pair_parameters(const struct pw_enc_pair *p, struct pw_str *out)
{
    const struct pw_ev_table *a = p->a, *b = p->b;
    const float *x = NULL, *y = NULL;
    int rows = 0, cols = 0;
    const char *names[2] = {"", ""};
    double sum = 0, most = -1;
    int at = 0;

    if (a->bucket_bias != NULL && b->bucket_bias != NULL && a->n_buckets == b->n_buckets &&
        a->heads == b->heads)
        x = a->bucket_bias, y = b->bucket_bias, rows = a->n_buckets, cols = a->heads, names[0] = "bucket",
        names[1] = "head";
    else if (a->slopes != NULL && b->slopes != NULL)
        x = a->slopes, y = b->slopes, rows = 1, cols = p->heads, names[1] = "slope of head";
    else if (a->frequencies != NULL && b->frequencies != NULL && a->pairs == b->pairs)
        x = a->frequencies, y = b->frequencies, rows = 1, cols = a->pairs, names[1] = "frequency of pair";
    else if (a->added != NULL && b->added != NULL && a->width == b->width &&
             (a->length == b->length || (!a->by_length && !b->by_length)))
        x = a->added, y = b->added, rows = p->length, cols = a->width, names[0] = "position",
        names[1] = "dimension";
    else if (a->keys != NULL && b->keys != NULL && a->n_keys == b->n_keys && a->key_width == b->key_width)
        x = a->keys, y = b->keys, rows = a->n_keys, cols = a->key_width, names[0] = "row",
        names[1] = "dimension";
    else if (a->fire_threshold > 0 && b->fire_threshold > 0) {
        pw_str_add(out, "parameters: ");
        pw_fire_text(a, out);
        pw_str_add(out, ", of the other ");
        pw_fire_text(b, out);
        return;
    }
    for (int i = 0; i < rows * cols; i++) {
        double d = fabs((double)x[i] - (double)y[i]);
        sum += d * d;
        if (d > most)
            most = d, at = i;
    }
    if (x == NULL)
        pw_str_add(out, "different families: only their effects can be compared");
    else if (rows > 1)
        pw_str_add(out, "parameters: rms difference %.3g, largest at %s %d %s %d: %+.3g",
                   sqrt(sum / (rows * cols)), names[0], at / cols, names[1], at % cols,
                   (double)x[at] - (double)y[at]);
    else
        pw_str_add(out, "parameters: rms difference %.3g, largest %s %d: %+.3g", sqrt(sum / cols), names[1],
                   at, (double)x[at] - (double)y[at]);
}
