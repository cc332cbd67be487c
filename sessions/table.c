/* table.c - the members of an encoding's table that the report and the export both write as JSON. */
#include <math.h>

#include "base/json.h"
#include "sessions/fold.h"

int pw_table_bias_query(const struct pw_ev_table *t)
{
    return t->n_queries > 0 ? t->queries[t->n_queries - 1] : -1;
}

static void tensors(cJSON *o, const struct pw_ev_table *t)
{
    cJSON *list = cJSON_AddArrayToObject(o, "tensors");
    for (int i = 0; i < t->n_tensors; i++) {
        const struct pw_table_tensor *x = &t->tensors[i];
        cJSON *one = pw_json_add(list);
        pw_json_str(one, "name", x->name);
        if (x->rows > 0)
            pw_json_ints(one, "shape", (int[]){x->rows, x->cols}, 2);
        else
            pw_json_ints(one, "shape", &x->cols, 1);
        pw_json_num(one, "norm", (double)x->norm);
        pw_json_num(one, "grad", (double)x->grad);
    }
}

/* Adds n values from `from` on, or null: a number as such, more as a list. */
static void values(cJSON *o, const char *name, const float *from, int n)
{
    if (from == NULL)
        cJSON_AddNullToObject(o, name);
    else if (n == 1)
        pw_json_num(o, name, (double)*from);
    else
        cJSON_AddItemToObject(o, name, cJSON_CreateFloatArray(from, n));
}

/* Adds the learned parameters of a formula. The values of a parameter's parts are lists [layers,heads], and
 * the entries of its tables [layers,heads,size], each flat. */
static void params(cJSON *o, const struct pw_ev_table *t)
{
    cJSON *list = cJSON_AddArrayToObject(o, "learned");
    for (int i = 0; i < t->n_params; i++) {
        const struct pw_table_param *p = &t->params[i];
        int parts = p->layers * p->heads;
        const float *entries = p->entry >= 0 ? t->entries + p->entry : NULL,
                    *grads = p->entry >= 0 && t->entry_grads != NULL ? t->entry_grads + p->entry : NULL;
        cJSON *one = pw_json_add(list);
        pw_json_str(one, "name", p->name);
        pw_json_ints(one, "shape", (int[]){p->layers, p->heads, p->size}, 3);
        if (p->along != PW_ALONG_NOTHING)
            pw_json_str(one, "along",
                        p->along == PW_ALONG_CHANNELS ? "channels"
                        : p->along == PW_ALONG_PAIRS  ? "pairs"
                                                      : "mixes");
        values(one, p->size > 1 ? "rms" : "value", t->learned + p->part, parts);
        values(one, "grad", t->learned_grads != NULL ? t->learned_grads + p->part : NULL, parts);
        if (p->size == 1)
            continue;
        values(one, "entries", entries, parts * p->size);
        values(one, "entry_grads", grads, parts * p->size);
    }
    pw_json_num(o, "learned_steps", (double)t->param_steps);
}

void pw_table_json(struct cJSON *o, const struct pw_ev_table *t)
{
    if (t->bias != NULL)
        pw_json_num(o, "bias_query", pw_table_bias_query(t));
    if (t->n_queries > 0) {
        size_t head = (size_t)t->n_queries * t->length;
        pw_json_ints(o, "queries", t->queries, t->n_queries);
        cJSON *list = cJSON_AddArrayToObject(o, "query_bias");
        for (int h = 0; h < t->heads && t->query_bias != NULL; h++) {
            cJSON *rows = cJSON_CreateArray();
            for (int q = 0; q < t->n_queries; q++)
                cJSON_AddItemToArray(rows, cJSON_CreateFloatArray(
                                               t->query_bias + h * head + (size_t)q * t->length, t->length));
            cJSON_AddItemToArray(list, rows);
        }
    }
    if (t->n_tensors > 0)
        tensors(o, t);
    if (t->n_params > 0)
        params(o, t);
    if (t->fire_threshold > 0) {
        cJSON *fire = cJSON_AddObjectToObject(o, "fire");
        pw_json_num(fire, "c", (double)t->fire_c);
        pw_json_num(fire, "threshold", (double)t->fire_threshold);
        pw_json_num(fire, "factor", (double)t->fire_factor);
        pw_json_num(fire, "L", fabs((double)t->fire_factor * (double)t->fire_threshold));
    }
}
