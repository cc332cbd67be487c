/* test_positions.c - tests sessions whose encodings read positions from tokens or from chance. Re-runs have
 * the same bits on any number of threads. Observations between steps change nothing, and replicas with
 * batches of their own have draws of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/core/lab_int.h"
#include "model/expr/library.h"
#include "ref_record.h"

#define SMALL                                                                                                \
    "task addition lengths=1..3 order=reversed; model tiny width=16 layers=2 heads=2; optim batch=4; "
#define RACE "race abacus,coupling,randomized,expr('position = index(i) + run(i); bias = -d') "

static int set_up(void **state)
{
    (void)state;
    pw_library_folders("/nonexistent", PEWTER_SOURCE_DIR "/encodings");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pw_library_folders(NULL, NULL);
    return 0;
}

/* Appends the encoding of a file as the text of its formula: a re-run in memory has no copies of files. */
static void put_formula(struct pw_str *line, const char *name)
{
    struct pw_pe_use_opts use;
    struct pw_err err;
    if (pw_pe_read(&use, name, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_pe_print(&use, line);
}

static void test_rerun(void **state)
{
    static const char *const names[] = {"abacus", "coupling", "randomized"};
    static const int threads[] = {1, 2, 8};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct record r;
        struct bench b;
        struct pw_str line = {0};
        record_open(&b, &r, threads[2 - i], false);
        bench_must(&b, SMALL "race none,expr('position = index(i) + run(i); bias = -d') seeds=2");
        pw_str_add(&line, "arm 1; pe ");
        put_formula(&line, names[i]);
        pw_str_add(&line, "; fork ");
        put_formula(&line, names[(i + 1) % 3]);
        bench_must(&b, line.s);
        bench_must(&b, "train 12; eval lengths=2..4 samples=9; prompt addition 27 + 15; "
                       "inspect layer=1 head=1 view=bias; table; fork t5; train 5; digest");
        bench_close(&b);
        record_must(&r, threads[i]);
        record_free(&r);
        pw_str_fini(&line);
    }
}

/* The same digests with and without readers between the steps. */
static void test_observed(void **state)
{
    struct bench a, b;
    (void)state;
    bench_open(&a, 1, false);
    bench_must(&a, SMALL RACE "seeds=2 batches=own; train 12; digest");
    bench_open(&b, 3, true);
    bench_must(&b, SMALL RACE "seeds=2 batches=own; train 5; eval lengths=2..4 samples=9");
    bench_must(&b, "arm 2; prompt addition 2 + 15; inspect layer=0 view=bias; next; table; arm 3; prompt "
                   "addition 4 + 4");
    bench_must(&b, "ablate 0.1; restore; train 7; digest");
    assert_string_equal(a.digests, b.digests);
    bench_close(&a);
    bench_close(&b);
}

/* Only samples of training have keys, a function of the sample alone. */
static void test_samples(void **state)
{
    struct pw_taskset set;
    struct pw_samples s = {0}, part = {0};
    (void)state;
    assert_int_equal(pw_taskset_init(&set, "addition lengths=1..3", NULL), PW_OK);
    pw_samples_fill(&s, &set, 5, PW_SPLIT_VALID, 0, 4, 0, 0);
    assert_null(s.b.chance);
    pw_samples_fill(&s, &set, 5, PW_SPLIT_TRAIN, 8, 6, 0, 0);
    pw_samples_fill(&part, &set, 5, PW_SPLIT_TRAIN, 10, 2, 0, 0);
    assert_memory_equal(part.b.chance, s.b.chance + 2, 2 * sizeof *s.b.chance);
    assert_true(s.b.chance[0] != s.b.chance[1]);
    pw_samples_fill(&part, &set, 6, PW_SPLIT_TRAIN, 10, 2, 0, 0);
    assert_true(part.b.chance[0] != s.b.chance[2]);
    pw_samples_fini(&s);
    pw_samples_fini(&part);
    pw_taskset_fini(&set);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"pe expr 'position = index(i); bias = -i'",
         "bias: no 'i', because the position reads tokens or chance: write position(i)"},
        {"pe expr 'position = index(i); scale = log(n)'", "scale: no 'n', because the position reads"},
        {"pe expr 'bias = token(i)'", "only 'position' reads 'token'"},
        {"pe expr 'a = uniform(0, 1); bias = a'", "bias reads tokens or chance: only 'position' can"},
        {"pe expr 'position = index(j); bias = d'",
         "index(i): it is of the token whose position is computed"},
        {"pe expr 'position = index; bias = d'", "'(' is missing after the name"},
        {"pe expr 'position = index(i) / 2; bias = d'", "a whole number: use floor()"},
        {"pe expr 'position = 1 / index(i); bias = d'", "position is inf at token 0"},
        {"pe expr 'position = index(i) + 200; bias = d'",
         "position can be 200 at token 0 of 13: a model of context=128 has 0..127"},
        {"pe expr 'position = index(i) - 1; bias = d'", "position can be -1 at token 0"},
        {"pe expr 'position = floor(normal(2, 1)); bias = d'", "a model of context=128 has 0..127"},
        {"pe expr 'position = sample(i, 4); bias = d'", "',' was expected between arguments, not ')'"},
        {"pe expr 'position = index(i); mask = d > 0'", "mask: query i=0 sees no key"},
        {"pe coupling; tune logn=4", "its positions do not count the keys"},
        {"pe abacus; probe shift", "reads positions from tokens or chance, so a shift isn't defined"},
        {"pe abacus; export formula /nonexistent/x.py", "the position reads tokens or chance"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe none; train 2");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bench_run(&b, cases[k].line);
        if (b.errors != 1 || strstr(b.error, cases[k].message) == NULL || strchr(b.error, '\n') != NULL)
            fail_msg("%s: %d errors: %s", cases[k].line, b.errors, b.error);
    }
    bench_must(&b, "pe expr 'index = 3; bias = -index * d'"); /* the words are not reserved */
    bench_close(&b);
}

/* The answer to `pe` shows the positions of the pinned prompt, or of an example. */
static void test_shown(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "pe coupling");
    assert_non_null(strstr(b.note, "formula: positions by tokens and chance, adds rows to the embeddings"));
    assert_non_null(
        strstr(b.note, "; positions: addition 0, 7 4, 2 3, 6 2, + 1, 5 3, 9 2, > 1, 5 2, 8 3, 7 4"));
    bench_must(&b, "prompt addition 12 + 9; pe check expr 'position = run(i); bias = -d'");
    assert_string_equal(b.note, "positions: addition 0, 1 1, 2 1, + 0, 9 2, > 0, 1 3, 2 3");
    bench_must(&b, "pe randomized");
    assert_non_null(strstr(b.note, "formula: positions by chance, rotates"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rerun),   cmocka_unit_test(test_observed), cmocka_unit_test(test_samples),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests_name("positions", tests, set_up, tear_down);
}
