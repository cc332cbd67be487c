/* forward.c - the Transformer's forward pass, written once for a chunk of ragged sequences:
 *
 *     x0 = E[token] (+ table[position], and the other additions of pe.h)
 *     mid = x + Wo attention(Wqkv norm1(x))    with the encoding's rotation, bias or relative keys
 *     x'  = mid + Wdown act(Wup norm2(mid))
 *     logits = Whead (logit_scale * norm(x_L))      only at scored rows
 *
 * norm_at=ff omits norm1 (Kazemnejad et al. 2023, Eq. 3). The norm before the head stays, since it belongs to
 * no block. norm_at=after (Vaswani et al. 2017) norms the sums instead, and has no norm before the head:
 *
 *     mid = norm1(x + Wo attention(Wqkv x)), x' = norm2(mid + Wdown act(Wup mid))
 *
 * The options of published families (config.h) change parts of it. E can have a factor, and x0 a norm. Rows
 * of E and of Whead can have another width than x (embed_width): a matrix projects E[token] to x's width
 * before other rows are added, and another one projects the normed x_L to that of Whead. Heads of q and k can
 * be normed, and query heads can share k and v. The outputs of attention and MLP can have norms of their own,
 * and the MLP a gate. In a parallel block both read x, and mid is only the first of two sums. The head can
 * have a bias, and the logits a cap.
 *
 * Training has dropout in the places of T5 (Raffel et al. 2020): on x0, the attention's probabilities and
 * output, the MLP's hidden layer and output, and the state before the head.
 *
 * Replaced heads (ablate.c) act between attention and Wo. Patches of an inspection follow, also between
 * attention and Wo, and act on the stream before each block. */
#include <math.h>
#include <string.h>

#include "model/reads.h"

float pw_norm_eps(const struct pw_config *cfg)
{
    return cfg->norm_eps > 0 ? cfg->norm_eps : cfg->norm == PW_NORM_LAYER ? 1e-5f : 1e-6f;
}

void pw_model_refresh(struct pw_model *m, int positions)
{
    pw_tables_lay(m, positions);
    int first = m->cfg.adapter > 0 ? m->cfg.layers * PW_MATS : 0;
    if (m->stale & (PW_STALE_MERGED | PW_STALE_PACKS))
        pw_adapters_merge(m);
    if (m->stale & PW_STALE_PACKS && !m->packed)
        m->ops->prepare(m->be, m->mats + first, pw_mats(&m->cfg) - first);
    if (m->stale & PW_STALE_TABLES) {
        pw_tables_compute(m);
        pw_gates_prepare(m);
        pw_walks_prepare(m);
    }
    m->stale = 0;
}

enum pw_act pw_model_act(const struct pw_model *m)
{
    return (enum pw_act)(m->cfg.act + 1); /* the option has no value "none" */
}

const struct pw_dropout *pw_model_drop(const struct pw_model *m, struct pw_dropout *d, int layer, int site,
                                       int row0)
{
    if (m->cfg.dropout == 0)
        return NULL;
    *d = (struct pw_dropout){.key = (const uint32_t *)(m->step_plan.dev + m->step_plan.key),
                             .site = (uint32_t)(layer * 8 + site),
                             .row = row0,
                             .rate = m->cfg.dropout};
    return d;
}

/* Returns layer l of a tapped tensor [L,H,T,T] or [H,T,T]; NULL if it is not wanted. */
static float *tapped(float *tensor, const struct pw_tap *tap, const struct pw_model *m, int l, int T)
{
    return tensor == NULL || tap->one_layer ? tensor : tensor + (size_t)l * m->cfg.heads * T * T;
}

/* The rows of a pass, all on the backend. */
struct rows {
    const int *ids, *pos;         /* [R] */
    const int *order;             /* [R] place of the row in its sequence */
    const int *added[PW_PE_ADDS]; /* [R] rows of the encoding's added tables */
    int R, first;                 /* first: index of the first row in the batch */
    bool train;                   /* dropout acts only in training */
    struct pw_seqs seqs;          /* without cache */
    const struct pw_tap *tap;     /* NULL: no inspection */
    const struct pw_cache *cache; /* decoding only */
};

static const struct pw_dropout *drop(const struct pw_model *m, struct pw_dropout *d, int layer, int site,
                                     const struct rows *r)
{
    return r->train ? pw_model_drop(m, d, layer, site, r->first) : NULL;
}

