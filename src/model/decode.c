/* decode.c - decoding with a cache: the forward pass of forward.c over the new rows only.
 *
 * For an encoding that depends on the sequence length, the length is the current one. Every new token then
 * changes all earlier rows that are added to embeddings, so no cached key can be reused. A rotation by length
 * keeps its keys while the lengths have the same rows (rows_by_length). */
#include "model/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "model/reads.h"

enum { LOST_MOST = 4096 }; /* MiB of the sums of votes */

struct pw_decoder {
    struct pw_model *m;
    struct pw_cache cache; /* cache.T: cached rows */
    struct pw_work work;
    int *tokens;            /* [cap] the sequence so far, on the host */
    int *ids;               /* [cap] the same on the backend */
    int *order;             /* [cap] cache.order */
    int *pos;               /* [cap] cache.pos; order, unless the encoding makes ids */
    int *made;              /* [2,cap] the ids of the cached rows, and of all; NULL: they are the order */
    int *added[PW_PE_ADDS]; /* [cap] cache.added, if it is not pos */
    int *rows;              /* [cap] scratch for one of them, on the host */
    int n;
    uint64_t generation; /* the model's generation when the cache was filled */
};

static size_t cache_bytes(const struct pw_decoder *d)
{
    return d->cache.layer * (size_t)d->m->cfg.layers * sizeof(float);
}

static float *alloc_cache(struct pw_decoder *d)
{
    const struct pw_backend_ops *ops = d->m->ops;

    return ops->host ? pw_block_take(cache_bytes(d)) : ops->alloc(d->m->be, cache_bytes(d));
}

static void free_cache(struct pw_decoder *d)
{
    if (d->m->ops->host)
        pw_block_free(d->cache.mem, cache_bytes(d));
    else
        d->m->ops->free(d->m->be, d->cache.mem);
}

static enum pw_code init(struct pw_decoder *d, struct pw_err *err)
{
    struct pw_model *m = d->m;
    size_t cap = (size_t)d->cache.cap;
    int width = pw_wide_width(m);

