/* test_state.c - a laboratory that was saved and restored goes on as the one that was not interrupted: the
 * same losses, evaluations, tokens, attention and tables, and at the end the same state, to the bit. What is
 * no such state gives one line, and the laboratory is as before. */
#include "ref_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL                                                                                                \
    "task sort lengths=2..4 test=5..6; model tiny width=16 heads=2 ffn=32 context=32; optim batch=4 "        \
    "warmup=5 "                                                                                              \
    "steps=60; "
/* What shows the most of a model: kernel, tables and what training met; exact match; a prompt head by head.
 */
#define LOOK "; digest; table; eval samples=10; prompt sort 3 1 4; inspect layer=1 head=1"

static const struct {
    const char *name, *begin; /* at last begins to train */
    int turns;                /* of training until it is saved */
    const char *after;        /* when training has ended */
} cases[] = {
    {"fresh", "", 0, "train 5; wait" LOOK},
    {"none", SMALL "train 25", 12, LOOK},
    {"learned", SMALL "pe learned; train 25", 12, LOOK},
    {"sinusoidal", SMALL "pe sinusoidal base=100; train 25", 12, LOOK},
    {"t5", SMALL "pe t5 buckets=6; train 25", 12, LOOK},
    {"alibi", SMALL "pe alibi; train 25", 12, LOOK},
    {"rotary", SMALL "pe rotary base=500 pairing=interleaved; train 25", 12, LOOK},
    {"a swap", SMALL "pe learned; train 10; wait; pe t5; train 20", 7, LOOK},
    {"a swap that keeps the schedule", SMALL "pe t5; train 10; wait; pe rotary restart=off; train 20", 7,
     LOOK},
    {"in the middle of a round", SMALL "race none,t5,alibi seeds=2; train 8", 21, "digest; arm 2" LOOK},
    {"with the replicates due", SMALL "race learned,alibi seeds=3; train 8", 9, "arm 2" LOOK},
    {"broken off in a round", SMALL "race none,t5 seeds=2; train 8", 6, "stop; train 5; wait" LOOK},
    {"until acc", SMALL "race none,alibi; train 60 until acc=0", 40, LOOK},
    {"until loss", SMALL "race none,alibi; train 60 until loss=2.3", 9, LOOK},
    {"until flops", SMALL "race none,learned; train 60 until flops=1e7", 5, LOOK},
    {"a budget", SMALL "race none,t5; train flops=2e7", 9, "train flops=1e6; wait" LOOK},
    {"shared by flops", SMALL "race none,t5; model layers=1 arm=2; set share flops; train flops=2e7", 11,
     LOOK},
    {"optim on the way", SMALL "train 8; wait; optim lr=0.02 batch=7 beta1=0.8 clip=0.5 decay=0.1; train 12",
     4, LOOK},
    {"dropout", SMALL "model dropout=0.2; seed 18446744073709551615; optim batch=4; train 20", 9, LOOK},
    {"heads off",
     SMALL "race t5,none seeds=2; train 6; wait; ablate 0.1; ablate 1.0 mode=mean samples=9; ablate 1.1 "
           "mode=resample samples=9 arm=2; train 10",
     7, "arm 2" LOOK},
    {"a fixed set",
     "task sort,copy lengths=2..4 test=5..6 data=60; model tiny width=16 heads=2 context=32; optim "
     "batch=4; train 25",
     13, LOOK},
    {"forks", SMALL "pe t5; train 6; wait; fork; fork alibi; seed 9 arm=2; arm drop 1; train 10", 5,
     "arm" LOOK},
    {"weights from a file",
     SMALL "model dropout=0.1; train 6; wait; export weights w.safetensors; import weights "
           "w.safetensors; train 10",
     5, "arm" LOOK},
    {"held, and a number of rounds", SMALL "race none,t5; train 9; pause; step 4", 5,
     "digest; step 2; wait; resume; wait" LOOK},
    {"a prompt that was answered",
     SMALL "train 9; wait; prompt sort 3 1 4; inspect layer=0 head=1 view=score; back 2", 0,
     "next; back 3; edit 6 2; next; patch heads from=\"sort 3 1 2\"; prompt sort 2 2" LOOK},
    {"an edited answer",
     SMALL "set temperature 0.7; train 9; wait; prompt sort 3 1 4; edit 6 2; edit 5 1; next; back 1; train 5",
     2, "inspect layer=1; next; next 4; set temperature 0" LOOK},
    {"an edited prompt", SMALL "train 9; wait; prompt sort 3 1 4; edit 2 1; edit 0 4; set temperature 1", 0,
     "back; set temperature 0; next; inspect view=bias" LOOK},
    {"a failing sample",
     SMALL "race none,t5; train 4; wait; eval samples=10; failing length=6 index=3; arm 2; train 3", 2,
     "next; arm 1; next; sample" LOOK},
};

/* The first line in which two lives differ. */
static void assert_same_told(const char *name, struct life *a, struct life *b)
{
    const char *x = life_told(a), *y = life_told(b);
    while (*x != '\0' && strcspn(x, "\n") == strcspn(y, "\n") && strncmp(x, y, strcspn(x, "\n")) == 0) {
        x += strcspn(x, "\n") + 1;
        y += strcspn(y, "\n") + 1;
    }
    if (*x != '\0' || *y != '\0')
        fail_msg("%s: one told '%.*s', the other '%.*s'", name, (int)strcspn(x, "\n"), x,
                 (int)strcspn(y, "\n"), y);
}

static void run_case(const char *name, const char *begin, int turns, const char *after)
{
    struct life whole, saved, restored;
    struct saved at, again, end[3];
    struct pw_err err;
    life_open(&whole, 2); /* nobody saves it */
    life_run(&whole, begin);
    life_train(&whole);
    life_run(&whole, after);

    life_open(&saved, 2);
    life_run(&saved, begin);
    if (!life_turns(&saved, turns))
        fail_msg("%s: training ended before turn %d", name, turns);
    life_save(&saved, &at);
    life_told(&saved);
    pw_str_clear(&saved.told);
    life_train(&saved);
    life_run(&saved, after);

    life_open(&restored, 1);
    if (life_restore(&restored, &at, &err) != PW_OK)
        fail_msg("%s: %s", name, err.msg);
    life_save(&restored, &again);
    if (!saved_equal(&at, &again))
        fail_msg("%s: what was restored is another state:\n%s\n%s", name, at.json.s, again.json.s);
    assert_string_equal(life_told(&restored), "");
    life_train(&restored);
    life_run(&restored, after);

    assert_same_told(name, &saved, &restored);
    life_save(&whole, &end[0]);
    life_save(&saved, &end[1]);
    life_save(&restored, &end[2]);
    if (!saved_equal(&end[0], &end[1]))
        fail_msg("%s: saving changed what came of it", name);
    if (!saved_equal(&end[1], &end[2]))
        fail_msg("%s: went on to\n%s\nand not to\n%s", name, end[2].json.s, end[1].json.s);
    for (int i = 0; i < 3; i++)
        saved_free(&end[i]);
    saved_free(&at);
    saved_free(&again);
    life_close(&whole);
    life_close(&saved);
    life_close(&restored);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(cases[i].name, cases[i].begin, cases[i].turns, cases[i].after);
}

static char dir[] = "/tmp/pewter-state-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL || chdir(dir) != 0; /* for weights that are exported */
}

static int teardown(void **state)
{
    (void)state;
    unlink("w.safetensors");
    return chdir("/") != 0 || rmdir(dir) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
