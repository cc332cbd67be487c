/* inspect.c - the forward pass over one sequence with taps that keep its tensors. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/reads.h"

struct job {
    struct pw_model *m;
    struct pw_tap tap;
    struct pw_work *w; /* of the first worker, for the whole pass; its logits are the result */
    int layer;         /* the block to run, or L for the head; -1: all of them */
};

static void run(struct pw_ctx *c, int i, int worker, void *arg)
{
    struct job *job = arg;
    struct pw_model *m = job->m;
    const struct pw_batch_plan *plan = &m->eval_plan;
    const struct pw_chunk *k = &plan->chunks[i];

    if (job->w == NULL)
        job->w = &m->eval[worker];
    if (job->layer < 0)
        pw_forward(m, c, job->w, plan, k, &job->tap);
    else if (job->layer < m->cfg.layers)
        pw_forward_block(m, c, job->w, plan, k, &job->tap, job->layer);
    else
        pw_forward_head(m, c, job->w, plan, k, &job->tap);
}

static size_t patch_floats(const struct pw_model *m, const struct pw_patch *p, int T)
{
    assert(p->from >= 0 && p->from <= p->to && p->to <= T && p->layer >= 0 && p->head < m->cfg.heads &&
           p->layer < m->cfg.layers + (p->head < 0));
    return (size_t)T * (p->head < 0 ? m->cfg.width : m->cfg.head_width);
}

bool pw_model_acts_on_scores(const struct pw_model *m)
{
    return m->tables.cosine != NULL || m->tables.bias != NULL || m->tables.keys != NULL ||
           m->tables.score != NULL || pw_gate_columns(m) > 0 || pw_makes(m) || pw_walks(m) ||
           m->pe.pe->scan == PW_SCAN_CONTEXT || m->pe.pe->uses & PW_PE_VOTES;
}

/* Returns the floats of an array of maps. */
static size_t map_floats(const struct pw_model *m, const struct pw_inspection *out, int T)
{
    return (out->each != NULL ? 1 : (size_t)m->cfg.layers) * m->cfg.heads * T * T;
}

/* Allocates backend memory for the tensors that the caller or the bias needs (on the host, the caller's own
 * arrays if possible), and host memory for derived tensors. */
static enum pw_code set_tap(struct pw_model *m, struct pw_tap *tap, const struct pw_inspection *out, int T,
                            struct pw_err *err)
{
    const struct pw_config *cfg = &m->cfg;
    size_t L = (size_t)cfg->layers, maps = map_floats(m, out, T),
           heads = L * T * cfg->heads * cfg->head_width;
    bool whole_resid = out->resid != NULL && !out->one_row, whole_z = out->z != NULL && !out->one_row,
         whole_mlp = out->mlp != NULL && !out->one_row;
    bool qkv = out->q != NULL || out->k != NULL || out->v != NULL, acts = pw_model_acts_on_scores(m),
         bias = out->bias != NULL && acts;
    size_t walk = (size_t)pw_model_walk_columns(m);
    bool content = out->content != NULL || bias, score = out->score != NULL || bias;
    const struct {
        bool wanted;
        size_t n;
        float **at, *own;
    } parts[] = {
        {content, maps, &tap->content, out->content},
        {score && (acts || !content), maps, &tap->score, out->score},
        {out->probs, maps, &tap->probs, out->probs},
        {whole_resid, (L + 1) * T * cfg->width, &tap->resid, out->resid},
        {qkv, 3 * heads, &tap->qkv, NULL},
        {whole_z, heads, &tap->z, out->z},
        {whole_mlp, L * T * cfg->ffn, &tap->mlp, out->mlp},
        {out->terms != NULL && pw_has_terms(m), L * T * cfg->heads, &tap->terms, out->terms},
        {out->walk != NULL && walk > 0, L * T * walk, &tap->walk, out->walk},
    };
    const int n_parts = sizeof parts / sizeof *parts;
    size_t need = 0, host = qkv ? 3 * heads : 0;
    float *next;