    d->cache.layer =
        m->ops->attn_cache_floats(m->cfg.heads, width > 0 ? width : m->cfg.head_width, d->cache.cap);
    d->cache.mem = alloc_cache(d);
    d->tokens = malloc(cap * sizeof *d->tokens);
    d->ids = m->ops->alloc(m->be, cap * sizeof *d->ids);
    d->order = m->ops->alloc(m->be, cap * sizeof *d->order);
    d->rows = malloc(cap * sizeof *d->rows);
    size_t per_head = (size_t)m->cfg.layers * cap * m->cfg.heads * sizeof(float);
    if (pw_has_terms(m) && (d->cache.terms = m->ops->alloc(m->be, per_head)) == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the terms of %d tokens", d->cache.cap);
    if (pw_has_slopes(m) && (d->cache.slopes = m->ops->alloc(m->be, 2 * per_head)) == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the slopes of %d tokens", d->cache.cap);
    size_t walk = (size_t)m->cfg.layers * cap * pw_walk_row(m) * sizeof(float);
    if (walk > 0 && (d->cache.walk = m->ops->alloc(m->be, walk)) == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the walks of %d tokens", d->cache.cap);
    if (d->cache.mem == NULL || d->tokens == NULL || d->ids == NULL || d->order == NULL || d->rows == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: the keys and values of %d tokens need %zu MiB",
                       d->cache.cap, cache_bytes(d) >> 20);
    m->ops->upload(m->be, d->order, m->iota, cap * sizeof *d->order);
    d->cache.order = d->cache.pos = d->order;
    return m->ops->sync(m->be, err);
}

enum pw_code pw_decoder_create(struct pw_decoder **out, struct pw_model *m, int longest, struct pw_err *err)
{
    struct pw_decoder *d;
    enum pw_code code;

    assert(longest >= 1 && longest <= m->cfg.context);
    *out = NULL;
    d = calloc(1, sizeof *d);
    if (d == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    d->m = m;
    d->cache.cap = longest;
    code = pw_model_reason(m, init(d, err), err);
    if (code)
        pw_decoder_destroy(d);
    else
        *out = d;
    return code;
}

void pw_decoder_destroy(struct pw_decoder *d)
{
    if (d == NULL)
        return;
    pw_work_free(d->m, &d->work);
    free_cache(d);
    d->m->ops->free(d->m->be, d->cache.terms);
    d->m->ops->free(d->m->be, d->cache.slopes);
    d->m->ops->free(d->m->be, d->cache.lost);
    d->m->ops->free(d->m->be, d->cache.walk);
    d->m->ops->free(d->m->be, d->ids);
    d->m->ops->free(d->m->be, d->order);
    d->m->ops->free(d->m->be, d->pos);
    for (int k = 0; k < PW_PE_ADDS; k++)
        d->m->ops->free(d->m->be, d->added[k]);
    free(d->rows);
    free(d->made);
    free(d->tokens);
    free(d);
}

struct job {
    struct pw_decoder *const *d;
    const int *R; /* [n_d] rows to run */
};

static void run(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_decoder *d = job->d[i];

    (void)worker;
    pw_forward_cached(d->m, c, &d->work, &d->cache, d->ids + d->cache.T, job->R[i]);
}

/* Sets the rows of the added tables for a sequence of T tokens; the encoding can have
 * changed since the last call. */
static enum pw_code set_added(struct pw_decoder *d, int T, struct pw_err *err)
{
    struct pw_model *m = d->m;
    const struct pw_pe *pe = m->pe.pe;

    for (int k = 0; k < PW_PE_ADDS; k++) {
        d->cache.added[k] = pe->rows_by_length != NULL ? d->order : d->cache.pos;
        if (pe->by[k] <= PW_PE_BY_POSITION)
            continue;
        if (d->added[k] == NULL)
            d->added[k] = m->ops->alloc(m->be, (size_t)d->cache.cap * sizeof *d->added[k]);
        if (d->added[k] == NULL)
            return pw_fail(err, PW_ENOMEM, "out of memory");
        for (int pos = 0; pos < T; pos++)
            d->rows[pos] = pw_pe_row(pe->by[k], pos, T);
        m->ops->upload(m->be, d->added[k], d->rows, (size_t)T * sizeof *d->rows);
        d->cache.added[k] = d->added[k];
    }
    return PW_OK;
}

/* Sets the position ids of T tokens, and *P to a bound above them; the encoding can have changed since the
 * last call. A token can change the ids of earlier ones: one that is appended to a prompt. The cache keeps
 * the rows before the first change. */
static enum pw_code set_ids(struct pw_decoder *d, int T, int *P, struct pw_err *err)
{
    struct pw_model *m = d->m;
    size_t cap = (size_t)d->cache.cap;

    *P = T;
    d->cache.pos = d->order;
    if (m->pe.pe->ids == NULL && m->first == NULL)
        return PW_OK;
    if (d->pos == NULL)
        d->pos = m->ops->alloc(m->be, cap * sizeof *d->pos);
    if (d->made == NULL)
        d->made = calloc(2 * cap, sizeof *d->made);
    if (d->pos == NULL || d->made == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    int *was = d->made, *now = d->made + cap, same = 0;
    if (m->first != NULL)
        pw_ids_by_length(m, T, now);
    else
        pw_model_ids(m, d->tokens, T, now);
    while (same < d->cache.T && was[same] == now[same])
        same++;
    d->cache.T = same;
    *P = m->first != NULL ? T : pw_ids_bound(now, T, T);
    memcpy(was, now, (size_t)T * sizeof *was);
    m->ops->upload(m->be, d->pos, now, (size_t)T * sizeof *now);
    d->cache.pos = d->pos;
    return PW_OK;
}

/* Makes room for the sums of votes of T rows (struct pw_scan), and keeps those that are cached. Their number
 * grows with the square of the length, so memory is taken for the sequence and not for the context. */
static enum pw_code grow_lost(struct pw_decoder *d, int T, struct pw_err *err)
{
    struct pw_model *m = d->m;
    struct pw_cache *c = &d->cache;
    size_t layers = (size_t)m->cfg.layers, old = pw_lost_at(c->lost_rows);

    if (!(m->pe.pe->uses & PW_PE_VOTES) || T <= c->lost_rows)
        return PW_OK;
    int rows = T + T / 4 + 16 < c->cap ? T + T / 4 + 16 : c->cap;
    size_t floats = pw_lost_at(rows), mib = layers * floats * sizeof(float) >> 20;
    if (mib > LOST_MOST)
        return pw_fail(err, PW_EUSER, "%s: %d tokens: the sums of votes need %zu MiB: at most %d MiB",
                       m->pe.pe->name, T, mib, LOST_MOST);
    float *lost = m->ops->alloc(m->be, layers * floats * sizeof *lost);
    if (lost == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: the sums of votes of %d tokens need %zu MiB", T, mib);
    void (*copy)(struct pw_backend *, void *, const void *, size_t) =
        m->ops->copy != NULL ? m->ops->copy : m->ops->upload;
    for (size_t l = 0; l < layers && c->lost != NULL; l++)
        copy(m->be, lost + l * floats, c->lost + l * old, pw_lost_at(c->T) * sizeof *lost);
    m->ops->free(m->be, c->lost);
    c->lost = lost;
    c->lost_rows = rows;
    return PW_OK;
}

/* Writes n more tokens behind the sequence, makes room for their rows, and sets *R to the rows to run. Clears
 * the cache if the model cannot use it. */
static enum pw_code make_room(struct pw_decoder *d, int *R, const int *tokens, int n, struct pw_err *err)
{
    int T = d->n + n, P;

    assert(n >= 1);
    if (T > d->cache.cap)
        return pw_fail(err, PW_EUSER, "the sequence has %d tokens; this decoder reads at most %d", T,
                       d->cache.cap);
    for (int i = 0; i < n; i++)
        assert(tokens[i] >= 0 && tokens[i] < d->m->cfg.vocab);
    memcpy(d->tokens + d->n, tokens, (size_t)n * sizeof *tokens);
    if (!d->m->cfg.causal || pw_pe_adds_by_length(d->m->pe.pe) || d->generation != d->m->generation)
        d->cache.T = 0;
    enum pw_code code = set_ids(d, T, &P, err);
    *R = T - d->cache.T;
    if (code == PW_OK)
        code = grow_lost(d, T, err);
    if (code == PW_OK)
        code = pw_tables_fit(d->m, P, err);
    if (code == PW_OK)
        code = pw_work_grow(d->m, &d->work, false, *R, 1, 0, err);
    return code == PW_OK ? set_added(d, T, err) : code;
}

enum pw_code pw_decoder_feed_all(struct pw_decoder *const *d, int n_d, const int *const *tokens, const int *n,
                                 float *logits, struct pw_err *err)
{
    struct pw_model *m = d[0]->m;
    int R[PW_MAX_DECODERS], V = m->cfg.vocab;

    assert(n_d >= 1 && n_d <= PW_MAX_DECODERS);
    for (int i = 0; i < n_d; i++) {
        enum pw_code code = make_room(d[i], &R[i], tokens[i], n[i], err);
        if (code)
            return code;
    }
    for (int i = 0; i < n_d; i++)
        m->ops->upload(m->be, d[i]->ids + d[i]->cache.T, d[i]->tokens + d[i]->cache.T,
                       (size_t)R[i] * sizeof *d[i]->ids);
    pw_model_refresh(m, m->tables.P);
    m->ops->for_chunks(m->be, n_d, run, &(struct job){d, R});
    for (int i = 0; i < n_d; i++)
        m->ops->download(m->be, logits + (size_t)i * V, d[i]->work.logits, (size_t)V * sizeof *logits);
    enum pw_code code = m->ops->sync(m->be, err);
    for (int i = 0; i < n_d && !code; i++) {
        d[i]->n = d[i]->cache.T = d[i]->n + n[i];
        d[i]->generation = m->generation;
    }
    return code;
}

enum pw_code pw_decoder_feed(struct pw_decoder *d, const int *tokens, int n, float *logits,
                             struct pw_err *err)
{
    return pw_decoder_feed_all(&d, 1, &tokens, &n, logits, err);
}

int pw_decoder_length(const struct pw_decoder *d)
{
    return d->n;
}

void pw_decoder_rewind(struct pw_decoder *d, int n)
{
    assert(n >= 0 && n <= d->n);
    d->n = n;
    d->cache.T = n < d->cache.T ? n : d->cache.T;
}