/* Applies the patches to the stream before block l (x [R,C]) or to the heads of block l (x [R,HD]). */
static void patch(const struct pw_model *m, struct pw_ctx *c, float *x, int l, bool heads,
                  const struct rows *r)
{
    const struct pw_tap *tap = r->tap;
    const float *source = tap != NULL ? tap->sources : NULL;
    int H = heads ? m->cfg.heads : 1, D = heads ? m->cfg.head_width : m->cfg.width;

    for (int i = 0; tap != NULL && i < tap->n_patches; i++) {
        const struct pw_patch *p = &tap->patches[i];
        if (p->layer == l && (p->head >= 0) == heads)
            m->ops->put_head(c, x + (size_t)p->from * H * D, source, r->order + p->from, heads ? p->head : 0,
                             H, D, p->to - p->from);
        source += (size_t)r->R * (p->head >= 0 ? m->cfg.head_width : m->cfg.width);
    }
}

/* Copies the inspected row of x [R,n], of layer l, to rows [.,n]. */
static void keep_row(const struct pw_model *m, struct pw_ctx *c, float *rows, const float *x, int l, int n,
                     const struct rows *r)
{
    if (rows != NULL)
        m->ops->gather_rows(c, rows + (size_t)l * n, x, r->order + r->tap->row, 1, n);
}

/* Sets the outputs of attention that the tap asks for. plain becomes the attention without the encoding, and
 * scaled its gain; both must live as long as maps. content: what plain has of q and k, or NULL. */
static void tap_maps(const struct pw_model *m, struct pw_ctx *c, struct pw_maps *maps, struct pw_attn *plain,
                     struct pw_turn *scaled, const struct pw_attn *attn, const struct pw_made *content,
                     const float *qkv, int l, const struct rows *r)
{
    const struct pw_tap *tap = r->tap;

    *plain = *attn;
    *scaled = (struct pw_turn){.gain = attn->turn != NULL ? attn->turn->gain : NULL};
    plain->bias = plain->keys = NULL;
    plain->score = NULL;
    plain->terms = NULL;
    plain->mix = NULL;
    plain->walk = NULL;
    plain->made = content;
    plain->scan = (struct pw_scan){.kind = PW_SCAN_NONE};
    plain->turn = scaled->gain != NULL ? scaled : NULL;
    if (tap->rows.each != NULL)
        *maps = tap->rows;
    maps->content = tap->rows.each != NULL && tap->content_rows ? plain : NULL;
    maps->scores = tapped(tap->score, tap, m, l, r->R);
    maps->probs = tapped(tap->probs, tap, m, l, r->R);
    if (tap->content != NULL && tap->content != tap->score)
        m->ops->scores(c, tapped(tap->content, tap, m, l, r->R), qkv, plain, r->pos, &r->seqs);
}

static void attention(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, const struct rows *r)
{
    const struct pw_backend_ops *ops = m->ops;
    const struct pw_tap *tap = r->tap;
    const struct pw_cache *cache = r->cache;
    struct pw_attn attn = pw_model_attn(m, l), plain;
    struct pw_made made, flat;
    struct pw_maps maps = {0};
    struct pw_turn scaled;
    struct pw_mix mix;
    struct pw_walk walk;
    struct pw_dropout d;

    attn.scan = pw_scan_of(m, l, cache);
    pw_gates_forward(m, c, a, l, &attn, &mix, &r->seqs, cache, r->R);
    pw_walks_forward(m, c, a, l, &attn, &walk, &r->seqs, cache, r->R);
    pw_slopes_forward(m, c, a, l, &attn, &made, cache, r->R);
    const int *pos = cache != NULL ? cache->pos + cache->T : r->pos;
    pw_polar_forward(m, c, a, l, &attn, &made, pos, r->R);
    pw_planes_forward(m, c, a, l, &attn, &made, pos, r->R);
    if (tap != NULL)
        tap_maps(m, c, &maps, &plain, &scaled, &attn, pw_polar_content(m, c, a, &flat, r->R), a->qkv, l, r);
    attn.drop = drop(m, &d, l, PW_DROP_PROBS, r);
    if (cache != NULL)
        ops->attention_cached(c, a->z, cache->mem + (size_t)l * cache->layer, a->qkv, &attn, cache->pos,
                              cache->cap, cache->T, r->R);
    else
        ops->attention_fwd(c, a->z, a->save, tap != NULL ? &maps : NULL, a->qkv, &attn, r->pos, &r->seqs);
    if (tap != NULL && tap->qkv != NULL && attn.turn != NULL)
        ops->rotate(c, a->qkv, attn.turn, r->pos, attn.heads, attn.head_width, r->R);
    if (tap == NULL || !tap->whole)
        pw_replaced_put(m, c, a->z, l, r->order, r->R, false);
    patch(m, c, a->z, l, true, r);
    if (tap != NULL)
        keep_row(m, c, tap->row_z, a->z, l, attn.heads * attn.head_width, r);
}

