/* ref_history.c - random histories that contain every event of an arm. Most orders are impossible in a lab.
 * Arrays have random bytes, so numbers may be NaN. */
#include "ref_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

struct happening {
    uint64_t seq;
    int64_t t_ns, step;
    enum pw_event_kind kind;
    int arm, replica, prompt;
    bool restarted;
    int swaps;
};

static struct {
    uint64_t seed;
    int n;
    struct happening *all;
} history;

/* The share of each kind, per thousand events. */
static const struct {
    enum pw_event_kind kind;
    int share;
} shares[] = {{PW_EV_STEP, 320},  {PW_EV_UPDATES, 60}, {PW_EV_EVAL, 90},      {PW_EV_DIGEST, 20},
              {PW_EV_TOKEN, 100}, {PW_EV_PROMPT, 15},  {PW_EV_ATTENTION, 40}, {PW_EV_CURSOR, 10},
              {PW_EV_LOOK, 15},   {PW_EV_TABLE, 20},   {PW_EV_JOB, 10},       {PW_EV_STATE, 20},
              {PW_EV_LAB, 8},     {PW_EV_ARM, 22},     {PW_EV_DROP, 4},       {PW_EV_HEADS, 10},
              {PW_EV_PATCH, 10},  {PW_EV_FAILING, 8},  {PW_EV_COMMAND, 40},   {PW_EV_NOTE, 30},
              {PW_EV_ERROR, 5},   {PW_EV_MARK, 10},    {PW_EV_CHECKPOINT, 8}, {PW_EV_GAP, 5},
              {PW_EV_ASKED, 10},  {PW_EV_FILE, 10},    {PW_EV_FINDING, 100}};

static enum pw_event_kind some_kind(struct pw_rng *r)
{
    int at = (int)pw_rng_below(r, 1000);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        at -= shares[i].share;
        if (at < 0)
            return shares[i].kind;
    }
    return PW_EV_NOTE;
}

void history_make(uint64_t seed, int n)
{
    struct pw_rng r;
    int64_t step[PW_MAX_ARMS + 2] = {0}, t = 1000000000;
    int swaps[PW_MAX_ARMS + 2] = {0}, prompt = 1;
    uint64_t seq = 0;
    free(history.all);
    history.seed = seed;
    history.n = n;
    history.all = pw_alloc((size_t)n, sizeof *history.all);
    pw_rng_init(&r, seed, PW_STREAM_TEST, 0);
    for (int i = 0; i < n; i++) {
        struct happening *h = &history.all[i];
        seq += 1 + (pw_rng_below(&r, 8) == 0); /* events that aren't recorded leave gaps */
        t += pw_rng_below(&r, 20) == 0 ? -3000000 : (int64_t)pw_rng_below(&r, 9000000);
        h->seq = seq;
        h->t_ns = t;
        h->kind = i < 3 ? PW_EV_ARM : some_kind(&r);
        h->arm = i < 3                            ? i + 1
                 : (int)pw_rng_below(&r, 40) == 0 ? (int)pw_rng_below(&r, 10)
                                                  : 1 + (int)pw_rng_below(&r, 3);
        h->replica = seed % 2 == 0 ? 0 : (int)pw_rng_below(&r, 4);
        h->restarted = i < 3 || pw_rng_below(&r, 5) == 0;
        if (h->kind == PW_EV_ARM && h->restarted)
            step[h->arm] = pw_rng_below(&r, 3) == 0 ? (int64_t)pw_rng_below(&r, 50) : 0, swaps[h->arm] = 0;
        else if (h->kind == PW_EV_ARM)
            swaps[h->arm] += pw_rng_below(&r, 2) == 0;
        if (h->kind == PW_EV_STEP)
            step[h->arm] += pw_rng_below(&r, 60) == 0 ? -(int64_t)pw_rng_below(&r, 12) : 1;
        h->step = step[h->arm];
        h->swaps = swaps[h->arm];
        prompt += h->kind == PW_EV_PROMPT && pw_rng_below(&r, 3) > 0;
        h->prompt = prompt - (pw_rng_below(&r, 20) == 0);
    }
}

int history_length(void)
{
    return history.n;
}

uint64_t history_seq(int i)
{
    return history.all[i].seq;
}

