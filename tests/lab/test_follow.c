/* test_follow.c - what was recorded is done again and has the same bits; what hasn't is found. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "ref_record.h"

static void doze(double ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e6 * ms)}, NULL);
}

static void look(struct bench *b, double ms)
{
    struct pollfd p = {.fd = pw_lab_fd(b->lab), .events = POLLIN};
    poll(&p, 1, (int)ms);
    b->s = pw_lab_snapshot(b->lab);
}

static void until_idle(struct bench *b)
{
    do
        look(b, 1000);
    while (!pw_lab_idle(b->lab));
}

static void test_training(void **state)
{
    struct bench b;
    struct record r;
    (void)state;
    record_open(&b, &r, 2, false);
    bench_run(&b, "train 120; eval lengths=2..4; digest");
    bench_close(&b);
    record_must(&r, 1, "");
    assert_int_equal(r.v.steps, 120);
    assert_int_equal(r.v.evals, 1);
    assert_int_equal(r.v.digests, 2);

    struct pw_event *e = record_find(&r, PW_EV_STEP, 78);
    uint32_t bits;
    memcpy(&bits, &e->u.step.loss, sizeof bits);
    bits ^= 1;
    memcpy(&e->u.step.loss, &bits, sizeof bits);
    record_follow(&r, 2, "");
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_int_equal(r.v.step, 78);
    assert_string_equal(r.v.what, "loss");
    assert_int_equal(r.v.steps, 77);
    record_free(&r);
}

/* Typed at odd moments of the training of a race, while somebody watches: in the middle of steps, of rounds,
 * of evaluations, of answers. */
static void test_typed(void **state)
{
    static const char *const typed[] = {
        "prompt sort 3 1 2",
        "say hello",
        "inspect layer=1 head=1",
        "arm 2",
        "pause; say x; resume",
        "eval lengths=2..3 samples=5",
        "table length=20",
        "digest",
        "prompt sort 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9 1 2 3",
        "pe rotary",
        "next; back 2",
        "edit 6 4",
        "ablate heads=0.1",
        "arm 1",
        "fork t5",
        "stop; train 300",
        "restore",
        "patch heads from=\"sort 3 1 4\"",
        "set temperature 0.7",
        "failing",
        "ablate heads=1.* mode=mean",
        "optim lr=0.002",
        "set isa scalar; set threads 1",
        "no such thing",
    };
    struct bench b;
    struct record r;
    struct pw_rng rng;
    int n = 0;
    (void)state;
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 0);
    record_open(&b, &r, 2, true);
    pw_lab_send(b.lab, "model tiny width=64; optim batch=48; race t5,rotary seeds=2; train 300",
                PW_SEND_SCRIPT);
    for (; n < (int)(sizeof typed / sizeof *typed); n++) {
        doze(60.0 * pw_rng_unit(&rng));
        pw_lab_send(b.lab, typed[n], PW_SEND_NOW);
        look(&b, 0);
    }
    pw_lab_send(b.lab, "stop", PW_SEND_NOW);
    pw_lab_send(b.lab, "digest", PW_SEND_NOW);
    until_idle(&b);
    bench_close(&b);
    record_must(&r, 1, "");
    printf("%s\n", r.v.text);
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_typed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