/* The norm after a branch: gains and biases, its input [R,C] and statistics; all NULL: none. sum: its input
 * is the branch's sum with the stream. */
struct post {
    float *x, *stat;
    const float *gain, *bias;
    bool sum;
};

static void norm_after(struct pw_model *m, struct pw_ctx *c, float *y, struct post post, int R)
{
    m->ops->norm_fwd(c, y, post.stat, post.x, post.gain, post.bias, (enum pw_norm)m->cfg.norm,
                     pw_norm_eps(&m->cfg), 1, R, m->cfg.width);
}

/* y [R,out] = dropout(post(x W^T + bias)) + residual, or post(dropout(x W^T + bias) + residual) of a sum */
static void branch(struct pw_model *m, struct pw_ctx *c, float *y, const float *x, const struct pw_mat *mat,
                   const float *bias, struct post post, const float *residual, const struct pw_dropout *d,
                   int R)
{
    bool output = post.x != NULL && !post.sum, onto = !output && d == NULL;
    float *sum = post.sum ? post.x : y;

    m->ops->linear_fwd(c, output ? post.x : sum, NULL, x, mat, bias, onto ? residual : NULL, PW_ACT_NONE, R);
    if (output)
        norm_after(m, c, y, post, R);
    if (d != NULL)
        m->ops->dropout(c, sum, sum, d, residual, R, mat->out);
    else if (output)
        m->ops->add(c, y, residual, (size_t)R * mat->out);
    if (post.sum)
        norm_after(m, c, y, post, R);
}

/* Computes a->qkv from the normed input. */
static void project(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, int R)
{
    struct pw_heads heads = pw_model_heads(m, l);
    float *y = a->raw != NULL ? a->raw : a->qkv;

    m->ops->linear_fwd(c, y, NULL, a->n1, &m->mats[l * PW_MATS + PW_MAT_QKV],
                       pw_at(m->p, m->lay.layer[l].qkv_bias), NULL, PW_ACT_NONE, R);
    if (m->cfg.qkv_clip > 0)
        m->ops->clip_fwd(c, y, m->cfg.qkv_clip, (size_t)R * pw_qkv_rows(&m->cfg));
    if (a->raw != NULL)
        m->ops->heads_fwd(c, a->qkv, a->raw_stat, a->raw, &heads, R);
}

/* Computes a->hid from the MLP's normed input n [R,C]. */
static void hidden(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, const float *n, int l,
                   const struct rows *r)
{
    const struct pw_mat *up = &m->mats[l * PW_MATS + PW_MAT_UP];
    const float *bias = pw_at(m->p, m->lay.layer[l].up_bias);
    struct pw_dropout d;

    if (m->cfg.gated) {
        m->ops->linear_fwd(c, a->pre, NULL, n, up, bias, NULL, PW_ACT_NONE, r->R);
        m->ops->gate_fwd(c, a->hid, a->pre, pw_model_act(m), m->cfg.ffn, r->R);
    } else {
        m->ops->linear_fwd(c, a->hid, a->pre, n, up, bias, NULL, pw_model_act(m), r->R);
    }
    if (drop(m, &d, l, PW_DROP_HIDDEN, r) != NULL)
        m->ops->dropout(c, a->hid, a->hid, &d, NULL, r->R, m->cfg.ffn);
}

/* Returns layer l's activations; inspected tensors are computed directly in the tap. */
static struct pw_acts acts_of(const struct pw_model *m, const struct pw_work *w, int l, const struct rows *r)
{
    struct pw_acts a = w->acts[l];
    const struct pw_tap *tap = r->tap;
    size_t HD = (size_t)m->cfg.heads * m->cfg.head_width, at = (size_t)l * r->R;

    if (tap != NULL && tap->qkv != NULL)
        a.qkv = tap->qkv + at * 3 * HD;
    if (tap != NULL && tap->z != NULL)
        a.z = tap->z + at * HD;
    if (tap != NULL && tap->mlp != NULL)
        a.hid = tap->mlp + at * m->cfg.ffn;
    if (tap != NULL && tap->terms != NULL)
        a.terms = tap->terms + at * m->cfg.heads;
    if (tap != NULL && tap->walk != NULL)
        *(a.walk.factors != NULL ? &a.walk.factors : &a.walk.vectors) =
            tap->walk + at * pw_model_walk_columns(m);
    return a;
}

