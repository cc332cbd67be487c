/* ref_snapshot.c - compares snapshots member by member: the bytes of plain values, the contents of arrays. */
#include "ref_snapshot.h"

#include <stdio.h>
#include <string.h>

static char where[96];

/* Compares n entries. NULL equals only NULL, or an empty array. */
static bool same_array(const void *a, const void *b, size_t n, size_t size)
{
    if (a == NULL || b == NULL)
        return a == b || n == 0;
    return n == 0 || memcmp(a, b, n * size) == 0;
}

/* Compares slots through copies, whose pointers are cleared one by one. */
#define ARRAY(field, n)                                                                                      \
    do {                                                                                                     \
        if (!same_array(x.field, y.field, (size_t)(n), sizeof *x.field))                                     \
            return false;                                                                                    \
        x.field = y.field = NULL;                                                                            \
    } while (0)
#define REST return memcmp(&x, &y, sizeof x) == 0

static bool same_prompt(struct pw_ev_prompt x, struct pw_ev_prompt y)
{
    ARRAY(tokens, x.n);
    ARRAY(labels, x.n);
    ARRAY(edited, x.n_prompt);
    REST;
}

static bool same_look(struct pw_ev_inspection x, struct pw_ev_inspection y)
{
    ARRAY(token, x.n);
    ARRAY(parts, x.n_parts);
    ARRAY(part, x.n_parts * x.n);
    ARRAY(mean, x.n_parts);
    ARRAY(lens, x.layers + 1);
    ARRAY(lens_prob, (x.layers + 1) * x.n);
    ARRAY(lens_rank, (x.layers + 1) * x.n);
    REST;
}

static bool same_attention(struct pw_ev_attention x, struct pw_ev_attention y)
{
    int map = x.T * x.T;
    ARRAY(labels, x.T);
    ARRAY(probs, x.layers * x.heads * map);
    ARRAY(score, map);
    ARRAY(content, map);
    ARRAY(bias, map);
    ARRAY(terms, 4 * map);
    ARRAY(gold, x.n_gold);
    ARRAY(scores, x.layers * x.heads * x.n_scores);
    ARRAY(all_scores, x.layers * x.heads * map);
    ARRAY(pooled, x.layers * x.heads * x.side * x.side);
    ARRAY(map, map);
    REST;
}

static bool same_table(struct pw_ev_table x, struct pw_ev_table y)
{
    ARRAY(bucket, x.length);
    ARRAY(bucket_from, x.n_buckets + 1);
    ARRAY(bucket_bias, x.n_buckets * x.heads);
    ARRAY(bias, x.heads * x.length);
    ARRAY(slopes, x.heads);
    ARRAY(frequencies, x.pairs);
    ARRAY(added, x.length * x.width);
    ARRAY(met, x.length);
    ARRAY(rows, x.length);
    ARRAY(grad, x.n_buckets * x.heads);
    ARRAY(kernel, x.heads * x.length);
    ARRAY(score, x.heads * x.length);
    ARRAY(parts, x.heads * x.pairs * 2);
    ARRAY(queries, x.n_queries);
    ARRAY(query_bias, x.heads * x.n_queries * x.length);
    ARRAY(tensors, x.n_tensors);
    ARRAY(params, x.n_params);
    ARRAY(learned, x.n_learned);
    ARRAY(learned_grads, x.n_learned);
    ARRAY(entries, x.n_entries);
    ARRAY(entry_grads, x.n_entries);
    REST;
}

static bool same_eval(struct pw_ev_eval x, struct pw_ev_eval y)
{
    ARRAY(rows, x.n);
    ARRAY(pairs, x.n_pairs);
    ARRAY(outcomes, x.n_words);
    ARRAY(losses, x.n_losses);
    ARRAY(sampled, x.n_sampled);
    REST;
}

static bool same_failing(struct pw_ev_failing x, struct pw_ev_failing y)
{
    ARRAY(list, x.n);
    REST;
}

static bool same_patch(struct pw_ev_patch x, struct pw_ev_patch y)
{
    ARRAY(recovery, x.rows * x.cols);
    ARRAY(clean, x.T);
    ARRAY(corrupt, x.T);
    REST;
}

static bool same_heads(struct pw_ev_heads x, struct pw_ev_heads y)
{
    ARRAY(mode, x.layers * x.heads);
    REST;
}

static bool same_finding(struct pw_finding x, struct pw_finding y)
{
    ARRAY(blocks, x.n_blocks);
    ARRAY(values, x.n_values);
    ARRAY(labels, x.n_labels);
    ARRAY(claims, x.n_claims);
    ARRAY(remarks, x.n_remarks);
    ARRAY(actions, x.n_actions);
    REST;
}

