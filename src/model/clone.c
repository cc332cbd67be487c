/* clone.c - copies a model to the same or another backend, with its own encoding or another; or copies only
 * the encoding's learned parameters to another model. */
#include <assert.h>

#include "model/model_int.h"

/* Copies to [n] = from [n]: directly if both models are on one device, otherwise through next->host. */
static enum pw_code carry_floats(struct pw_model *next, float *to, struct pw_model *old, const float *from,
                                 size_t n, struct pw_err *err)
{
    const struct pw_backend_ops *ops = next->ops;
    size_t bytes = n * sizeof *to;
    enum pw_code code = PW_OK;

    if (ops == old->ops && ops->copy != NULL && ops->unit(next->be) == ops->unit(old->be)) {
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

/* Writes a tensor of the model *arg. */
static enum pw_code read_tensor(void *arg, const struct pw_param *p, float *out, bool *filled,
                                struct pw_err *err)
{
    (void)err;
    pw_model_read(arg, out, p->offset, pw_param_count(p));
    *filled = true;
    return PW_OK;
}

/* Copies the moments and step counts of n tensors, from number `from` on, to those from number `at` on. */
static enum pw_code carry_moments(struct pw_model *next, int at, struct pw_model *old, int from, int n,
                                  struct pw_err *err)
{
    enum pw_code code = PW_OK;

    for (int i = 0; i < n && code == PW_OK; i++) {
        const struct pw_param *was = &old->lay.params[from + i];
        struct pw_param *is = &next->lay.params[at + i];
        size_t floats = pw_param_count(was);
        is->t = was->t;
        if (was->place == PW_ABSENT)
            continue;
        code = carry_floats(next, next->m + is->place, old, old->m + was->place, floats, err);
        if (code == PW_OK)
            code = carry_floats(next, next->v + is->place, old, old->v + was->place, floats, err);
    }
    return code;
}

/* The first tensors of a model, which its successor has, too. */
struct carried {
    const struct pw_param *params;
    int n;
};

/* The other tensors of the successor are those that its next step changes. */
static bool wants(const void *arg, int i)
{
    const struct carried *first = arg;

    return i >= first->n || first->params[i].place != PW_ABSENT;
}

/* Copies the first floats of weights, the first tensors' moments and step counts, the place in the schedule,
 * and replaced heads. Returns an error of the backend of `old`; an error of next's backend
 * appears at its next sync. */
static enum pw_code carry(struct pw_model *next, struct pw_model *old, size_t floats, int tensors,
                          struct pw_err *err)
{
    enum pw_code code = old->ops->sync(old->be, err);

    if (code == PW_OK && old->packed && next->packed && next->ops == old->ops)
        pw_packed_share(next, old, floats);
    else if (code == PW_OK && old->packed) /* the same offsets in both */
        code = pw_model_fill_all(next, tensors, read_tensor, old, err);
    else if (code == PW_OK)
        code = carry_floats(next, next->p, old, old->p, floats, err);
    if (code == PW_OK && old->m != NULL) /* without moments: no step was taken */
        code = pw_model_reason(
            next, pw_model_reserve(next, wants, &(struct carried){old->lay.params, tensors}, err), err);
    if (code == PW_OK)
        code = carry_moments(next, 0, old, 0, tensors, err);
    next->seed = old->seed;
    next->steps = old->steps;
    next->schedule = old->schedule;
    pw_model_set_source(next, old->source);
    pw_model_set_origin(next, old->origin);
    pw_model_changed(next);
    return code == PW_OK ? pw_replaced_copy(next, old, err) : code;
}

/* Waits until the copy is complete, or destroys it. Afterwards old can be destroyed. */
static enum pw_code complete(struct pw_model **out, enum pw_code code, struct pw_err *err)
{
    if (code == PW_OK)
        code = (*out)->ops->sync((*out)->be, err);
    if (code) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    return code;
}

enum pw_code pw_model_clone(struct pw_model **out, struct pw_model *m, const struct pw_backend_ops *ops,
                            struct pw_backend *be, struct pw_err *err)
{
    enum pw_code code = pw_model_make(out, ops, be, &m->cfg, &m->pe, m->packed, err);

    if (code)
        return code;
    code = carry(*out, m, m->lay.size, m->lay.n, err);
    pw_seen_copy(*out, m);
    return complete(out, code, err);
}

enum pw_code pw_model_swap(struct pw_model **out, struct pw_model *m, const struct pw_pe_use_opts *pe,
                           uint64_t seed, bool restart, struct pw_err *err)
{
    int core = m->lay.n_core;
    enum pw_code code = pw_model_make(out, m->ops, m->be, &m->cfg, pe, m->packed, err);

    assert(m->n_flights == 0);
    if (code)
        return code;
    assert((*out)->lay.core == m->lay.core);
    code = carry(*out, m, m->lay.core, core, err);
    if (code == PW_OK)
        pw_model_draw(*out, core, seed);
    if ((*out)->source != NULL)
        (*out)->source->pe = false;
    if (restart)
        (*out)->schedule = 0;
    return complete(out, code, err);
}

enum pw_code pw_model_adapt(struct pw_model **out, struct pw_model *m, int rank, struct pw_err *err)
{
    struct pw_config cfg = m->cfg;
    int core = m->lay.n_core;

    assert(m->n_flights == 0 && m->cfg.adapter == 0 && rank > 0);
    cfg.adapter = rank;
    enum pw_code code = pw_model_make(out, m->ops, m->be, &cfg, &m->pe, false, err);
    if (code)
        return code;
    struct pw_model *next = *out;
    pw_model_draw(next, core, m->seed);
    code = carry(next, m, m->lay.core, core, err);
    size_t pe = m->lay.size - m->lay.core;
    if (code == PW_OK && pe > 0)
        code = carry_floats(next, next->p + next->lay.core, m, m->p + m->lay.core, pe, err);
    if (code == PW_OK)
        code = carry_moments(next, next->lay.n_core, m, core, m->lay.n - core, err);
    pw_seen_copy(next, m);
    return complete(out, code, err);
}

/* The encoding's parameters are new: zeroes their moments. */
static enum pw_code renew_encoding(struct pw_model *m, struct pw_err *err)
{
    pw_moments_clear(m, true);
    if (m->source != NULL)
        m->source->pe = false;
    pw_model_abandon(m);
    m->stale = PW_STALE_ALL;
    pw_model_changed(m);
    return m->ops->sync(m->be, err); /* afterwards the caller may free their source */
}

enum pw_code pw_model_transplant(struct pw_model *m, struct pw_model *donor, struct pw_err *err)
{
    size_t at = m->lay.core, n = m->lay.size - at;
    enum pw_code code = donor->ops->sync(donor->be, err);

    assert(m->n_flights == 0 && n == donor->lay.size - donor->lay.core);
    if (code == PW_OK)
        code = carry_floats(m, m->p + at, donor, donor->p + donor->lay.core, n, err);
    return code == PW_OK ? renew_encoding(m, err) : code;
}

enum pw_code pw_model_put_encoding(struct pw_model *m, const float *values, struct pw_err *err)
{
    size_t at = m->lay.core, n = m->lay.size - at;

    assert(m->n_flights == 0);
    m->ops->upload(m->be, m->p + at, values, n * sizeof *values);
    return renew_encoding(m, err);
}
