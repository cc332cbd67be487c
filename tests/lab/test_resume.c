/* test_resume.c - tests that a session that was cut off anywhere can be continued, and that all of it
 * re-runs.
 *
 * A kill ends a record between any two events. This test cuts a live session at every distinct place, given
 * by the kinds of the events before and after it. It continues the session as the workbench does, cuts it
 * in the new part, continues it again, and verifies it. If the record ends within a group of events, that
 * group must be emitted again at the same place.
 *
 * PEWTER_CUTS=all in the environment cuts after every event. */
#include "../unit/ref_session.h"
#include "base/rng.h"
#include "kernels/backend.h"
#include "model/checkpoint.h"
#include "ref_lab.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=4; pe t5; "

/* Sessions that the lab creates are in that folder, too. */
static int setup(void **state)
{
    return session_setup(state) != 0 || setenv("XDG_STATE_HOME", *state, 1) != 0;
}

static struct pw_record *open_record(const char *folder)
{
    struct pw_record *r;
    struct pw_err err;
    if (pw_record_open(&r, folder, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return r;
}

static uint64_t last_of(const char *folder)
{
    struct pw_record_info info;
    struct pw_record *r = open_record(folder);
    pw_record_info(r, &info);
    pw_record_close(r);
    return info.last;
}

static void lab_at(struct bench *b, const char *session, int64_t from, bool verify)
{
    *b = (struct bench){0};
    b->lab = lab_open((struct pw_lab_config){
        .threads = 2, .live = !verify, .session = session, .from = from, .verify = verify});
}

static void lab_on(struct bench *b, const char *session, bool verify)
{
    lab_at(b, session, -1, verify);
}

/* Records live answers to a prompt, without a request, in the middle of training. */
static void record_watched(const char *folder)
{
    struct bench b;
    lab_on(&b, folder, false);
    bench_must(&b,
               SMALL "prompt sort 3 1 2; train 20; prompt sort 1 2; edit 4 2; next; digest; race t5,none; "
                     "eval lengths=2..3 samples=9; train 104");
    bench_close(&b);
}

static void keep_files(struct pw_store *to, struct pw_record *r, const struct pw_event *e)
{
    for (int i = 0; e->kind == PW_EV_CHECKPOINT && i < e->u.checkpoint.n_files; i++) {
        struct pw_err err;
        void *bytes;
        size_t n;
        assert_int_equal(pw_record_file(r, e->u.checkpoint.files[i], &bytes, &n, &err), PW_OK);
        pw_store_file(to, e->u.checkpoint.files[i], bytes, n);
    }
}

/* Copies a record up to an event. */
static void cut_off(const char *folder, const char *from, uint64_t upto)
{
    struct pw_store_config cfg = {.folder = folder,
                                  .create = true,
                                  .env = {.pewter = "test",
                                          .bits = "portable",
                                          .device = "cpu",
                                          .isa = "scalar",
                                          .threads = 2,
                                          .kernel_abi = PW_BITS}};
    struct pw_record_cursor *cursor;
    struct pw_record *r = open_record(from);
    struct pw_store *to;
    struct pw_event *e;
    struct pw_err err;
    assert_int_equal(pw_store_open(&to, &cfg, &err), PW_OK);
    assert_int_equal(pw_record_begin(r, 1, &cursor, &err), PW_OK);
    for (bool more = true; more && (e = pw_record_next(cursor)) != NULL; pw_event_free(e)) {
        more = e->seq <= upto;
        if (more) {
            keep_files(to, r, e);
            pw_store_put(to, e);
        }
    }
    pw_record_end(cursor);
    pw_record_close(r);
    pw_store_close(to, NULL);
}

/* Types what a user might type in an interrupted session. */
static void type_something(struct bench *b, int how)
{
    static const char *const typed[] = {
        "train 3",
        "next; inspect head=1",
        "resume",
        "arm 1; stop; pe alibi; train 2; back",
    };
    how %= (int)(sizeof typed / sizeof *typed);
    if (how < 2)
        bench_send(b, "stop");
    bench_send(b, typed[how]);
    for (int i = 0; i < 5 || b->s->session.how != PW_REC_ON; i++)
        bench_look(b, 2);
    if (how < 2)
        bench_until_idle(b);
}

static void go_on(const char *folder, int how)
{
    struct bench b;
    lab_on(&b, folder, false);
    type_something(&b, how);
    bench_close(&b);
}

static void verify(const char *folder, const char *what)
{
    struct bench b;
    lab_on(&b, folder, true);
    bench_until_idle(&b);
    const struct pw_verdict *v = pw_lab_verdict(b.lab);
    if (v->end != PW_FOLLOW_EQUAL)
        fail_msg("%s: %s", what, v->text);
    bench_close(&b);
}

static void break_off(void **state, const char *watched, uint64_t upto, int n, struct pw_rng *rng)
{
    char name[40], once[4096], again[4096], what[80];
    snprintf(name, sizeof name, "once%d.pewter", n);
    scratch_path(state, name, once);
    snprintf(name, sizeof name, "again%d.pewter", n);
    scratch_path(state, name, again);
    cut_off(once, watched, upto);
    go_on(once, n);
    uint64_t then = upto + 1 + pw_rng_below(rng, (uint32_t)(last_of(once) - upto));
    cut_off(again, once, then);
    go_on(again, n + 1);
    snprintf(what, sizeof what, "cut off after event %d, and after %d", (int)upto, (int)then);
    verify(once, what);
    verify(again, what);
    pw_session_remove(once);
    pw_session_remove(again);
}

static void test_cut_off(void **state)
{
    static bool seen[PW_EV_KINDS][PW_EV_KINDS];
    const char *cuts = getenv("PEWTER_CUTS");
    bool all = cuts != NULL && strcmp(cuts, "all") == 0, begun = false;
    char watched[4096];
    struct pw_record_cursor *cursor;
    struct pw_event *before, *e;
    struct pw_rng rng;
    struct pw_err err;
    int n = 0;
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 0);
    record_watched(scratch_path(state, "watched.pewter", watched));
    struct pw_record *r = open_record(watched);
    assert_int_equal(pw_record_begin(r, 1, &cursor, &err), PW_OK);
    before = pw_record_next(cursor);
    for (; (e = pw_record_next(cursor)) != NULL; before = e) {
        bool *known = &seen[before->kind][e->kind];
        begun =
            begun || before->kind == PW_EV_CHECKPOINT; /* otherwise there is no checkpoint to continue from */
        if (begun && (all || !*known)) {
            break_off(state, watched, before->seq, n++, &rng);
            *known = true;
        }
        pw_event_free(before);
    }
    pw_event_free(before);
    pw_record_end(cursor);
    pw_record_close(r);
    assert_true(n > 20);
}

/* Continues from any step, as a new session. */
static void test_from(void **state)
{
    const char *cuts = getenv("PEWTER_CUTS");
    int by = cuts != NULL && strcmp(cuts, "all") == 0 ? 1 : 13;
    char watched[4096], branch[4096], what[40];
    record_watched(scratch_path(state, "watched.pewter", watched));
    for (int step = 0; step <= 104; step += by) {
        struct bench b;
        lab_at(&b, watched, step, false);
        type_something(&b, step);
        snprintf(branch, sizeof branch, "%s", b.s->session.folder);
        bench_close(&b);
        assert_string_not_equal(branch, watched);
        snprintf(what, sizeof what, "gone on with from step %d", step);
        verify(branch, what);
        pw_session_remove(branch);
    }
    verify(watched, "all branched off");
}

/* Opens a session and waits until new events are recorded. */
static void go_to(struct bench *b, const char *folder, int64_t from)
{
    lab_at(b, folder, from, false);
    while (b->s == NULL || b->s->session.how != PW_REC_ON)
        bench_look(b, 50);
}

/* Replicas with own batches keep them, both from the end of a session and from its middle. */
static void test_own_batches(void **state)
{
    char folder[4096], branch[4096];
    struct bench b, one;
    bench_open(&one, 1, false);
    bench_must(&one, SMALL "seed 8; train 80; digest");
    const struct pw_replica_view *want = &one.s->arms[0].rep[0], *second;
    lab_on(&b, scratch_path(state, "own.pewter", folder), false);
    bench_must(&b, SMALL "seed 7; race t5,none seeds=2 batches=own; train 60");
    bench_close(&b);
    go_to(&b, folder, -1);
    bench_must(&b, "train 20; digest");
    second = &b.s->arms[0].rep[1];
    assert_true(second->digest_step == 80 && want->digest_step == 80);
    assert_memory_equal(second->digest, want->digest, sizeof want->digest);
    bench_close(&b);
    go_to(&b, folder, 33);
    bench_must(&b, "train until step=80; digest");
    second = &b.s->arms[0].rep[1];
    assert_int_equal(second->digest_step, 80);
    assert_memory_equal(second->digest, want->digest, sizeof want->digest);
    snprintf(branch, sizeof branch, "%s", b.s->session.folder);
    assert_true(b.s->arms[0].info.own_batches);
    bench_close(&b);
    bench_close(&one);
    assert_string_not_equal(branch, folder);
    verify(folder, "own batches");
    verify(branch, "own batches from step 33");
}

/* While a session that goes on elsewhere stops its training, a line of the user may arrive. It is not lost.
 */
static bool sends_at_stop;

void __real_pw_lab_stop(struct pw_lab *lab, const char *why);
void __wrap_pw_lab_stop(struct pw_lab *lab, const char *why);
void __wrap_pw_lab_stop(struct pw_lab *lab, const char *why)
{
    if (sends_at_stop && strcmp(why, "stopped") == 0)
        pw_lab_send(lab, "digest", PW_SEND_SCRIPT);
    __real_pw_lab_stop(lab, why);
}

static void test_line_during_stop(void **state)
{
    char folder[4096];
    struct bench b;
    lab_on(&b, scratch_path(state, "line.pewter", folder), false);
    bench_must(&b, SMALL "race t5; train 60");
    bench_close(&b);
    sends_at_stop = true;
    lab_at(&b, folder, 33, false);
    while (b.s == NULL || b.s->session.how != PW_REC_ON)
        bench_look(&b, 50);
    bench_until_idle(&b);
    sends_at_stop = false;
    assert_true(b.s->arms[0].rep[0].has_digest && b.s->arms[0].rep[0].digest_step == 33);
    bench_close(&b);
}

/* Returns the event number of the newest checkpoint, and its step. */
static uint64_t checkpoint_of(const char *folder, int64_t *step)
{
    struct pw_record *r = open_record(folder);
    struct pw_event *e = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, UINT64_MAX);
    uint64_t seq = e->seq;
    *step = e->step;
    pw_event_free(e);
    pw_record_close(r);
    return seq;
}

