/* backward.c - the backward pass of one chunk, and the gradient slots.
 *
 * Every gradient of a slot is one chain of additions over the slot's rows in ascending order, so the cut into
 * chunks changes no bit. A parameter with gradients from two places of the network would break this. With a
 * tied head the chain would be head(chunk 1), embedding(chunk 1), head(chunk 2), ... Such parameters have one
 * accumulator per place, and pw_slot_end adds them in a fixed order: the tied head's gradient, and the
 * learned tables of each layer. Accumulators belong to the slot, not to a worker, because a step that yielded
 * can continue on other workers. */
#include "model/reads.h"

/* The embedding is the first tensor. */
static size_t head_floats(const struct pw_model *m)
{
    bool learns = m->cfg.tied && m->lay.params[0].place != PW_ABSENT;

    return learns ? (size_t)m->cfg.vocab * (size_t)pw_config_embed_width(&m->cfg) : 0;
}

/* The positions that a bias gradient distinguishes; for a dense bias only the step's own. */
static int bias_positions(const struct pw_model *m)
{
    return m->pe.pe->uses & PW_PE_DENSE ? m->step_plan.sizes.positions : m->tables.P;
}

static size_t table_floats(const struct pw_model *m, enum pw_pe_table which)
{
    return pw_table_floats(m, which, which == PW_TABLE_BIAS ? bias_positions(m) : m->tables.P);
}

/* Floats of the accumulators of a learned table; of none 0. */
static size_t sums_floats(const struct pw_model *m, enum pw_pe_table which)
{
    return pw_table_learned(m, which) ? (size_t)pw_table_gradients(m, which) * table_floats(m, which) : 0;
}

static size_t all_sums(const struct pw_model *m)
{
    size_t n = 0;

    for (int k = 0; k < PW_PE_TABLES; k++)
        n += pw_whole_lines(sums_floats(m, (enum pw_pe_table)k));
    return n;
}

size_t pw_slot_floats(const struct pw_model *m)
{
    return pw_whole_lines(m->lay.trained) + pw_whole_lines(head_floats(m)) + all_sums(m);
}

struct pw_slot pw_slot_at(const struct pw_model *m, int s)
{
    float *grad = m->slots + (size_t)s * m->stride, *head = grad + pw_whole_lines(m->lay.trained);
    float *sums = head + pw_whole_lines(head_floats(m));
    struct pw_slot slot = {
        .grad = grad, .head = head_floats(m) > 0 ? head : NULL, .summed = m->step_plan.summed[s]};

    for (int k = 0; k < PW_PE_TABLES; k++) {
        size_t n = sums_floats(m, (enum pw_pe_table)k);
        slot.table[k] = n > 0 ? sums : NULL;
        sums += pw_whole_lines(n);
    }
    return slot;
}

/* Returns true for the weights of a linear layer that the step changes. linear_dw overwrites their gradient
 * at the slot's first chunk; zeroing it first and reading the zeros would cost as much as several other
 * operations. */
static bool is_product(const struct pw_model *m, const struct pw_param *p)
{
    return p->rows > 0 && p->offset != m->lay.embed && !p->pe &&
           pw_param_trains(p, (enum pw_trains)m->trains);
}

/* A device clears this many floats faster than it could start a second range. */
enum { AT_ONCE = 1 << 22 };

/* Clears everything between products: tensors that earlier steps changed and this one does not are 0, too. */
void pw_slot_begin(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot)
{
    size_t from = 0;

    if (!m->ops->host && pw_slot_floats(m) <= AT_ONCE) {
        m->ops->zero(c, slot->grad, pw_slot_floats(m));
        return;
    }
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        if (!is_product(m, p))
            continue;
        if (p->place > from)
            m->ops->zero(c, slot->grad + from, p->place - from);
        from = p->place + pw_param_count(p);
    }
    if (m->lay.trained > from)
        m->ops->zero(c, slot->grad + from, m->lay.trained - from);
    for (int k = 0; k < PW_PE_TABLES; k++)
        if (slot->table[k] != NULL)
            m->ops->zero(c, slot->table[k], sums_floats(m, (enum pw_pe_table)k));
}

