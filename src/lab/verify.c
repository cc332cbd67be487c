/* verify.c - two events bit by bit: what was recorded, and what the lab tells now.
 *
 * A recording keeps floats by their bits, so equal means equal bits (any NaN is like any other: codec.h).
 * What comes from the C library's functions (entropies) is not compared: class portable doesn't cover it. */
#include "lab/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum type { F32, F64, F16, I32, I64, BITS, BYTE };

static const size_t sizes[] = {[F32] = 4, [F64] = 8, [F16] = 2, [I32] = 4, [I64] = 8, [BITS] = 8, [BYTE] = 1};

bool pw_verify_takes(enum pw_event_kind kind)
{
    switch (kind) {
    case PW_EV_STEP:
    case PW_EV_UPDATES:
    case PW_EV_DIGEST:
    case PW_EV_EVAL:
    case PW_EV_FAILING:
    case PW_EV_PROMPT:
    case PW_EV_TOKEN:
    case PW_EV_CURSOR:
    case PW_EV_LOOK:
    case PW_EV_ATTENTION:
    case PW_EV_TABLE:
    case PW_EV_HEADS:
    case PW_EV_PATCH:
    case PW_EV_FINDING: return true;
    default: return false;
    }
}

bool pw_verify_is(const struct pw_event *want, const struct pw_event *got)
{
    int r = want->replicate > 0 ? want->replicate : 1, s = got->replicate > 0 ? got->replicate : 1;
    if (want->kind != got->kind || want->arm != got->arm || r != s || want->step != got->step)
        return false;
    switch (want->kind) {
    case PW_EV_EVAL: return want->u.eval.live == got->u.eval.live;
    case PW_EV_TOKEN:
        return want->u.token.prompt == got->u.token.prompt && want->u.token.pos == got->u.token.pos;
    default: return true;
    }
}

/* ---- the first difference */

struct both {
    struct pw_verdict *v;
    const struct pw_event *want;
};

static const char *name_of(enum pw_event_kind kind)
{
    static const char *const names[PW_EV_KINDS] = {
        [PW_EV_COMMAND] = "command", [PW_EV_STEP] = "step",           [PW_EV_UPDATES] = "updates",
        [PW_EV_DIGEST] = "digest",   [PW_EV_EVAL] = "evaluation",     [PW_EV_FAILING] = "failing examples",
        [PW_EV_PROMPT] = "prompt",   [PW_EV_TOKEN] = "token",         [PW_EV_CURSOR] = "cursor",
        [PW_EV_LOOK] = "look",       [PW_EV_ATTENTION] = "attention", [PW_EV_TABLE] = "table",
        [PW_EV_HEADS] = "heads",     [PW_EV_PATCH] = "patch",         [PW_EV_ERROR] = "error",
        [PW_EV_FINDING] = "finding",
    };
    return names[kind] != NULL ? names[kind] : "event";
}

/* "arm 1, replicate 2, step 78" */
static void place_of(char dst[64], const struct pw_event *e)
{
    char replicate[24] = "";
    if (e->replicate > 1)
        snprintf(replicate, sizeof replicate, ", replicate %d", e->replicate);
    if (e->arm > 0)
        snprintf(dst, 64, "arm %d%s, step %" PRId64, e->arm, replicate, e->step);
    else
        snprintf(dst, 64, "event %" PRIu64, e->seq);
}

static void differs(struct pw_verdict *v, const struct pw_event *want)
{
    v->end = PW_FOLLOW_DIFFERENT;
    v->seq = want->seq;
    v->kind = want->kind;
    v->arm = want->arm;
    v->replicate = want->replicate;
    v->step = want->step;
}

void pw_verify_missing(struct pw_verdict *v, const struct pw_event *want, const char *why)
{
    char place[64], what[96] = "";
    differs(v, want);
    place_of(place, want);
    if (want->kind == PW_EV_COMMAND)
        pw_text_copy(what, sizeof what, want->u.command.text);
    snprintf(v->text, sizeof v->text, "%s: the %s%s%s%s that was recorded there does not come: %.200s", place,
             name_of(want->kind), what[0] != '\0' ? " '" : "", what, what[0] != '\0' ? "'" : "", why);
}

