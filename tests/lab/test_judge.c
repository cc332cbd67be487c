/* test_judge.c - tests that `judge` refuses a measurement that differs from the study's settings, and names
 * the difference. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"
#include "reproduce/repro.h"

/* ---- lengths */

#define STUDY "steps=3 seeds=2 samples=4 pes=none,alibi"

static void refuse(struct bench *b, const char *line, const char *why)
{
    bench_run(b, line);
    if (b->errors != 1 || strstr(b->error, why) == NULL)
        fail_msg("%s: %d errors, '%s', not '%s'", line, b->errors, b->error, why);
}

static void test_lengths(void **state)
{
    static const char *const others[][2] = {
        {"judge lengths task=\"sort single\" " STUDY,
         "judge lengths: the lab has task 'copy variant=rsc', the study needs 'sort'"},
        {"judge lengths task=\"copy lengths=2..9\" " STUDY, "the study needs 'copy lengths=2..9'"},
        {"judge lengths task=\"copy rsc\" seed=7 " STUDY, "the lab has seed 101, the study needs 7"},
        {"judge lengths task=\"copy rsc\" steps=4 seeds=2 samples=4 pes=none,alibi",
         "optim steps '3', the study needs '4'"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=1 samples=4 pes=none,alibi",
         "seeds 2, the study needs 1"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=5 pes=none,alibi",
         "samples of a length 4, the study needs 5"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=none,t5",
         "arm 2: the lab has encoding 'alibi'"},
        {"judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=none",
         "encodings 2, the study needs 1"},
        {"judge lengths task=\"copy rsc\" protocol=paper " STUDY,
         "task 'copy variant=rsc', the study needs 'copy lengths=2..20"},
        {"judge lengths task=\"copy rsc\" checkpoint=best " STUDY,
         "no evaluation after step 1, one of 3 checkpoints"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b,
               "seed 101; task copy variant=rsc; model tiny; optim steps=3; race none,alibi seeds=2; train; "
               "eval samples=4; judge lengths task=\"copy rsc\" " STUDY);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&b, others[i][0], others[i][1]);
    bench_must(&b, "judge lengths task=\"copy rsc\" " STUDY); /* a refusal changes nothing */
    bench_must(&b, "train 1");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "arm 1: the lab has step 4, the study needs 3");
    bench_must(&b, "reset; train; eval lengths=2..10 samples=4");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "length 11 was not evaluated");
    bench_must(&b, "eval lengths=2..21 samples=4");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY,
           "arm 1: 20 lengths were evaluated, the study needs 19 of them");
    bench_must(&b, "reset; pe alibi arm=1; train");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY, "arm 1: the lab has encoding 'alibi'");
    bench_must(&b, "race none,alibi seeds=2 batches=own; train; eval samples=4");
    refuse(&b, "judge lengths task=\"copy rsc\" " STUDY,
           "judge lengths: the lab has batches=own (race ... batches=own), the study needs batches that all "
           "replicas share");
    bench_close(&b);
}

/* The checkpoints of checkpoint=best have as many samples as the last one. */
static void test_checkpoints(void **state)
{
    static const char judge[] =
        "judge lengths task=\"copy rsc\" steps=20 seeds=1 samples=4 pes=none,alibi checkpoint=best";
    struct bench b;
    (void)state;
    for (int few = 0; few < 2; few++) {
        struct pw_str script = {0};
        bench_open(&b, 2, false);
        pw_str_add(&script,
                   "seed 101; task copy variant=rsc; model tiny; optim steps=20; race none,alibi seeds=1");
        for (int step = 1; step <= 20; step++)
            pw_str_add(&script, "; train until step=%d; eval samples=%d", step, few && step == 7 ? 2 : 4);
        bench_must(&b, script.s);
        if (few)
            refuse(&b, judge, "arm 1: 38 samples were evaluated after step 7, the study needs 76");
        else
            bench_must(&b, judge);
        bench_close(&b);
        pw_str_fini(&script);
    }
}

