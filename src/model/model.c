/* model.c - lifetime of a model: its buffers on the backend, initial values, reading, digests. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mix.h"
#include "base/progress.h"
#include "model/model_int.h"
#include "model/theorem.h"

/* Initial values are drawn in pieces by all workers: one worker needs seconds for 85 M normal numbers. */
enum { PIECE = 1 << 16 };

struct drawing {
    struct pw_model *m;
    float *to; /* [size] on the host */
    int first; /* index of the first tensor */
    uint64_t seed;
};

static int pieces(const struct pw_param *p)
{
    return (int)((pw_param_count(p) + PIECE - 1) / PIECE);
}

static void draw_piece(struct pw_ctx *c, int piece, int worker, void *arg)
{
    const struct drawing *d = arg;
    const struct pw_param *p = d->m->lay.params + d->first;
    size_t at, left;

    (void)c;
    (void)worker;
    for (; piece >= pieces(p); p++)
        piece -= pieces(p);
    at = (size_t)piece * PIECE;
    left = pw_param_count(p) - at;
    pw_param_init(p, d->to + p->offset + at, d->seed, at, left < PIECE ? left : PIECE);
}

void pw_model_draw(struct pw_model *m, int first, uint64_t seed)
{
    struct drawing d = {m, m->ops->host ? m->p : m->host, first, seed};
    size_t begin = first < m->lay.n ? m->lay.params[first].offset : m->lay.size;
    int n = 0;

    for (int i = first; i < m->lay.n; i++)
        n += pieces(&m->lay.params[i]);
    m->ops->for_chunks(m->be, n, draw_piece, &d);
    if (first == 0 && pw_theorem_of(&m->cfg) > 0)
        pw_theorem_write(d.to, m->lay.params, m->lay.n, &m->cfg);
    if (begin < m->lay.size && !m->ops->host)
        m->ops->upload(m->be, m->p + begin, d.to + begin, (m->lay.size - begin) * sizeof(float));
}

/* Does this table have the operations of all uses of an encoding? */
static bool computes(const struct pw_backend_ops *ops, const struct pw_pe *pe)
{
    unsigned uses = pe->uses;

    return ((uses & PW_PE_SLOPES) == 0 || ops->slopes_fwd != NULL) &&
           ((uses & PW_PE_MIXES) == 0 || ops->mixes) && ((uses & PW_PE_SCAN) == 0 || ops->scans) &&
           ((uses & PW_PE_VOTES) == 0 || ops->selects) &&
           ((uses & PW_PE_POLAR) == 0 || ops->polar_fwd != NULL) &&
           ((uses & PW_PE_PLANES) == 0 || ops->planes_fwd != NULL) &&
           ((uses & PW_PE_WALK) == 0 || ops->walk_fwd != NULL);
}

static enum pw_code init(struct pw_model *m, bool packed, struct pw_err *err)
{
    enum pw_code code = pw_config_check(&m->cfg, err);

    if (code == PW_OK && m->ops->widest_head > 0 && m->cfg.head_width > m->ops->widest_head)
        return pw_fail(err, PW_EUSER, "head_width=%d: %s allows 1..%d, the cpu any", m->cfg.head_width,
                       m->ops->name, m->ops->widest_head);
    if (code == PW_OK && !computes(m->ops, m->pe.pe))
        return pw_fail(err, PW_EUSER, "%s: backend %s can't compute it; use 'backend cpu'", m->pe.pe->name,
                       m->ops->name);
    if (code == PW_OK)
        code = pw_pe_check(&m->pe, &m->cfg, err);
    if (code == PW_OK)
        code = pw_layout_init(&m->lay, &m->cfg, &m->pe, err);
    if (code == PW_OK)
        m->workers = m->ops->workers(m->be);
    if (code == PW_OK)
        code = pw_memory_init(m, packed && m->cfg.adapter == 0 && pw_model_one_copy(m->ops), err);
    if (code)
        return code;
    pw_ids_form(m);
    m->iota = malloc((size_t)m->cfg.context * sizeof *m->iota);
    m->sums = m->ops->alloc(m->be, 2 * sizeof *m->sums);
    m->spoilt = m->ops->alloc(m->be, sizeof *m->spoilt);
    if (m->iota == NULL || m->sums == NULL || m->spoilt == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    for (int i = 0; i < m->cfg.context; i++)
        m->iota[i] = i;
    pw_model_formed(m);
    pw_model_changed(m);
    m->stale = PW_STALE_ALL;
    return PW_OK;
}

enum pw_code pw_model_reason(struct pw_model *m, enum pw_code code, struct pw_err *err)
{
    struct pw_err why;

