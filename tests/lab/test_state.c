/* test_state.c - tests that a lab that was saved and restored continues as one that was not interrupted.
 * Losses, evaluations, tokens, attention and tables are the same, and finally the state is the same to the
 * bit. */
#include "ref_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL                                                                                                \
    "task sort lengths=2..4 test=5..6; model tiny width=16 heads=2 ffn=32 context=32; optim batch=4 "        \
    "warmup=5 "                                                                                              \
    "steps=60; "
/* Commands that show most of a model: kernel, tables, positions seen in training, exact match, and a prompt
 * head by head. */
#define LOOK "; digest; table; eval samples=10; prompt sort 3 1 4; inspect layer=1 head=1"

struct scene {
    const char *name, *begin; /* its last command trains */
    int turns;                /* of training until the state is saved */
    const char *after;        /* commands after training */
};

static const struct scene scenes[] = {
    {"fresh", "", 0, "train 3; wait; digest"},
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
    {"with the replicas due", SMALL "race learned,alibi seeds=3; train 8", 9, "arm 2" LOOK},
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
    {"probes that are repeated",
     SMALL "race none,alibi seeds=2; probe dispersion samples=1 every=4 arm=2; probe dispersion samples=2 "
           "every=6; train 14",
     25, "train 5; wait; arm drop 2; train 3; wait; probe"},
    {"untrained twins whose positions are of classes of tokens",
     SMALL "race none,none; arm 2; pe expr 'position = sample(i, min(2 * prompt, context), context); "
           "angle = position(i) / 10 ** (2 * p / D)'; train 6",
     5, "probe distance samples=2"},
    {"first words of prompts", SMALL "construct theorem1 T=12; train 3", 1, "probe theorem1; probe variance"},
    {"another replica",
     SMALL "race none,t5 seeds=3; train 6; wait; prompt sort 3 1 4; inspect replica=2; back; train 10", 31,
     "back; patch heads from=\"sort 3 1 2\"; arm 2" LOOK "; inspect replica=+1; table"},
    {"a failing sample",
     SMALL "race none,t5; train 4; wait; eval samples=10; failing length=6 index=3; arm 2; train 3", 2,
     "next; arm 1; next; sample" LOOK},
};

/* Fails at the first line in which two labs differ. */
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

/* Continues a scene to its end. */
static void live_on(struct life *l, const struct scene *c)
{
    life_train(l);
    life_run(l, c->after);
}

static void begin(struct life *l, const struct scene *c, int threads, bool live)
{
    life_open(l, threads, live);
    life_run(l, c->begin);
}

/* Restores a saved state. It must be the same state, and no event may be emitted. */
static void restored(struct life *l, const struct scene *c, struct saved *at, bool live)
{
    struct saved again;
    struct pw_err err;
    life_open(l, 1, live);
    if (life_restore(l, at, &err) != PW_OK)
        fail_msg("%s: %s", c->name, err.msg);
    life_save(l, &again);
    if (!saved_equal(at, &again))
        fail_msg("%s: what was restored is another state:\n%s\n%s", c->name, at->json.s, again.json.s);
    assert_string_equal(life_told(l), "");
    saved_free(&again);
}

static void assert_same_end(const char *what, const struct scene *c, struct life *a, struct life *b)
{
    struct saved x, y;
    life_save(a, &x);
    life_save(b, &y);
    if (!saved_equal(&x, &y))
        fail_msg("%s: %s: went on to\n%s\nand not to\n%s", c->name, what, x.json.s, y.json.s);
    saved_free(&x);
    saved_free(&y);
}

/* Runs one lab without interruption, one that is saved midway, and one that continues from there. */
static void play(const struct scene *c, bool live)
{
    struct life whole, saved, next;
    struct saved at;
    begin(&whole, c, 2, live);
    live_on(&whole, c);

    begin(&saved, c, 2, live);
    if (!life_turns(&saved, c->turns))
        fail_msg("%s: training ended before turn %d", c->name, c->turns);
    life_save(&saved, &at);
    life_told(&saved);
    pw_str_clear(&saved.told);
    live_on(&saved, c);
    assert_same_end("saving changed it", c, &saved, &whole);

    restored(&next, c, &at, live);
    live_on(&next, c);
    assert_same_told(c->name, &saved, &next);
    assert_same_end("restoring changed it", c, &next, &whole);
    saved_free(&at);
    life_close(&whole);
    life_close(&saved);
    life_close(&next);
}

static void test_scenes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        play(&scenes[i], false);
}

/* With live events, tables are emitted one by one. No arm trains here, because events beside training
 * depend on a clock. */
static void test_watched(void **state)
{
    const struct scene c = {"watched",
                            SMALL "race none,t5,learned; table arm=2 length=7; table arm=3 layer=1; arm 2", 0,
                            "arm 1; arm 3; pe alibi; arm 2; prompt sort 1 2; seed 4; next"};
    (void)state;
    play(&c, true);
}

/* Interrupted after every turn: with a swap, replicas, heads that are off and optimisers that differ. */
static void test_every_turn(void **state)
{
    const struct scene c = {"every turn",
                            SMALL
                            "race t5,learned seeds=2; optim batch=3 lr=0.02 arm=2; train 2; wait; pe rotary "
                            "arm=2; ablate 0.1; train 5",
                            0, "digest"};
    struct life whole, next;
    struct saved at[21], end[2];
    (void)state;
    begin(&whole, &c, 2, false);
    for (int i = 0; i <= 20; i++) {
        life_save(&whole, &at[i]);
        life_turns(&whole, 1);
    }
    live_on(&whole, &c);
    life_save(&whole, &end[0]);
    for (int i = 0; i <= 20; i++) {
        restored(&next, &c, &at[i], false);
        live_on(&next, &c);
        life_save(&next, &end[1]);
        if (!saved_equal(&end[0], &end[1]))
            fail_msg("saved at turn %d it went on to\n%s\nand not to\n%s", i, end[1].json.s, end[0].json.s);
        saved_free(&at[i]);
        saved_free(&end[1]);
        life_close(&next);
    }
    saved_free(&end[0]);
    life_close(&whole);
}