void pw_slot_end(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot)
{
    if (!slot->summed) { /* none of its chunks had a loss */
        m->ops->zero(c, slot->grad, m->lay.trained);
        return;
    }
    if (slot->head != NULL && m->trains == PW_TRAINS_ALL)
        m->ops->add(c, pw_grad_at(m, slot, m->lay.embed), slot->head, head_floats(m));
    pw_tables_differentiate(m, c, pw_grad_at(m, slot, m->lay.pe), slot->table, bias_positions(m));
}

/* The norm after a branch: its input [R,C] (NULL: there is none), statistics, offsets of gain and bias. */
struct post {
    const float *x, *stat;
    size_t gain, bias;
};

/* Sets dx [R,C], the gradient of the norm's input, from that of its output. */
static void before_norm(struct pw_model *m, struct pw_ctx *c, float *dx, const float *dy, struct post post,
                        const struct pw_slot *to, int R)
{
    int C = m->cfg.width;

    m->ops->zero(c, dx, (size_t)R * C);
    m->ops->norm_bwd(c, dx, pw_grad_at(m, to, post.gain), pw_grad_at(m, to, post.bias), dy, post.x, post.stat,
                     pw_at(m->p, post.gain), (enum pw_norm)m->cfg.norm, 1, R, C);
}

/* Returns the gradient of a branch's product from d [R,C], that of its sum with the stream: d itself, with
 * dropout in w->d_norm, or before the norm of the branch's output in w->d_post. */
static const float *branch(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const float *d,
                           const struct pw_dropout *drop, struct post post, const struct pw_slot *to, int R)
{
    if (drop != NULL) {
        m->ops->dropout(c, w->d_norm, d, drop, NULL, R, m->cfg.width);
        d = w->d_norm;
    }
    if (post.x == NULL || m->cfg.norm_at == PW_NORM_AT_AFTER)
        return d;
    before_norm(m, c, w->d_post, d, post, to, R);
    return w->d_post;
}

/* Returns the gradient of the MLP's first product from d, the gradient of its output. With relu, dropped
 * entries are zeros in hid, so the derivative drops them again without a second draw of the mask. */
static const float *d_hidden(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, int l,
                             const struct pw_chunk *k, const float *d)
{
    const struct pw_acts *a = &w->acts[l];
    struct pw_dropout drop;
    bool drops = pw_model_drop(m, &drop, l, PW_DROP_HIDDEN, k->row), again = drops && a->pre != NULL;
    float kept = drops && !again ? pw_dropout_kept(&drop) : 1;
    bool gated = m->cfg.gated;

    m->ops->linear_dx(c, w->d_hid, d, &m->mats[l * PW_MATS + PW_MAT_DOWN],
                      gated ? PW_ACT_NONE : pw_model_act(m),
                      gated            ? NULL
                      : a->pre != NULL ? a->pre
                                       : a->hid,
                      kept, k->n_rows);
    if (again)
        m->ops->dropout(c, w->d_hid, w->d_hid, &drop, NULL, k->n_rows, m->cfg.ffn);
    if (!gated)
        return w->d_hid;
    m->ops->gate_bwd(c, w->d_pre, w->d_hid, a->pre, pw_model_act(m), m->cfg.ffn, k->n_rows);
    return w->d_pre;
}

/* Adds the gradient of matrix k of layer l, of its bias, and of its adapter. Those that steps don't change
 * are left out. */
static void d_weights(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                      int l, int k, size_t bias, const float *dy, const float *x, int R)
{
    const struct pw_mat *mat = &m->mats[l * PW_MATS + k];

    if (m->trains == PW_TRAINS_ALL)
        m->ops->linear_dw(c, pw_grad_at(m, to, pw_mat_at(&m->lay.layer[l], k)), pw_grad_at(m, to, bias), dy,
                          x, to->summed, mat->out, mat->in, R);
    pw_adapter_gradient(m, c, w, to, l, k, dy, x, R);
}

/* Returns the accumulator of layer l for a learned table; NULL: it is not learned. */
static float *table_sums(const struct pw_model *m, const struct pw_slot *to, enum pw_pe_table which, int l)
{
    return to->table[which] != NULL ? to->table[which] + (size_t)l * table_floats(m, which) : NULL;
}