/* ---- events: arrays have random contents; optional ones are present half of the time */

static void *some(struct pw_rng *r, int n, size_t size)
{
    unsigned char *p = pw_alloc((size_t)n, size);
    for (size_t i = 0; i < (size_t)n * size; i++)
        p[i] = (unsigned char)pw_rng_u32(r);
    return p;
}

static void *perhaps(struct pw_rng *r, int n, size_t size)
{
    return pw_rng_below(r, 2) == 0 ? NULL : some(r, n, size);
}

static void make_arm(struct pw_ev_arm *a, const struct happening *h, struct pw_rng *r)
{
    a->id = h->arm;
    a->current = pw_rng_below(r, 3) == 0;
    snprintf(a->name, sizeof a->name, "t5");
    snprintf(a->pe, sizeof a->pe, "t5 buckets=%d", 8 + h->swaps);
    a->replicas = (int)pw_rng_below(r, 5);
    a->step = h->step;
    a->swaps = h->swaps;
    a->restarted = h->restarted;
}

static void make_eval(struct pw_ev_eval *v, struct pw_rng *r)
{
    v->n = 1 + (int)pw_rng_below(r, 4);
    v->rows = pw_alloc((size_t)v->n, sizeof *v->rows);
    for (int i = 0; i < v->n; i++) {
        v->rows[i].length = 2 + 3 * i;
        v->rows[i].samples = 10;
        v->rows[i].exact = (int)pw_rng_below(r, 11);
    }
    v->n_pairs = 2;
    v->pairs = perhaps(r, 2, sizeof *v->pairs);
    v->n_words = 3;
    v->outcomes = some(r, 3, sizeof *v->outcomes);
    v->live = pw_rng_below(r, 4) > 0;
}

static void make_attention(struct pw_ev_attention *a, const struct happening *h, struct pw_rng *r)
{
    a->prompt = h->prompt;
    a->T = 1 + (int)pw_rng_below(r, 4);
    a->layers = 1, a->heads = 2;
    int map = a->T * a->T;
    a->labels = some(r, a->T, sizeof *a->labels);
    if (pw_rng_below(r, 3) > 0) {
        a->probs = some(r, 2 * map, sizeof *a->probs);
    } else {
        a->pool = 2, a->side = (a->T + 1) / 2;
        a->pooled = some(r, 2 * a->side * a->side, sizeof *a->pooled);
        a->map = some(r, map, sizeof *a->map);
    }
    a->score = some(r, map, sizeof *a->score);
    a->content = some(r, map, sizeof *a->content);
    a->bias = some(r, map, sizeof *a->bias);
    a->terms = perhaps(r, 4 * map, sizeof *a->terms);
    a->asked = pw_rng_below(r, 2) == 0;
    a->n_gold = 1;
    a->gold = some(r, 1, sizeof *a->gold);
    a->n_scores = 2;
    a->scores = some(r, 4, sizeof *a->scores);
    if (pw_rng_below(r, 4) == 0) {
        snprintf(a->source, sizeof a->source, "theirs %u.npz", pw_rng_below(r, 3));
        a->all_scores = perhaps(r, 2 * map, sizeof *a->all_scores);
        if (pw_rng_below(r, 3) == 0) /* the map is gone */
            a->T = a->pool = a->side = 0;
    }
}

/* A number of each head and a table, sometimes also a second number: then a course over training ends. */
static void make_params(struct pw_ev_table *t, struct pw_rng *r)
{
    static const struct pw_table_param params[] = {
        {"a", 1, 2, 1, 0, -1, 0}, {"T", 1, 1, 3, 2, 0, 0}, {"b", 1, 1, 1, 3, -1, 0}};
    t->n_params = 2 + (pw_rng_below(r, 8) == 0);
    t->n_learned = t->n_params + 1, t->n_entries = 3;
    t->params = some(r, t->n_params, sizeof *t->params);
    memcpy(t->params, params, (size_t)t->n_params * sizeof *params);
    t->param_steps = 10;
    t->learned = some(r, t->n_learned, sizeof *t->learned);
    t->learned_grads = perhaps(r, t->n_learned, sizeof *t->learned_grads);
    t->entries = some(r, 3, sizeof *t->entries);
    t->entry_grads = perhaps(r, 3, sizeof *t->entry_grads);
}

