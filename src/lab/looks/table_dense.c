/* table_dense.c - the table of a bias that depends on both positions (PW_PE_DENSE). Its bias by distance
 * differs from query to query, so the table has the bias of some queries, and the learned tensors that it is
 * computed from.
 *
 * The last query has all distances, and a display of one bias by distance shows that query's. The other
 * queries are spread evenly. If FIRE's threshold lies within the length, one query lies there, because the
 * curve is stretched from there on. The kernel, the effect on scores by distance, is the mean over queries.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

/* Return the value of a tensor that has one element. */
static float number(const struct pw_learned *own, const char *name)
{
    for (int i = 0; i < own->n; i++)
        if (strcmp(own->p[i].name, name) == 0)
            return own->value[own->p[i].offset - own->at];
    return NAN;
}

static void tell_tensors(const struct pw_learned *own, struct pw_ev_table *x)
{
    x->n_grad = own->n_grad;
    x->n_tensors = own->n;
    x->tensors = pw_alloc((size_t)own->n, sizeof *x->tensors);
    for (int i = 0; i < own->n; i++) {
        const struct pw_param *p = &own->p[i];
        struct pw_table_tensor *t = &x->tensors[i];
        size_t n = pw_param_count(p), at = p->offset - own->at;
        double squares = 0, grad = 0;
        for (size_t k = at; k < at + n; k++) {
            squares += (double)own->value[k] * (double)own->value[k];
            grad += (double)own->grad[k];
        }
        pw_text_copy(t->name, sizeof t->name, p->name);
        t->rows = p->rows, t->cols = p->cols;
        t->norm = (float)sqrt(squares);
        t->grad = own->n_grad > 0 ? (float)(grad / (double)n) : NAN;
    }
}

static void tell_fire(const struct pw_learned *own, const struct pw_replica *arm, struct pw_ev_table *x)
{
    const struct pw_opt *o = pw_opt_find(arm->pe.pe->opts, "threshold");
    x->fire_c = number(own, "pe.c");
    x->fire_factor = number(own, "pe.L_multiplier");
    x->fire_threshold = (float)*(const int *)(const void *)(arm->pe.o.bytes + o->offset);
    x->fire_from = arm->pe.tune.offset;
    x->fire_step = arm->pe.tune.stretch;
}

/* Return the first query at or beyond the threshold; -1: there is none. */
static int at_threshold(const struct pw_ev_table *x)
{
    double L = fabs((double)x->fire_factor * (double)x->fire_threshold);
    double i = ceil((L - (double)x->fire_from) / (double)x->fire_step);
    return x->fire_threshold > 0 && i >= 0 && i < x->length ? (int)i : -1;
}

/* Choose n positions spread evenly, the last one N - 1. Returns whether `with` is among them. */
static bool spread(int *out, int n, int N, int with)
{
    bool there = false;
    for (int k = 0; k < n; k++) {
        out[k] = (int)((int64_t)(k + 1) * N / n) - 1;
        there = there || out[k] == with;
    }
    return there;
}

static void choose_queries(struct pw_ev_table *x)
{
    int n = x->length < PW_TABLE_QUERIES ? x->length : PW_TABLE_QUERIES, with = at_threshold(x);
    x->queries = pw_alloc((size_t)n, sizeof *x->queries);
    if (!spread(x->queries, n, x->length, with) && with >= 0 && !spread(x->queries, --n, x->length, with)) {
        int at = n++;
        for (; at > 0 && x->queries[at - 1] > with; at--)
            x->queries[at] = x->queries[at - 1];
        x->queries[at] = with;
    }
    x->n_queries = n;
}

/* Return a bias as the event has it: NaN if a mask hides the key. */
static float shown(float bias)
{
    return isinf(bias) ? NAN : bias;
}

void pw_lab_emit_dense(const struct pw_replica *arm, const struct pw_pe_tables *t, struct pw_ev_table *x)
{
    struct pw_learned own;
    int N = x->length;
    pw_learned_read(&own, arm);
    tell_tensors(&own, x);
    if (arm->pe.pe == pw_pe_find("fire"))
        tell_fire(&own, arm, x);
    pw_learned_fini(&own);
    choose_queries(x);
    x->query_bias = pw_alloc((size_t)x->heads * x->n_queries * N, sizeof *x->query_bias);
    x->bias = pw_alloc((size_t)x->heads * N, sizeof *x->bias);
    for (int h = 0; h < x->heads; h++) {
        for (int k = 0; k < x->n_queries; k++) {
            float *row = x->query_bias + ((size_t)h * x->n_queries + k) * N;
            int i = x->queries[k];
            for (int d = 0; d < N; d++)
                row[d] = d <= i ? shown(pw_pe_bias_at(t, h, i, i - d)) : NAN;
        }
        for (int d = 0; d < N; d++)
            x->bias[(size_t)h * N + d] = shown(pw_pe_bias_at(t, h, N - 1, N - 1 - d));
    }
}