/* Opens the session and closes it as soon as it records. It must have this many more checkpoints (0 or 1). */
static void look_in(const char *folder, int more)
{
    struct bench b;
    int64_t step;
    uint64_t was = checkpoint_of(folder, &step);
    lab_on(&b, folder, false);
    while (b.s == NULL || b.s->session.how != PW_REC_ON)
        bench_look(&b, 50);
    bench_close(&b);
    assert_int_equal(checkpoint_of(folder, &step) != was, more);
    assert_int_equal(step, 104);
}

/* The interrupted part is computed again once: a checkpoint follows. A complete session gets no
 * checkpoint. */
static void test_once(void **state)
{
    char watched[4096], once[4096];
    int64_t step;
    record_watched(scratch_path(state, "watched.pewter", watched));
    look_in(watched, 0);
    cut_off(scratch_path(state, "once.pewter", once), watched, checkpoint_of(watched, &step) - 1);
    look_in(once, 1);
    look_in(once, 0);
    look_in(once, 0);
    verify(once, "looked at");
}

/* Closed during the re-run, a session is unchanged, and no other session exists. */
static void test_left(void **state)
{
    char watched[4096], home[4096];
    struct bench b;
    record_watched(scratch_path(state, "watched.pewter", watched));
    uint64_t last = last_of(watched);
    lab_on(&b, watched, false);
    bench_close(&b);
    assert_true(last_of(watched) <= last + 2); /* or the re-run was complete, and that was recorded */
    verify(watched, "left at once");
    assert_int_equal(access(scratch_path(state, "pewter/sessions", home), F_OK), -1);
}