/* Undoes the transformation of q and k in w->d_qkv if its tables are learned. */
static void turn_back(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, int l, const struct pw_turn *t,
                      const int *pos, const struct pw_slot *to, int R)
{
    struct pw_turn_grad d = {table_sums(m, to, PW_TABLE_COSINE, l), table_sums(m, to, PW_TABLE_SINE, l),
                             table_sums(m, to, PW_TABLE_GAIN, l)};

    if (t != NULL && t->learned)
        m->ops->turn_bwd(c, w->d_qkv, &d, w->acts[l].qkv, t, pos, m->cfg.heads, m->cfg.head_width, R);
}

/* Returns the gradient of the heads' input from w->d_qkv. */
static float *d_heads(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, int l,
                      const struct pw_slot *to, int R)
{
    const struct pw_layer_at *at = &m->lay.layer[l];
    struct pw_heads heads = pw_model_heads(m, l);

    if (w->d_raw == NULL)
        return w->d_qkv;
    m->ops->heads_bwd(c, w->d_raw, pw_grad_at(m, to, at->q_norm), pw_grad_at(m, to, at->k_norm), w->d_qkv,
                      w->acts[l].raw, w->acts[l].raw_stat, &heads, R);
    return w->d_raw;
}

/* Returns the gradient of the projection from w->d_qkv. */
static const float *d_project(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, int l,
                              const struct pw_slot *to, int R)
{
    const struct pw_acts *a = &w->acts[l];
    float *d = d_heads(m, c, w, l, to, R);

    if (m->cfg.qkv_clip > 0)
        m->ops->clip_bwd(c, d, a->raw != NULL ? a->raw : a->qkv, m->cfg.qkv_clip,
                         (size_t)R * pw_qkv_rows(&m->cfg));
    return d;
}

/* On entry w->d [R,C] is the gradient of the block's output, on return that of its input x. In a parallel
 * block both branches start from w->d as it was on entry, so what norm2 adds to it waits in w->d_n2. With
 * norm_at=after the gradient of the stream between the two norms is in w->d_post. */