static uint64_t bits_of(enum type t, const void *p)
{
    uint64_t bits = 0;
    memcpy(&bits, p, sizes[t]); /* little-endian, as all machines that this runs on */
    return bits;
}

static double value_of(enum type t, const void *p)
{
    float f = NAN;
    double d = NAN;
    if (t == F32)
        memcpy(&f, p, sizeof f);
    else if (t == F64)
        memcpy(&d, p, sizeof d);
    else if (t == F16)
        f = pw_from_half((uint16_t)bits_of(t, p));
    return t == F64 ? d : (double)f;
}

static void value_text(char dst[64], enum type t, const void *p)
{
    uint64_t bits = bits_of(t, p);
    switch (t) {
    case F32: snprintf(dst, 64, "%.9g (0x%08" PRIx64 ")", value_of(t, p), bits); break;
    case F64: snprintf(dst, 64, "%.17g (0x%016" PRIx64 ")", value_of(t, p), bits); break;
    case F16: snprintf(dst, 64, "%.5g (0x%04" PRIx64 ")", value_of(t, p), bits); break;
    case I32: snprintf(dst, 64, "%d", (int)(int32_t)bits); break;
    case I64: snprintf(dst, 64, "%" PRId64, (int64_t)bits); break;
    case BITS: snprintf(dst, 64, "0x%016" PRIx64, bits); break;
    case BYTE: snprintf(dst, 64, "%d", (int)bits); break;
    }
}

static bool differ(const struct both *b, const char *what, const char *recorded, const char *now)
{
    struct pw_verdict *v = b->v;
    char place[64];
    differs(v, b->want);
    place_of(place, b->want);
    snprintf(v->what, sizeof v->what, "%s", what);
    snprintf(v->recorded, sizeof v->recorded, "%s", recorded);
    snprintf(v->now, sizeof v->now, "%s", now);
    snprintf(v->text, sizeof v->text, "%s: %s: %s was %s when it was recorded and is %s now", place,
             name_of(v->kind), v->what, v->recorded, v->now);
    return false;
}

static bool equal(enum type t, const void *a, const void *b)
{
    bool nan = t <= F16 && isnan(value_of(t, a)) && isnan(value_of(t, b));
    return nan || memcmp(a, b, sizes[t]) == 0;
}

/* Arrays [n] of which either may be NULL: not there. */
static bool same(const struct both *b, const char *what, enum type t, const void *want, const void *got,
                 int64_t n)
{
    if (want == NULL || got == NULL)
        return want == got || n == 0 ||
               differ(b, what, want != NULL ? "there" : "not there", got != NULL ? "there" : "not there");
    for (int64_t i = 0; i < n; i++) {
        const void *x = (const char *)want + (size_t)i * sizes[t],
                   *y = (const char *)got + (size_t)i * sizes[t];
        char at[64], recorded[64], now[64];
        if (equal(t, x, y))
            continue;
        if (n > 1)
            snprintf(at, sizeof at, "%.40s [%" PRId64 "]", what, i);
        else
            snprintf(at, sizeof at, "%.60s", what);
        value_text(recorded, t, x);
        value_text(now, t, y);
        return differ(b, at, recorded, now);
    }
    return true;
}

static bool same_text(const struct both *b, const char *what, const char *want, const char *got)
{
    char recorded[64], now[64];
    if (strcmp(want, got) == 0)
        return true;
    snprintf(recorded, sizeof recorded, "'%.60s'", want);
    snprintf(now, sizeof now, "'%.60s'", got);
    return differ(b, what, recorded, now);
}

/* ---- kind by kind; w: recorded, g: now */

#define ONE(what, type, member)     same(b, what, type, &w->member, &g->member, 1)
#define MANY(what, type, member, n) same(b, what, type, w->member, g->member, n)

static bool same_step(const struct both *b, const struct pw_ev_step *w, const struct pw_ev_step *g)
{
    return ONE("loss", F32, loss) && ONE("accuracy", F32, accuracy) && ONE("lr", F32, lr) &&
           ONE("grad_norm", F32, grad_norm) && ONE("flops", F64, flops);
}

