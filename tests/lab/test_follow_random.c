/* test_follow_random.c - records random command lines at random moments, and re-runs them.
 *
 * PEWTER_SEEDS=A..B in the environment replaces the few seeds of the default run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "ref_record.h"

static int below(struct pw_rng *rng, int n)
{
    return (int)pw_rng_below(rng, (uint32_t)n);
}

static const char *one(struct pw_rng *rng, const char *const *from, int n)
{
    return from[below(rng, n)];
}

#define ONE(rng, array) one(rng, array, (int)(sizeof(array) / sizeof *(array)))

/* Writes a random command that a user could type. Many of them fail, and failures are recorded, too. */
static void write_line(struct pw_str *s, struct pw_rng *rng)
{
    static const char *const plain[] = {"pause",
                                        "resume",
                                        "stop",
                                        "digest",
                                        "table",
                                        "next",
                                        "back",
                                        "restore",
                                        "failing",
                                        "paired",
                                        "runs",
                                        "cancel",
                                        "reset",
                                        "help",
                                        "say hi; mark m",
                                        "nonsense",
                                        "pause; step 2",
                                        "pause; digest; resume",
                                        "next 3",
                                        "set share flops",
                                        "set share steps",
                                        "set isa scalar",
                                        "set isa auto",
                                        "eval; train 5",
                                        "failing pin=on",
                                        "patch heads from=\"sort 2 1\"",
                                        "sample",
                                        "probe off",
                                        "probe dispersion samples=40",
                                        "cancel probe",
                                        "arm drop 3"};
    static const char *const pes[] = {"none", "t5", "alibi", "rotary", "sinusoidal", "learned"};
    static const char *const modes[] = {"zero", "mean", "resample"};
    static const char *const untils[] = {"acc=0.02", "acc=0.3", "loss=2.2", "loss=0.1", "flops=2e7"};
    static const char *const views[] = {"probs", "score", "content", "bias"};
    pw_str_clear(s);
    switch (below(rng, 25)) {
    case 0:
    case 1: pw_str_add(s, "train %d", 1 + below(rng, 60)); break;
    case 2: pw_str_add(s, "train until %s", ONE(rng, untils)); break;
    case 3: pw_str_add(s, "train %d until %s", 50 + below(rng, 60), ONE(rng, untils)); break;
    case 4:
    case 5:
        pw_str_add(s, "prompt sort");
        for (int n = 1 + below(rng, 9); n > 0; n--)
            pw_str_add(s, " %d", below(rng, 10));
        break;
    case 6: pw_str_add(s, "eval lengths=2..%d samples=%d", 2 + below(rng, 6), 1 + below(rng, 200)); break;
    case 7: pw_str_add(s, "arm %d", 1 + below(rng, 3)); break;
    case 8: pw_str_add(s, "pe %s", ONE(rng, pes)); break;
    case 9: pw_str_add(s, "fork %s", ONE(rng, pes)); break;
    case 10: pw_str_add(s, "arm add %s", ONE(rng, pes)); break;
    case 11:
        pw_str_add(s, "ablate %d.%d mode=%s samples=%d", below(rng, 2), below(rng, 4), ONE(rng, modes),
                   20 + below(rng, 400));
        break;
    case 12: pw_str_add(s, "edit %d %d", below(rng, 12), below(rng, 10)); break;
    case 13:
        pw_str_add(s, "inspect layer=%d head=%d view=%s", below(rng, 2), below(rng, 4), ONE(rng, views));
        break;
    case 14: pw_str_add(s, "optim lr=0.00%d", 1 + below(rng, 9)); break;
    case 15: pw_str_add(s, "set temperature 0.%d", below(rng, 10)); break;
    case 16: pw_str_add(s, "sample length=%d", 2 + below(rng, 8)); break;
    case 17: pw_str_add(s, "set threads %d", 1 + below(rng, 3)); break;
    case 18:
        if (below(rng, 4) == 0)
            pw_str_add(s, "race %s,%s seeds=%d", ONE(rng, pes), ONE(rng, pes), 1 + below(rng, 2));
        else
            pw_str_add(s, "step %d", 1 + below(rng, 9));
        break;
    case 19:
        if (below(rng, 4) == 0)
            pw_str_add(s, "task sort lengths=2..%d", 4 + below(rng, 4));
        else
            pw_str_add(s, "table length=%d", 4 + below(rng, 12));
        break;
    case 20: pw_str_add(s, "probe dispersion samples=%d every=%d", 1 + below(rng, 3), below(rng, 30)); break;
    case 21: pw_str_add(s, "inspect replica=%s%d", below(rng, 2) == 0 ? "+" : "", 1 + below(rng, 2)); break;
    default: pw_str_add(s, "%s", ONE(rng, plain)); break;
    }
}