/* Compares sums over the halves of a series: by either pyramid, and by its points. */
static bool same_pyramid(const struct pw_series *x, const struct pw_series *y, int m)
{
    for (int i = 0; i < 2; i++) {
        int from = i * (x->n / 2), end = i == 0 ? x->n / 2 : x->n;
        struct pw_summary a = pw_pyramid_sum(&x->pyramid[m], x->v[m], from, end),
                          b = pw_pyramid_sum(&y->pyramid[m], y->v[m], from, end),
                          c = pw_pyramid_sum(NULL, y->v[m], from, end);
        if (a.n != c.n || b.n != c.n || a.lo != c.lo || b.lo != c.lo || a.hi != c.hi || b.hi != c.hi ||
            a.broken != c.broken || b.broken != c.broken || a.sum != c.sum || b.sum != c.sum)
            return false;
    }
    return true;
}

static bool same_series(const struct pw_series *x, const struct pw_series *y)
{
    size_t n = (size_t)x->n;
    bool same = x->n == y->n && same_array(x->step, y->step, n, sizeof *x->step) &&
                same_array(x->flops, y->flops, n, sizeof *x->flops) &&
                same_array(x->ms, y->ms, n, sizeof *x->ms);
    for (int m = 0; same && m < PW_METRICS; m++)
        same = same_array(x->v[m], y->v[m], n, sizeof *x->v[m]) && same_pyramid(x, y, m);
    return same;
}

static bool same_track(const struct pw_track *x, const struct pw_track *y)
{
    size_t n = (size_t)x->n;
    return x->n == y->n && same_array(x->step, y->step, n, sizeof *x->step) &&
           same_array(x->flops, y->flops, n, sizeof *x->flops) &&
           same_array(x->ms, y->ms, n, sizeof *x->ms) &&
           same_array(x->in_range, y->in_range, n, sizeof *x->in_range) &&
           same_array(x->beyond, y->beyond, n, sizeof *x->beyond) &&
           same_array(x->held, y->held, n, sizeof *x->held) &&
           same_array(x->held_beyond, y->held_beyond, n, sizeof *x->held_beyond);
}

static bool same_updates(const struct pw_updates *x, const struct pw_updates *y)
{
    size_t n = (size_t)x->n;
    return x->n == y->n && x->blocks == y->blocks && same_array(x->step, y->step, n, sizeof *x->step) &&
           same_array(x->ratio, y->ratio, n * (size_t)x->blocks, sizeof *x->ratio);
}

#define SAME(field) (memcmp(&a->field, &b->field, sizeof a->field) == 0)
#define DIFFERS(what)                                                                                        \
    do {                                                                                                     \
        snprintf(where, sizeof where, "%s", what);                                                           \
        return where;                                                                                        \
    } while (0)

static const char *same_replica(const struct pw_replica_view *a, const struct pw_replica_view *b)
{
    if (!same_series(&a->series, &b->series))
        DIFFERS("series");
    if (!same_updates(&a->updates, &b->updates))
        DIFFERS("updates");
    if (!same_track(&a->track, &b->track))
        DIFFERS("track");
    if (!same_eval(a->eval, b->eval) || !SAME(eval_step) || !SAME(eval_seq))
        DIFFERS("eval");
    if (!same_eval(a->eval_before, b->eval_before) || !SAME(eval_before_step) || !SAME(eval_before_seq))
        DIFFERS("eval_before");
    if (!same_heads(a->heads_off, b->heads_off) || !SAME(heads_off_seq))
        DIFFERS("heads_off");
    if (!SAME(heads_changed) || !SAME(eval_off))
        DIFFERS("heads_changed");
    if (!SAME(has_digest) || !SAME(digest) || !SAME(digest_step))
        DIFFERS("digest");
    return NULL;
}

/* Compares kept attention: a moment of a recorded session has the scores, not the maps. */
static bool same_kept(const struct pw_kept *x, const struct pw_kept *y)
{
    bool same = x->n == y->n && x->bytes == y->bytes;
    for (int i = 0; same && i < x->n; i++) {
        const struct pw_kept_map *a = &x->map[i], *b = &y->map[i];
        size_t n = (size_t)a->a.layers * a->a.heads * a->a.n_scores;
        same = a->seq == b->seq && a->step == b->step && a->bytes == b->bytes && a->a.T == b->a.T &&
               a->a.layers == b->a.layers && a->a.heads == b->a.heads && a->a.n_scores == b->a.n_scores &&
               memcmp(a->a.kinds, b->a.kinds, sizeof a->a.kinds) == 0 &&
               same_array(a->a.scores, b->a.scores, n, sizeof *a->a.scores);
    }
    return same;
}