    for (int i = 0; i < out->n_patches; i++)
        need += patch_floats(m, &out->patches[i], T);
    for (int i = 0; i < n_parts; i++)
        need += parts[i].wanted && !(m->ops->host && parts[i].own != NULL) ? parts[i].n : 0;
    if (bias && out->content == NULL && maps > host)
        host = maps;
    if (need > m->tap_cap) {
        m->ops->free(m->be, m->tap);
        m->tap = m->ops->alloc(m->be, need * sizeof(float));
        m->tap_cap = m->tap != NULL ? need : 0;
    }
    if (host > m->tap_host_cap) {
        free(m->tap_host);
        m->tap_host = malloc(host * sizeof(float));
        m->tap_host_cap = m->tap_host != NULL ? host : 0;
    }
    if (m->tap_cap < need || m->tap_host_cap < host)
        return pw_fail(err, PW_ENOMEM, "out of memory: inspecting %d tokens needs %zu MiB", T,
                       need * sizeof(float) >> 20);
    next = m->tap;
    *tap = (struct pw_tap){.one_layer = out->each != NULL,
                           .content_rows = acts,
                           .whole = out->whole,
                           .patches = out->patches,
                           .n_patches = out->n_patches,
                           .sources = next};
    for (int i = 0; i < out->n_patches; i++) {
        size_t n = patch_floats(m, &out->patches[i], T);
        m->ops->upload(m->be, next, out->patches[i].source, n * sizeof *next);
        next += n;
    }
    for (int i = 0; i < n_parts; i++)
        if (parts[i].wanted && m->ops->host && parts[i].own != NULL) {
            *parts[i].at = parts[i].own;
        } else if (parts[i].wanted) {
            *parts[i].at = next;
            next += parts[i].n;
        }
    if (score && tap->score == NULL)
        tap->score = tap->content;
    if (out->reader != NULL)
        tap->rows = (struct pw_maps){.wants = out->reader->wants, .arg = out->reader->arg};
    if (out->one_row)
        tap->row_resid = out->resid, tap->row_z = out->z, tap->row_mlp = out->mlp, tap->row = out->row;
    return PW_OK;
}

static void fetch(struct pw_model *m, float *dst, const float *src, size_t n)
{
    if (dst != NULL && dst != src)
        m->ops->download(m->be, dst, src, n * sizeof *dst);
}

/* bias = score - content for `rows` rows of T keys: -inf if the encoding's mask hides the key. Queries count
 * from 0 and repeat for every head. */
static void subtract(float *bias, const float *score, const float *content, size_t rows, int T, bool causal)
{
    for (size_t r = 0; r < rows; r++, bias += T, score += T, content += T) {
        int seen = causal ? (int)(r % (size_t)T) + 1 : T;
        for (int j = 0; j < seen; j++)
            bias[j] = score[j] - content[j];
        for (int j = seen; j < T; j++) /* -inf - -inf */
            bias[j] = 0;
    }
}

/* Splits each row, which holds q, k and v side by side. */
static enum pw_code fetch_qkv(struct pw_model *m, const struct pw_inspection *out, const struct pw_tap *tap,
                              size_t rows, struct pw_err *err)
{
    size_t HD = (size_t)m->cfg.heads * m->cfg.head_width;
    float *const parts[] = {out->q, out->k, out->v};

    fetch(m, m->tap_host, tap->qkv, rows * 3 * HD);
    enum pw_code code = m->ops->sync(m->be, err);
    for (size_t r = 0; r < rows; r++)
        for (int i = 0; i < 3; i++)
            if (parts[i] != NULL)
                memcpy(parts[i] + r * HD, m->tap_host + (3 * r + i) * HD, HD * sizeof(float));
    return code;
}

