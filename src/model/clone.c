/* clone.c - a copy of a model, on the same backend or another. */
#include "model/model_int.h"

/* to [n] = from [n]: on a device where both models are on one, else through next->host. */
static enum pw_code carry_floats(struct pw_model *next, float *to, struct pw_model *old, const float *from,
                                 size_t n, struct pw_err *err)
{
    const struct pw_backend_ops *ops = next->ops;
    size_t bytes = n * sizeof *to;
    enum pw_code code = PW_OK;

    if (ops == old->ops && ops->copy && ops->unit(next->be) == ops->unit(old->be)) {
        ops->copy(next->be, to, from, bytes);
        return PW_OK;
    }
    if (!old->ops->host) {
        old->ops->download(old->be, next->host, from, bytes);
        code = old->ops->sync(old->be, err);
        from = next->host;
    }
    if (code == PW_OK)
        ops->upload(next->be, to, from, bytes);
    return code;
}

enum pw_code pw_model_carry(struct pw_model *next, struct pw_model *old, size_t floats, int tensors,
                            struct pw_err *err)
{
    float *from[] = {old->p, old->m, old->v}, *to[] = {next->p, next->m, next->v};
    enum pw_code code = PW_OK;

    for (int i = 0; i < 3 && code == PW_OK; i++)
        code = carry_floats(next, to[i], old, from[i], floats, err);
    for (int i = 0; i < tensors; i++)
        next->lay.params[i].t = old->lay.params[i].t;
    return code;
}

/* Every tensor with its moments and counts, and what training has met. */
static enum pw_code carry_all(struct pw_model *next, struct pw_model *old, struct pw_err *err)
{
    enum pw_code code = old->ops->sync(old->be, err);

    if (code == PW_OK)
        code = pw_model_carry(next, old, old->lay.size, old->lay.n, err);
    pw_met_copy(next, old);
    next->seed = old->seed;
    next->steps = old->steps;
    next->schedule = old->schedule;
    pw_model_changed(next);
    return code == PW_OK ? pw_replaced_copy(next, old, err) : code;
}

enum pw_code pw_model_clone(struct pw_model **out, struct pw_model *m, const struct pw_backend_ops *ops,
                            struct pw_backend *be, struct pw_err *err)
{
    enum pw_code code = pw_model_make(out, ops, be, &m->cfg, &m->pe, err);

    if (code)
        return code;
    code = carry_all(*out, m, err);
    if (code == PW_OK)
        code = ops->sync((*out)->be, err); /* then m may go */
    if (code) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    return code;
}
