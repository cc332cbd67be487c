/* attention.c - softmax attention over short ragged sequences, one head of one sequence at a time.
 *
 * All five products use gemm.c on small padded copies of the head, in blocks of at most 16 queries (or keys).
 * With a causal mask a block covers the keys of its last query only. Inside the block the probabilities of
 * hidden keys are exact zeros, which do not change a chain. Sums over a row leave hidden keys out.
 *
 * save: for each sequence and head the probabilities [T,Tp], with Tp = T rounded up to 16, and zeros for
 * hidden keys. In the same layout follow the derivatives of a function of scores, or the shares of a scan.
 * With selection, follow the votes [T,Tp] of each sequence.
 * Without save, a worker has room for one block of queries, so a long sequence needs little memory. */
#include "kernels/cpu/attention_block.h"
#include "kernels/cpu/attention_scores.h"
#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SHARED = 64 }; /* tokens of a lone sequence from which on the workers share its heads */

/* Turn the scores s of m queries into probabilities, 0 from column cols on. */
static void softmax_block(const struct pw_head *hd, float *s, const float *max, int m, int cols)
{
    size_t Tp = (size_t)hd->Tp;
    float sum[PW_BLOCK];
    for (int r = 0; r < m; r++) {
        float *row = s + (size_t)r * Tp;
        v16 most = v_set(max[r]), total = v_zero();
        for (int j = 0; j < cols; j += 16) {
            v16 e = v_exp(v_sub(v_load(row + j), most));
            total = v_add(total, e);
            v_store(row + j, e);
        }
        sum[r] = v_tree(total);
    }
    for (int r = 0; r < m; r++) {
        float *row = s + (size_t)r * Tp;
        struct v_divisor total = v_divisor(sum[r]);
        int j = 0;
        for (; j < cols; j += 16)
            v_store(row + j, v_quotient(v_load(row + j), &total));
        for (; j < hd->Tp; j += 16)
            v_store(row + j, v_zero());
    }
}

/* Turn the scores s of queries i .. i+m-1 into probabilities, 0 from column cols on. shares: of a scan, or
 * NULL.
 */
static void weights_block(const struct pw_head *hd, float *s, float *shares, const float *max, int i, int m,
                          int cols)
{
    if (hd->a->scan.kind == PW_SCAN_STICK)
        PW_OP(stick_block)(hd, s, shares, i, m, cols);
    else
        softmax_block(hd, s, max, m, cols);
}

size_t PW_OP(attn_save_floats)(const struct pw_attn *a, const int *start, int n_seqs)
{
    size_t votes = 0;
    for (int n = 0; n < n_seqs; n++)
        votes += pw_attn_votes_floats(a, start[n + 1] - start[n]);
    size_t maps = 1 + pw_attn_saves_two(a) + pw_attn_saves_scores(a);
    return maps * pw_attn_maps_floats(a->heads, start, n_seqs) + votes;
}

/* The forward pass of one sequence. */
struct fwd {
    /* save, and slopes of a function or shares of a scan, of the sequence; NULL: no backward pass follows */
    float *z, *save, *slope;
    float *votes;        /* of the sequence, with save and selection; or NULL */
    float *shared;       /* scratch of x */
    struct pw_maps maps; /* of the sequence */
    const float *qkv, *qk;
    const float *plain; /* as qk, for the scores that maps.content asks for */
    const struct pw_attn *a;
    const int *pos;
    const struct pw_seqs *s;
    int n, Tmax;              /* index of the sequence; longest sequence, rounded up to 16 */
    struct pw_scoring x;      /* tables that all workers read */
    const struct pw_ctx *all; /* the worker of the first room */
    float *rooms;
    /* Floats of a worker's room, which begins with the keys. Then the places of its other parts: values,
     * probabilities of a block, dropped ones, the block's scores, keys and scores of the content, the room
     * of x, and the bias. */
    size_t room, values, block, dropped, scores, content_keys, content, scoring, bias;
};

static float *map_of(float *maps, int h, size_t T)
{
    return maps != NULL ? maps + (size_t)h * T * T : NULL;
}

/* The head as maps.content reads it. */
static struct pw_head plain_head(const struct fwd *f, int h)
{
    return pw_attn_head_of(f->qkv, f->plain, f->maps.content, f->pos, f->s, f->n, h, NULL);
}

/* Hand a block of m queries, of which p holds the probabilities, to the caller of the operation. wanted: with
 * its scores. */
