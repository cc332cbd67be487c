/* clone.c - a copy of a model, on the same backend or another. */
#include <stdlib.h>

#include "model/model_int.h"

enum pw_code pw_model_clone(struct pw_model **out, struct pw_model *m, const struct pw_backend_ops *ops,
                            struct pw_backend *be, struct pw_err *err)
{
    size_t n = m->lay.size;
    float *host = malloc(3 * n * sizeof *host);
    *out = NULL;
    if (host == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    enum pw_code code = pw_model_create(out, ops, be, &m->cfg, &m->pe, 0, err);
    if (code == PW_OK) {
        pw_model_get(m, host, host + n, host + 2 * n);
        code = m->ops->sync(m->be, err);
    }
    if (code == PW_OK) {
        struct pw_model *copy = *out;
        pw_model_put(copy, host, host + n, host + 2 * n);
        for (int i = 0; i < m->lay.n; i++)
            copy->lay.params[i].t = m->lay.params[i].t;
        pw_met_copy(copy, m);
        copy->seed = m->seed;
        copy->steps = m->steps;
        copy->schedule = m->schedule;
        code = pw_replaced_copy(copy, m, err);
    }
    if (code != PW_OK) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    free(host);
    return code;
}