/* Saves in the middle of a check of acc, with some of the samples evaluated. A command that changes the
 * model runs after the check, whether the check had ended or not. */
static void look_and(const char *change)
{
    const struct scene c = {change, SMALL "race t5,t5; seed 3 arm=2; train 60 until acc=0.9", 99,
                            "train 7; wait; digest"};
    struct life a, b, late;
    struct saved at;
    struct pw_err err;
    begin(&a, &c, 2, false);
    assert_true(life_turns(&a, c.turns)); /* 50 steps of the first arm; the next turn checks */
    struct pw_replica *arm = &a.lab->replicas[0];
    assert_true(arm->checking && arm->check.samples == 0 && arm->check_of == 256);
    assert_int_equal(pw_lab_valid_slice(a.lab, arm, 70, &arm->check, true, &err), PW_OK);
    life_save(&a, &at);
    assert_non_null(strstr(at.json.s, "\"checked\":\"70\""));
    restored(&b, &c, &at, false);
    begin(&late, &c, 2, false);
    assert_true(life_turns(&late, c.turns));
    while (late.lab->replicas[0].checking)
        assert_true(life_turns(&late, 1));

    life_told(&a);
    pw_str_clear(&a.told);
    life_run(&a, change);
    life_run(&b, change);
    life_run(&late, change);
    assert_true(arm->checking && arm->check.samples == 256);
    live_on(&a, &c);
    live_on(&b, &c);
    live_on(&late, &c);
    assert_same_told(c.name, &a, &b);
    assert_same_end("restored in a look", &c, &b, &a);
    assert_same_end("a look that was over", &c, &late, &a);
    saved_free(&at);
    life_close(&a);
    life_close(&b);
    life_close(&late);
}

static void test_look_at_acc(void **state)
{
    static const char *const changes[] = {"pe alibi", "tune stretch=0.5", "transplant 2", "ablate 0.1"};
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        look_and(changes[i]);
}

/* Saved while a step has yielded between two blocks: the step is computed again. */
static void test_yielded(void **state)
{
    const struct scene c = {"a step that yielded", SMALL "pe t5; train 9", 4, "digest"};
    struct life a, b;
    struct saved at;
    (void)state;
    begin(&a, &c, 2, false);
    assert_true(life_turns(&a, c.turns));
    atomic_store(&a.lab->yield, true);
    assert_true(life_turns(&a, 1));
    assert_int_equal(a.lab->replicas[0].step, c.turns);
    atomic_store(&a.lab->yield, false);
    life_save(&a, &at);
    life_told(&a);
    pw_str_clear(&a.told);
    restored(&b, &c, &at, false);
    live_on(&a, &c);
    live_on(&b, &c);
    assert_same_told(c.name, &a, &b);
    assert_same_end("restored", &c, &b, &a);
    saved_free(&at);
    life_close(&a);
    life_close(&b);
}

/* A bf16 state restores its precision to the bit where the machine supports it. Elsewhere, and with other
 * kernels, it is refused and nothing changes. An fp32 state ends bf16. */
static void test_precision(void **state)
{
    const struct scene c = {"bf16", SMALL "race t5,learned; train 7", 5, "digest; prompt sort 3 1 2"};
    struct life a, b;
    struct saved wide, narrow, before, after;
    struct pw_err err;
    (void)state;
    begin(&a, &c, 2, false);
    life_save(&a, &wide);
    if (life_try(&a, "set precision bf16", &err) != PW_OK) {
        memcpy(strstr(wide.json.s, "fp32"), "bf16", 4);
        life_save(&a, &before);
        assert_int_equal(life_restore(&a, &wide, &err), PW_EDEVICE);
        assert_non_null(strstr(err.msg, "precision=bf16: "));
        life_save(&a, &after);
        assert_true(saved_equal(&before, &after));
        saved_free(&before);
        saved_free(&after);
        saved_free(&wide);
        life_close(&a);
        return;
    }
    life_turns(&a, c.turns);
    life_save(&a, &narrow);
    restored(&b, &c, &narrow, false);
    assert_string_equal(b.lab->ops->precision, "bf16");
    life_told(&a);
    pw_str_clear(&a.told);
    live_on(&a, &c);
    live_on(&b, &c);
    assert_same_told(c.name, &a, &b);
    assert_same_end("restored", &c, &b, &a);
    assert_int_equal(life_restore(&b, &wide, &err), PW_OK);
    assert_string_equal(b.lab->ops->precision, "fp32");
    life_run(&b, "set isa scalar");
    life_save(&b, &before);
    assert_int_equal(life_restore(&b, &narrow, &err), PW_EDEVICE);
    assert_non_null(strstr(err.msg, "not with isa=scalar"));
    life_save(&b, &after);
    assert_true(saved_equal(&before, &after));
    saved_free(&before);
    saved_free(&after);
    saved_free(&wide);
    saved_free(&narrow);
    life_close(&a);
    life_close(&b);
}

static char dir[] = "/tmp/pewter-state-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL || chdir(dir) != 0; /* for exported weights */
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
        cmocka_unit_test(test_scenes),      cmocka_unit_test(test_watched), cmocka_unit_test(test_every_turn),
        cmocka_unit_test(test_look_at_acc), cmocka_unit_test(test_yielded), cmocka_unit_test(test_precision),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