/* Opening another session during a job closes the first one as leaving pewter does. It continues when it is
 * opened again. */
static void test_left_in_the_middle(void **state)
{
    static const char *const jobs[] = {"eval lengths=2..9 samples=2000", "probe dispersion samples=400",
                                       "ablate 0.0 mode=mean samples=4096", "train 100000"};
    char watched[4096], other[4096];
    struct bench b;
    record_watched(scratch_path(state, "watched.pewter", watched));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char line[4200], name[40];
        snprintf(name, sizeof name, "other%zu.pewter", i);
        lab_on(&b, scratch_path(state, name, other), false);
        bench_must(&b, SMALL "race t5,none; train 3");
        bench_send(&b, jobs[i]);
        if (i == 3) /* until training has added an evaluation */
            while (b.s->arms[0].rep[0].track.n < 2)
                bench_look(&b, 1000);
        snprintf(line, sizeof line, "open %s", watched);
        bench_send(&b, line);
        while (strcmp(b.s->session.folder, watched) != 0)
            bench_look(&b, 1000);
        bench_must(&b, "train 1; digest");
        snprintf(line, sizeof line, "open %s", other);
        bench_send(&b, line);
        bench_send(&b, "stop");
        while (strcmp(b.s->session.folder, other) != 0)
            bench_look(&b, 1000);
        bench_must(&b, "digest");
        bench_close(&b);
        verify(other, jobs[i]);
        verify(watched, jobs[i]);
    }
}

