/* encoding_views.c - the views of an encoding's table: which of them a table has, and their values. */
#include "plot/encoding.h"
#include <math.h>

const struct pw_ev_table *pw_table_drawn(const struct pw_snapshot *s, int arm)
{
    const struct pw_ev_table *t = pw_table_of(s, arm);

    return t != NULL && t->length > 0 && t->heads > 0 ? t : NULL;
}

bool pw_table_has(const struct pw_ev_table *t, enum pw_encoding_view view)
{
    bool buckets = t->bucket != NULL && t->bucket_from != NULL && t->bucket_bias != NULL && t->n_buckets > 0;

    switch (view) {
    case PW_ENCODING_SLOPES: return t->slopes != NULL && t->bias != NULL;
    case PW_ENCODING_BIAS: return t->bias != NULL && t->slopes == NULL;
    case PW_ENCODING_BUCKETS: return buckets;
    case PW_ENCODING_MATRIX: return buckets && t->bias != NULL; /* the table of a file can lack the bias */
    case PW_ENCODING_FREQUENCIES:
    case PW_ENCODING_DECAY: return t->frequencies != NULL && t->pairs > 0;
    case PW_ENCODING_PARAMS: return t->n_params > 0;
    case PW_ENCODING_ROWS:
    case PW_ENCODING_COSINE: return t->added != NULL && t->width > 0;
    case PW_ENCODING_KEYS: return t->keys != NULL && t->n_keys > 0 && t->key_width > 0;
    case PW_ENCODING_QUERIES: return t->query_bias != NULL && t->n_queries > 0;
    default: return t->kernel != NULL || t->score != NULL;
    }
}

const float *pw_table_by_distance(const struct pw_ev_table *t, enum pw_encoding_view view)
{
    if (!pw_table_has(t, view))
        return NULL;
    return view == PW_ENCODING_KERNEL && t->kernel != NULL ? t->kernel
           : view == PW_ENCODING_KERNEL                    ? t->score
                                                           : t->bias;
}

static float value(const void *arg, int row, int col)
{
    const struct pw_table_cells *of = arg;
    const struct pw_ev_table *t = of->t;
    int a = row * of->every, b = col * of->every;

    switch (of->view) {
    case PW_ENCODING_BUCKETS: return t->bucket_bias[(size_t)row * t->heads + col];
    case PW_ENCODING_MATRIX: return b > a && t->later == 0 ? -INFINITY : (float)pw_bucket_of(t, a - b);
    case PW_ENCODING_FREQUENCIES: return (float)cos((double)t->frequencies[row] * b);
    case PW_ENCODING_ROWS: return t->added[(size_t)a * t->width + col];
    case PW_ENCODING_KEYS: return t->keys[(size_t)row * t->key_width + col];
    default: return (float)pw_rows_cosine(t, a, b);
    }
}

struct pw_matrix pw_table_matrix(const struct pw_table_cells *of)
{
    const struct pw_ev_table *t = of->t;
    int n = (t->length + of->every - 1) / of->every;
    struct pw_matrix m = {.rows = n,
                          .cols = n,
                          .value = value,
                          .arg = of,
                          .hi = 1,
                          .is_signed = of->view != PW_ENCODING_MATRIX};

    switch (of->view) {
    case PW_ENCODING_BUCKETS:
        m.rows = t->n_buckets, m.cols = t->heads;
        m.hi = pw_enc_scale(t->bucket_bias, (size_t)t->n_buckets * t->heads);
        break;
    case PW_ENCODING_MATRIX: m.hi = (float)(t->n_buckets > 1 ? t->n_buckets - 1 : 1); break;
    case PW_ENCODING_FREQUENCIES: m.rows = t->pairs; break;
    case PW_ENCODING_ROWS:
        m.cols = t->width;
        m.hi = pw_enc_scale(t->added, (size_t)t->length * t->width);
        break;
    case PW_ENCODING_KEYS:
        m.rows = t->n_keys, m.cols = t->key_width;
        m.hi = pw_enc_scale(t->keys, (size_t)t->n_keys * t->key_width);
        break;
    default: break;
    }
    return m;
}

int pw_rotary_decay(const struct pw_ev_table *t, int most, float *cosine, float *bound, double *least)
{
    int n = t->length < most ? t->length : most;

    *least = 0;
    for (int d = 0; d < n; d++) {
        cosine[d] = (float)pw_rotary_cosine(t, d);
        bound[d] = (float)pw_rotary_bound(t, d);
        *least = fmin(*least, (double)cosine[d]);
    }
    return n;
}