    if (code != PW_ENOMEM || m->ops->host || m->n_flights > 0 || m->ops->sync(m->be, &why) == PW_OK)
        return code;
    return pw_fail(err, why.code, "%s", why.msg);
}

enum pw_code pw_model_make(struct pw_model **out, const struct pw_backend_ops *ops, struct pw_backend *be,
                           const struct pw_config *cfg, const struct pw_pe_use_opts *pe, bool packed,
                           struct pw_err *err)
{
    struct pw_model *m = calloc(1, sizeof *m);
    enum pw_code code;

    assert(ops->abi == PW_BACKEND_ABI && cfg->vocab >= 1);
    *out = NULL;
    if (m == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    m->ops = ops;
    m->be = be;
    if (!ops->host) { /* a stream per model: models run independently */
        code = ops->open(&m->own, ops->unit(be), err);
        m->be = m->own;
        if (code) {
            free(m);
            return code;
        }
    }
    m->cfg = *cfg;
    m->pe = *pe;
    code = pw_model_reason(m, init(m, packed, err), err);
    if (code)
        pw_model_destroy(m);
    else
        *out = m;
    return code;
}

enum pw_code pw_model_create_blank(struct pw_model **out, const struct pw_backend_ops *ops,
                                   struct pw_backend *be, const struct pw_config *cfg,
                                   const struct pw_pe_use_opts *pe, uint64_t seed, struct pw_err *err)
{
    enum pw_code code = pw_model_make(out, ops, be, cfg, pe, false, err);

    if (code == PW_OK)
        (*out)->seed = seed;
    return code;
}

enum pw_code pw_model_create(struct pw_model **out, const struct pw_backend_ops *ops, struct pw_backend *be,
                             const struct pw_config *cfg, const struct pw_pe_use_opts *pe, uint64_t seed,
                             struct pw_err *err)
{
    enum pw_code code = pw_model_create_blank(out, ops, be, cfg, pe, seed, err);