/* The final settings match the study, but some steps used other settings. */
static void test_altered(void **state)
{
    static const struct {
        const char *after_one_step, *after_two, *why;
    } cases[] = {
        {"task copy variant=rsc lengths=2..5", "task copy variant=rsc",
         "judge lengths: arm 1: its task was changed during training; the study needs one run from step 0"},
        {"optim lr=0.01 arm=2", "optim lr=0.003 arm=2", "arm 2: optim was changed during training"},
        {"ablate L0H0 arm=1", "restore arm=1", "arm 1: heads were off during training"},
        {"tune buckets=8 distance=32 arm=2", "tune buckets=8 distance=16 arm=2",
         "arm 2: its encoding was tuned during training"},
        {"pe alibi arm=1", "pe none arm=1", "arm 1: its encoding was swapped"},
    };
    static const char begin[] = "seed 101; task copy variant=rsc; model tiny; optim steps=3; race "
                                "none,t5(buckets=8,distance=16) seeds=2";
    static const char judge[] =
        "judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=none,t5(buckets=8,distance=16)";
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s; train 1; %s; train 1; %s; train; eval samples=4", begin,
                 cases[i].after_one_step, cases[i].after_two);
        bench_must(&b, line);
        refuse(&b, judge, cases[i].why);
    }
    /* Before the first step these are settings. A change to the current value changes nothing. */
    bench_must(&b, begin);
    bench_must(
        &b, "task copy variant=rsc lengths=2..5; task copy variant=rsc; optim lr=0.01 arm=2; optim lr=0.003 "
            "arm=2; train 1; task copy variant=rsc; optim lr=0.003 arm=1; train; eval samples=4");
    bench_must(&b, judge);
    bench_must(&b, "race t5,t5 seeds=2; transplant 2 arm=1; train; eval samples=4");
    refuse(&b, "judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=t5,t5",
           "arm 1: the learned values of its encoding were replaced");
    bench_must(&b, "race t5,t5 seeds=2; train; eval samples=4"); /* after a restart they match the study */
    bench_must(&b, "judge lengths task=\"copy rsc\" steps=3 seeds=2 samples=4 pes=t5,t5");
    bench_close(&b);
}

/* ---- scratchpads */

#define PADS "seeds=2 steps=2 samples=2 pes=none,t5"

static void test_scratchpads(void **state)
{
    static const char *const others[][2] = {
        {"judge scratchpads format=2 " PADS,
         "judge scratchpads: the lab has task 'parity lengths=2..4 test=5..8 scratchpad=minimal', the study "
         "needs 'parity lengths=2..4 test=5..8 scratchpad=full'"},
        {"judge scratchpads task=lego format=1 " PADS, "the study needs 'lego "},
        {"judge scratchpads format=1 protocol=paper " PADS,
         "the study needs 'parity text=paper data=100000 scratchpad=minimal'"},
        {"judge scratchpads format=1 seeds=3 steps=2 samples=2 pes=none,t5",
         "arm 1: the lab has seeds 2, the study needs 3"},
        {"judge scratchpads format=1 seeds=2 steps=3 samples=2 pes=none,t5",
         "arm 1: the lab has optim steps '2', the study needs '3'"},
        {"judge scratchpads format=1 seeds=2 steps=2 samples=3 pes=none,t5",
         "arm 1: the lab has samples of a length 2, the study needs 3"},
        {"judge scratchpads format=1 seeds=2 steps=2 samples=2 pes=none,alibi",
         "arm 2: the lab has encoding 't5 "},
        {"judge scratchpads", "nothing has been measured"},
    };
    static const char race[] =
        "model tiny context=512; optim steps=2; race none,t5 seeds=2; train; eval samples=2";
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny context=512; seed 101; task parity lengths=2..4 test=5..8 scratchpad=minimal");
    bench_must(&b, race);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&b, others[i][0], others[i][1]);
    bench_must(&b, "judge scratchpads format=1 " PADS "; judge scratchpads " PADS);
    refuse(&b, "judge scratchpads",
           "'scratchpads parity minimal' was made by 'reproduce scratchpads seeds=2 steps=2");
    bench_must(&b, "seed 1");
    bench_must(&b, race);
    refuse(&b, "judge scratchpads format=1 " PADS,
           "judge scratchpads: the lab has seed 1, the study needs 101");
    bench_must(&b, "seed 101; task parity lengths=2..4 test=5..9 scratchpad=minimal");
    bench_must(&b, race);
    refuse(&b, "judge scratchpads format=1 " PADS, "test=5..9 scratchpad=minimal', the study needs 'parity ");
    bench_close(&b);
}

/* ---- sensitivity */

#define RATES "seeds=2 steps=2 pes=none,alibi"

static void test_sensitivity(void **state)
{
    static const char *const others[][2] = {
        {"judge sensitivity setting=2 " RATES,
         "arm 1: the lab has optim decay '0.05', the study needs '0.1'"},
        {"judge sensitivity setting=4 " RATES,
         "arm 1: the lab has optim lr '0.001', the study needs '0.003'"},
        {"judge sensitivity setting=1 task=\"copy rdc\" " RATES,
         "judge sensitivity: the lab has task 'copy variant=rsc', the study needs 'copy variant=rdc'"},
        {"judge sensitivity setting=1 seeds=3 steps=2 pes=none,alibi", "seeds 2, the study needs 3"},
        {"judge sensitivity setting=1 seeds=2 steps=3 pes=none,alibi",
         "optim steps '2', the study needs '3'"},
        {"judge sensitivity setting=1 seeds=2 steps=2 pes=none", "encodings 2, the study needs 1"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "seed 101; task copy variant=rsc; model tiny; optim steps=2 lr=0.001 decay=0.05; race "
                   "none,alibi seeds=2; train; eval samples=128");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&b, others[i][0], others[i][1]);
    bench_must(&b, "judge sensitivity setting=1 " RATES "; judge sensitivity " RATES);
    bench_must(&b, "eval samples=4");
    refuse(&b, "judge sensitivity setting=1 " RATES, "samples of a length 4, the study needs 128");
    bench_close(&b);
}

