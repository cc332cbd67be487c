/* memory.c - the buffers of a model whose sizes follow from its layout: parameters with their packed copies,
 * and what a step needs beside them. */
#include <stdlib.h>

#include "model/model_int.h"

/* Sets the matrices of the linear operations. Adapters replace those of the layers (adapter.c). */
static void set_mats(struct pw_model *m)
{
    const struct pw_config *cfg = &m->cfg;
    int n = cfg->layers * PW_MATS;

    for (int i = 0; i < n; i++) {
        struct pw_shape s = pw_mat_shape(cfg, i % PW_MATS);
        const float *w = m->p + pw_mat_at(&m->lay.layer[i / PW_MATS], i % PW_MATS);
        m->mats[i] = (struct pw_mat){.w = w, .out = s.out, .in = s.in};
    }
    m->mats[n] = (struct pw_mat){.w = m->p + m->lay.head, .out = cfg->vocab, .in = cfg->width};
}

/* Sets the places of all packed copies for linear_dx, if backward, or for the forward pass, unless `to` is
 * NULL. Returns their floats. */
static size_t set_packs(struct pw_model *m, bool backward, float *to)
{
    size_t used = 0;

    for (int i = 0; i <= m->cfg.layers * PW_MATS; i++) {
        struct pw_mat *mat = &m->mats[i];
        float **at = backward ? &mat->back : &mat->pack;
        size_t n = m->ops->mat_pack_floats(mat->out, mat->in, backward);
        *at = to != NULL && n > 0 ? to + used : NULL;
        used += (n + 15) / 16 * 16;
    }
    return used;
}

/* Allocates the packed copies of one direction, if the backend has any there. */
static enum pw_code alloc_packs(struct pw_model *m, bool backward, struct pw_err *err)
{
    size_t floats = set_packs(m, backward, NULL);
    float **to = backward ? &m->back : &m->pack;

    if (floats > 0 && *to == NULL)
        *to = m->ops->alloc(m->be, floats * sizeof(float));
    if (floats > 0 && *to == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the packed weights");
    set_packs(m, backward, *to);
    m->stale |= floats > 0 ? PW_STALE_PACKS : 0;
    return PW_OK;
}

enum pw_code pw_memory_init(struct pw_model *m, struct pw_err *err)
{
    size_t bytes = m->lay.size * sizeof(float);

    m->p = m->ops->alloc(m->be, bytes);
    m->host = malloc(bytes);
    m->moved = calloc(2 * (size_t)m->lay.n, sizeof *m->moved);
    m->mats = calloc((size_t)m->cfg.layers * PW_MATS + 1, sizeof *m->mats);
    if (!pw_seen_init(m) || m->p == NULL || m->host == NULL || m->moved == NULL || m->mats == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: %zu parameters need %zu MiB", m->lay.size,
                       bytes >> 20);
    set_mats(m);
    enum pw_code code = pw_adapters_init(m, err);
    return code == PW_OK ? alloc_packs(m, false, err) : code;
}

/* The first of these buffers is allocated last, so it says that all are there. */
enum pw_code pw_model_reserve(struct pw_model *m, struct pw_err *err)
{
    size_t bytes = m->lay.size * sizeof(float);
    bool one = pw_model_one_slot(m);
    enum pw_code code = PW_OK;

    if (m->m != NULL)
        return PW_OK;
    code = alloc_packs(m, true, err);
    if (code)
        return code;
    if (m->v == NULL)
        m->v = m->ops->alloc(m->be, bytes);
    if (m->g == NULL && !one)
        m->g = m->ops->alloc(m->be, bytes);
    if (m->v != NULL && (m->g != NULL || one))
        m->m = m->ops->alloc(m->be, bytes);
    if (m->m != NULL)
        return PW_OK;
    return pw_fail(err, PW_ENOMEM, "out of memory: moments and gradient of %zu parameters need %zu MiB",
                   m->lay.size, (one ? 2 : 3) * bytes >> 20);
}

void pw_memory_fini(struct pw_model *m)
{
    m->ops->free(m->be, m->p);
    m->ops->free(m->be, m->m);
    m->ops->free(m->be, m->v);
    m->ops->free(m->be, m->pack);
    m->ops->free(m->be, m->back);
    pw_adapters_fini(m);
    if (!pw_model_one_slot(m))
        m->ops->free(m->be, m->g);
    pw_seen_fini(m);
    free(m->moved);
    free(m->host);
    free(m->mats);
    pw_layout_fini(&m->lay);
}
