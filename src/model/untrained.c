#include "model/untrained.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Returns the learned entry that position or distance n reads; -1: the encoding has no such entries. */
static int entry_of(const struct pw_model *m, int n)
{
    const struct pw_pe_use_opts *use = pw_model_pe(m);
    const struct pw_config *cfg = pw_model_config(m);
    const struct pw_pe *pe = use->pe;
    if (pe->param == NULL || !cfg->causal)
        return -1;
    if ((pe->uses & PW_PE_BIAS) != 0)
        return pe->index(use->o.bytes, cfg, pw_pe_stretched(use, n));
    if ((pe->uses & PW_PE_KEYS) != 0) {
        int reach = pe->reach(use->o.bytes, cfg);
        return n < reach ? n : reach;
    }
    if ((pe->uses & PW_PE_ADDED) != 0 && pw_pe_adds(pe) == 1 && pe->by[0] == PW_PE_BY_POSITION)
        return n + (int)use->tune.offset;
    return -1;
}

/* Copies entry `from` over entry `to` in each layer of the encoding's one tensor. */
static void copy_entry(float *values, const struct pw_param *p, int from, int to)
{
    int layers = p->layers > 0 ? p->layers : 1;
    for (int l = 0; l < layers; l++) {
        float *layer = values + (size_t)l * (size_t)p->rows * (size_t)p->cols;
        memcpy(layer + (size_t)to * (size_t)p->cols, layer + (size_t)from * (size_t)p->cols,
               (size_t)p->cols * sizeof *layer);
    }
}

/* seen [context]: how often each position or distance was trained. Returns the number of changed entries. */
static int clamp(float *values, const struct pw_model *m, const struct pw_param *p, const int64_t *seen)
{
    int context = pw_model_config(m)->context, n = 0, nearest = -1;
    bool *trained = pw_alloc((size_t)p->rows, sizeof *trained);
    for (int i = 0; i < context; i++) {
        int entry = entry_of(m, i);
        if (entry < p->rows)
            trained[entry] = trained[entry] || seen[i] > 0;
    }
    for (int i = 0; i < context; i++) {
        int entry = entry_of(m, i);
        if (entry >= p->rows)
            continue;
        if (!trained[entry] && nearest >= 0) {
            copy_entry(values, p, nearest, entry);
            trained[entry] = true;
            n++;
        }
        nearest = trained[entry] ? entry : nearest;
    }
    free(trained);
    return n;
}

float *pw_model_clamp_untrained(struct pw_model *m, int *n)
{
    int tensors;
    const struct pw_param *p = pw_model_pe_params(m, &tensors);
    size_t context = (size_t)pw_model_config(m)->context;
    *n = 0;
    if (tensors != 1 || entry_of(m, 0) < 0)
        return NULL;
    int64_t *pairs = pw_alloc(context, sizeof *pairs), *rows = pw_alloc(context, sizeof *rows);
    float *values = NULL;
    bool by_position = (pw_model_pe(m)->pe->uses & PW_PE_ADDED) != 0;
    if (pw_model_seen(m, pairs, rows) > 0) {
        values = pw_alloc(pw_param_count(p), sizeof *values);
        pw_model_read(m, values, p->offset, pw_param_count(p));
        *n = clamp(values, m, p, by_position ? rows : pairs);
    } else {
        *n = -1;
    }
    free(pairs);
    free(rows);
    return values;
}