/* ---- figure4 */

#define MODELS "task=\"copy rsc\" steps=1 samples=2"

/* The second model's seed is the next one; models from files keep their own. */
static void test_figure4(void **state)
{
    static const char *const others[][2] = {
        {"judge figure4 run=2 " MODELS, "judge figure4: the lab has seed 101, the study needs 103"},
        {"judge figure4 run=1 task=scan steps=1",
         "the lab has task 'copy variant=rsc', the study needs 'scan'"},
        {"judge figure4 run=1 task=\"copy rsc\"", "optim steps '1', the study needs '8000'"},
        {"judge figure4 run=1 model=small " MODELS, "the lab has model 'tiny', the study needs 'small'"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "seed 101; task copy variant=rsc; model tiny; optim steps=1; race "
                   "none,none,t5(buckets=32,distance=128),alibi,rotary,sinusoidal; train; eval samples=64");
    refuse(&b, "judge figure4 run=1 " MODELS,
           "judge figure4: arm 2: the lab has a seed 101, the study needs 102");
    bench_must(&b, "seed 102 arm=2; train; eval samples=64");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&b, others[i][0], others[i][1]);
    refuse(&b, "judge figure4 run=1 " MODELS, "no finding 'distance'"); /* the planned settings match */
    bench_must(&b, "seed 7 arm=3; train; eval samples=64");
    refuse(&b, "judge figure4 run=1 " MODELS, "arm 3: the lab has a seed 7, the study needs 101");
    refuse(&b, "judge figure4 run=1 load=x task=\"copy rsc\" samples=2", "no finding 'distance'");
    refuse(&b, "judge figure4 run=1 load=x task=parity samples=2", "the study needs 'parity'");
    bench_must(&b, "pe alibi arm=2; reset; train; eval samples=64");
    refuse(&b, "judge figure4 run=1 load=x task=\"copy rsc\" samples=2",
           "arm 2: the lab has encoding 'alibi', the study needs 'none'");
    bench_close(&b);
}

/* ---- studies of several models, each with a probe */

#define TWO "model=1 steps=2 seeds=2"

static void test_models(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b,
               "seed 9001; task copy variant=rsc; model tiny; optim steps=2; race none; train; probe decay");
    refuse(&b, "judge decay " TWO,
           "judge decay: the lab has task 'copy variant=rsc', the study needs 'copy variant=rdc'");
    bench_must(
        &b, "task copy variant=rdc; model tiny norm=layernorm; optim steps=2; race none; train; probe decay");
    refuse(&b, "judge decay " TWO, "arm 1: the lab has model norm 'layernorm', the study needs '");
    bench_must(&b, "model tiny; optim steps=2; race none; train");
    refuse(&b, "judge decay model=2 steps=2 seeds=2", "the lab has seed 9001, the study needs 9002");
    refuse(&b, "judge decay " TWO, "judge decay: the finding 'decay' is older than arm 1: measure it again");
    bench_must(&b, "probe decay; judge decay " TWO);
    bench_close(&b);
}

/* ---- session */

#define SESSION "by=1 seeds=2 steps=2 pes=none,alibi"

static void test_session(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b,
               "seed 9001; model tiny; task session by=last; optim steps=2; race none,alibi seeds=2; train; "
               "eval samples=128");
    refuse(&b, "judge session " SESSION, "arm 1: the lab has model causal 'on', the study needs 'off'");
    bench_must(&b, "model tiny causal=off; optim steps=2; race none,alibi seeds=2; train; eval samples=4");
    refuse(&b, "judge session " SESSION, "samples of a length 4, the study needs 128");
    refuse(&b, "judge session seed=5 " SESSION, "the lab has seed 9001, the study needs 5");
    refuse(&b, "judge session by=0 seeds=2 steps=2 pes=none,alibi",
           "the lab has task 'session by=last', the study needs 'session'");
    bench_must(&b, "eval samples=128; judge session " SESSION);
    refuse(&b, "judge session seeds=2 steps=2 pes=none,alibi seed=5",
           "'session last' was made by 'reproduce session seeds=2 steps=2 pes=\"none,alibi\"', not by");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths),     cmocka_unit_test(test_checkpoints),
                                       cmocka_unit_test(test_altered),     cmocka_unit_test(test_scratchpads),
                                       cmocka_unit_test(test_sensitivity), cmocka_unit_test(test_figure4),
                                       cmocka_unit_test(test_models),      cmocka_unit_test(test_session)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
