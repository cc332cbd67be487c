/* test_serve.c - commands are served in the middle of a step and of a round, and change nothing by it. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "ref_lab.h"

static void doze(double ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e6 * ms)}, NULL);
}

/* Reads what is there for so long. */
static void look(struct bench *b, double ms)
{
    struct pollfd p = {.fd = pw_lab_fd(b->lab), .events = POLLIN};
    poll(&p, 1, (int)ms);
    b->s = pw_lab_snapshot(b->lab);
}

static void send(struct bench *b, const char *line)
{
    pw_lab_send(b->lab, line, PW_SEND_NOW);
}

static void until_idle(struct bench *b)
{
    do
        look(b, 1000);
    while (!pw_lab_idle(b->lab));
}

/* A model large enough that most commands meet it in the middle of a step. */
#define SET_UP "model tiny width=64; optim batch=48; race t5,rotary seeds=2; "

/* Whatever is asked while arms and replicates train, watched or not, their bits are those of a quiet run. */
static void test_asked(void **state)
{
    static const char *const asked[] = {
        "prompt sort 3 1 2",
        "say hello",
        "inspect layer=1 head=1",
        "arm 2",
        "pause; say x; resume",
        "eval lengths=2..3 samples=5",
        "table length=20",
        "digest",
        "prompt sort 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9 1 2 3",
        "runs",
        "arm 1",
        "help train",
    };
    struct bench b;
    char first[sizeof b.digests];
    struct pw_rng rng;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SET_UP "train 8; digest");
    memcpy(first, b.digests, sizeof first);
    bench_close(&b);
    pw_rng_init(&rng, 1, PW_STREAM_TEST, 0);
    for (int threads = 1; threads <= 3; threads++) {
        bench_open(&b, threads, threads == 2);
        bench_must(&b, SET_UP);
        pw_lab_send(b.lab, "train 8", PW_SEND_SCRIPT);
        int n = 0;
        do {
            int before = b.steps;
            send(&b, asked[n++ % (int)(sizeof asked / sizeof *asked)]);
            doze(8.0 * pw_rng_unit(&rng));
            look(&b, 0);
            while (n % 4 == 0 && b.steps == before && !pw_lab_idle(b.lab))
                look(&b, 10); /* who asks without end would keep it from training where it is slow */
        } while (b.steps < 32);
        until_idle(&b);
        if (b.errors > 0) /* of a pause or resume that came too late */
            assert_non_null(strstr(b.error, "nothing is "));
        assert_true(n > 8);
        bench_must(&b, "digest");
        assert_string_equal(b.digests, first);
        bench_close(&b);
    }
}

/* Training that is broken off anywhere and begun again comes to the same models: the round goes on where it
 * was, so that no arm is left behind. */
static void test_broken_off(void **state)
{
    struct bench b;
    char first[sizeof b.digests];
    struct pw_rng rng;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SET_UP "train 14; digest");
    memcpy(first, b.digests, sizeof first);
    bench_must(&b, SET_UP);
    pw_rng_init(&rng, 2, PW_STREAM_TEST, 0);
    for (int i = 0; i < 8; i++) {
        pw_lab_send(b.lab, "train 5", PW_SEND_SCRIPT);
        doze(1 + 12.0 * pw_rng_unit(&rng));
        if (i % 3 == 0)
            pw_lab_interrupt(b.lab); /* pauses */
        send(&b, i % 3 == 0 ? "say held; stop" : "stop");
        until_idle(&b);
    }
    assert_true(b.s->arms[0].info.step < 14);
    bench_must(&b, "train until step=14; digest");
    assert_string_equal(b.digests, first);
    bench_close(&b);
}

/* Arms in the middle of a round: every one has its share after the next train, and the event of a command
 * says how far each had come. */
static int64_t at[2];
static int behind[2];

static void on_command(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    (void)arg;
    (void)s;
    if (e->kind == PW_EV_COMMAND && strcmp(e->u.command.text, "stop") == 0)
        for (int i = 0; i < 2; i++) {
            at[i] = e->u.command.at[i];
            behind[i] = e->u.command.behind[i];
        }
}