static void make_table(struct pw_ev_table *t, const struct happening *h, struct pw_rng *r)
{
    snprintf(t->pe, sizeof t->pe, "t5 buckets=%d", 8 + h->swaps);
    t->length = 1 + (int)pw_rng_below(r, 6);
    t->heads = 2, t->width = 3, t->pairs = 2, t->n_buckets = 3;
    t->bucket = perhaps(r, t->length, sizeof *t->bucket);
    t->bucket_from = perhaps(r, 4, sizeof *t->bucket_from);
    t->bucket_bias = perhaps(r, 6, sizeof *t->bucket_bias);
    t->bias = perhaps(r, 2 * t->length, sizeof *t->bias);
    t->slopes = perhaps(r, 2, sizeof *t->slopes);
    t->frequencies = perhaps(r, 2, sizeof *t->frequencies);
    t->added = perhaps(r, 3 * t->length, sizeof *t->added);
    t->met = perhaps(r, t->length, sizeof *t->met);
    t->rows = perhaps(r, t->length, sizeof *t->rows);
    t->grad = perhaps(r, 6, sizeof *t->grad);
    t->kernel = perhaps(r, 2 * t->length, sizeof *t->kernel);
    t->score = perhaps(r, 2 * t->length, sizeof *t->score);
    t->parts = perhaps(r, 8, sizeof *t->parts);
    if (t->length > 1) {
        t->n_queries = 2, t->n_tensors = 1;
        t->queries = some(r, 2, sizeof *t->queries);
        t->queries[0] = 0, t->queries[1] = t->length - 1;
        t->query_bias = perhaps(r, 2 * 2 * t->length, sizeof *t->query_bias);
        t->tensors = some(r, 1, sizeof *t->tensors);
        snprintf(t->tensors->name, sizeof t->tensors->name, "pe.c");
        t->tensors->rows = 0, t->tensors->cols = 1;
    }
    if (pw_rng_below(r, 3) > 0)
        make_params(t, r);
}

static void make_look(struct pw_ev_inspection *l, const struct happening *h, struct pw_rng *r)
{
    l->prompt = h->prompt;
    l->n = 2, l->n_parts = 3, l->layers = 1;
    l->token = some(r, 2, sizeof *l->token);
    l->parts = some(r, 3, sizeof *l->parts);
    l->part = some(r, 6, sizeof *l->part);
    l->mean = some(r, 3, sizeof *l->mean);
    l->lens = some(r, 2, sizeof *l->lens);
    l->lens_prob = some(r, 4, sizeof *l->lens_prob);
    l->lens_rank = some(r, 4, sizeof *l->lens_rank);
}

static void make_patch(struct pw_ev_patch *p, struct pw_rng *r)
{
    p->rows = 1 + (int)pw_rng_below(r, 2), p->cols = 1 + (int)pw_rng_below(r, 2);
    p->recovery = some(r, p->rows * p->cols, sizeof *p->recovery);
    p->T = 2;
    p->clean = some(r, 2, sizeof *p->clean);
    p->corrupt = some(r, 2, sizeof *p->corrupt);
    snprintf(p->text, sizeof p->text, "patch %u", pw_rng_below(r, 100));
}

/* Has more names and topics than a snapshot can hold. */
static void make_finding(struct pw_finding *f, struct pw_rng *r)
{
    char name[2] = {(char)('a' + pw_rng_below(r, 20)), '\0'},
         topic[2] = {(char)('1' + pw_rng_below(r, 8)), '\0'};
    pw_finding_init(f, name, topic, "found %u", pw_rng_u32(r));
    int b = pw_rng_below(r, 2) == 0 ? pw_finding_table(f, "table", 2, 1)
                                    : pw_finding_map(f, "map", 2, 2, 0, 1, pw_rng_below(r, 2) == 0);
    pw_finding_put(f, b, 1, 0, pw_rng_unit(r));
    if (pw_rng_below(r, 2) == 0)
        pw_finding_claim(f, (enum pw_claim_verdict)pw_rng_below(r, PW_CLAIM_VERDICTS), "a claim", "%u of 9",
                         pw_rng_below(r, 9));
    if (pw_rng_below(r, 2) == 0)
        pw_finding_remark(f, "a remark");
}

