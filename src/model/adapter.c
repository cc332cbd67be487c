/* adapter.c - low-rank adapters (LoRA, Hu et al. 2021, section 4.1): a matrix W of a layer acts as W + B A,
 * with A [r,in] and B [out,r]. The paper's factor alpha/r is 1. q, k and v are one matrix here, and so are
 * gate and up, so the parts of such a matrix share A.
 *
 * The sum is computed once per change of a parameter, and every linear operation reads it in place of W. So
 * the forward pass, decoding, inspection and the gradient of the input are those of any model, and W keeps
 * the bits of the file that it came from. Where packs have every bit of a matrix, the sums of a few layers at
 * a time are computed and packed, and take no memory beside the packs.
 *
 * With u = x A^T and v = dy B the gradients are dB = dy^T u and dA = v^T x: chains over rows like those of W.
 */
#include <stdlib.h>

#include "model/model_int.h"

static int n_mats(const struct pw_model *m)
{
    return m->cfg.layers * PW_MATS;
}

/* The layers that `merged` has room for: all, or as many as keep every worker busy. */
static int layers_at_once(const struct pw_model *m)
{
    return pw_model_one_copy(m->ops) && m->workers < m->cfg.layers ? m->workers : m->cfg.layers;
}

/* Floats from the first matrix of a layer to the end of the last one. */
static size_t layer_floats(const struct pw_model *m)
{
    const struct pw_layer_at *at = &m->lay.layer[0];

    return at->down + (size_t)m->cfg.width * m->cfg.ffn - at->qkv;
}

static size_t merged_floats(const struct pw_model *m)
{
    return (size_t)layers_at_once(m) * layer_floats(m);
}

/* Place of matrix i in `merged`, at the offsets within a layer of the parameters. */
static size_t merged_at(const struct pw_model *m, int i)
{
    const struct pw_layer_at *at = &m->lay.layer[i / PW_MATS];
    int l = i / PW_MATS % layers_at_once(m);

    return (size_t)l * layer_floats(m) + (pw_mat_at(at, i % PW_MATS) - at->qkv);
}

static size_t pack_floats(const struct pw_backend_ops *ops, const struct pw_config *cfg)
{
    struct pw_mat low[2 * PW_MATS] = {{0}};

    for (int k = 0; k < PW_MATS; k++) {
        struct pw_shape s = pw_mat_shape(cfg, k);
        low[2 * k] = (struct pw_mat){.out = cfg->adapter, .in = s.in};
        low[2 * k + 1] = (struct pw_mat){.out = s.out, .in = cfg->adapter};
    }
    return (size_t)cfg->layers * pw_packs_place_both(ops, low, 2 * PW_MATS, NULL);
}

enum pw_code pw_adapters_init(struct pw_model *m, struct pw_err *err)
{
    if (m->cfg.adapter == 0)
        return PW_OK;
    size_t floats = pack_floats(m->ops, &m->cfg);
    m->low = calloc(2 * (size_t)n_mats(m), sizeof *m->low);
    m->merged = m->ops->alloc(m->be, merged_floats(m) * sizeof *m->merged);
    if (floats > 0)
        m->low_pack = m->ops->alloc(m->be, floats * sizeof *m->low_pack);
    if (m->low == NULL || m->merged == NULL || (floats > 0 && m->low_pack == NULL))
        return pw_fail(err, PW_ENOMEM, "out of memory: adapters of rank %d need %zu MiB", m->cfg.adapter,
                       pw_adapters_bytes(m) >> 20);
    for (int i = 0; i < n_mats(m); i++) {
        const struct pw_layer_at *at = &m->lay.layer[i / PW_MATS];
        struct pw_mat *mat = &m->mats[i];
        int k = i % PW_MATS;
        m->low[2 * i] = (struct pw_mat){.w = m->p + at->adapter_a[k], .out = m->cfg.adapter, .in = mat->in};
        m->low[2 * i + 1] =
            (struct pw_mat){.w = m->p + at->adapter_b[k], .out = mat->out, .in = m->cfg.adapter};
        mat->w = m->merged + merged_at(m, i);
    }
    pw_packs_place_both(m->ops, m->low, 2 * n_mats(m), m->low_pack);
    return PW_OK;
}