static void test_at(void **state)
{
    extern const struct pw_command *const pw_lab_commands[];
    static const struct pw_commands commands = {pw_lab_commands};
    struct pw_lab_config cfg = {
        .commands = &commands, .help = &commands, .threads = 2, .on_event = on_command};
    struct bench b = {0};
    struct pw_err err;
    int uneven = 0;
    (void)state;
    assert_int_equal(pw_lab_create(&b.lab, &cfg, &err), PW_OK);
    bench_run(&b, SET_UP);
    for (int i = 0; i < 15; i++) {
        pw_lab_send(b.lab, "train 50", PW_SEND_SCRIPT);
        doze(3 + i);
        send(&b, "stop");
        until_idle(&b);
        assert_true(at[0] == at[1] || at[0] == at[1] + 1);
        assert_true(behind[0] >= 0 && behind[0] <= 1 && behind[1] >= 0 && behind[1] <= 1);
        assert_true(at[0] == at[1] || (behind[0] == 1 && behind[1] == 0));
        uneven += at[0] != at[1] || behind[1] > 0;
    }
    assert_true(uneven > 0);
    bench_run(&b, "train 1");
    look(&b, 0);
    assert_int_equal(b.s->arms[0].rep[0].series.n, b.s->arms[1].rep[1].series.n);
    bench_close(&b);
}

/* A round that was broken off after the first replicate, which stands where training is to end: the second
 * one comes there, too, and training ends. */
static void test_goal_of_a_round(void **state)
{
    static const char *const goals[] = {"train until step=%d", "train until flops=%.17g"};
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct bench b;
        char line[64];
        bool ahead = false;
        bench_open(&b, 2, false);
        bench_must(&b, "model tiny width=64; optim batch=48; race none seeds=2");
        for (int i = 0; i < 200 && !ahead; i++) {
            pw_lab_send(b.lab, "train 50", PW_SEND_SCRIPT);
            doze(2 + i % 9);
            send(&b, "stop");
            until_idle(&b);
            ahead = b.s->arms[0].rep[0].series.n > b.s->arms[0].rep[1].series.n;
        }
        assert_true(ahead);
        const struct pw_series *s = &b.s->arms[0].rep[0].series;
        if (g == 0)
            snprintf(line, sizeof line, goals[g], (int)s->step[s->n - 1]);
        else
            snprintf(line, sizeof line, goals[g], (double)s->flops[s->n - 1]);
        bench_must(&b, line);
        assert_int_equal(b.s->arms[0].rep[0].series.n, b.s->arms[0].rep[1].series.n);
        bench_close(&b);
    }
}

/* The steps of a pause are served, too, and come out of what is left. */
static void test_steps_of_a_pause(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SET_UP);
    pw_lab_send(b.lab, "train 9", PW_SEND_SCRIPT);
    while (b.steps == 0)
        look(&b, 1000);
    send(&b, "pause");
    while (b.s->state.run != PW_RUN_PAUSED)
        look(&b, 1000);
    doze(20);
    look(&b, 0);
    int rounds = b.steps / 4; /* what has begun of the next one is part of it */
    send(&b, "step 3");
    send(&b, "say between");
    while (b.steps < 4 * (rounds + 3))
        look(&b, 1000);
    doze(50);
    look(&b, 0);
    assert_int_equal(b.steps, 4 * (rounds + 3));
    assert_int_equal(b.s->state.run, PW_RUN_PAUSED);
    send(&b, "resume");
    until_idle(&b);
    assert_int_equal(b.errors, 0);
    assert_int_equal(b.s->arms[0].info.step, 9);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked), cmocka_unit_test(test_broken_off),
                                       cmocka_unit_test(test_at), cmocka_unit_test(test_goal_of_a_round),
                                       cmocka_unit_test(test_steps_of_a_pause)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