static void tell_rows(const struct fwd *f, const struct pw_head *hd, float *room, const float *p, int i,
                      int m, bool wanted)
{
    const struct pw_maps *maps = &f->maps;
    size_t Tp = (size_t)hd->Tp;
    int seen = pw_to_16(pw_keys_before(hd, i + m));
    struct pw_map_rows rows = {.head = hd->h,
                               .query = i,
                               .n = m,
                               .keys = seen < hd->T ? seen : hd->T,
                               .stride = Tp,
                               .probs = p,
                               .scores = wanted ? room + f->scores : NULL};
    if (f->plain != NULL && wanted) {
        float *content = room + f->content, max[PW_BLOCK];
        struct pw_head plain = plain_head(f, hd->h);
        struct pw_scoring x = {.keys = room + f->content_keys, .ld = Tp};
        PW_OP(score_block)(&x, &plain, content, NULL, max, i, i, m, seen);
        rows.content = content;
    }
    maps->each(maps->arg, &rows);
}

static void fwd_head(struct pw_ctx *c, void *arg, int h)
{
    const struct fwd *f = arg;
    const struct pw_attn *a = f->a;
    float *kt = f->rooms + (size_t)(c - f->all) * f->room, *v = kt + f->values, *d = kt + f->dropped;
    float max[PW_BLOCK];
    struct pw_scoring x = f->x;
    struct pw_head hd = pw_attn_head_of(f->qkv, f->qk, a, f->pos, f->s, f->n, h, kt + f->bias);
    int D = a->head_width;
    size_t T = (size_t)hd.T, Tp = (size_t)hd.Tp, Dp = (size_t)hd.Dp, C = (size_t)(a->heads * D);
    float *z = f->z + (size_t)f->s->start[f->n] * C + h * D;
    float *save = f->save != NULL ? f->save + (size_t)h * T * Tp : NULL;
    float *slope = f->slope != NULL ? f->slope + (size_t)h * T * Tp : NULL;
    float *scores = map_of(f->maps.scores, h, T), *probs = map_of(f->maps.probs, h, T);
    PW_OP(scoring_room)(&x, a, f->Tmax, kt + f->scoring);
    PW_OP(scoring_keys)(&x, &hd, kt);
    PW_OP(pack_rows)(v, Dp, hd.v, hd.w, hd.T, D);
    PW_OP(head_bias_load)(&hd);
    if (f->plain != NULL) {
        struct pw_head plain = plain_head(f, h);
        PW_OP(pack_transposed)(kt + f->content_keys, Tp, plain.k, plain.qw, hd.T, plain.E);
    }
    for (int i = 0, rows = pw_attn_block_rows(hd.T), m; i < hd.T; i += m) {
        m = pw_attn_least(rows, hd.T - i);
        int seen = pw_keys_before(&hd, i + m), cols = pw_to_16(seen);
        float *p = save != NULL ? save + (size_t)i * Tp : kt + f->block;
        float *by = slope != NULL ? slope + (size_t)i * Tp : NULL;
        PW_OP(score_block)(&x, &hd, p, by, max, i, i, m, cols);
        if (scores != NULL)
            pw_attn_tell_block(&hd, scores + (size_t)i * T, p, m, cols, -INFINITY);
        bool wanted = f->maps.each != NULL && f->maps.wants(f->maps.arg, h, i, m);
        for (int r = 0; r < m && wanted; r++)
            memcpy(kt + f->scores + (size_t)r * Tp, p + (size_t)r * Tp, (size_t)cols * sizeof *p);
        weights_block(&hd, p, by, max, i, m, cols);
        if (probs != NULL)
            pw_attn_tell_block(&hd, probs + (size_t)i * T, p, m, cols, 0.0f);
        if (f->maps.each != NULL)
            tell_rows(f, &hd, kt, p, i, m, wanted);
        if (a->drop != NULL) {
            pw_attn_drop_block(&hd, d, p, i, m);
            p = d;
        }
        pw_product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * C, C, false);
    }
}

/* Set the votes of the sequence. */
static void find_votes(struct fwd *f)
{
    struct pw_head hd = pw_attn_head_of(f->qkv, f->qk, f->a, f->pos, f->s, f->n, 0, NULL);
    PW_OP(select_begin)(&f->x.select, &hd, PW_OP(scoring_votes)(f->a, f->Tmax, f->shared));
    if (f->votes != NULL)
        PW_OP(select_save)(&f->x.select, &hd, f->votes);
}

/* Divide a worker's room. */
static void divide_room(struct fwd *f)
{
    const struct pw_attn *a = f->a;
    int Tmax = f->Tmax;
    const struct pw_maps *maps = &f->maps;
    size_t keys = (size_t)pw_attn_width(a) * (size_t)Tmax, block = PW_BLOCK * (size_t)Tmax;
    bool content = maps->each != NULL && maps->content != NULL;
    f->values = keys;
    f->block = f->values + (size_t)Tmax * (size_t)pw_to_16(a->head_width);
    f->dropped = f->block + (f->save == NULL ? block : 0);
    f->scores = f->dropped + (a->drop != NULL ? block : 0);
    f->content_keys = f->scores + (maps->each != NULL ? block : 0);
    f->content = f->content_keys + (content ? (size_t)pw_attn_width(maps->content) * (size_t)Tmax : 0);
    f->scoring = f->content + (content ? block : 0);
    f->bias = f->scoring + PW_OP(scoring_room_floats)(a, Tmax);
    f->room = (f->bias + pw_bias_floats(Tmax) + 15) / 16 * 16;
}

