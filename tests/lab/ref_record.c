#include "ref_record.h"

#include <poll.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "command/commands/commands.h"
#include "sessions/codec.h"

static const struct pw_commands commands = {pw_lab_commands};

/* What a store would make of it: bytes, and an event again. */
static struct pw_event *copy(const struct pw_event *e)
{
    struct pw_str bytes = {0};
    struct pw_event *c;
    struct pw_err err;
    int unknown = 0;
    pw_event_encode(&bytes, e);
    assert_int_equal(pw_event_decode(&c, e->kind, pw_str_text(&bytes), bytes.len, &unknown, &err), PW_OK);
    c->seq = e->seq;
    c->t_ns = e->t_ns;
    c->arm = e->arm;
    c->replicate = e->replicate;
    c->step = e->step;
    pw_str_fini(&bytes);
    return c;
}

static void keep(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct record *r = arg;
    (void)s;
    if (r->n == r->cap) {
        r->cap = r->cap > 0 ? 2 * r->cap : 256;
        r->e = pw_grow(r->e, (size_t)r->cap, sizeof *r->e);
    }
    r->e[r->n++] = copy(e);
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
    return r->at < r->n ? copy(r->e[r->at++]) : NULL;
}

static const char *file(void *arg, const uint8_t sha[PW_SHA256])
{
    const struct record *r = arg;
    (void)sha;
    return r->file;
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
    struct pw_follow_opts opts = {.next = next, .file = file, .ended = ended, .arg = r, .verify = true};
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