static void block(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, float *out, const float *x, int l,
                  const struct rows *r)
{
    const struct pw_backend_ops *ops = m->ops;
    const struct pw_config *cfg = &m->cfg;
    const struct pw_layer_at *at = &m->lay.layer[l];
    const struct pw_mat *mat = m->mats + (size_t)l * PW_MATS;
    int C = cfg->width, R = r->R;
    float eps = pw_norm_eps(cfg);
    bool sum = cfg->norm_at == PW_NORM_AT_AFTER;
    struct post post1 = {a->post1, a->post1_stat, pw_at(m->p, at->post1), pw_at(m->p, at->post1_bias), sum};
    struct post post2 = {a->post2, a->post2_stat, pw_at(m->p, at->post2), pw_at(m->p, at->post2_bias), sum};
    bool shared = cfg->parallel == PW_PARALLEL_SHARED;
    struct pw_dropout d;

    ops->norm_fwd(c, a->n1, a->stat1, x, pw_at(m->p, at->norm1), pw_at(m->p, at->norm1_bias),
                  (enum pw_norm)pw_config_norm_attn(cfg), eps, 1, R, C);
    project(m, c, a, l, R);
    attention(m, c, a, l, r);
    branch(m, c, a->mid, a->z, &mat[PW_MAT_O], pw_at(m->p, at->o_bias), post1, x,
           drop(m, &d, l, PW_DROP_ATTN, r), R);

    if (!shared)
        ops->norm_fwd(c, a->n2, a->stat2, cfg->parallel == PW_PARALLEL_OFF ? a->mid : x,
                      pw_at(m->p, at->norm2), pw_at(m->p, at->norm2_bias),
                      (enum pw_norm)pw_config_norm_mlp(cfg), eps, 1, R, C);
    hidden(m, c, a, shared ? a->n1 : a->n2, l, r);
    if (r->tap != NULL)
        keep_row(m, c, r->tap->row_mlp, a->hid, l, cfg->ffn, r);
    branch(m, c, out, a->hid, &mat[PW_MAT_DOWN], pw_at(m->p, at->down_bias), post2, a->mid,
           drop(m, &d, l, PW_DROP_MLP, r), R);
}

/* The stream before block l; l = L: after the last block. */
static float *stream(const struct pw_model *m, const struct pw_work *w, const struct rows *r, int l)
{
    float *resid = r->tap != NULL ? r->tap->resid : NULL;

    return resid != NULL ? resid + (size_t)l * r->R * m->cfg.width : w->x[l];
}

/* Writes the embeddings of a chunk's tokens, x [R,pw_config_embed_width], with the rows of `added`. */
static void embed_tokens(struct pw_model *m, struct pw_ctx *c, float *x, const struct pw_added *added,
                         const struct rows *r)
{
    int E = pw_config_embed_width(&m->cfg);

    if (m->packed) {
        m->ops->unpack_rows(c, x, pw_packed_embed(m), r->ids, r->R);
        m->ops->embed_fwd(c, x, x, NULL, added, r->R, E);
    } else {
        m->ops->embed_fwd(c, x, m->p + m->lay.embed, r->ids, added, r->R, E);
    }
}

/* Writes x0 [R,C] before its norm. */
static void embed(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, float *x, const struct rows *r)
{
    struct pw_added added = m->tables.added, none = {.scale = added.scale};

    memcpy(added.row, r->added, sizeof added.row);
    if (w->token == NULL) {
        embed_tokens(m, c, x, &added, r);
        return;
    }
    embed_tokens(m, c, w->token, &none, r);
    m->ops->linear_fwd(c, x, NULL, w->token, pw_end_mat(m, PW_END_EMBED_IN), NULL, NULL, PW_ACT_NONE, r->R);
    added.scale = 1;
    if (added.n > 0)
        m->ops->embed_fwd(c, x, x, NULL, &added, r->R, m->cfg.width);
}

/* Runs block l; the first block includes the embedding. */
static void layer(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct rows *r, int l)
{
    float *x = stream(m, w, r, l);
    int C = m->cfg.width;
    struct pw_acts a = acts_of(m, w, l, r);
    struct pw_dropout d;

    if (l == 0) {
        float *embedded = w->embedded != NULL ? w->embedded : x;
        embed(m, c, w, embedded, r);
        if (w->embedded != NULL)
            m->ops->norm_fwd(c, x, w->embedded_stat, embedded, pw_at(m->p, m->lay.embed_norm),
                             pw_at(m->p, m->lay.embed_norm_bias), (enum pw_norm)m->cfg.norm,
                             pw_norm_eps(&m->cfg), 1, r->R, C);
        if (drop(m, &d, 0, PW_DROP_EMBED, r) != NULL)
            m->ops->dropout(c, x, x, &d, NULL, r->R, C);
    }
    patch(m, c, x, l, false, r);
    if (r->tap != NULL)
        keep_row(m, c, r->tap->row_resid, x, l, C, r);
    block(m, c, &a, stream(m, w, r, l + 1), x, l, r);
}