static bool same_updates(const struct both *b, const struct pw_ev_updates *w, const struct pw_ev_updates *g)
{
    return ONE("number of blocks", I32, n) && MANY("ratio of block", F32, ratio, w->n);
}

static bool same_digest(const struct both *b, const uint64_t w[2], const uint64_t g[2])
{
    char recorded[33], now[33];
    if (w[0] == g[0] && w[1] == g[1])
        return true;
    pw_digest_text(recorded, w);
    pw_digest_text(now, g);
    return differ(b, "digest", recorded, now);
}

static bool same_row(const struct both *b, const struct pw_eval_row *w, const struct pw_eval_row *g)
{
    static const char *const names[] = {"samples", "exact", "tokens right", "first errors", "teacher-forced"};
    char at[5][64];
    for (int i = 0; i < 5; i++)
        snprintf(at[i], sizeof at[i], "%s at length %d", names[i], w->length);
    return ONE("task of a row", I32, task) && ONE("length of a row", I32, length) &&
           ONE(at[0], I32, samples) && ONE(at[1], I32, exact) && ONE("tokens", I64, tokens) &&
           ONE(at[2], I64, tokens_right) && ONE("chance", F32, chance) &&
           ONE("what samples are judged by", I32, judge) && ONE(at[4], I32, taught) &&
           MANY(at[3], I32, errors, PW_ERRORS) && MANY(at[3], I32, places, PW_PLACES);
}

static bool same_eval(const struct both *b, const struct pw_ev_eval *w, const struct pw_ev_eval *g)
{
    bool well = ONE("rows", I32, n) && ONE("pairs", I32, n_pairs) && ONE("words of outcomes", I32, n_words) &&
                ONE("draw", BITS, draw);
    for (int i = 0; well && i < w->n; i++)
        well = same_row(b, &w->rows[i], &g->rows[i]);
    for (int i = 0; well && i < w->n_pairs; i++)
        well = ONE("length of a pair", I32, pairs[i].a) && ONE("length of a pair", I32, pairs[i].b) &&
               ONE("samples of a pair", I32, pairs[i].samples) &&
               ONE("exact of a pair", I32, pairs[i].exact) && ONE("tokens of a pair", I64, pairs[i].tokens) &&
               ONE("tokens right of a pair", I64, pairs[i].tokens_right) &&
               ONE("teacher-forced of a pair", I32, pairs[i].taught);
    return well && MANY("outcomes", BITS, outcomes, w->n_words);
}

static bool same_failing(const struct both *b, const struct pw_ev_failing *w, const struct pw_ev_failing *g)
{
    bool well = ONE("task", I32, task) && ONE("length", I32, length) && ONE("failed", I32, failed) &&
                ONE("samples", I32, samples) && ONE("step of the evaluation", I64, eval_step) &&
                ONE("examples", I32, n);
    for (int i = 0; well && i < w->n; i++)
        well = ONE("sample", I32, list[i].index) && ONE("kind of error", I32, list[i].kind) &&
               ONE("place of the error", I32, list[i].place) &&
               same_text(b, "answer", w->list[i].model, g->list[i].model);
    return well;
}

static bool same_prompt(const struct both *b, const struct pw_ev_prompt *w, const struct pw_ev_prompt *g)
{
    return ONE("prompt", I32, id) && ONE("tokens of the prompt", I32, n_prompt) && ONE("tokens", I32, n) &&
           MANY("token", I32, tokens, w->n) && ONE("task", I32, task) && ONE("length", I32, length) &&
           ONE("sample", I64, sample);
}

static bool same_token(const struct both *b, const struct pw_ev_token *w, const struct pw_ev_token *g)
{
    char at[3][64];
    static const char *const names[] = {"token", "logit", "probability"};
    for (int i = 0; i < 3; i++)
        snprintf(at[i], sizeof at[i], "%s at position %d", names[i], w->pos);
    return ONE("prompt", I32, prompt) && ONE("position", I32, pos) && ONE(at[0], I32, token) &&
           ONE(at[1], F32, logit) && ONE(at[2], F32, prob) && ONE("candidates", I32, n_top) &&
           MANY("candidate's probability", F32, top_prob, w->n_top) && ONE("right", BYTE, right) &&
           ONE("last", BYTE, last) && ONE("exact", BYTE, exact) && ONE("edited", BYTE, edited);
}

