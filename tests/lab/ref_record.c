#include "ref_record.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "command/commands/commands.h"

static const struct pw_commands commands = {pw_lab_commands};

static void *copy(const void *p, int64_t n, size_t size)
{
    void *q = p != NULL ? pw_alloc((size_t)n, size) : NULL;
    if (q != NULL)
        memcpy(q, p, (size_t)n * size);
    return q;
}

static void keep(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct record *r = arg;
    (void)s;
    struct pw_event *c;
    switch (e->kind) {
    case PW_EV_LOOK:
    case PW_EV_ATTENTION:
    case PW_EV_TABLE:
    case PW_EV_PATCH:
    case PW_EV_FAILING: return;
    default: c = copy(e, 1, sizeof *e);
    }
    if (e->kind == PW_EV_EVAL) {
        c->u.eval.rows = copy(e->u.eval.rows, e->u.eval.n, sizeof *e->u.eval.rows);
        c->u.eval.pairs = copy(e->u.eval.pairs, e->u.eval.n_pairs, sizeof *e->u.eval.pairs);
        c->u.eval.outcomes = copy(e->u.eval.outcomes, e->u.eval.n_words, sizeof *e->u.eval.outcomes);
    } else if (e->kind == PW_EV_PROMPT) {
        c->u.prompt.tokens = copy(e->u.prompt.tokens, e->u.prompt.n, sizeof *e->u.prompt.tokens);
        c->u.prompt.labels = NULL;
        c->u.prompt.edited = NULL;
    } else if (e->kind == PW_EV_HEADS) {
        c->u.heads.mode = copy(e->u.heads.mode, (int64_t)e->u.heads.layers * e->u.heads.heads, 1);
    }
    if (r->n == r->cap) {
        r->cap = r->cap > 0 ? 2 * r->cap : 256;
        r->e = pw_grow(r->e, (size_t)r->cap, sizeof *r->e);
    }
    r->e[r->n++] = c;
}

void record_open(struct bench *b, struct record *r, int threads, bool live)
{
    struct pw_err err;
    struct pw_lab_config cfg = {.commands = &commands,
                                .help = &commands,
                                .threads = threads,
                                .live = live,
                                .on_event = keep,
                                .on_event_arg = r};
    *b = (struct bench){0};
    *r = (struct record){0};
    assert_int_equal(pw_lab_create(&b->lab, &cfg, &err), PW_OK);
}

void record_free(struct record *r)
{
    for (int i = 0; i < r->n; i++)
        pw_event_free(r->e[i]);
    free(r->e);
    *r = (struct record){0};
}

struct pw_event *record_find(const struct record *r, enum pw_event_kind kind, int64_t step)
{
    for (int i = r->n - 1; i >= 0; i--)
        if (r->e[i]->kind == kind && (step < 0 || r->e[i]->step == step) && r->e[i]->arm <= 1)
            return r->e[i];
    return NULL;
}

static struct pw_event *next(void *arg)
{
    struct record *r = arg;
    if (r->at == r->n)
        return NULL;
    struct pw_event *e = copy(r->e[r->at++], 1, sizeof *e);
    if (e->kind == PW_EV_EVAL) {
        e->u.eval.rows = copy(e->u.eval.rows, e->u.eval.n, sizeof *e->u.eval.rows);
        e->u.eval.pairs = copy(e->u.eval.pairs, e->u.eval.n_pairs, sizeof *e->u.eval.pairs);
        e->u.eval.outcomes = copy(e->u.eval.outcomes, e->u.eval.n_words, sizeof *e->u.eval.outcomes);
    } else if (e->kind == PW_EV_PROMPT) {
        e->u.prompt.tokens = copy(e->u.prompt.tokens, e->u.prompt.n, sizeof *e->u.prompt.tokens);
    } else if (e->kind == PW_EV_HEADS) {
        e->u.heads.mode = copy(e->u.heads.mode, (int64_t)e->u.heads.layers * e->u.heads.heads, 1);
    }
    return e;
}

static void ended(void *arg, const struct pw_verdict *v)
{
    struct record *r = arg;
    r->v = *v;
    r->ended++;
}

void record_follow(struct record *r, int threads, const char *first)
{
    struct pw_err err;
    struct pw_follow_opts opts = {.next = next, .ended = ended, .arg = r, .verify = true};
    struct pw_lab_config cfg = {
        .commands = &commands, .help = &commands, .threads = threads, .follow = &opts};
    struct pw_lab *lab;
    (void)first;
    r->at = r->ended = 0;
    assert_int_equal(pw_lab_create(&lab, &cfg, &err), PW_OK);
    do {
        struct pollfd p = {.fd = pw_lab_fd(lab), .events = POLLIN};
        poll(&p, 1, 60000);
        pw_lab_snapshot(lab);
    } while (!pw_lab_idle(lab));
    pw_lab_destroy(lab);
    assert_int_equal(r->ended, 1);
}

void record_must(struct record *r, int threads, const char *first)
{
    record_follow(r, threads, first);
    if (r->v.end != PW_FOLLOW_EQUAL)
        print_error("%s\n", r->v.text);
    assert_int_equal(r->v.end, PW_FOLLOW_EQUAL);
}
