/* table_learned.c - the learned parameters of a formula or of planes, as members of its table: a value for
 * each layer and head, the entries of small tables, and the mean gradient of each.
 *
 * A part, the copy for a layer and head, always has one value, so that its course over training can be kept
 * (sessions/course.c): a number itself, of a table the root mean square. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

void pw_learned_read(struct pw_learned *own, const struct pw_replica *arm)
{
    *own = (struct pw_learned){0};
    own->p = pw_model_pe_params(arm->model, &own->n);
    for (int i = 0; i < own->n; i++)
        own->size += pw_param_count(&own->p[i]);
    own->at = own->n > 0 ? own->p->offset : 0;
    own->value = pw_alloc(own->size, sizeof *own->value);
    own->grad = pw_alloc(own->size, sizeof *own->grad);
    pw_model_read(arm->model, own->value, own->at, own->size);
    own->n_grad = pw_model_pe_gradient(arm->model, own->grad);
}

void pw_learned_fini(struct pw_learned *own)
{
    free(own->value);
    free(own->grad);
}

static float mean(const float *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)v[i];
    return (float)(sum / n);
}

static float root_mean_square(const float *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return (float)sqrt(sum / n);
}

/* Lists the parameters that have room, and counts those that have none. */
static void place(const struct pw_pe_formula_param *list, int n, struct pw_ev_table *x)
{
    x->params = pw_alloc((size_t)n, sizeof *x->params);
    for (int k = 0; k < n; k++) {
        const struct pw_pe_formula_param *from = &list[k];
        int parts = from->layers * from->heads, entries = from->size > 1 ? parts * from->size : 0;
        if (x->n_learned + parts > PW_TABLE_PARTS) {
            x->params_left++;
            continue;
        }
        struct pw_table_param *p = &x->params[x->n_params++];
        bool fits = entries > 0 && x->n_entries + entries <= PW_TABLE_ENTRIES;
        pw_text_copy(p->name, sizeof p->name, from->name);
        p->layers = from->layers, p->heads = from->heads, p->size = from->size;
        p->along = from->channels ? PW_ALONG_CHANNELS
                   : from->pairs  ? PW_ALONG_PAIRS
                   : from->mixes  ? PW_ALONG_MIXES
                                  : PW_ALONG_NOTHING;
        p->part = x->n_learned;
        p->entry = fits ? x->n_entries : -1;
        x->n_learned += parts;
        x->n_entries += fits ? entries : 0;
    }
}

/* Copies the values of a parameter, and their gradients if there are any. */
static void fill(const struct pw_table_param *p, const float *value, const float *grad, struct pw_ev_table *x)
{
    int parts = p->layers * p->heads;
    for (int i = 0; i < parts; i++) {
        const float *v = value + (size_t)i * p->size;
        x->learned[p->part + i] = p->size > 1 ? root_mean_square(v, p->size) : *v;
        if (x->learned_grads != NULL)
            x->learned_grads[p->part + i] = mean(grad + (size_t)i * p->size, p->size);
    }
    if (p->entry < 0)
        return;
    size_t bytes = (size_t)parts * p->size * sizeof *value;
    memcpy(x->entries + p->entry, value, bytes);
    if (x->entry_grads != NULL)
        memcpy(x->entry_grads + p->entry, grad, bytes);
}

static float *room_for(int n, bool wanted)
{
    return wanted && n > 0 ? pw_alloc((size_t)n, sizeof(float)) : NULL;
}

/* Lists the parameters of a formula, or of learned planes, in the order of the model's; returns their number.
 * Those of other encodings are in their table, or are matrices of the tokens. */
static int list_parameters(const struct pw_replica *arm, struct pw_pe_formula_param list[PW_PE_PARAMS])
{
    struct pw_pe_param own[PW_PE_PARAMS];
    int H = arm->cfg.heads, n = pw_pe_formula_params(&arm->pe, &arm->cfg, list);
    if (n > 0 || (arm->pe.pe->uses & PW_PE_PLANES) == 0)
        return n;
    n = arm->pe.pe->params(arm->pe.o.bytes, &arm->cfg, own);
    for (int k = 0; k < n; k++) /* the first has a number for each plane */
        list[k] = (struct pw_pe_formula_param){
            .name = own[k].name, own[k].layers, H, own[k].rows * own[k].cols / H, .pairs = k == 0};
    return n;
}

void pw_lab_emit_learned(const struct pw_replica *arm, struct pw_ev_table *x)
{
    struct pw_pe_formula_param list[PW_PE_PARAMS];
    int n = list_parameters(arm, list);
    struct pw_learned own;
    if (n == 0)
        return;
    pw_learned_read(&own, arm);
    place(list, n, x);
    x->param_steps = own.n_grad;
    x->learned = room_for(x->n_learned, true);
    x->entries = room_for(x->n_entries, true);
    x->learned_grads = room_for(x->n_learned, own.n_grad > 0);
    x->entry_grads = room_for(x->n_entries, own.n_grad > 0);
    size_t at = 0;
    for (int k = 0, i = 0; k < n; k++) {
        size_t floats = (size_t)list[k].layers * list[k].heads * list[k].size;
        if (i < x->n_params && strcmp(x->params[i].name, list[k].name) == 0)
            fill(&x->params[i++], own.value + at, own.grad + at, x);
        at += floats;
    }
    pw_learned_fini(&own);
}