static bool same_look(const struct both *b, const struct pw_ev_look *w, const struct pw_ev_look *g)
{
    bool well = ONE("prompt", I32, prompt) && ONE("position", I32, pos) && ONE("candidates", I32, n) &&
                ONE("parts", I32, n_parts) && ONE("layers", I32, layers) &&
                ONE("mean logit", F32, mean_logit);
    for (int i = 0; well && i < w->n; i++)
        well = ONE("candidate", I32, token[i].token) && ONE("candidate's logit", F32, token[i].logit) &&
               ONE("candidate's probability", F32, token[i].prob);
    return well && MANY("part", F64, part, (int64_t)w->n_parts * w->n) &&
           MANY("mean part", F64, mean, w->n_parts) &&
           MANY("logit lens", F32, lens_prob, (int64_t)(w->layers + 1) * w->n);
}

static bool same_attention(const struct both *b, const struct pw_ev_attention *w,
                           const struct pw_ev_attention *g)
{
    int64_t head = (int64_t)w->T * w->T;
    return ONE("prompt", I32, prompt) && ONE("positions", I32, T) && ONE("layers", I32, layers) &&
           ONE("heads", I32, heads) && ONE("layer", I32, layer) && ONE("head", I32, head) &&
           MANY("attention", F16, probs, head * w->layers * w->heads) && MANY("score", F16, score, head) &&
           MANY("content", F16, content, head) && MANY("bias", F16, bias, head) &&
           MANY("terms", F16, terms, 4 * head) && same_text(b, "source", w->source, g->source) &&
           MANY("all scores", F16, all_scores, head * w->layers * w->heads);
}

static bool same_table(const struct both *b, const struct pw_ev_table *w, const struct pw_ev_table *g)
{
    int64_t N = w->length, H = w->heads;
    bool by_bucket = w->n_buckets > 0;
    return same_text(b, "encoding", w->pe, g->pe) && ONE("length", I32, length) && ONE("heads", I32, heads) &&
           ONE("width", I32, width) && ONE("buckets", I32, n_buckets) && ONE("layer", I32, layer) &&
           MANY("bucket", I32, bucket, N) && MANY("bucket's bias", F32, bucket_bias, w->n_buckets * H) &&
           MANY("bias", F32, bias, H * N) && MANY("added row", F32, added, N * w->width) &&
           MANY("pairs met", I64, met, N) && MANY("rows met", I64, rows, N) &&
           ONE("steps of the gradient", I64, n_grad) &&
           MANY("gradient", F32, grad, by_bucket ? w->n_buckets * H : N) &&
           ONE("samples of the kernel", I32, n_kernel) && MANY("kernel", F32, kernel, H * N) &&
           MANY("mean score", F32, score, H * N) && ONE("queries", I32, n_queries) &&
           MANY("query", I32, queries, w->n_queries) &&
           MANY("bias of a query", F32, query_bias, H * w->n_queries * N) && ONE("FIRE's c", F32, fire_c) &&
           ONE("FIRE's factor", F32, fire_factor);
}

static bool same_heads(const struct both *b, const struct pw_ev_heads *w, const struct pw_ev_heads *g)
{
    return ONE("layers", I32, layers) && ONE("heads", I32, heads) &&
           MANY("mode of head", BYTE, mode, (int64_t)w->layers * w->heads);
}

static bool same_patch(const struct both *b, const struct pw_ev_patch *w, const struct pw_ev_patch *g)
{
    return ONE("rows", I32, rows) && ONE("columns", I32, cols) && ONE("clean difference", F32, m_clean) &&
           ONE("corrupt difference", F32, m_corrupt) &&
           MANY("recovery", F32, recovery, (int64_t)w->rows * w->cols);
}

static bool same_block(const struct both *b, const struct pw_finding *w, const struct pw_finding *g, int i)
{
    char what[32];
    snprintf(what, sizeof what, "name in block %d", i);
    bool well = ONE("kind of block", I32, blocks[i].kind) && ONE("rows", I32, blocks[i].rows) &&
                ONE("columns", I32, blocks[i].cols) && ONE("names", I32, blocks[i].n_labels) &&
                same_text(b, "title of block", w->blocks[i].title, g->blocks[i].title);
    for (int k = 0; well && k < w->blocks[i].n_labels; k++)
        well = same_text(b, what, w->labels[w->blocks[i].label + k], g->labels[g->blocks[i].label + k]);
    return well;
}