static void make_prompt(struct pw_ev_prompt *p, const struct happening *h, struct pw_rng *r)
{
    p->id = h->prompt;
    p->n = (int)pw_rng_below(r, 4);
    p->n_prompt = p->n;
    p->tokens = p->n > 0 ? some(r, p->n, sizeof *p->tokens) : NULL;
    p->labels = p->n > 0 ? some(r, p->n, sizeof *p->labels) : NULL;
    p->edited = p->n > 0 ? pw_alloc((size_t)p->n, sizeof *p->edited) : NULL;
}

static void make(struct pw_event *e, const struct happening *h, struct pw_rng *r)
{
    switch (e->kind) {
    case PW_EV_COMMAND: snprintf(e->u.command.text, PW_LINE, "train %u", pw_rng_below(r, 50)); break;
    case PW_EV_LAB:
        e->u.lab.n_tasks = 1;
        e->u.lab.tasks[0].train_lo = 2;
        e->u.lab.tasks[0].train_hi = 4 + (int)pw_rng_below(r, 6);
        break;
    case PW_EV_ARM: make_arm(&e->u.arm, h, r); break;
    case PW_EV_STATE: e->u.state.until = h->step + 10; break;
    case PW_EV_STEP:
        e->u.step.loss = (float)pw_rng_unit(r);
        e->u.step.flops = 1e6 * (double)h->step;
        break;
    case PW_EV_UPDATES:
        e->u.updates.n = 4 + (pw_rng_below(r, 30) == 0) - 5 * (pw_rng_below(r, 60) == 0);
        e->u.updates.ratio[0] = (float)pw_rng_unit(r);
        break;
    case PW_EV_DIGEST: e->u.digest[0] = pw_rng_u32(r); break;
    case PW_EV_EVAL: make_eval(&e->u.eval, r); break;
    case PW_EV_PROMPT: make_prompt(&e->u.prompt, h, r); break;
    case PW_EV_TOKEN:
        e->u.token.prompt = h->prompt;
        e->u.token.pos = 3 + (int)pw_rng_below(r, 12);
        e->u.token.prob = (float)pw_rng_unit(r);
        e->u.token.last = pw_rng_below(r, 4) == 0;
        break;
    case PW_EV_CURSOR: e->u.cursor.at.prompt = h->prompt; break;
    case PW_EV_LOOK: make_look(&e->u.look, h, r); break;
    case PW_EV_ATTENTION: make_attention(&e->u.attention, h, r); break;
    case PW_EV_TABLE: make_table(&e->u.table, h, r); break;
    case PW_EV_JOB: e->u.job.done = (int64_t)pw_rng_below(r, 9); break;
    case PW_EV_HEADS:
        e->u.heads.layers = 1, e->u.heads.heads = 2;
        e->u.heads.mode = perhaps(r, 2, 1);
        break;
    case PW_EV_PATCH: make_patch(&e->u.patch, r); break;
    case PW_EV_FAILING:
        e->u.failing.n = 2;
        e->u.failing.list = some(r, 2, sizeof *e->u.failing.list);
        break;
    case PW_EV_FINDING: make_finding(&e->u.finding, r); break;
    case PW_EV_GAP: e->u.gap = 1 + (int64_t)pw_rng_below(r, 9); break;
    case PW_EV_CHECKPOINT: snprintf(e->u.checkpoint.text, PW_LINE, "file %u", pw_rng_below(r, 9)); break;
    case PW_EV_MARK:
    case PW_EV_NOTE:
    case PW_EV_ERROR:
    case PW_EV_ASKED: snprintf(e->u.text, PW_LINE, "text %u", pw_rng_below(r, 50)); break;
    default: break;
    }
}

struct pw_event *history_event(int i)
{
    const struct happening *h = &history.all[i];
    struct pw_event *e = pw_event_new(h->kind);
    struct pw_rng r;
    pw_rng_init(&r, history.seed, PW_STREAM_VALID, h->seq);
    e->seq = h->seq;
    e->t_ns = h->t_ns;
    e->arm = h->arm;
    e->replica = h->replica;
    e->step = h->step;
    make(e, h, &r);
    return e;
}