/* While these are set, saving and copying a model fail. */
static bool no_image;
static const char *no_copies; /* from the moment on when this path exists */

enum pw_code __real_pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info,
                                        void **bytes, size_t *n, struct pw_err *err);
enum pw_code __wrap_pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info,
                                        void **bytes, size_t *n, struct pw_err *err);
enum pw_code __real_pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                                     bool (*each)(void *, struct pw_event *), void *arg, struct pw_err *err);
enum pw_code __wrap_pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                                     bool (*each)(void *, struct pw_event *), void *arg, struct pw_err *err);

enum pw_code __wrap_pw_checkpoint_image(struct pw_model *m, const struct pw_checkpoint_info *info,
                                        void **bytes, size_t *n, struct pw_err *err)
{
    *bytes = NULL;
    return no_image ? pw_fail(err, PW_ENOMEM, "no memory today")
                    : __real_pw_checkpoint_image(m, info, bytes, n, err);
}

enum pw_code __wrap_pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                                     bool (*each)(void *, struct pw_event *), void *arg, struct pw_err *err)
{
    if (no_copies != NULL && access(no_copies, F_OK) == 0)
        return pw_fail(err, PW_EIO, "no copies today");
    return __real_pw_record_events(r, from, to, each, arg, err);
}

/* An incomplete copy is no session: a failed branch leaves none behind. */
static void test_no_branch(void **state)
{
    char watched[4096], home[4096];
    struct bench b;
    record_watched(scratch_path(state, "watched.pewter", watched));
    no_copies = scratch_path(state, "pewter/sessions", home);
    lab_at(&b, watched, 9, false);
    while (b.s == NULL || b.s->session.how != PW_REC_NONE)
        bench_look(&b, 50);
    assert_string_equal(b.s->session.why, "no copies today");
    bench_close(&b);
    no_copies = NULL;
    assert_int_equal(scratch_count(home, NULL), 0);
    verify(watched, "not branched off");
}

static bool last_says(const struct pw_snapshot *s, const char *text)
{
    return s->n_log > 0 && strstr(s->log[(s->n_log - 1) % PW_LOG_LINES].text, text) != NULL;
}

/* A requested checkpoint that fails is reported by its name. No other checkpoint gets that name. */
static void test_failed_checkpoint(void **state)
{
    char folder[4096];
    struct bench b;
    lab_on(&b, scratch_path(state, "failed.pewter", folder), false);
    bench_must(&b, SMALL "train 3");
    no_image = true;
    bench_send(&b, "checkpoint before the swap");
    while (!last_says(b.s, "checkpoint before the swap: no memory today"))
        bench_look(&b, 50);
    no_image = false;
    bench_send(&b, "train 3");
    do
        bench_until_idle(&b);
    while (b.s->arms[0].rep[0].series.n < 6);
    bench_close(&b); /* writes a last checkpoint */
    struct pw_record *r = open_record(folder);
    struct pw_event *e = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, UINT64_MAX);
    assert_int_equal(e->step, 6);
    assert_false(e->u.checkpoint.keep);
    assert_null(strstr(e->u.checkpoint.text, "swap"));
    pw_event_free(e);
    pw_record_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_off, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_from, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_own_batches, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_line_during_stop, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_once, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_left, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_left_in_the_middle, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_no_branch, setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_failed_checkpoint, setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
