/* test_split.c - tests the inputs of training and evaluation: inputs that are held out or marked as seen,
 * weights of lengths from a file, and no test length in training. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ref_texts.h"

#define MAX 2048

static char path[] = "/tmp/pewter-dist-XXXXXX";

/* ---- held=on */

static void what_is_held_out_is_never_trained(void **state)
{
    static const char *const texts[] = {
        "parity held=on",
        "parity held=on text=paper lengths=3..12",
        "sort held=on",
        "copy held=on",
        "copy held=on variant=rdc",
        "copy held=on data=3000",
        "reverse held=on alphabet=3 lengths=2..7",
        "addition held=on lengths=1..3",
        "summation held=on",
        "polynomial held=on lengths=1..4",
        "lego held=on lengths=2..4 alphabet=8 test=5..8",
        "sort held=on variant=multi sampling=appendix lengths=1..3",
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct pw_taskset set;
        struct pw_sample s;
        int split = 0;
        texts_open(&set, texts[k]);
        const struct pw_task_use *use = &set.use[0];
        struct pw_range r = pw_task_train(use);
        struct texts train = texts_take(&set, 1, PW_SPLIT_TRAIN, 0, 20000);
        for (int length = r.lo; length <= r.hi; length++)
            split += !pw_task_seen(use, length);
        assert_true(split > 0);
        for (uint64_t i = 0; i < 2000; i++) {
            int length = r.lo + (int)i % (r.hi - r.lo + 1);
            for (int from = 0; from < 2; from++) {
                char *text = texts_one(&set, 1, from == 0 ? PW_SPLIT_VALID : PW_SPLIT_TEST, i, length, &s);
                if (!pw_task_seen(use, s.length) && texts_have(train, text))
                    fail_msg("%s: '%s' was trained", texts[k], text);
                free(text);
            }
        }
        texts_drop(train);
        pw_taskset_fini(&set);
    }
}

static void lengths_that_repeat_are_marked(void **state)
{
    static const struct {
        const char *text;
        int seen_to; /* trained lengths up to this one are seen */
        double inputs;
        int at;
    } cases[] = {
        {"parity lengths=3..20", 16, 65536, 16},
        {"parity lengths=3..20 held=on", 4, 32, 5},
        {"sort", 4, 1e5, 5},
        {"sort held=on", 1, 100, 2},
        {"sort alphabet=4 lengths=1..9 held=on", 2, 64, 3},
        {"copy variant=rsc", 10, 20, 7},
        {"copy variant=rdc alphabet=3", 10, 6, 7},
        {"copy variant=rdc alphabet=3 held=on", 10, 6, 7},
        {"reverse lengths=2..200", 3, 160000, 4},
        {"copy lengths=240..256 alphabet=62 test=2", 0, INFINITY, 256},
        {"summation", 5, 59049, 5},
        {"polynomial", 2, 140, 1},
        {"sort variant=multi lengths=1..2", 1, 9990, 1},
        {"sort variant=multi sampling=appendix lengths=1..2", 1, 10001, 1},
        {"addition", 2, 100, 1},
        {"addition held=on", 0, 90 * 90 + 2 * 90 * 10, 2},
        {"lego lengths=2..4 alphabet=5 test=5", 4, 5 * 4 * 3 * 8, 3},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_taskset set;
        texts_open(&set, cases[k].text);
        const struct pw_task_use *use = &set.use[0];
        for (int length = pw_task_train(use).lo; length <= pw_task_test(use).hi; length++) {
            bool want = length <= cases[k].seen_to && length <= pw_task_train(use).hi;
            if (pw_task_seen(use, length) != want)
                fail_msg("%s: length %d is %s", cases[k].text, length, want ? "not marked" : "marked");
        }
        assert_true(pw_task_inputs(use, cases[k].at) == cases[k].inputs);
        pw_taskset_fini(&set);
    }
}

/* ---- dist=FILE */

