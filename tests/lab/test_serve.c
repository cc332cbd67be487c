/* test_serve.c - tests that commands are served during a step and during a round, and don't change its
 * result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "ref_lab.h"

/* A model so large that most commands arrive in the middle of a step. */
#define SET_UP "model tiny width=64; optim batch=48; race t5,rotary seeds=2; "

/* Trains, sends commands meanwhile, and compares the digests. Returns the number of commands. */
static int ask(int threads, struct pw_rng *rng, const char *digests)
{
    struct bench b;
    int n_asked = 0, n = 0;
    while (bench_asked[n_asked] != NULL)
        n_asked++;
    bench_open(&b, threads, threads == 2);
    bench_must(&b, SET_UP);
    pw_lab_send(b.lab, "train 8", PW_SEND_SCRIPT);
    do {
        int before = b.steps;
        bench_send(&b, bench_asked[n++ % n_asked]);
        bench_doze(8.0 * pw_rng_unit(rng));
        bench_look(&b, 0);
        while (n % 4 == 0 && b.steps == before && !pw_lab_idle(b.lab))
            bench_look(&b, 10); /* on a slow machine an endless stream of commands would block training */
    } while (b.steps < 32);
    bench_until_idle(&b);
    /* a pause or resume that came too late */
    if (b.errors > 0 && strcmp(b.error, "no training to pause") != 0 &&
        strcmp(b.error, "no training is paused; 'train' starts it") != 0)
        fail_msg("%s", b.error);
    bench_must(&b, "digest");
    assert_string_equal(b.digests, digests);
    bench_close(&b);
    return n;
}

/* Commands during the training of arms and replicas don't change the bits, with and without live events. If
 * this thread isn't scheduled, training ends before many commands were sent. Then the test tries again. */
static void test_asked(void **state)
{
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
        int n = 0;
        for (int i = 0; i < 20 && n <= 8; i++)
            n = ask(threads, &rng, first);
        assert_true(n > 8);
    }
}

/* Training that is stopped anywhere and continued gives the same models. The round continues where it
 * stopped, so that no arm lags behind. */
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
    for (int i = 0; i < 8 && b.s->arms[0].info.step < 9; i++) { /* if none comes in time all 5 are used */
        pw_lab_send(b.lab, "train 5", PW_SEND_SCRIPT);
        bench_doze(1 + 12.0 * pw_rng_unit(&rng));
        if (i % 3 == 0)
            pw_lab_interrupt(b.lab); /* pauses */
        bench_send(&b, i % 3 == 0 ? "say held; stop" : "stop");
        bench_until_idle(&b);
    }
    assert_true(b.s->arms[0].info.step < 14);
    bench_must(&b, "train until step=14; digest");
    assert_string_equal(b.digests, first);
    bench_close(&b);
}

/* Arms in the middle of a round. After the next `train` every arm has its share, and the command's event says
 * how far each arm was. */
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
    struct bench b = {.lab = lab_open((struct pw_lab_config){.threads = 2, .on_event = on_command})};
    int uneven = 0;
    (void)state;
    bench_run(&b, SET_UP);
    for (int i = 0; i < 15 || (uneven == 0 && i < 200); i++) {
        pw_lab_send(b.lab, "train 50", PW_SEND_SCRIPT);
        bench_doze(3 + i % 15);
        bench_send(&b, "stop");
        bench_until_idle(&b);
        assert_true(at[0] == at[1] || at[0] == at[1] + 1);
        assert_true(behind[0] >= 0 && behind[0] <= 1 && behind[1] >= 0 && behind[1] <= 1);
        assert_true(at[0] == at[1] || (behind[0] == 1 && behind[1] == 0));
        uneven += at[0] != at[1] || behind[1] > 0;
    }
    assert_true(uneven > 0);
    bench_run(&b, "train 1");
    bench_look(&b, 0);
    assert_int_equal(b.s->arms[0].rep[0].series.n, b.s->arms[1].rep[1].series.n);
    bench_close(&b);
}

/* A round was stopped after its first replica, which has reached the goal of the next `train`. The second
 * replica must reach it, too, and training must end. */
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
            bench_doze(2 + i % 9);
            bench_send(&b, "stop");
            bench_until_idle(&b);
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

/* Begins to train 9 steps of 4 models and pauses during that. Returns the number of complete rounds. */
static int pause_in_the_middle(struct bench *b)
{
    bench_send(b, "stop"); /* of an earlier try; a script would wait for it */
    bench_until_idle(b);
    bench_must(b, SET_UP);
    pw_lab_send(b->lab, "train 9", PW_SEND_SCRIPT);
    while (b->steps == 0)
        bench_look(b, 1000);
    bench_send(b, "pause");
    while (b->s->state.run != PW_RUN_PAUSED && !pw_lab_idle(b->lab))
        bench_look(b, 1000);
    bench_doze(20);
    bench_look(b, 0);
    return b->steps / 4; /* the steps of the unfinished round count for the next `step` */
}

/* Steps during a pause are executed, and reduce the number that is left. */
static void test_steps_of_a_pause(void **state)
{
    struct bench b;
    int rounds = 9;
    (void)state;
    bench_open(&b, 2, false);
    for (int i = 0; i < 50 && rounds > 5; i++) /* the pause may come too late */
        rounds = pause_in_the_middle(&b);
    assert_true(rounds <= 5);
    assert_int_equal(b.s->state.run, PW_RUN_PAUSED);
    b.errors = 0;
    bench_send(&b, "step 3");
    bench_send(&b, "say between");
    while (b.steps < 4 * (rounds + 3))
        bench_look(&b, 1000);
    bench_doze(50);
    bench_look(&b, 0);
    assert_int_equal(b.steps, 4 * (rounds + 3));
    assert_int_equal(b.s->state.run, PW_RUN_PAUSED);
    bench_send(&b, "resume");
    bench_until_idle(&b);
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