static void block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, int l, const struct pw_chunk *k,
                  const struct pw_slot *to)
{
    const struct pw_backend_ops *ops = m->ops;
    const struct pw_config *cfg = &m->cfg;
    const struct pw_layer_at *at = &m->lay.layer[l];
    const struct pw_mat *mat = m->mats + (size_t)l * PW_MATS;
    const struct pw_acts *a = &w->acts[l];
    const struct pw_batch_plan *plan = &m->step_plan;
    const int *pos = plan->dev + plan->pos + k->row;
    int C = cfg->width, R = k->n_rows;
    struct pw_seqs seqs = pw_chunk_seqs(plan, k);
    struct pw_attn attn = pw_model_attn(m, l);
    enum pw_norm kind1 = (enum pw_norm)pw_config_norm_attn(cfg),
                 kind2 = (enum pw_norm)pw_config_norm_mlp(cfg);
    struct post post1 = {a->post1, a->post1_stat, at->post1, at->post1_bias};
    struct post post2 = {a->post2, a->post2_stat, at->post2, at->post2_bias};
    bool after = cfg->norm_at == PW_NORM_AT_AFTER;
    float *d_bias = table_sums(m, to, PW_TABLE_BIAS, l);
    const float *keys = attn.keys != NULL ? attn.keys : attn.scan.rows;
    float *d_keys = keys != NULL ? pw_grad_at(m, to, (size_t)(keys - m->p)) : NULL;
    bool parallel = cfg->parallel != PW_PARALLEL_OFF, shared = cfg->parallel == PW_PARALLEL_SHARED;
    float *d_n2 = parallel ? w->d_n2 : w->d_norm, *d_mid = after ? w->d_post : w->d;
    struct pw_mix mix;
    struct pw_walk walk;
    struct pw_dropout drop;
    const float *d, *d_up, *d_proj;

    if (after)
        before_norm(m, c, d_mid, w->d, post2, to, R);
    d = branch(m, c, w, d_mid, pw_model_drop(m, &drop, l, PW_DROP_MLP, k->row), post2, to, R);
    d_weights(m, c, w, to, l, PW_MAT_DOWN, at->down_bias, d, a->hid, R);
    d_up = d_hidden(m, c, w, l, k, d);
    d_weights(m, c, w, to, l, PW_MAT_UP, at->up_bias, d_up, shared ? a->n1 : a->n2, R);
    ops->linear_dx(c, d_n2, d_up, &mat[PW_MAT_UP], PW_ACT_NONE, NULL, 1, R);
    if (!parallel)
        ops->norm_bwd(c, d_mid, pw_grad_at(m, to, at->norm2), pw_grad_at(m, to, at->norm2_bias), d_n2, a->mid,
                      a->stat2, pw_at(m->p, at->norm2), kind2, 1, R, C);

    if (after)
        before_norm(m, c, w->d, d_mid, post1, to, R);
    d = branch(m, c, w, w->d, pw_model_drop(m, &drop, l, PW_DROP_ATTN, k->row), post1, to, R);
    d_weights(m, c, w, to, l, PW_MAT_O, at->o_bias, d, a->z, R);
    ops->linear_dx(c, w->d_z, d, &mat[PW_MAT_O], PW_ACT_NONE, NULL, 1, R);
    pw_replaced_put(m, c, w->d_z, l, pos, R, true);
    attn.drop = pw_model_drop(m, &drop, l, PW_DROP_PROBS, k->row);
    pw_gates_attend(m, w, to, l, &attn, &mix);
    pw_walks_attend(m, w, l, &attn, &walk);
    struct pw_made made = {a->slopes, w->d_slopes, a->wide, w->d_wide, pw_wide_width(m)};
    attn.made = pw_makes(m) ? &made : NULL;
    attn.d_learned = table_sums(m, to, PW_TABLE_SCORE, l);
    ops->attention_bwd(c, w->d_qkv, d_bias, d_keys, w->d_terms, w->d_z, a->z, a->qkv, a->save, &attn, pos,
                       &seqs);
    turn_back(m, c, w, l, attn.turn, pos, to, R);
    pw_slopes_backward(m, c, w, to, l, R);
    pw_polar_backward(m, c, w, to, l, pos, R);
    pw_planes_backward(m, c, w, to, table_sums(m, to, PW_TABLE_PLANES, l), l, pos, R);
    d_proj = d_project(m, c, w, l, to, R);
    d_weights(m, c, w, to, l, PW_MAT_QKV, at->qkv_bias, d_proj, a->n1, R);
    ops->linear_dx(c, w->d_norm, d_proj, &mat[PW_MAT_QKV], PW_ACT_NONE, NULL, 1, R);
    pw_gates_backward(m, c, w, to, l, &seqs, w->d_norm, R);
    pw_walks_backward(m, c, w, to, l, &seqs, w->d_norm, R);
    if (shared)
        ops->add(c, w->d_norm, d_n2, (size_t)R * C);
    else if (parallel)
        ops->norm_bwd(c, w->d, pw_grad_at(m, to, at->norm2), pw_grad_at(m, to, at->norm2_bias), d_n2, w->x[l],
                      a->stat2, pw_at(m->p, at->norm2), kind2, 1, R, C);
    ops->norm_bwd(c, w->d, pw_grad_at(m, to, at->norm1), pw_grad_at(m, to, at->norm1_bias), w->d_norm,
                  w->x[l], a->stat1, pw_at(m->p, at->norm1), kind1, 1, R, C);
}