static void put(const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void lengths_are_as_frequent_as_the_file_says(void **state)
{
    static const char text[] = "# length weight\n 2 1\n\n5\t3.5 # often\r\n4 0\n3 .5";
    struct pw_taskset set;
    struct pw_str command = {0}, printed = {0}, again = {0};
    int tokens[MAX], count[8] = {0};
    (void)state;
    put(text, sizeof text - 1);
    pw_str_add(&command, "sort lengths=2..6 dist=%s", path);
    texts_open(&set, command.s);
    for (uint64_t i = 0; i < 10000; i++) {
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        pw_taskset_sample(&set, 3, i % 2 == 0 ? PW_SPLIT_TRAIN : PW_SPLIT_VALID, i, 0, 0, &s);
        count[s.length]++;
    }
    /* 2000, 1000, 0, 7000, 0; five standard deviations */
    assert_true(abs(count[2] - 2000) < 200 && abs(count[3] - 1000) < 150 && abs(count[5] - 7000) < 230);
    assert_int_equal(count[4] + count[6], 0);
    pw_taskset_print(&set, &printed);
    assert_string_equal(printed.s, command.s);
    pw_taskset_fini(&set);

    /* Bins of a fixed set follow the weights: int(1.15 * 1000 * 0.2) and so on. */
    pw_str_add(&command, " data=1000");
    texts_open(&set, command.s);
    memset(count, 0, sizeof count);
    for (int split = PW_SPLIT_TRAIN; split <= PW_SPLIT_VALID; split++)
        for (int i = 0; i < pw_task_data(&set.use[0], (enum pw_split)split); i++) {
            struct pw_sample s = {.tokens = tokens, .cap = MAX};
            pw_taskset_sample(&set, 3, (enum pw_split)split, (uint64_t)i, 0, 0, &s);
            count[s.length]++;
        }
    assert_int_equal(count[2], 230);
    assert_int_equal(count[3], 115);
    assert_int_equal(count[4], 0);
    assert_int_equal(count[5], 805);
    struct pw_sample untrained = {.tokens = tokens, .cap = MAX};
    pw_taskset_sample(&set, 3, PW_SPLIT_TEST, 7, 0, 4,
                      &untrained); /* a gap is evaluated like longer lengths */
    assert_int_equal(untrained.length, 4);
    pw_taskset_fini(&set);

    /* A name that needs quotes. */
    char odd[64];
    snprintf(odd, sizeof odd, "%s (1),b", path);
    assert_int_equal(rename(path, odd), 0);
    pw_str_clear(&command);
    pw_str_clear(&printed);
    pw_str_add(&command, "copy,sort(lengths=2..5,dist=\"%s\")", odd);
    texts_open(&set, command.s);
    pw_taskset_print(&set, &printed);
    pw_taskset_fini(&set);
    texts_open(&set, printed.s);
    pw_taskset_print(&set, &again);
    assert_string_equal(printed.s, again.s);
    pw_taskset_fini(&set);
    assert_int_equal(rename(odd, path), 0);
    pw_str_fini(&command);
    pw_str_fini(&printed);
    pw_str_fini(&again);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *message;
        size_t n;
    } files[] = {
        {"2 1\n3 x\n", ": line 2: 'x' is not a weight; allowed are numbers from 0 on", 0},
        {"2 -1\n", ": line 1: '-1' is not a weight", 0},
        {"2 nan\n", ": line 1: 'nan' is not a weight", 0},
        {"2 inf\n", ": line 1: 'inf' is not a weight", 0},
        {"# nothing\n2\n", ": line 2 ('2'...): expected a length and a weight, such as: 5 0.25", 0},
        {"2 1 1\n", ": line 1 ('2'...): expected a length and a weight, such as: 5 0.25", 0},
        {"two 1\n", ": line 1 ('two'...): expected a length and a weight, such as: 5 0.25", 0},
        {"2 1\n\n9 1\n", ": line 3: length 9 is outside of lengths=2..8", 0},
        {"1 1\n", ": line 1: length 1 is outside of lengths=2..8", 0},
        {"2 1\n2 1\n", ": line 2: length 2 is given twice", 0},
        {"2 0\n3 0\n", ": the sum of its weights is 0; it must be above 0, and finite", 0},
        {"", ": the sum of its weights is 0; it must be above 0, and finite", 0},
        {"2 1e308\n3 1e308\n", ": the sum of its weights is inf; it must be above 0, and finite", 0},
        {"2 1\n\xff 1\n", ": line 2 is not valid UTF-8 text", 0},
        {"2 1\0003 1\n", ": line 1 is not valid UTF-8 text", 8},
    };
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"sort dist=/nowhere/at/all", "sort: dist: /nowhere/at/all: cannot open: No such file or directory "
                                      "(besides uniform, geometric and "
                                      "pairs, dist= names a file)"},
        {"sort dist=/",
         "sort: dist: /: is a directory, not a file (besides uniform, geometric and pairs, dist= "
         "names a file)"},
        {"sort dist=pairs",
         "sort: dist=pairs: its lengths are not pairs; allowed are uniform, geometric, or a file"},
        {"addition data=10",
         "addition: data=10 is too small for 64 bins, which have 0 samples in all, training and validation"},
        {"addition data=500", "addition: data=500 is too small: of 512 samples in 64 bins none is left to "
                              "validate length 1; use more"},
        {"sort data=0", "sort: data=0: allowed are stream|1..10000000"},
        {"sort data=10000001", "sort: data=10000001: allowed are stream|1..10000000"},
        {"sort data=1e3", "sort: data=1e3: allowed are stream|1..10000000"},
        {"sort held=maybe", "sort: held=maybe: allowed are on|off"},
        {"lego sampling=paper", "lego: sampling=paper: allowed are code|appendix"},
        {"scan data=20000",
         "scan: data=20000: its inputs are a fixed set already; use held=on to keep some from training"},
        {"copy sampling=appendix",
         "copy: no option 'sampling'; there are lengths test text dist data held alphabet variant"},
    };
    struct pw_taskset set;
    struct pw_err err = {0};
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "sort dist=%s", path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put(files[i].text, files[i].n > 0 ? files[i].n : strlen(files[i].text));
        assert_int_equal(pw_taskset_init(&set, command, &err), PW_EUSER);
        if (strncmp(err.msg, "sort: dist: /tmp/pewter-dist-", 29) != 0 ||
            strstr(err.msg, files[i].message) == NULL)
            fail_msg("case %zu: %s", i, err.msg);
        assert_null(strchr(err.msg, '\n'));
        assert_int_equal(set.n, 0);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(pw_taskset_init(&set, cases[i].text, &err), PW_OK);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(set.n, 0);
    }
}

