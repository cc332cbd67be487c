/* report_table.c - prints an encoding's table as lines of text: its kind, the part seen in training, its
 * values. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "plot/encoding.h"
#include "plot/names.h"
#include "ui/report.h"

static void print_row(FILE *out, const char *what, const float *x, int n)
{
    fprintf(out, "  %s", what);
    for (int i = 0; i < n; i++)
        fprintf(out, isfinite(x[i]) ? " %.4g" : " -", (double)x[i]);
    fputc('\n', out);
}

static void print_counts(FILE *out, const char *what, const int64_t *x, int n)
{
    fprintf(out, "  %s", what);
    for (int i = 0; i < n; i++)
        fprintf(out, " %" PRId64, x[i]);
    fputc('\n', out);
}

/* Prints distances from .. end - 1; those of later keys are negative. */
static void print_range(FILE *out, int from, int end, bool later)
{
    char text[32];
    if (from == INT_MAX || end <= from)
        snprintf(text, sizeof text, "none");
    else if (end == INT_MAX)
        snprintf(text, sizeof text, later ? "to -%d" : "from %d", from);
    else if (end == from + 1)
        snprintf(text, sizeof text, "%s%d", later ? "-" : "", from);
    else if (later)
        snprintf(text, sizeof text, "-%d..-%d", end - 1, from);
    else
        snprintf(text, sizeof text, "%d..%d", from, end - 1);
    fprintf(out, "%-12s", text);
}

/* Buckets are parameters: prints one line per bucket with the learned value of each head. */
static void print_buckets(FILE *out, const struct pw_ev_table *t)
{
    fprintf(out, "  bucket by distance");
    for (int i = 0; i < t->length; i++)
        fprintf(out, " %d", t->bucket[i]);
    if (t->later > 0) {
        fprintf(out, "\n  bucket of later keys by distance");
        for (int i = 1; i < t->length; i++)
            fprintf(out, " %d", pw_bucket_of(t, -i));
    }
    fprintf(out, "\n  bucket  distances    pairs seen  mean |gradient|  bias of each head\n");
    for (int b = 0; b < t->n_buckets; b++) {
        int64_t met = pw_bucket_seen(t, b);
        double grad = 0;
        for (int h = 0; t->grad != NULL && h < t->heads; h++)
            grad += (double)t->grad[b * t->heads + h] / t->heads;
        fprintf(out, "  %6d  ", b);
        print_range(out, t->bucket_from[b], pw_bucket_end(t, b), pw_bucket_later(t, b));
        if (met >= 0)
            fprintf(out, "%11" PRId64, met);
        else
            fprintf(out, "%11s", "-");
        if (t->grad != NULL)
            fprintf(out, "%17.3g ", grad);
        else
            fprintf(out, "%17s ", "-");
        for (int h = 0; h < t->heads; h++)
            fprintf(out, " %+.3f", (double)t->bucket_bias[b * t->heads + h]);
        fputs(met == 0 ? "  never trained\n" : "\n", out);
    }
}

static void print_rows(FILE *out, const struct pw_ev_table *t)
{
    char what[64];
    if (t->by_length)
        fprintf(out, "  rows of a sequence of %d: they depend on its length\n", t->length);
    for (int p = 0; p < t->length; p++) {
        snprintf(what, sizeof what, "row %d", p);
        print_row(out, what, t->added + (size_t)p * t->width, t->width);
    }
    if (t->rows != NULL)
        print_counts(out, "training rows by position", t->rows, t->length);
    if (t->grad != NULL)
        print_row(out, "mean |gradient| by position", t->grad, t->length);
}

/* Prints the relative keys of the inspected layer, one per line. */
static void print_keys(FILE *out, const struct pw_ev_table *t)
{
    fprintf(out, "  layer %d  distance     pairs seen  mean |gradient|  relative key\n", t->layer);
    for (int r = 0; r < t->n_keys; r++) {
        int distance = t->key_from + r;
        fputs("           ", out);
        if (r == 0 && distance < 0)
            fprintf(out, "to %-9d", distance);
        else
            print_range(out, distance, r == t->n_keys - 1 ? INT_MAX : distance + 1, false);
        if (t->key_met != NULL)
            fprintf(out, "%11" PRId64, t->key_met[r]);
        else
            fprintf(out, "%11s", "-");
        if (t->key_grad != NULL)
            fprintf(out, "%17.3g ", (double)t->key_grad[r]);
        else
            fprintf(out, "%17s ", "-");
        for (int d = 0; d < t->key_width; d++)
            fprintf(out, " %+.3f", (double)t->keys[r * t->key_width + d]);
        fputs(t->key_met != NULL && t->key_met[r] == 0 ? "  never trained\n" : "\n", out);
    }
}

static void print_heads(FILE *out, const struct pw_ev_table *t, const char *of, const float *x)
{
    char what[64];
    for (int h = 0; x != NULL && h < t->heads; h++) {
        snprintf(what, sizeof what, "head %d %s", h, of);
        print_row(out, what, x + (size_t)h * t->length, t->length);
    }
}

