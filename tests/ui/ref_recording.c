/* ref_recording.c - see ref_recording.h. */
#include "ref_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "sessions/store.h"

struct maker {
    struct pw_store *store;
    uint64_t seq;
    int64_t t_ns;
};

static void put(struct maker *m, struct pw_event *e, int arm, int64_t step)
{
    e->seq = ++m->seq;
    e->t_ns = m->t_ns;
    e->arm = arm;
    e->step = step;
    pw_store_put(m->store, e);
    pw_event_free(e);
}

static void say(struct maker *m, enum pw_event_kind kind, const char *text)
{
    struct pw_event *e = pw_event_new(kind);
    snprintf(kind == PW_EV_COMMAND ? e->u.command.text : e->u.text, PW_LINE, "%s", text);
    put(m, e, 1, kind == PW_EV_MARK ? MARK_AT : 0);
}

static void open_store(struct maker *m, const char *folder, bool create)
{
    struct pw_err err;
    struct pw_store_config cfg = {.folder = folder,
                                  .create = create,
                                  .env = {.pewter = "t", .bits = "portable", .device = "d", .isa = "i"}};
    assert_int_equal(pw_store_open(&m->store, &cfg, &err), PW_OK);
    m->seq = pw_store_last(m->store);
}

static void put_step(struct maker *m, int64_t step)
{
    m->t_ns += 100000000;
    for (int arm = 1; arm <= 2; arm++) {
        struct pw_event *e = pw_event_new(PW_EV_STEP);
        e->u.step.loss = 1.0f / (float)step;
        put(m, e, arm, step);
    }
}

void recording_extend(const char *folder, int step)
{
    struct maker m = {.t_ns = INT64_C(1790000000000000000) + INT64_C(1000000000) * (2 * HOURS)};
    open_store(&m, folder, false);
    for (int64_t k = STEPS + 1; k <= step; k++)
        put_step(&m, k);
    pw_store_close(m.store, "quit");
}

uint64_t recording_evaluate(const char *folder, int samples)
{
    struct maker m = {.t_ns = INT64_C(1790000000000000000) + INT64_C(1000000000) * (2 * HOURS)};
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    open_store(&m, folder, false);
    e->replica = 1;
    e->u.eval.n = 1;
    e->u.eval.rows = pw_alloc(1, sizeof *e->u.eval.rows);
    e->u.eval.rows[0] = (struct pw_eval_row){.length = 5, .samples = samples};
    put(&m, e, 1, STEPS);
    pw_store_close(m.store, "quit");
    return m.seq;
}

void recording_make(const char *folder)
{
    struct maker m = {.t_ns = INT64_C(1790000000000000000)};
    open_store(&m, folder, true);
    say(&m, PW_EV_COMMAND, "race none,alibi");
    for (int arm = 1; arm <= 2; arm++) {
        struct pw_event *e = pw_event_new(PW_EV_ARM);
        e->u.arm = (struct pw_ev_arm){.id = arm, .replicas = 1, .current = arm == 1, .restarted = true};
        snprintf(e->u.arm.name, sizeof e->u.arm.name, "%s", arm == 1 ? "none" : "alibi");
        snprintf(e->u.arm.pe, sizeof e->u.arm.pe, "%s", e->u.arm.name);
        put(&m, e, arm, 0);
    }
    say(&m, PW_EV_COMMAND, "train 60");
    for (int64_t step = 1; step <= STEPS; step++) {
        put_step(&m, step);
        if (step == MARK_AT) {
            say(&m, PW_EV_MARK, "half way");
            m.t_ns += INT64_C(1000000000) * HOURS;
        }
    }
    say(&m, PW_EV_COMMAND, "quit");
    pw_store_close(m.store, "quit");
}
