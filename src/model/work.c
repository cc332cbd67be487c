/* work.c - the memory of a worker: activations and gradients of one chunk, carved from one block.
 *
 * Training keeps the activations of every layer. In evaluation all layers share one set of activations and
 * one copy of the residual stream. Tensors that only matrix products read have a block of their own: a
 * backend can keep it in fewer bytes. */
#include <assert.h>
#include <stdlib.h>

#include "model/reads.h"

/* Hands out parts of a block in order, aligned to cache lines; with base NULL it only counts. */
struct carver {
    float *base;
    size_t used;
};

static float *carve(struct carver *c, size_t n)
{
    float *part = c->base != NULL ? c->base + c->used : NULL;

    c->used += pw_whole_lines(n);
    return part;
}

static float *take(void *arg, size_t n)
{
    return carve(arg, n);
}

/* The two blocks of a worker, and the bytes per entry of the second one. */
struct blocks {
    struct carver acts, operands;
    size_t operand_bytes;
};

static float *operand(struct blocks *b, size_t n)
{
    return carve(&b->operands, (n * b->operand_bytes + sizeof(float) - 1) / sizeof(float));
}

static void carve_layer(struct blocks *b, struct pw_acts *a, const struct pw_model *m, bool train, size_t R,
                        size_t save)
{
    const struct pw_config *cfg = &m->cfg;
    size_t C = (size_t)cfg->width, HD = (size_t)cfg->heads * cfg->head_width, F = (size_t)cfg->ffn;
    struct carver *c = &b->acts;

    a->n1 = operand(b, R * C);
    a->stat1 = carve(c, R * 2);
    a->qkv = carve(c, R * 3 * HD);
    a->raw = pw_rearranges(cfg) ? carve(c, R * (size_t)pw_qkv_rows(cfg)) : NULL;
    a->raw_stat = cfg->qk_norm ? carve(c, R * (size_t)(cfg->heads + pw_config_kv_heads(cfg))) : NULL;
    bool terms = pw_has_terms(m);
    size_t gate = (size_t)pw_gate_columns(m);
    a->gate = gate > 0 ? carve(c, R * gate) : NULL;
    a->terms = terms ? carve(c, R * cfg->heads) : NULL;
    a->slopes = pw_has_slopes(m) ? carve(c, R * 2 * cfg->heads) : NULL;
    size_t wide = 2 * (size_t)cfg->heads * (size_t)pw_wide_width(m);
    a->wide = wide > 0 ? carve(c, R * wide) : NULL;
    a->flat = pw_is_polar(m) && !train ? carve(c, R * 2 * HD) : NULL;
    pw_walks_carve(m, &a->walk, R, take, c);
    a->z = carve(c, R * HD);
    a->save = save > 0 ? carve(c, save) : NULL;
    a->mid = carve(c, R * C);
    a->n2 = operand(b, R * C);
    a->stat2 = carve(c, R * 2);
    a->pre = cfg->gated ? carve(c, R * 2 * F) : cfg->act == 0 ? NULL : carve(c, R * F);
    a->hid = cfg->gated ? carve(c, R * F) : operand(b, R * F); /* gate_fwd writes no operands */
    bool after = pw_config_norm_after(cfg);
    a->post1 = after ? carve(c, R * C) : NULL;
    a->post1_stat = after ? carve(c, R * 2) : NULL;
    a->post2 = after ? carve(c, R * C) : NULL;
    a->post2_stat = after ? carve(c, R * 2) : NULL;
}

static size_t operand_bytes(const struct pw_backend_ops *ops)
{
    return ops->alloc_operands != NULL ? (size_t)ops->operand_bytes : sizeof(float);
}

static struct blocks carve_all(const struct pw_model *m, struct pw_work *w, bool train)
{
    const struct pw_config *cfg = &m->cfg;
    size_t R = (size_t)w->R, N = (size_t)w->N, C = (size_t)cfg->width, V = (size_t)cfg->vocab;
    size_t HD = (size_t)cfg->heads * cfg->head_width;
    struct blocks b = {{.base = w->mem}, {.base = w->operands}, operand_bytes(m->ops)};
    struct carver *c = &b.acts;
    int L = cfg->layers;

    for (int l = 0; l < L; l++) {
        if (train || l == 0)
            carve_layer(&b, &w->acts[l], m, train, R, w->save);
        else
            w->acts[l] = w->acts[0];
    }
    w->embedded = cfg->embed_norm ? carve(c, R * C) : NULL;
    w->embedded_stat = cfg->embed_norm ? carve(c, R * 2) : NULL;
    size_t E = cfg->embed_width > 0 ? (size_t)cfg->embed_width : 0;
    w->token = E > 0 ? carve(c, R * E) : NULL;
    w->reduced = E > 0 ? carve(c, N * E) : NULL;
    for (int l = 0; l <= L; l++)
        w->x[l] = train || l == 0 ? carve(c, R * C) : w->x[0];
    w->picked = carve(c, N * C);
    w->normed = operand(&b, N * C);
    w->stat = carve(c, N * 2);
    w->logits = carve(c, N * V);
    if (train) {
        w->d_logits = carve(c, N * V);
        w->d_token = E > 0 ? carve(c, R * E) : NULL;
        w->d_reduced = E > 0 ? carve(c, N * E) : NULL;
        w->d_normed = carve(c, N * C);
        w->d_picked = carve(c, N * C);
        w->d = carve(c, R * C);
        w->d_norm = carve(c, R * C);
        w->d_z = carve(c, R * HD);
        w->d_qkv = carve(c, R * 3 * HD);
        w->d_hid = cfg->gated ? carve(c, R * cfg->ffn) : operand(&b, R * cfg->ffn);
        w->d_raw = pw_rearranges(cfg) ? carve(c, R * (size_t)pw_qkv_rows(cfg)) : NULL;
        w->d_pre = cfg->gated ? carve(c, R * 2 * cfg->ffn) : NULL;
        w->d_post = pw_config_norm_after(cfg) ? carve(c, R * C) : NULL;
        w->d_n2 = cfg->parallel != PW_PARALLEL_OFF ? carve(c, R * C) : NULL;
        bool terms = pw_has_terms(m);
        w->d_terms = terms ? carve(c, R * cfg->heads) : NULL;
        size_t gate = (size_t)pw_gate_columns(m);
        w->d_gate = gate > 0 ? carve(c, R * gate) : NULL;
        w->d_gated = gate > 0 || pw_walks(m) ? carve(c, R * C) : NULL;
        w->d_slopes = pw_has_slopes(m) ? carve(c, R * 2 * cfg->heads) : NULL;
        size_t wide = 2 * (size_t)cfg->heads * (size_t)pw_wide_width(m);
        w->d_wide = wide > 0 ? carve(c, R * wide) : NULL;
        pw_walks_carve(m, &w->d_walk, R, take, c);
        w->low_x = cfg->adapter > 0 ? carve(c, R * cfg->adapter) : NULL;
        w->low_dy = cfg->adapter > 0 ? carve(c, R * cfg->adapter) : NULL;
    }
    return b;
}