static bool same_course(const struct pw_course *x, const struct pw_course *y)
{
    bool same = x->n == y->n && (x->n == 0 || (x->replica == y->replica && x->values == y->values));
    for (int i = 0; same && i < x->n; i++) {
        const struct pw_course_point *a = &x->point[i], *b = &y->point[i];
        same =
            a->seq == b->seq && a->step == b->step && same_array(a->v, b->v, (size_t)x->values, sizeof *a->v);
    }
    return same;
}

static const char *same_arm(const struct pw_arm_view *a, const struct pw_arm_view *b)
{
    if (!SAME(used) || !SAME(info))
        DIFFERS("info");
    if (!SAME(pe_seq) || !SAME(n_marks) ||
        memcmp(a->marks, b->marks, (size_t)a->n_marks * sizeof *a->marks) != 0)
        DIFFERS("marks");
    if (!SAME(has_table) || !same_table(a->table, b->table) || !SAME(table_step) || !SAME(table_seq))
        DIFFERS("table");
    if (!same_kept(&a->kept, &b->kept))
        DIFFERS("kept maps");
    if (!same_course(&a->course, &b->course))
        DIFFERS("learned parameters over training");
    for (int r = 0; r < PW_MAX_REPLICAS; r++) {
        const char *what = same_replica(&a->rep[r], &b->rep[r]);
        if (what != NULL)
            return what;
    }
    return NULL;
}

static bool same_log(const struct pw_snapshot *a, const struct pw_snapshot *b)
{
    if (a->n_log != b->n_log)
        return false;
    for (int64_t i = a->n_log > PW_LOG_LINES ? a->n_log - PW_LOG_LINES : 0; i < a->n_log; i++) {
        const struct pw_log_line *x = &a->log[i % PW_LOG_LINES], *y = &b->log[i % PW_LOG_LINES];
        if (x->kind != y->kind || x->seq != y->seq || x->t_ns != y->t_ns || strcmp(x->text, y->text) != 0)
            return false;
    }
    return true;
}

const char *same_snapshot(const struct pw_snapshot *a, const struct pw_snapshot *b)
{
    if (!SAME(seq) || !SAME(began_ns) || !SAME(current) || !SAME(dropped))
        DIFFERS("seq, began, current or dropped");
    if (!SAME(lab) || !SAME(state) || !SAME(job))
        DIFFERS("lab, state or job");
    if (!SAME(has_prompt) || !SAME(decoded) || !SAME(prompt_arm) || !SAME(prompt_step) || !SAME(prompt_seq) ||
        !same_prompt(a->prompt, b->prompt))
        DIFFERS("prompt");
    if (!SAME(n_tokens) || !same_array(a->tokens, b->tokens, (size_t)a->n_tokens, sizeof *a->tokens))
        DIFFERS("tokens");
    if (!SAME(has_cursor) || !SAME(cursor))
        DIFFERS("cursor");
    if (!SAME(has_look) || !SAME(look_seq) || !same_look(a->look, b->look))
        DIFFERS("look");
    if (!SAME(has_attention) || !SAME(attention_arm) || !SAME(attention_step) || !SAME(attention_seq) ||
        !same_attention(a->attention, b->attention))
        DIFFERS("attention");
    if (!SAME(has_foreign) || !SAME(foreign_seq) || !same_attention(a->foreign, b->foreign))
        DIFFERS("attention of a file");
    if (!SAME(has_patch) || !SAME(patch_arm) || !SAME(patch_step) || !SAME(patch_seq) ||
        !same_patch(a->patch, b->patch))
        DIFFERS("patch");
    if (!SAME(failing_arm) || !SAME(failing_step) || !SAME(failing_seq) ||
        !same_failing(a->failing, b->failing))
        DIFFERS("failing");
    for (int i = 0; i < PW_MAX_FINDINGS; i++)
        if (!SAME(findings[i].f_seq) || !SAME(findings[i].arm) || !SAME(findings[i].step) ||
            !same_finding(a->findings[i].f, b->findings[i].f))
            DIFFERS("findings");
    if (!SAME(n_ticks) || memcmp(a->ticks, b->ticks, (size_t)a->n_ticks * sizeof *a->ticks) != 0)
        DIFFERS("ticks");
    if (!same_log(a, b))
        DIFFERS("log");
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        const char *what = same_arm(&a->arms[i], &b->arms[i]);
        if (what != NULL) {
            char text[64];
            snprintf(text, sizeof text, "%.40s", what);
            snprintf(where, sizeof where, "arm %d: %s", i + 1, text);
            return where;
        }
    }
    return NULL;
}
