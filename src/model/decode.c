/* decode.c - decoding with a cache: the forward pass of forward.c over the new rows only.
 *
 * Where what is added to a row depends on how long the sequence is, its length is what there is so far: every
 * new token changes all rows before it, so nothing that is cached can be used again. */
#include "model/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

struct pw_decoder {
    struct pw_model *m;
    struct pw_cache cache; /* cache.T: rows that are in it */
    struct pw_work work;
    int *tokens;            /* [cap] the sequence so far, on the host */
    int *ids;               /* [cap] the same in the backend's memory */
    int *pos;               /* [cap] cache.pos */
    int *added[PW_PE_ADDS]; /* [cap] cache.added, where that isn't pos */
    int *rows;              /* [cap] one of them on the host */
    int n;
    uint64_t generation; /* of the model when the cache was filled */
};

static enum pw_code init(struct pw_decoder *d, struct pw_err *err)
{
    struct pw_model *m = d->m;
    size_t cap = (size_t)d->cache.cap, floats;

    d->cache.layer = m->ops->attn_cache_floats(m->cfg.heads, m->cfg.head_width, d->cache.cap);
    floats = d->cache.layer * m->cfg.layers;
    d->cache.mem = m->ops->alloc(m->be, floats * sizeof(float));
    d->tokens = malloc(cap * sizeof *d->tokens);
    d->ids = m->ops->alloc(m->be, cap * sizeof *d->ids);
    d->pos = m->ops->alloc(m->be, cap * sizeof *d->pos);
    d->rows = malloc(cap * sizeof *d->rows);
    if (!d->cache.mem || !d->tokens || !d->ids || !d->pos || !d->rows)
        return pw_fail(err, PW_ENOMEM, "out of memory: the keys and values of %d tokens need %zu MiB",
                       d->cache.cap, floats * sizeof(float) >> 20);
    m->ops->upload(m->be, d->pos, m->iota, cap * sizeof *d->pos);
    d->cache.pos = d->pos;
    return m->ops->sync(m->be, err);
}

enum pw_code pw_decoder_create(struct pw_decoder **out, struct pw_model *m, int longest, struct pw_err *err)
{
    struct pw_decoder *d;
    enum pw_code code;

    assert(longest >= 1 && longest <= m->cfg.context);
    *out = NULL;
    d = calloc(1, sizeof *d);
    if (!d)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    d->m = m;
    d->cache.cap = longest;
    code = init(d, err);
    if (code)
        pw_decoder_destroy(d);
    else
        *out = d;
    return code;
}

void pw_decoder_destroy(struct pw_decoder *d)
{
    if (!d)
        return;
    pw_work_free(d->m, &d->work);
    d->m->ops->free(d->m->be, d->cache.mem);
    d->m->ops->free(d->m->be, d->ids);
    d->m->ops->free(d->m->be, d->pos);
    for (int k = 0; k < PW_PE_ADDS; k++)
        d->m->ops->free(d->m->be, d->added[k]);
    free(d->rows);
    free(d->tokens);
    free(d);
}

struct job {
    struct pw_decoder *d;
    int R;
};

static void run(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_decoder *d = job->d;

    (void)i;
    (void)worker;
    pw_forward_cached(d->m, c, &d->work, &d->cache, d->ids + d->cache.T, job->R);
}

/* The rows of the added tables for a sequence of T; another encoding may have come since the last time. */
static enum pw_code set_added(struct pw_decoder *d, int T, struct pw_err *err)
{
    struct pw_model *m = d->m;
    const struct pw_pe *pe = m->pe.pe;

    for (int k = 0; k < PW_PE_ADDS; k++) {
        d->cache.added[k] = d->pos;
        if (pe->by[k] <= PW_PE_BY_POSITION)
            continue;
        if (!d->added[k])
            d->added[k] = m->ops->alloc(m->be, (size_t)d->cache.cap * sizeof *d->added[k]);
        if (!d->added[k])
            return pw_fail(err, PW_ENOMEM, "out of memory");
        for (int pos = 0; pos < T; pos++)
            d->rows[pos] = pw_pe_row(pe->by[k], pos, T);
        m->ops->upload(m->be, d->added[k], d->rows, (size_t)T * sizeof *d->rows);
        d->cache.added[k] = d->added[k];
    }
    return PW_OK;
}

enum pw_code pw_decoder_feed(struct pw_decoder *d, const int *tokens, int n, float *logits,
                             struct pw_err *err)
{
    struct pw_model *m = d->m;
    struct job job = {.d = d};
    int T = d->n + n;
    enum pw_code code;

    assert(n >= 1);
    if (T > d->cache.cap)
        return pw_fail(err, PW_EUSER, "a sequence of %d tokens: this decoder takes %d", T, d->cache.cap);
    for (int i = 0; i < n; i++)
        assert(tokens[i] >= 0 && tokens[i] < m->cfg.vocab);
    if (!m->cfg.causal || pw_pe_uses_length(m->pe.pe) || d->generation != m->generation)
        d->cache.T = 0; /* what is cached is not what this model would keep */
    job.R = T - d->cache.T;
    code = pw_tables_fit(m, T, err);
    if (code == PW_OK)
        code = pw_work_grow(m, &d->work, false, job.R, 1, 0, err);
    if (code == PW_OK)
        code = set_added(d, T, err);
    if (code)
        return code;

    memcpy(d->tokens + d->n, tokens, (size_t)n * sizeof *tokens);
    m->ops->upload(m->be, d->ids + d->cache.T, d->tokens + d->cache.T, (size_t)job.R * sizeof *d->ids);
    pw_model_refresh(m);
    m->ops->for_chunks(m->be, 1, run, &job);
    m->ops->download(m->be, logits, d->work.logits, (size_t)m->cfg.vocab * sizeof *logits);
    code = m->ops->sync(m->be, err);
    if (code)
        return code;
    d->n = d->cache.T = T;
    d->generation = m->generation;
    return PW_OK;
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