/* Adds a quarter, so that batches of random lengths stop reallocating after a few steps. */
static size_t with_room(size_t n)
{
    return n + n / 4;
}

static size_t acts_bytes(const struct pw_backend_ops *ops, const struct blocks *b)
{
    return b->acts.used * (ops->alloc_acts != NULL ? (size_t)ops->act_bytes : sizeof(float));
}

static size_t all_bytes(const struct pw_backend_ops *ops, const struct blocks *b)
{
    return acts_bytes(ops, b) + b->operands.used * sizeof(float);
}

size_t pw_work_bytes(const struct pw_model *m, bool train, int R, int N, size_t save)
{
    struct pw_acts acts[PW_MAX_LAYERS];
    float *x[PW_MAX_LAYERS + 1];
    struct pw_work w = {.R = R, .N = N, .save = save, .acts = acts, .x = x};

    assert(m->cfg.layers <= PW_MAX_LAYERS);
    struct blocks b = carve_all(m, &w, train);
    return all_bytes(m->ops, &b);
}

static void free_blocks(struct pw_model *m, struct pw_work *w)
{
    m->ops->free(m->be, w->mem);
    m->ops->free(m->be, w->operands);
    w->mem = w->operands = NULL;
}

static bool alloc_blocks(struct pw_model *m, struct pw_work *w, const struct blocks *b)
{
    const struct pw_backend_ops *ops = m->ops;
    size_t bytes = b->operands.used * sizeof(float);

    w->mem = ops->alloc_acts != NULL ? ops->alloc_acts(m->be, b->acts.used)
                                     : ops->alloc(m->be, b->acts.used * sizeof(float));
    w->operands = ops->alloc_operands != NULL ? ops->alloc_operands(m->be, bytes) : ops->alloc(m->be, bytes);
    if (w->mem != NULL && w->operands != NULL)
        return true;
    free_blocks(m, w);
    return false;
}

enum pw_code pw_work_grow(struct pw_model *m, struct pw_work *w, bool train, int R, int N, size_t save,
                          struct pw_err *err)
{
    struct blocks b;

    if (w->acts == NULL)
        w->acts = calloc((size_t)m->cfg.layers, sizeof *w->acts);
    if (w->x == NULL)
        w->x = calloc((size_t)m->cfg.layers + 1, sizeof *w->x);
    if (w->acts == NULL || w->x == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    if (w->mem != NULL && R <= w->R && N <= w->N && save <= w->save)
        return PW_OK;

    w->R = R > w->R ? (int)with_room((size_t)R) : w->R;
    w->N = N > w->N ? (int)with_room((size_t)N) : w->N;
    w->save = save > w->save ? with_room(save) : w->save;
    free_blocks(m, w);
    b = carve_all(m, w, train);
    if (!alloc_blocks(m, w, &b)) {
        w->R = w->N = 0;
        w->save = 0;
        return pw_fail(err, PW_ENOMEM, "out of memory: a worker needs %zu MiB for its part of the batch",
                       all_bytes(m->ops, &b) >> 20);
    }
    carve_all(m, w, train);
    return PW_OK;
}

enum pw_code pw_work_fit(struct pw_model *m, bool train, struct pw_err *err)
{
    const struct pw_batch_plan *plan = train ? &m->step_plan : &m->eval_plan;
    struct pw_work **works = train ? &m->train : &m->eval;
    /* A single chunk runs on the first worker (backend.h, for_chunks). */
    int workers = train || plan->n_chunks > 1 ? m->workers : 1;
    enum pw_code code = PW_OK;

    if (*works == NULL)
        *works = calloc((size_t)m->workers, sizeof **works);
    if (*works == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    for (int i = 0; i < workers && code == PW_OK; i++)
        code = pw_work_grow(m, &(*works)[i], train, plan->max_rows, plan->max_scored, plan->max_save, err);
    return code;
}

void pw_work_free(struct pw_model *m, struct pw_work *w)
{
    free_blocks(m, w);
    free(w->acts);
    free(w->x);
    *w = (struct pw_work){0};
}

void pw_work_fini(struct pw_model *m, struct pw_work **works)
{
    for (int i = 0; *works != NULL && i < m->workers; i++)
        pw_work_free(m, &(*works)[i]);
    free(*works);
    *works = NULL;
}