/* Waits until a few more events have arrived, or for a short time. */
static void wait_a_bit(struct bench *b, const struct record *r, struct pw_rng *rng)
{
    int until = r->n + below(rng, 12);
    double ms = below(rng, 3) == 0 ? 0.0 : 15.0 * pw_rng_unit(rng);
    for (int i = 0; i < 20 && r->n < until && !(pw_lab_idle(b->lab) && i > 2); i++)
        bench_look(b, 10);
    bench_doze(ms);
    bench_look(b, 0);
}

static void one_seed(uint64_t seed, int lines)
{
    struct bench b;
    struct record r;
    struct pw_rng rng;
    struct pw_str line = {0};
    pw_rng_init(&rng, seed, PW_STREAM_TEST, 1);
    record_open(&b, &r, 1 + below(&rng, 3), below(&rng, 4) > 0);
    pw_lab_send(b.lab, "model tiny width=32 heads=4; optim batch=8; race none,t5 seeds=2; train 100",
                PW_SEND_NOW);
    for (int i = 0; i < lines; i++) {
        write_line(&line, &rng);
        if (below(&rng, 12) == 0)
            pw_lab_interrupt(b.lab);
        else
            pw_lab_send(b.lab, line.s, below(&rng, 6) > 0 ? PW_SEND_NOW : PW_SEND_SCRIPT);
        wait_a_bit(&b, &r, &rng);
    }
    pw_lab_send(b.lab, "stop; digest", PW_SEND_NOW);
    do
        bench_look(&b, 1000);
    while (!pw_lab_idle(b.lab));
    bench_close(&b);
    record_follow(&r, 1 + below(&rng, 3));
    if (r.v.end != PW_FOLLOW_EQUAL || getenv("PEWTER_SEEDS") != NULL)
        printf("seed %d: %s\n", (int)seed, r.v.text);
    if (r.v.end != PW_FOLLOW_EQUAL) {
        for (int i = 0; i < r.n && r.e[i]->seq <= r.v.seq + 3; i++)
            if (r.e[i]->seq + 120 >= r.v.seq &&
                (r.e[i]->kind != PW_EV_JOB || r.e[i]->u.job.state != PW_JOB_RUNNING))
                printf("  %d: kind %d arm %d.%d step %d %s\n", (int)r.e[i]->seq, r.e[i]->kind, r.e[i]->arm,
                       r.e[i]->replica, (int)r.e[i]->step,
                       r.e[i]->kind == PW_EV_COMMAND                               ? r.e[i]->u.command.text
                       : r.e[i]->kind == PW_EV_JOB                                 ? r.e[i]->u.job.name
                       : r.e[i]->kind == PW_EV_NOTE || r.e[i]->kind == PW_EV_ERROR ? r.e[i]->u.text
                                                                                   : "");
    }
    assert_int_equal(r.v.end, PW_FOLLOW_EQUAL);
    record_free(&r);
    pw_str_fini(&line);
}

static void test_random(void **state)
{
    int from = 1, to = 2;
    const char *seeds = getenv("PEWTER_SEEDS");
    (void)state;
    if (seeds != NULL)
        sscanf(seeds, "%d..%d", &from, &to);
    for (int seed = from; seed <= to; seed++)
        one_seed((uint64_t)seed, seeds != NULL ? 300 : 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