void pw_backward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                      const struct pw_slot *to)
{
    const struct pw_backend_ops *ops = m->ops;
    const struct pw_batch_plan *plan = &m->step_plan;
    int C = m->cfg.width, V = m->cfg.vocab, R = k->n_rows, N = k->n_scored;
    const struct pw_mat *head = pw_end_mat(m, PW_END_HEAD), *in = pw_end_mat(m, PW_END_HEAD_IN);
    bool all = m->trains == PW_TRAINS_ALL, projects = w->reduced != NULL;
    const float *x = projects ? w->reduced : w->normed; /* the head's input */
    struct pw_dropout drop;

    ops->zero(c, w->d_picked, (size_t)N * C);
    if (m->cfg.logit_cap > 0)
        ops->cap_bwd(c, w->d_logits, w->logits, m->cfg.logit_cap, (size_t)N * V);
    if (all)
        ops->linear_dw(c, to->head != NULL ? to->head : pw_grad_at(m, to, m->lay.head),
                       pw_grad_at(m, to, m->lay.head_bias), w->d_logits, x, to->summed, V, head->in, N);
    ops->linear_dx(c, projects ? w->d_reduced : w->d_normed, w->d_logits, head, PW_ACT_NONE, NULL, 1, N);
    if (projects && all)
        ops->linear_dw(c, pw_grad_at(m, to, m->lay.head_in), NULL, w->d_reduced, w->normed, to->summed,
                       in->out, C, N);
    if (projects)
        ops->linear_dx(c, w->d_normed, w->d_reduced, in, PW_ACT_NONE, NULL, 1, N);
    if (pw_model_drop(m, &drop, 0, PW_DROP_FINAL, k->scored) != NULL)
        ops->dropout(c, w->d_normed, w->d_normed, &drop, NULL, N, C);
    ops->norm_bwd(c, w->d_picked, pw_grad_at(m, to, m->lay.norm), pw_grad_at(m, to, m->lay.norm_bias),
                  w->d_normed, w->picked, w->stat, pw_at(m->p, m->lay.norm),
                  (enum pw_norm)pw_config_norm_mlp(&m->cfg), m->cfg.logit_scale, N, C);
    ops->scatter_rows(c, w->d, w->d_picked, plan->dev + plan->rows + k->scored, N, R, C);
}

/* Adds the gradients of the embedding and of the encoding's added tables; d [R,C]: that of their sum. */
static void embed(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                  const struct pw_slot *to, const float *d)
{
    const struct pw_backend_ops *ops = m->ops;
    const struct pw_batch_plan *plan = &m->step_plan;
    struct pw_added added = m->tables.added, none = {.scale = added.scale};
    float *d_added[PW_PE_ADDS], *d_table = pw_grad_at(m, to, m->lay.embed), *sums = to->table[PW_TABLE_ADDED];
    bool rows = pw_pe_learns_rows(m->pe.pe), learned = rows || sums != NULL;
    const int *tokens = plan->dev + plan->tokens + k->row;
    int C = m->cfg.width, E = pw_config_embed_width(&m->cfg), R = k->n_rows;

    for (int i = 0; i < added.n; i++) {
        added.row[i] = plan->dev + plan->added[i] + k->row;
        d_added[i] = rows ? pw_grad_at(m, to, m->lay.pe) + pw_learned_at(m, i) : sums;
    }
    if (w->token == NULL && (d_table != NULL || learned))
        ops->embed_bwd(c, d_table, learned ? d_added : NULL, d, tokens, &added, R, C);
    if (w->token == NULL)
        return;
    if (learned)
        ops->embed_bwd(c, NULL, d_added, d, NULL, &added, R, C);
    if (m->trains != PW_TRAINS_ALL)
        return;
    ops->linear_dw(c, pw_grad_at(m, to, m->lay.embed_in), NULL, d, w->token, to->summed, C, E, R);
    ops->linear_dx(c, w->d_token, d, pw_end_mat(m, PW_END_EMBED_IN), PW_ACT_NONE, NULL, 1, R);
    ops->embed_bwd(c, d_table, NULL, w->d_token, tokens, &none, R, E);
}

void pw_backward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                       const struct pw_slot *to, int l)
{
    int C = m->cfg.width, R = k->n_rows;
    struct pw_dropout drop;

    block(m, c, w, l, k, to);
    if (l > 0)
        return;
    if (pw_model_drop(m, &drop, 0, PW_DROP_EMBED, k->row) != NULL)
        m->ops->dropout(c, w->d, w->d, &drop, NULL, R, C);
    const float *d = w->d;
    if (w->embedded != NULL) { /* into d_norm, which is free now */
        m->ops->zero(c, w->d_norm, (size_t)R * C);
        m->ops->norm_bwd(c, w->d_norm, pw_grad_at(m, to, m->lay.embed_norm),
                         pw_grad_at(m, to, m->lay.embed_norm_bias), w->d, w->embedded, w->embedded_stat,
                         pw_at(m->p, m->lay.embed_norm), (enum pw_norm)m->cfg.norm, 1, R, C);
        d = w->d_norm;
    }
    embed(m, c, w, k, to, d);
}