/* Prints a bias that depends on both positions: its parameters, and its values by distance for the listed
 * queries. */
static void print_queries(FILE *out, const struct pw_ev_table *t)
{
    struct pw_str text = {0};
    char what[64], shape[32];
    if (t->fire_threshold > 0) {
        pw_fire_text(t, &text);
        fprintf(out, "  %s; distance d of query i is ln(c d + 1) / ln(c max(i,L) + 1)\n", pw_str_text(&text));
    }
    pw_str_fini(&text);
    if (t->n_tensors > 0)
        fprintf(out, "  learned               shape      norm  mean |gradient|\n");
    for (int i = 0; i < t->n_tensors; i++) {
        pw_tensor_shape(&t->tensors[i], shape);
        fprintf(out, "  %-18s %8s  %8.4g", t->tensors[i].name, shape, (double)t->tensors[i].norm);
        if (isnan(t->tensors[i].grad))
            fprintf(out, "%17s\n", "-");
        else
            fprintf(out, "%17.3g\n", (double)t->tensors[i].grad);
    }
    for (int h = 0; h < t->heads && t->query_bias != NULL; h++)
        for (int q = 0; q < t->n_queries; q++) {
            int n = t->queries[q] + 1;
            snprintf(what, sizeof what, "head %d bias of the query at %d, by distance", h, t->queries[q]);
            print_row(out, what, t->query_bias + ((size_t)h * t->n_queries + q) * t->length, n);
        }
}

/* Prints the learned parameters of a formula: a line for each layer and head. */
static void print_params(FILE *out, const struct pw_ev_table *t)
{
    struct pw_str scope = {0};
    char name[64], part[32];
    fprintf(out, "  learned parameter         value  mean |gradient|\n");
    for (int i = 0; i < t->n_learned; i++) {
        const struct pw_table_param *p = pw_param_of(t, i);
        const float *entries = pw_param_entries(t, i);
        pw_param_part_text(p, i, part);
        snprintf(name, sizeof name, "%s %s", p->name, part);
        fprintf(out, "  %-20s %10.4g", name, (double)t->learned[i]);
        if (t->learned_grads != NULL)
            fprintf(out, "%17.3g", (double)t->learned_grads[i]);
        else
            fprintf(out, "%17s", "-");
        pw_str_clear(&scope);
        pw_param_scope_text(p, &scope);
        fprintf(out, "  %s%s\n", pw_str_text(&scope), p->size > 1 ? "; value: root mean square" : "");
        if (entries != NULL)
            print_row(out, "  entries", entries, p->size);
    }
    if (t->params_left > 0)
        fprintf(out, "  %d more parameters have too many values to be listed\n", t->params_left);
    pw_str_fini(&scope);
}

void pw_report_table(FILE *out, const struct pw_ev_table *t, int arm, int replica,
                     const struct pw_snapshot *s)
{
    char what[64];
    struct pw_str of = {0}, pe = {0};
    const struct pw_arm_view *a = pw_find_arm(s, arm);
    if (a != NULL)
        pw_replica_text(a, replica, &of);
    fprintf(out, "arm %d%s  %s, %d positions\n", arm, pw_str_text(&of), pw_encoding_text(&pe, t->pe),
            t->length);
    pw_str_fini(&pe);
    if (t->by_layer)
        fprintf(out, "  the encoding differs by layer; this is layer %d of %d\n", t->layer, t->layers);
    pw_str_fini(&of);
    if (t->met != NULL) {
        snprintf(what, sizeof what, "pairs seen in training since step %" PRId64 ", by distance",
                 t->met_from);
        print_counts(out, what, t->met, t->length);
    }
    if (t->bucket != NULL && t->bucket_from != NULL)
        print_buckets(out, t);
    if (t->n_queries > 0) /* the bias by distance is the last query's */
        print_queries(out, t);
    else if (t->slopes == NULL)
        print_heads(out, t, "bias by distance", t->bias);
    else
        print_row(out, "slopes", t->slopes, t->heads);
    if (t->frequencies != NULL)
        print_row(out, "frequencies, radians a position", t->frequencies, t->pairs);
    if (t->added != NULL)
        print_rows(out, t);
    if (t->keys != NULL)
        print_keys(out, t);
    if (t->n_params > 0)
        print_params(out, t);
    if (pw_table_empty(t))
        fprintf(out, "  no positional term; order enters through %s\n", pw_table_order(t));
    if (t->kernel != NULL && t->n_queries > 0) /* equal in every layer */
        print_heads(out, t, "bias by distance, mean over queries", t->kernel);
    if (t->kernel != NULL && t->bias == NULL) {
        snprintf(what, sizeof what, "layer %d kernel by distance", t->layer);
        print_heads(out, t, what, t->kernel);
    }
    snprintf(what, sizeof what, "layer %d mean score by distance, %d samples", t->layer, t->n_kernel);
    print_heads(out, t, what, t->score);
}