/* ---- all options */

/* No option may let a test length into training. */
static void no_test_length_is_trained(void **state)
{
    static const char *const options[] = {
        "",           "dist=geometric",       "held=on", "data=1200", "data=1200 held=on",
        "text=paper", "text=appendix held=on"};
    int tokens[MAX];
    (void)state;
    for (const struct pw_task *const *t = pw_tasks; *t != NULL; t++)
        for (size_t k = 0; (*t)->open == NULL && k < sizeof options / sizeof *options; k++) {
            struct pw_taskset set;
            char command[100];
            if ((*t)->window != NULL && k > 0)
                continue; /* it has none of these options */
            if ((*t)->texts != NULL && strstr(options[k], "text=") != NULL)
                continue; /* not every task has every option */
            if ((*t)->nth != NULL && strstr(options[k], "data=") != NULL)
                continue; /* it is a fixed set already */
            snprintf(command, sizeof command, "%s %s", (*t)->name, options[k]);
            texts_open(&set, command);
            struct pw_range train = pw_task_train(&set.use[0]), test = pw_task_test(&set.use[0]);
            assert_true(test.lo > train.hi);
            for (uint64_t i = 0; i < 3000; i++) {
                struct pw_sample s = {.tokens = tokens, .cap = MAX};
                pw_taskset_sample(&set, 9, i % 3 == 0 ? PW_SPLIT_VALID : PW_SPLIT_TRAIN, i, 0, 0, &s);
                assert_true(s.length >= train.lo && s.length <= train.hi);
                assert_true(pw_task_trains(&set.use[0], s.pair));
            }
            pw_taskset_fini(&set);
        }
}

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int clean(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_out_is_never_trained),
        cmocka_unit_test(lengths_that_repeat_are_marked),
        cmocka_unit_test(lengths_are_as_frequent_as_the_file_says),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(no_test_length_is_trained),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