void pw_adapters_fini(struct pw_model *m)
{
    m->ops->free(m->be, m->merged);
    m->ops->free(m->be, m->low_pack);
    free(m->low);
}

size_t pw_adapters_bytes(const struct pw_model *m)
{
    if (m->cfg.adapter == 0)
        return 0;
    return (merged_floats(m) + pack_floats(m->ops, &m->cfg)) * sizeof *m->merged;
}

struct merging {
    struct pw_model *m;
    int first; /* matrix */
};

/* Computes W + B A of a matrix. */
static void merge(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    const struct merging *k = arg;
    struct pw_model *m = k->m;
    int i = k->first + chunk;
    const struct pw_mat *a = &m->low[2 * i], *b = &m->low[2 * i + 1];
    const float *w = m->p + pw_mat_at(&m->lay.layer[i / PW_MATS], i % PW_MATS);
    float *to = m->merged + merged_at(m, i);

    (void)worker;
    m->ops->linear_dx(c, to, b->w, a, PW_ACT_NONE, NULL, 1, b->out);
    m->ops->add(c, to, w, (size_t)b->out * a->in);
}

void pw_adapters_merge(struct pw_model *m)
{
    int some = layers_at_once(m), L = m->cfg.layers;

    if (m->cfg.adapter > 0)
        m->ops->prepare(m->be, m->low, 2 * n_mats(m));
    for (int l = 0; l < L && m->cfg.adapter > 0; l += some) {
        struct merging k = {m, l * PW_MATS};
        int n = (L - l < some ? L - l : some) * PW_MATS;
        m->ops->for_chunks(m->be, n, merge, &k);
        m->ops->prepare(m->be, m->mats + k.first, n);
    }
    m->stale &= ~PW_STALE_MERGED;
}

void pw_adapter_gradient(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                         int l, int k, const float *dy, const float *x, int R)
{
    const struct pw_layer_at *at = &m->lay.layer[l];

    if (m->cfg.adapter == 0 || (m->trains != PW_TRAINS_ALL && m->trains != PW_TRAINS_ADAPTER))
        return;
    const struct pw_mat *a = &m->low[2 * (l * PW_MATS + k)], *b = a + 1;
    m->ops->linear_fwd(c, w->low_x, NULL, x, a, NULL, NULL, PW_ACT_NONE, R);
    m->ops->linear_dw(c, pw_grad_at(m, to, at->adapter_b[k]), NULL, dy, w->low_x, to->summed, b->out, b->in,
                      R);
    m->ops->linear_dx(c, w->low_dy, dy, b, PW_ACT_NONE, NULL, 1, R);
    m->ops->linear_dw(c, pw_grad_at(m, to, at->adapter_a[k]), NULL, w->low_dy, x, to->summed, a->out, a->in,
                      R);
}

/* Returns the matrix with an adapter that has the parameter, and sets *at to its place there; NULL: none. */
static const struct pw_mat *adapted(const struct pw_model *m, size_t offset, size_t *at)
{
    for (int i = 0; i < n_mats(m) && m->cfg.adapter > 0; i++) {
        size_t from = pw_mat_at(&m->lay.layer[i / PW_MATS], i % PW_MATS);
        *at = offset - from;
        if (offset >= from && *at < (size_t)m->mats[i].out * m->mats[i].in)
            return &m->mats[i];
    }
    return NULL;
}

void pw_model_read_acting(struct pw_model *m, float *out, size_t offset, size_t n)
{
    size_t at;
    const struct pw_mat *mat = adapted(m, offset, &at);

    if (mat == NULL) {
        pw_model_read(m, out, offset, n);
        return;
    }
    if (m->stale & PW_STALE_MERGED)
        pw_adapters_merge(m);
    if (pw_model_one_copy(m->ops)) {
        m->ops->unpack(out, mat, at, n);
        return;
    }
    m->ops->download(m->be, out, mat->w + at, n * sizeof *out);
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
}