void PW_OP(attention_fwd)(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                          const float *qkv, const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    int T = pw_attn_longest(s), Tmax = pw_to_16(T);
    bool share = c->alone != NULL && s->n == 1 && T >= SHARED, slopes = save != NULL && pw_attn_saves_two(a);
    struct fwd f = {
        z,          save,         slopes ? save + pw_attn_maps_floats(a->heads, s->start, s->n) : NULL,
        .qkv = qkv, .a = a,       .pos = pos,
        .s = s,     .Tmax = Tmax, .all = share ? c->alone->ctx : c};
    f.maps = maps != NULL ? *maps : (struct pw_maps){0};
    bool content = f.maps.each != NULL && f.maps.content != NULL;
    size_t scoring = PW_OP(scoring_floats)(a, Tmax), turned = pw_turned_floats(a, T);
    divide_room(&f);
    size_t rooms = f.room * (size_t)(share ? c->alone->threads : 1);
    size_t plain = content ? pw_turned_floats(f.maps.content, T) : 0;
    f.rooms = pw_ctx_scratch(c, rooms + scoring + turned + plain);
    float *rows_of_qk = f.rooms + rooms + scoring;
    f.shared = f.rooms + rooms;
    PW_OP(scoring_init)(&f.x, a, Tmax, f.shared);
    f.x.third = pw_attn_saves_scores(a) ? pw_attn_maps_floats(a->heads, s->start, s->n) : 0;
    if (save != NULL && a->scan.kind == PW_SCAN_SELECT)
        f.votes = save + pw_attn_maps_floats(a->heads, s->start, s->n);
    for (f.n = 0; f.n < s->n; f.n++) {
        size_t rows = (size_t)(s->start[f.n + 1] - s->start[f.n]), heads = (size_t)a->heads;
        size_t saved = heads * rows * (size_t)pw_to_16((int)rows);
        f.qk = pw_attn_turned_seq(rows_of_qk, qkv, a, pos, s, f.n);
        if (content)
            f.plain = pw_attn_turned_seq(rows_of_qk + turned, qkv, f.maps.content, pos, s, f.n);
        if (a->scan.kind == PW_SCAN_SELECT)
            find_votes(&f);
        if (share)
            pw_ctx_share(c, a->heads, fwd_head, &f);
        for (int h = 0; h < a->heads && !share; h++)
            fwd_head(c, &f, h);
        f.maps.scores = map_of(f.maps.scores, a->heads, rows);
        f.maps.probs = map_of(f.maps.probs, a->heads, rows);
        f.save += f.save != NULL ? saved : 0;
        f.slope += f.slope != NULL ? saved : 0;
        f.votes += f.votes != NULL ? pw_attn_votes_floats(a, (int)rows) : 0;
    }
}

size_t PW_OP(attn_cache_floats)(int H, int D, int cap)
{
    return (size_t)H * ((size_t)D * (size_t)pw_to_16(cap) + (size_t)cap * (size_t)pw_to_16(D));
}

/* The pass over rows that continue a sequence. */
struct cached {
    float *z, *cache;
    struct pw_head first; /* the head 0, without a room for its bias */
    const struct pw_attn *a;
    int cap, T, R;
    struct pw_scoring x;      /* tables that all workers read */
    const struct pw_ctx *all; /* the worker of the first room */
    float *rooms;             /* a worker's probabilities of a block, its room of x, and the bias */
    size_t room, scoring, bias;
};

/* Append the rows' keys of the head hd to its cache, where kt are the keys. */
static void append_keys(const struct cached *f, float *kt, const struct pw_head *hd)
{
    bool rows = f->a->walk != NULL;
    size_t row = rows ? (size_t)hd->E : 1, entry = rows ? 1 : (size_t)pw_to_16(f->cap);
    for (size_t r = 0; r < (size_t)f->R; r++)
        for (size_t d = 0; d < (size_t)hd->E; d++)
            kt[((size_t)f->T + r) * row + d * entry] = hd->k[r * hd->qw + d];
}