/* Computes the logits of N rows of the stream. */
static void head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const float *x,
                 const struct pw_dropout *d, int N)
{
    const struct pw_config *cfg = &m->cfg;

    m->ops->norm_fwd(c, w->normed, w->stat, x, pw_at(m->p, m->lay.norm), pw_at(m->p, m->lay.norm_bias),
                     (enum pw_norm)pw_config_norm_mlp(cfg), pw_norm_eps(cfg), cfg->logit_scale, N,
                     cfg->width);
    if (d != NULL)
        m->ops->dropout(c, w->normed, w->normed, d, NULL, N, cfg->width);
    const float *read = w->normed;
    if (w->reduced != NULL) {
        m->ops->linear_fwd(c, w->reduced, NULL, read, pw_end_mat(m, PW_END_HEAD_IN), NULL, NULL, PW_ACT_NONE,
                           N);
        read = w->reduced;
    }
    m->ops->linear_fwd(c, w->logits, NULL, read, pw_end_mat(m, PW_END_HEAD), pw_at(m->p, m->lay.head_bias),
                       NULL, PW_ACT_NONE, N);
    if (cfg->logit_cap > 0)
        m->ops->cap_fwd(c, w->logits, cfg->logit_cap, (size_t)N * cfg->vocab);
}

static struct rows rows_of(const struct pw_batch_plan *plan, const struct pw_chunk *k,
                           const struct pw_tap *tap)
{
    return (struct rows){.ids = plan->dev + plan->tokens + k->row,
                         .pos = plan->dev + plan->pos + k->row,
                         .order = plan->dev + plan->order + k->row,
                         .added = {plan->dev + plan->added[0] + k->row, plan->dev + plan->added[1] + k->row},
                         .R = k->n_rows,
                         .first = k->row,
                         .train = plan->n_slots > 0,
                         .seqs = pw_chunk_seqs(plan, k),
                         .tap = tap};
}

/* Runs the head on scored rows from .. from + n - 1 of the chunk. */
static void score(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_batch_plan *plan,
                  const struct pw_chunk *k, const float *x, int from, int n)
{
    bool train = plan->n_slots > 0;
    int first = k->scored + from;
    struct pw_dropout d;

    if (n == 0)
        return;
    m->ops->gather_rows(c, w->picked, x, plan->dev + plan->rows + first, n, m->cfg.width);
    head(m, c, w, w->picked, train ? pw_model_drop(m, &d, 0, PW_DROP_FINAL, first) : NULL, n);
}

void pw_forward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                      const struct pw_batch_plan *plan, const struct pw_chunk *k, const struct pw_tap *tap,
                      int l)
{
    struct rows r = rows_of(plan, k, tap);

    layer(m, c, w, &r, l);
}

void pw_forward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                     const struct pw_batch_plan *plan, const struct pw_chunk *k, const struct pw_tap *tap)
{
    struct rows r = rows_of(plan, k, tap);
    float *x = stream(m, w, &r, m->cfg.layers);

    patch(m, c, x, m->cfg.layers, false, &r);
    if (tap != NULL)
        keep_row(m, c, tap->row_resid, x, m->cfg.layers, m->cfg.width, &r);
    score(m, c, w, plan, k, x, 0, k->n_scored);
}

void pw_forward_score(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                      const struct pw_batch_plan *plan, const struct pw_chunk *k, int from, int n)
{
    struct rows r = rows_of(plan, k, NULL);

    score(m, c, w, plan, k, stream(m, w, &r, m->cfg.layers), from, n);
}

void pw_forward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_batch_plan *plan,
                const struct pw_chunk *k, const struct pw_tap *tap)
{
    for (int l = 0; l < m->cfg.layers; l++)
        pw_forward_block(m, c, w, plan, k, tap, l);
    pw_forward_head(m, c, w, plan, k, tap);
}

void pw_forward_cached(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_cache *cache,
                       const int *ids, int R)
{
    struct rows r = {.ids = ids,
                     .pos = cache->pos + cache->T,
                     .order = cache->order + cache->T,
                     .added = {cache->added[0] + cache->T, cache->added[1] + cache->T},
                     .R = R,
                     .cache = cache};
    int L = m->cfg.layers;

    for (int l = 0; l < L; l++)
        layer(m, c, w, &r, l);
    head(m, c, w, stream(m, w, &r, L) + (size_t)(R - 1) * m->cfg.width, NULL, 1);
}