/* Fetches the maps and computes the bias; the pass that made them can still run. */
static enum pw_code fetch_maps(struct pw_model *m, const struct pw_inspection *out, const struct pw_tap *tap,
                               int T, struct pw_err *err)
{
    size_t maps = map_floats(m, out, T);
    bool bias = out->bias != NULL && pw_model_acts_on_scores(m);

    fetch(m, out->content, tap->content, maps);
    fetch(m, out->score, tap->score, maps);
    fetch(m, out->probs, tap->probs, maps);
    if (tap->terms != NULL)
        fetch(m, out->terms, tap->terms, (size_t)m->cfg.layers * T * m->cfg.heads);
    if (tap->walk != NULL)
        fetch(m, out->walk, tap->walk, (size_t)m->cfg.layers * T * pw_model_walk_columns(m));
    if (bias && out->score == NULL)
        fetch(m, out->bias, tap->score, maps);
    if (bias && out->content == NULL)
        fetch(m, m->tap_host, tap->content, maps);
    enum pw_code code = m->ops->sync(m->be, err);
    if (out->bias != NULL && !bias)
        memset(out->bias, 0, maps * sizeof *out->bias);
    if (bias)
        subtract(out->bias, out->score != NULL ? out->score : out->bias,
                 out->content != NULL ? out->content : m->tap_host, maps / (size_t)T, T, m->cfg.causal);
    return code;
}

/* Runs the pass, layer by layer if the caller looks at each. */
static enum pw_code run_pass(struct job *job, const struct pw_inspection *out, int T, struct pw_err *err)
{
    struct pw_model *m = job->m;
    const struct pw_map_reader *reader = out->reader;

    if (out->each == NULL && reader == NULL) {
        job->layer = -1;
        m->ops->for_chunks(m->be, 1, run, job);
        return fetch_maps(m, out, &job->tap, T, err);
    }
    for (job->layer = 0; job->layer < m->cfg.layers; job->layer++) {
        if (reader != NULL)
            job->tap.rows.each = reader->begin(reader->arg, job->layer) ? reader->rows : NULL;
        m->ops->for_chunks(m->be, 1, run, job);
        enum pw_code code = fetch_maps(m, out, &job->tap, T, err);
        if (code)
            return code;
        if (reader != NULL ? !reader->end(reader->arg, job->layer) : !out->each(out->arg, job->layer))
            return PW_OK;
    }
    m->ops->for_chunks(m->be, 1, run, job); /* the head */
    return PW_OK;
}

enum pw_code pw_model_inspect(struct pw_model *m, const int *tokens, int T, const struct pw_inspection *out,
                              struct pw_err *err)
{
    size_t rows = (size_t)m->cfg.layers * T;
    struct pw_batch b = {
        .n_seqs = 1, .n_rows = T, .start = (const int[]){0, T}, .tokens = tokens, .pos = m->iota};
    struct job job = {.m = m};
    enum pw_code code;

    assert(T >= 1 && (!out->one_row || (out->row >= 0 && out->row < T)));
    if (!m->ops->host && (out->one_row || out->reader != NULL))
        return pw_inspect_on_device(m, tokens, T, out, err);
    if (T > m->cfg.context)
        return pw_fail(err, PW_EUSER, "a sequence of %d tokens: the model has context=%d", T, m->cfg.context);
    if (out->logits != NULL) { /* every row is scored; the targets do not matter */
        int first = out->one_row ? out->row : out->last_logits ? T - 1 : 0;
        b.n_scored = out->one_row || out->last_logits ? 1 : T;
        b.rows = m->iota + first;
        b.targets = tokens + first;
    }
    m->eval_plan.pads = false;
    code = pw_plan_make(m, &m->eval_plan, &b, 0, NULL, err);
    if (code == PW_OK)
        code = pw_tables_fit(m, m->eval_plan.max_pos + 1, err);
    if (code == PW_OK)
        code = pw_work_fit(m, false, err);
    if (code == PW_OK)
        code = set_tap(m, &job.tap, out, T, err);
    if (code)
        return pw_model_reason(m, code, err);
    pw_stage_upload(m, &m->eval_plan, 0, 1);
    pw_model_refresh(m, m->tables.P);
    code = run_pass(&job, out, T, err);
    if (code)
        return code;

    if (!out->one_row) {
        fetch(m, out->resid, job.tap.resid, (rows + T) * m->cfg.width);
        fetch(m, out->z, job.tap.z, rows * m->cfg.heads * m->cfg.head_width);
        fetch(m, out->mlp, job.tap.mlp, rows * m->cfg.ffn);
    }
    fetch(m, out->logits, job.w->logits, (size_t)b.n_scored * m->cfg.vocab);
    code = m->ops->sync(m->be, err);
    if (code == PW_OK && job.tap.qkv != NULL)
        code = fetch_qkv(m, out, &job.tap, rows, err);
    return code;
}