    if (code)
        return code;
    pw_model_draw(*out, 0, seed);
    code = ops->sync((*out)->be, err);
    if (code) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    return code;
}

/* Uploads the values of the tensors, by way of `room`, which fits the largest. */
static enum pw_code upload_all(struct pw_model *m, int tensors, pw_model_fill *fill, void *arg, float *room,
                               struct pw_err *err)
{
    for (int i = 0; i < tensors; i++) {
        const struct pw_param *p = &m->lay.params[i];
        bool filled = false;
        enum pw_code code = fill(arg, p, room, &filled, err);
        if (code != PW_OK)
            return code;
        if (!filled)
            pw_param_init(p, room, m->seed, 0, pw_param_count(p));
        m->ops->upload(m->be, m->p + p->offset, room, pw_param_count(p) * sizeof *room);
        code = m->ops->sync(m->be, err); /* room is written again */
        if (code == PW_OK)
            code = pw_progress_add(pw_param_count(p) * sizeof *room, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

enum pw_code pw_model_fill_all(struct pw_model *m, int tensors, pw_model_fill *fill, void *arg,
                               struct pw_err *err)
{
    size_t most = 0;
    enum pw_code code;

    if (m->packed)
        return pw_packed_fill(m, tensors, fill, arg, err);
    for (int i = 0; i < tensors; i++)
        if (pw_param_count(&m->lay.params[i]) > most)
            most = pw_param_count(&m->lay.params[i]);
    float *room = malloc((most + 1) * sizeof *room);
    if (room != NULL)
        code = upload_all(m, tensors, fill, arg, room, err);
    else
        code = pw_fail(err, PW_ENOMEM, "out of memory for a tensor of %zu MiB", most * sizeof *room >> 20);
    free(room);
    return code;
}

enum pw_code pw_model_create_from(struct pw_model **out, const struct pw_backend_ops *ops,
                                  struct pw_backend *be, const struct pw_config *cfg,
                                  const struct pw_pe_use_opts *pe, uint64_t seed, pw_model_fill *fill,
                                  void *arg, struct pw_err *err)
{
    enum pw_code code = pw_model_make(out, ops, be, cfg, pe, true, err);

    if (code)
        return code;
    (*out)->seed = seed;
    pw_progress_begin("loading the weights", (*out)->lay.size * sizeof(float));
    code = pw_model_fill_all(*out, (*out)->lay.n, fill, arg, err);
    pw_progress_end();
    if (code) {
        pw_model_destroy(*out);
        *out = NULL;
    }
    return code;
}

enum pw_code pw_model_list(struct pw_param **list, int *n, const struct pw_config *cfg,
                           const struct pw_pe_use_opts *pe, struct pw_err *err)
{
    struct pw_param_layout lay;
    enum pw_code code = pw_layout_init(&lay, cfg, pe, err);

    *list = NULL;
    *n = 0;
    if (code)
        return code;
    *list = lay.params;
    *n = lay.n;
    lay.params = NULL;
    pw_layout_fini(&lay);
    return PW_OK;
}

void pw_model_set_origin(struct pw_model *m, const char *text)
{
    char *copy = text != NULL ? pw_text_dup(text) : NULL;
    free(m->origin);
    m->origin = copy;
}

const char *pw_model_origin(const struct pw_model *m)
{
    return m->origin;
}

void pw_model_destroy(struct pw_model *m)
{
    if (m == NULL)
        return;
    pw_tables_fini(m);
    pw_replaced_fini(m);
    pw_work_fini(m, &m->train);
    pw_work_fini(m, &m->eval);
    pw_plan_fini(m, &m->step_plan);
    pw_plan_fini(m, &m->eval_plan);
    pw_flights_fini(m);
    pw_memory_fini(m);
    m->ops->free(m->be, m->slots);
    m->ops->free(m->be, m->tap);
    m->ops->free(m->be, m->sums);
    m->ops->free(m->be, m->spoilt);
    if (m->own != NULL)
        m->ops->close(m->own);
    free(m->tap_host);
    free(m->origin);
    free(m->iota);
    pw_ids_fini(m);
    pw_source_free(m->source);
    free(m);
}

enum pw_code pw_model_may_tune(const struct pw_model *m, const struct pw_pe_use_opts *pe, struct pw_err *err)
{
    struct pw_param_layout lay = {0};
    assert(pw_pe_alike(pe->pe, m->pe.pe));
    if (pe->pe->uses != m->pe.pe->uses)
        return pw_fail(err, PW_EUSER, "%s: this changes which tables it has; 'pe %s ...' swaps it",
                       pe->pe->name, pe->pe->name);
    enum pw_code code = pw_layout_init(&lay, &m->cfg, pe, err);
    if (code == PW_OK && lay.size != m->lay.size)
        code = pw_fail(err, PW_EUSER, "%s: this changes the number of parameters; 'pe %s ...' draws new ones",
                       pe->pe->name, pe->pe->name);
    pw_layout_fini(&lay);
    return code;
}

void pw_model_tune(struct pw_model *m, const struct pw_pe_use_opts *pe)
{
    assert(m->n_flights == 0 && pw_pe_alike(pe->pe, m->pe.pe));
    pw_model_abandon(m);
    pw_tables_fini(m);
    pw_work_fini(m, &m->train);
    pw_work_fini(m, &m->eval);
    m->pe = *pe;
    pw_ids_form(m);
    m->stale = PW_STALE_ALL;
    pw_model_changed(m);
}

void pw_model_name(struct pw_model *m, const struct pw_pe_use_opts *pe)
{
    assert(pw_pe_alike(pe->pe, m->pe.pe));
    m->pe = *pe;
}

const struct pw_config *pw_model_config(const struct pw_model *m)
{
    return &m->cfg;
}

const struct pw_pe_use_opts *pw_model_pe(const struct pw_model *m)
{
    return &m->pe;
}

const struct pw_param *pw_model_params(const struct pw_model *m, int *n)
{
    *n = m->lay.n;
    return m->lay.params;
}

const struct pw_param *pw_model_pe_params(const struct pw_model *m, int *n)
{
    *n = m->lay.n - m->lay.n_core;
    return m->lay.params + m->lay.n_core;
}

size_t pw_model_size(const struct pw_model *m)
{
    return m->lay.size;
}

int pw_model_largest(const struct pw_model *m)
{
    return m->largest;
}

int64_t pw_model_step_count(const struct pw_model *m)
{
    return m->steps;
}

void pw_model_changed(struct pw_model *m)
{
    /* Shared by all models, because the memory of a destroyed model can be reused. */
    static _Atomic uint64_t last;
    m->generation = ++last;
}

void pw_model_formed(struct pw_model *m)
{
    static _Atomic uint64_t last;
    m->form = ++last;
}

uint64_t pw_model_generation(const struct pw_model *m)
{
    return m->generation;
}

void pw_model_get(struct pw_model *m, float *params, float *adam_m, float *adam_v)
{
    if (params != NULL && m->packed)
        pw_packed_read(m, params, 0, m->lay.size);
    else if (params != NULL)
        m->ops->download(m->be, params, m->p, m->lay.size * sizeof *params);
    if (adam_m != NULL)
        pw_moments_get(m, adam_m, m->m);
    if (adam_v != NULL)
        pw_moments_get(m, adam_v, m->v);
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
}

void pw_model_read(struct pw_model *m, float *out, size_t offset, size_t n)
{
    if (m->packed) {
        pw_packed_read(m, out, offset, n);
        return;
    }
    m->ops->download(m->be, out, m->p + offset, n * sizeof *out);
    m->ops->sync(m->be, NULL);
}

void pw_model_put(struct pw_model *m, const float *params, const float *adam_m, const float *adam_v)
{
    assert(m->n_flights == 0);
    if (params != NULL) {
        pw_model_set_source(m, NULL);
        pw_model_unpack(m, false);
        m->ops->upload(m->be, m->p, params, m->lay.size * sizeof *params);
    }
    if (adam_m != NULL)
        pw_moments_put(m, m->m, adam_m);
    if (adam_v != NULL)
        pw_moments_put(m, m->v, adam_v);
    pw_model_abandon(m);
    m->stale = PW_STALE_ALL;
    pw_model_changed(m);
}

bool pw_model_choice(const struct pw_model *m, int i, char *line, size_t size)
{
    return m->ops->choice != NULL && m->ops->choice(m->be, i, line, size);
}

int pw_model_choices(const struct pw_model *m, uint64_t *digest)
{
    char line[256];
    int n = 0;

    for (*digest = 0; pw_model_choice(m, n, line, sizeof line); n++) {
        uint64_t h = 0;
        for (const char *p = line; *p; p++)
            h = pw_mix64(h ^ (unsigned char)*p);
        *digest += h;
    }
    return n;
}

/* Adds a tensor, whose first float is number `first` of all. */
static void digest_tensor(struct pw_model *m, const struct pw_param *p, uint64_t first)
{
    enum { PART = 8192 };
    size_t n = pw_param_count(p);
    float part[PART];

    if (!m->packed) {
        m->ops->digest(m->be, m->sums, m->p + p->offset, n, first);
        return;
    }
    for (size_t i = 0; i < n; i += PART) {
        size_t some = n - i < PART ? n - i : PART;
        pw_packed_read(m, part, p->offset + i, some);
        m->ops->digest(m->be, m->sums, part, some, first + i);
    }
}

/* Tensors in name order, one after the other. */
void pw_model_digest(struct pw_model *m, uint64_t out[2])
{
    static const uint64_t none[2] = {0, 0};
    int *order = pw_param_order(m->lay.params, m->lay.n);
    uint64_t first = 0;

    m->ops->upload(m->be, m->sums, none, sizeof none);
    for (int k = 0; k < m->lay.n; k++) {
        const struct pw_param *p = &m->lay.params[order[k]];
        digest_tensor(m, p, first);
        first += pw_param_count(p);
    }
    m->ops->download(m->be, out, m->sums, sizeof none);
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
    free(order);
}
