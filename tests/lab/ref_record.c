/* ref_record.c - see ref_record.h. */
#include "ref_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/codec.h"

/* A copy made as the store does: encoded and decoded. */
static struct pw_event *copy(const struct pw_event *e)
{
    struct pw_str bytes = {0};
    struct pw_event *c;
    struct pw_err err;
    int unknown = 0;
    pw_event_encode(&bytes, e);
    assert_int_equal(pw_event_decode(&c, (int)e->kind, pw_str_text(&bytes), bytes.len, &unknown, &err),
                     PW_OK);
    c->seq = e->seq;
    c->t_ns = e->t_ns;
    c->arm = e->arm;
    c->replica = e->replica;
    c->step = e->step;
    pw_str_fini(&bytes);
    return c;
}

void record_add(struct record *r, const struct pw_event *e)
{
    if (r->n == r->cap) {
        r->cap = r->cap > 0 ? 2 * r->cap : 256;
        r->e = pw_grow(r->e, (size_t)r->cap, sizeof *r->e);
    }
    r->e[r->n++] = copy(e);
}

void record_drop(struct record *r, int i)
{
    pw_event_free(r->e[i]);
    memmove(r->e + i, r->e + i + 1, (size_t)(--r->n - i) * sizeof *r->e);
}

static void keep(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    (void)s;
    if (e->kind != PW_EV_SESSION)
        record_add(arg, e);
}

static void open_lab(struct bench *b, struct record *r, int threads, bool live,
                     const struct pw_follow_opts *follow)
{
    *b = (struct bench){0};
    *r = (struct record){0};
    b->lab = lab_open((struct pw_lab_config){
        .threads = threads, .live = live, .follow = follow, .on_event = keep, .on_event_arg = r});
}

void record_open(struct bench *b, struct record *r, int threads, bool live)
{
    open_lab(b, r, threads, live, NULL);
}

void record_resume(struct bench *b, struct record *told, const struct pw_follow_opts *opts, bool live)
{
    open_lab(b, told, 2, live, opts);
}

void record_free(struct record *r)
{
    for (int i = 0; i < r->n; i++)
        pw_event_free(r->e[i]);
    free(r->e);
    *r = (struct record){0};
}

int record_find(const struct record *r, enum pw_event_kind kind, const char *text)
{
    for (int i = r->n - 1; i >= 0; i--)
        if (r->e[i]->kind == kind && (text == NULL || strstr(r->e[i]->u.command.text, text) != NULL))
            return i;
    return -1;
}

/* ---- re-runs */

static struct pw_event *next(void *arg)
{
    struct record *r = arg;
    return r->at < r->n ? copy(r->e[r->at++]) : NULL;
}

static const char *file(void *arg, const uint8_t sha[PW_SHA256])
{
    struct record *r = arg;
    char name[65];
    if (r->files == NULL)
        return NULL;
    pw_sha256_text(name, sha);
    snprintf(r->path, sizeof r->path, "%s/%s", r->files, name);
    return access(r->path, R_OK) == 0 ? r->path : NULL;
}

static struct pw_event *checkpoint(void *arg, uint64_t from)
{
    struct record *r = arg;
    for (int i = 0; i < r->n; i++)
        if (r->e[i]->kind == PW_EV_CHECKPOINT && r->e[i]->u.checkpoint.as_of >= from)
            return copy(r->e[i]);
    return NULL;
}

static bool ended(void *arg, const struct pw_verdict *v)
{
    struct record *r = arg;
    r->v = *v;
    r->ended++;
    return true;
}

struct pw_follow_opts record_opts(struct record *r, bool verify)
{
    r->at = r->ended = 0;
    return (struct pw_follow_opts){.next = next,
                                   .file = file,
                                   .checkpoint = verify ? checkpoint : NULL,
                                   .ended = ended,
                                   .arg = r,
                                   .verify = verify};
}

void record_follow(struct record *r, int threads)
{
    struct bench b;
    struct record told;
    struct pw_follow_opts opts = record_opts(r, true);
    open_lab(&b, &told, threads, true, &opts);
    bench_until_idle(&b);
    bench_close(&b);
    for (int i = 0; i < told.n; i++) /* no event is emitted twice */
        assert_true(told.e[i]->kind == PW_EV_JOB);
    record_free(&told);
    assert_int_equal(r->ended, 1);
}

void record_must(struct record *r, int threads)
{
    record_follow(r, threads);
    if (r->v.end != PW_FOLLOW_EQUAL)
        print_error("%s\n", r->v.text);
    assert_int_equal(r->v.end, PW_FOLLOW_EQUAL);
}
