/* ref_adapter.c - the tensors of ref_model.h, and its matrices with low-rank adapters. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_model.h"

const double *ref_tensor(const struct ref_model *r, const char *name)
{
    for (int i = 0; i < r->n_params; i++)
        if (strcmp(r->params[i].name, name) == 0)
            return r->values + r->params[i].offset;
    return NULL;
}

double *ref_adapted(const struct ref_model *r, int l, const char *name, const double *w, int out, int in)
{
    char full[64];
    double *sum = calloc((size_t)out * in, sizeof *sum);

    snprintf(full, sizeof full, "layers.%d.%s.adapter_a", l, name);
    const double *a = ref_tensor(r, full);
    snprintf(full, sizeof full, "layers.%d.%s.adapter_b", l, name);
    const double *b = ref_tensor(r, full);
    assert(sum != NULL && a != NULL && b != NULL);
    for (int o = 0; o < out; o++)
        for (int i = 0; i < in; i++) {
            sum[o * in + i] = w[o * in + i];
            for (int k = 0; k < r->cfg->adapter; k++)
                sum[o * in + i] += b[o * r->cfg->adapter + k] * a[k * in + i];
        }
    return sum;
}