/* Set the sums of votes of the new rows, before other workers read them. block [PW_BLOCK,Tp]. */
static void keep_votes(struct cached *f, float *block)
{
    const struct pw_head *hd = &f->first;
    append_keys(f, f->cache, hd);
    f->x.select =
        (struct pw_select){.q = hd->q, .qw = hd->qw, .keys = f->cache, .ld = (size_t)pw_to_16(f->cap)};
    PW_OP(select_keep)(&f->x.select, hd, f->a->scan.lost, block, f->T);
}

/* The cache of a head has the layout that attention_fwd uses: keys [D,cap rounded up to 16], transposed, and
 * values [cap,Dp]. So a new token only adds a column and a row. A walk reads its keys as rows [cap,D]. */
static void cached_head(struct pw_ctx *c, void *arg, int h)
{
    const struct cached *f = arg;
    const struct pw_attn *a = f->a;
    struct pw_head hd = f->first;
    struct pw_scoring x = f->x;
    int T = f->T, R = f->R, D = a->head_width, E = hd.E;
    size_t ld = (size_t)pw_to_16(f->cap), Dp = (size_t)pw_to_16(D), C = (size_t)(a->heads * D);
    size_t Tp = (size_t)hd.Tp;
    float *kt = f->cache + (size_t)h * PW_OP(attn_cache_floats)(1, E, f->cap), *v = kt + (size_t)E * ld;
    float *p = f->rooms + (size_t)(c - f->all) * f->room, *z = f->z + h * D, max[PW_BLOCK];
    hd.h = h;
    hd.q += h * E;
    hd.k += h * E;
    hd.v += h * D;
    hd.bias = p + f->bias;
    hd.terms = pw_terms_room(a, hd.bias, hd.Tp);
    pw_slopes_room(&hd);
    PW_OP(scoring_room)(&x, a, hd.Tp, p + f->scoring);
    x.keys = kt;
    x.ld = a->walk != NULL ? (size_t)E : ld;
    if (h > 0 || a->scan.kind != PW_SCAN_SELECT)
        append_keys(f, kt, &hd);
    for (size_t r = 0; r < (size_t)R; r++)
        for (size_t d = 0; d < (size_t)D; d++)
            v[((size_t)T + r) * Dp + d] = hd.v[r * hd.w + d];
    PW_OP(head_bias_load)(&hd);
    for (int i = 0, rows = pw_attn_block_rows(R), m; i < R; i += m) {
        m = pw_attn_least(rows, R - i);
        int seen = pw_keys_before(&hd, T + i + m), cols = pw_to_16(seen);
        PW_OP(score_block)(&x, &hd, p, NULL, max, i, T + i, m, cols);
        weights_block(&hd, p, NULL, max, T + i, m, cols);
        pw_product(m, D, seen, p, Tp, 1, v, Dp, z + (size_t)i * C, C, false);
    }
}

void PW_OP(attention_cached)(struct pw_ctx *c, float *z, float *cache, const float *qkv,
                             const struct pw_attn *a, const int *pos, int cap, int T, int R)
{
    int D = a->head_width, n = T + R, C = a->heads * D, Tp = pw_to_16(n);
    bool share = c->alone != NULL && R >= SHARED;
    struct cached f = {z, cache, .a = a, .cap = cap, .T = T, .R = R, .all = share ? c->alone->ctx : c};
    f.scoring = PW_BLOCK * (size_t)Tp;
    f.bias = f.scoring + PW_OP(scoring_room_floats)(a, Tp);
    f.room = (f.bias + pw_bias_floats(Tp) + 15) / 16 * 16;
    size_t rooms = f.room * (size_t)(share ? c->alone->threads : 1);
    size_t scoring = PW_OP(scoring_floats)(a, Tp);
    f.rooms = pw_ctx_scratch(c, rooms + scoring + pw_turned_floats(a, R));
    PW_OP(scoring_init)(&f.x, a, Tp, f.rooms + rooms);
    f.first = (struct pw_head){.a = a, .w = 3 * (size_t)C, .pos = pos, .T = n, .Tp = Tp, .D = D};
    f.first.E = pw_attn_width(a);
    f.first.qw = pw_attn_row(a, f.first.w);
    f.first.q =
        pw_attn_is_wide(a) ? a->made->wide : PW_OP(turned)(f.rooms + rooms + scoring, qkv, a, pos, T, R);
    f.first.k = f.first.q + a->heads * f.first.E;
    f.first.v = qkv + 2 * C;
    f.first.in_order = (a->bias != NULL || a->keys != NULL || a->mix != NULL) && pw_attn_ascending(pos, n);
    assert(n <= cap && a->drop == NULL);
    if (a->scan.kind == PW_SCAN_SELECT)
        keep_votes(&f, f.rooms);
    if (share)
        pw_ctx_share(c, a->heads, cached_head, &f);
    for (int h = 0; h < a->heads && !share; h++)
        cached_head(c, &f, h);
}