static bool same_finding(const struct both *b, const struct pw_finding *w, const struct pw_finding *g)
{
    bool well = same_text(b, "name", w->name, g->name) && same_text(b, "topic", w->topic, g->topic) &&
                same_text(b, "title", w->title, g->title) && ONE("blocks", I32, n_blocks) &&
                ONE("values", I32, n_values) && ONE("names", I32, n_labels) && ONE("claims", I32, n_claims) &&
                ONE("remarks", I32, n_remarks) && MANY("value", F64, values, w->n_values);
    for (int i = 0; well && i < w->n_blocks; i++)
        well = same_block(b, w, g, i);
    for (int i = 0; well && i < w->n_claims; i++)
        well = ONE("verdict", I32, claims[i].verdict) &&
               same_text(b, "claim", w->claims[i].found, g->claims[i].found);
    for (int i = 0; well && i < w->n_remarks; i++)
        well = same_text(b, "remark", w->remarks[i].text, g->remarks[i].text);
    return well;
}

bool pw_verify_same(struct pw_verdict *v, const struct pw_event *want, const struct pw_event *got)
{
    const struct both both = {v, want}, *b = &both;
    int64_t *count = &v->others;
    bool well = true;
    switch (want->kind) {
    case PW_EV_STEP:
        well = same_step(b, &want->u.step, &got->u.step);
        count = &v->steps;
        break;
    case PW_EV_UPDATES: well = same_updates(b, &want->u.updates, &got->u.updates); break;
    case PW_EV_DIGEST:
        well = same_digest(b, want->u.digest, got->u.digest);
        count = &v->digests;
        break;
    case PW_EV_EVAL:
        well = same_eval(b, &want->u.eval, &got->u.eval);
        count = &v->evals;
        break;
    case PW_EV_FAILING: well = same_failing(b, &want->u.failing, &got->u.failing); break;
    case PW_EV_PROMPT: well = same_prompt(b, &want->u.prompt, &got->u.prompt); break;
    case PW_EV_TOKEN:
        well = same_token(b, &want->u.token, &got->u.token);
        count = &v->tokens;
        break;
    case PW_EV_CURSOR: well = same_token(b, &want->u.cursor.at, &got->u.cursor.at); break;
    case PW_EV_LOOK: well = same_look(b, &want->u.look, &got->u.look); break;
    case PW_EV_ATTENTION: well = same_attention(b, &want->u.attention, &got->u.attention); break;
    case PW_EV_TABLE: well = same_table(b, &want->u.table, &got->u.table); break;
    case PW_EV_HEADS: well = same_heads(b, &want->u.heads, &got->u.heads); break;
    case PW_EV_PATCH: well = same_patch(b, &want->u.patch, &got->u.patch); break;
    case PW_EV_FINDING: well = same_finding(b, &want->u.finding, &got->u.finding); break;
    default: break;
    }
    *count += well;
    return well;
}

void pw_verify_failed(struct pw_verdict *v, uint64_t seq, const char *why)
{
    v->end = PW_FOLLOW_DIFFERENT;
    v->seq = seq;
    v->kind = PW_EV_ERROR;
    snprintf(v->text, sizeof v->text,
             "event %" PRIu64 ": a command fails that did not fail when it was recorded: %s", seq, why);
}

void pw_verify_end(struct pw_verdict *v, enum pw_follow_end end, uint64_t seq)
{
    v->end = end;
    v->seq = seq;
    snprintf(v->text, sizeof v->text,
             "%s: %" PRId64 " commands done again; %" PRId64 " steps, %" PRId64 " digests, %" PRId64
             " evaluations, %" PRId64 " tokens, %" PRId64 " other results and %" PRId64
             " models of checkpoints have the recorded bits",
             end == PW_FOLLOW_EQUAL ? "equal" : "stopped, equal so far", v->commands, v->steps, v->digests,
             v->evals, v->tokens, v->others, v->models);
}
