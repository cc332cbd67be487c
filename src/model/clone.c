/* clone.c - copies a model to the same or another backend, with its own encoding or another; or copies only
 * the encoding's learned parameters to another model. */
#include <assert.h>
#include <string.h>

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

/* Copies n floats of weights and moments, from offset `from` to offset `at`. */
static enum pw_code carry_range(struct pw_model *next, size_t at, struct pw_model *old, size_t from, size_t n,
                                struct pw_err *err)
{
    const float *const source[] = {old->p, old->m, old->v};
    float *const to[] = {next->p, next->m, next->v};
    enum pw_code code = PW_OK;

    for (int i = 0; i < 3 && code == PW_OK && n > 0; i++)
        if (source[i] != NULL)
            code = carry_floats(next, to[i] + at, old, source[i] + from, n, err);
    return code;
}

/* Copies the first floats of weights and moments, the first tensors' step counts, the place in the
 * schedule, and replaced heads. Returns an error of the backend of `old`; an error of next's backend
 * appears at its next sync. */
static enum pw_code carry(struct pw_model *next, struct pw_model *old, size_t floats, int tensors,
                          struct pw_err *err)
{
    enum pw_code code = old->ops->sync(old->be, err);

    if (code == PW_OK && old->m != NULL) /* without moments: no step was taken */
        code = pw_model_reason(next, pw_model_reserve(next, err), err);
    if (code == PW_OK)
        code = carry_range(next, 0, old, 0, floats, err);
    for (int i = 0; i < tensors; i++)
        next->lay.params[i].t = old->lay.params[i].t;
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
    enum pw_code code = pw_model_make(out, ops, be, &m->cfg, &m->pe, err);

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
    enum pw_code code = pw_model_make(out, m->ops, m->be, &m->cfg, pe, err);

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
    enum pw_code code = pw_model_make(out, m->ops, m->be, &cfg, &m->pe, err);
    if (code)
        return code;
    struct pw_model *next = *out;
    pw_model_draw(next, core, m->seed);
    code = carry(next, m, m->lay.core, core, err);
    if (code == PW_OK)
        code = carry_range(next, next->lay.core, m, m->lay.core, m->lay.size - m->lay.core, err);
    for (int i = core; i < m->lay.n; i++)
        next->lay.params[next->lay.n_core + i - core].t = m->lay.params[i].t;
    pw_seen_copy(next, m);
    return complete(out, code, err);
}

enum pw_code pw_model_transplant(struct pw_model *m, struct pw_model *donor, struct pw_err *err)
{
    size_t at = m->lay.core, n = m->lay.size - at;
    enum pw_code code = donor->ops->sync(donor->be, err);

    assert(m->n_flights == 0 && n == donor->lay.size - donor->lay.core);
    if (code == PW_OK)
        code = carry_floats(m, m->p + at, donor, donor->p + donor->lay.core, n, err);
    if (code)
        return code;
    memset(m->host, 0, n * sizeof *m->host);
    if (m->m != NULL) {
        m->ops->upload(m->be, m->m + at, m->host, n * sizeof *m->host);
        m->ops->upload(m->be, m->v + at, m->host, n * sizeof *m->host);
    }
    if (m->source != NULL)
        m->source->pe = false;
    pw_model_abandon(m);
    m->stale = PW_STALE_ALL;
    pw_model_changed(m);
    return m->ops->sync(m->be, err); /* afterwards donor can be destroyed */
}
