/* memory.c - the buffers of a model whose sizes follow from its layout: parameters with their packed copies.
 */
#include <stdlib.h>

#include "base/pages.h"
#include "base/progress.h"
#include "model/reads.h"

/* Sets the matrices of the linear operations. Adapters replace those of the layers (adapter.c). */
static void set_mats(struct pw_model *m)
{
    const struct pw_config *cfg = &m->cfg;
    int n = cfg->layers * PW_MATS, C = cfg->width, E = pw_config_embed_width(cfg);

    for (int i = 0; i < n; i++) {
        struct pw_shape s = pw_mat_shape(cfg, i % PW_MATS);
        const float *w = m->p + pw_mat_at(&m->lay.layer[i / PW_MATS], i % PW_MATS);
        m->mats[i] = (struct pw_mat){.w = w, .out = s.out, .in = s.in};
    }
    *pw_end_mat(m, PW_END_HEAD) = (struct pw_mat){.w = m->p + m->lay.head, .out = cfg->vocab, .in = E};
    if (cfg->embed_width == 0)
        return;
    *pw_end_mat(m, PW_END_EMBED_IN) = (struct pw_mat){.w = m->p + m->lay.embed_in, .out = C, .in = E};
    *pw_end_mat(m, PW_END_HEAD_IN) = (struct pw_mat){.w = m->p + m->lay.head_in, .out = E, .in = C};
}

/* Sets the places of the packs of n matrices for linear_dx, if backward, or for the forward pass. */
static size_t place_packs(const struct pw_backend_ops *ops, struct pw_mat *mats, int n, bool backward,
                          float *to)
{
    size_t used = 0;

    for (int i = 0; i < n; i++) {
        float **at = backward ? &mats[i].back : &mats[i].pack;
        size_t floats = ops->mat_pack_floats(mats[i].out, mats[i].in, backward);
        *at = to != NULL && floats > 0 ? to + used : NULL;
        used += pw_whole_lines(floats);
    }
    return used;
}

size_t pw_packs_place_both(const struct pw_backend_ops *ops, struct pw_mat *mats, int n, float *to)
{
    size_t forward = place_packs(ops, mats, n, false, to);

    return forward + place_packs(ops, mats, n, true, to != NULL ? to + forward : NULL);
}

static size_t place_all(struct pw_model *m, bool backward, float *to)
{
    return place_packs(m->ops, m->mats, pw_mats(&m->cfg), backward, to);
}

enum pw_code pw_memory_take(struct pw_model *m, float **to, size_t bytes, struct pw_err *err)
{
    if (*to != NULL)
        return PW_OK;
    pw_progress_begin("taking memory", 0);
    *to = m->ops->alloc(m->be, bytes);
    enum pw_code code = pw_progress_add(0, err);
    pw_progress_end();
    return code;
}

/* Allocates the packed copies of one direction, if the backend has any there. */
static enum pw_code alloc_packs(struct pw_model *m, bool backward, struct pw_err *err)
{
    size_t floats = place_all(m, backward, NULL);
    float **to = backward ? &m->back : &m->pack;
    enum pw_code code = floats > 0 ? pw_memory_take(m, to, floats * sizeof(float), err) : PW_OK;

    if (code)
        return code;
    if (floats > 0 && *to == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the packed weights");
    place_all(m, backward, *to);
    m->stale |= floats > 0 ? PW_STALE_PACKS : 0;
    return PW_OK;
}

enum pw_code pw_memory_init(struct pw_model *m, bool packed, struct pw_err *err)
{
    size_t bytes = m->lay.size * sizeof(float);
    enum pw_code code = PW_OK;

    m->packed = packed;
    if (packed)
        m->p = pw_pages_reserve(bytes);
    else
        code = pw_memory_take(m, &m->p, bytes, err);
    m->host = malloc(bytes);
    m->moved = calloc(2 * (size_t)m->lay.n, sizeof *m->moved);
    m->mats = calloc((size_t)pw_mats(&m->cfg) + 1, sizeof *m->mats);
    if (!pw_seen_init(m) || m->p == NULL || m->host == NULL || m->moved == NULL || m->mats == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: %zu parameters need %zu MiB", m->lay.size,
                       bytes >> 20);
    if (code)
        return code;
    set_mats(m);
    code = pw_adapters_init(m, err);
    if (code == PW_OK)
        code = pw_gates_init(m, err);
    if (code == PW_OK)
        code = pw_walks_init(m, err);
    if (code)
        return code;
    return packed ? pw_packed_init(m, err) : alloc_packs(m, false, err);
}

void pw_model_unpack(struct pw_model *m, bool keep)
{
    if (!m->packed)
        return;
    pw_packed_end(m, keep);
    place_all(m, false, m->pack);
    m->stale |= PW_STALE_PACKS;
}

enum pw_code pw_packs_reserve_back(struct pw_model *m, struct pw_err *err)
{
    if (m->mats[0].back != NULL)
        return PW_OK;
    return m->packed ? pw_packed_reserve_back(m, err) : alloc_packs(m, true, err);
}

void pw_memory_fini(struct pw_model *m)
{
    if (m->packed || m->reserve != NULL) {
        pw_pages_free(m->p, m->lay.size * sizeof(float));
        pw_packed_fini(m);
    } else {
        m->ops->free(m->be, m->p);
        m->ops->free(m->be, m->pack);
    }
    m->ops->free(m->be, m->m);
    m->ops->free(m->be, m->v);
    m->ops->free(m->be, m->back);
    pw_adapters_fini(m);
    pw_gates_fini(m);
    pw_walks_fini(m);
    if (!pw_model_one_slot(m))
        m->ops->free(m->be, m->g);
    pw_seen_fini(m);
    free(m->moved);
    free(m->host);
    free(m->mats);
    pw_layout_fini(&m->lay);
}
