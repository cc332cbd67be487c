/* test_every.c - tests the enumeration of all inputs of a task. It must have the right number of inputs,
 * without duplicates, and contain every drawn sample. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MOST 30000

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Collects the prompts of all inputs in their order, and their lengths if `lengths` isn't NULL. */
static int list(const struct pw_taskset *set, char **prompts, int *lengths)
{
    struct pw_every e;
    struct pw_item item;
    int n = 0;
    for (pw_every_begin(&e, &set->use[0]); pw_every_next(&e, &item); n++) {
        struct pw_str prompt = {0}, answer = {0};
        assert_true(n < MOST);
        pw_item_write(&set->use[0], &item, &prompt, &answer);
        prompts[n] = strdup(prompt.s);
        if (lengths != NULL)
            lengths[n] = item.length;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
    }
    assert_false(pw_every_next(&e, &item));
    return n;
}

static void free_all(char **prompts, int n)
{
    while (n-- > 0)
        free(prompts[n]);
}

static void each_once(void **state)
{
    static const struct {
        const char *text;
        int count;
    } cases[] = {
        {"parity lengths=2..4 test=5..7", 4 + 8 + 16 + 32 + 64 + 128},
        {"parity lengths=2..3 test=9", 4 + 8 + 512}, /* lengths in between are neither trained nor tested */
        {"copy variant=rsc", 19 * 20},
        {"copy variant=rdc alphabet=5 lengths=1..3 test=4", 4 * 20},
        {"copy alphabet=4 lengths=1..3 test=5", 4 + 16 + 64 + 1024},
        {"copy variant=cmc2x alphabet=3 lengths=2 test=4", 9 + 81},
        {"reverse alphabet=5 lengths=1..2 test=3..4", 5 + 25 + 125 + 625},
        {"sort alphabet=6 lengths=2 test=4", 36 + 1296},
        {"summation lengths=2 test=4", 81 + 6561},
        {"addition lengths=1 test=2", 100 + 8100 + 2 * 900},
        {"polynomial lengths=1 test=2", 140 + 3920},
        {"session alphabet=6 lengths=1..3 test=5", 6 + 30 + 120 + 720},
        {"flipflop lengths=2..3 test=5", 2 + 10 + 250},
        {"scan", 20910},
        {"scan text=paper lengths=1..22", 20910},
        {"scan lengths=1..5 test=6..7", 6 + 88 + 398 + 860 + 1184 + 1178 + 1104},
    };
    static char *prompts[MOST];
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pw_taskset set;
        texts_open(&set, cases[c].text);
        int n = list(&set, prompts, NULL);
        if (n != cases[c].count || pw_every_count(&set.use[0]) != cases[c].count)
            fail_msg("%s: %d inputs, %g counted, not %d", cases[c].text, n, pw_every_count(&set.use[0]),
                     cases[c].count);
        qsort(prompts, (size_t)n, sizeof *prompts, by_text);
        for (int i = 1; i < n; i++)
            if (strcmp(prompts[i - 1], prompts[i]) == 0)
                fail_msg("%s: twice: %s", cases[c].text, prompts[i]);
        struct pw_range test = pw_task_test(&set.use[0]);
        for (uint64_t k = 0; k < 300; k++) { /* samples of both splits must be among them */
            struct pw_str prompt = {0}, answer = {0};
            char *text;
            pw_taskset_sample_text(&set, 3, k % 2 ? PW_SPLIT_TRAIN : PW_SPLIT_TEST, k, 0,
                                   test.lo + (int)k % (test.hi - test.lo + 1), &prompt, &answer);
            text = prompt.s;
            assert_non_null(bsearch(&text, prompts, (size_t)n, sizeof *prompts, by_text));
            pw_str_fini(&prompt);
            pw_str_fini(&answer);
        }
        free_all(prompts, n);
        pw_taskset_fini(&set);
    }
}

/* SCAN's commands in the order of its grammar, which is repeated here: single parts, then "X and Y", then "X
 * after Y". The second part varies fastest. */
static void the_grammars_order(void **state)
{
    static const char *const turned[] = {"turn", "walk", "look", "run", "jump"},
                             *const forms[] = {"", " opposite", " around"},
                             *const times[] = {"", " twice", " thrice"}, *const between[] = {"and", "after"};
    static char part[102][40];
    static char *prompts[MOST];
    struct pw_taskset set;
    int n_parts = 0, at = 0;
    (void)state;
    for (int t = 0; t < 3; t++) {
        for (int v = 1; v < 5; v++)
            snprintf(part[n_parts++], 40, "%s%s", turned[v], times[t]);
        for (int f = 0; f < 3; f++)
            for (int v = 0; v < 5; v++)
                for (int right = 0; right < 2; right++)
                    snprintf(part[n_parts++], 40, "%s%s %s%s", turned[v], forms[f], right ? "right" : "left",
                             times[t]);
    }
    assert_int_equal(n_parts, 102);
    texts_open(&set, "scan");
    assert_int_equal(list(&set, prompts, NULL), 20910);
    for (int how = 0; how < 3; how++)
        for (int i = 0; i < 102; i++)
            for (int j = 0; j < (how == 0 ? 1 : 102); j++) {
                char want[120];
                if (how == 0)
                    snprintf(want, sizeof want, "scan %.39s >", part[i]);
                else
                    snprintf(want, sizeof want, "scan %.39s %s %.39s >", part[i], between[how - 1], part[j]);
                assert_string_equal(prompts[at++], want);
            }
    free_all(prompts, at);
    pw_taskset_fini(&set);
}

/* The numbers of sort variant=multi one by one, then lists of two numbers, which are too many to
 * enumerate. */
static void numbers(void **state)
{
    static const struct {
        const char *text;
        int lo, hi;
    } cases[] = {{"sort variant=multi lengths=1 test=2", 10, 9999},
                 {"sort variant=multi sampling=appendix lengths=1 test=2", 0, 10000}};
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct pw_taskset set;
        struct pw_every e;
        struct pw_item item;
        texts_open(&set, cases[c].text);
        pw_every_begin(&e, &set.use[0]);
        for (int x = cases[c].lo; x <= cases[c].hi; x++) {
            assert_true(pw_every_next(&e, &item));
            assert_true(item.length == 1 && item.n == 1 && item.v[0] == x);
        }
        for (int x = cases[c].lo; x < cases[c].lo + 3; x++) {
            assert_true(pw_every_next(&e, &item));
            assert_true(item.length == 2 && item.n == 2 && item.v[0] == cases[c].lo && item.v[1] == x);
        }
        pw_taskset_fini(&set);
    }
}

/* The inputs of a trained length that training never draws must be exactly those that are held out. */
static void held_out(void **state)
{
    struct pw_taskset set;
    struct pw_every e;
    struct pw_item item;
    int held = 0, other = 0;
    (void)state;
    texts_open(&set, "parity lengths=6 test=7 held=on");
    for (pw_every_begin(&e, &set.use[0]); pw_every_next(&e, &item);) {
        struct pw_str prompt = {0}, answer = {0}, drawn = {0}, more = {0};
        bool met = false;
        pw_item_write(&set.use[0], &item, &prompt, &answer);
        for (uint64_t k = 0; k < 2000 && !met && item.length == 6; k++) {
            pw_str_clear(&drawn);
            pw_str_clear(&more);
            pw_taskset_sample_text(&set, 1, PW_SPLIT_TRAIN, k, 0, 0, &drawn, &more);
            met = strcmp(drawn.s, prompt.s) == 0;
        }
        if (item.length == 6)
            assert_int_equal(pw_task_holds_out(&set.use[0], &item), !met);
        else
            assert_false(pw_task_holds_out(&set.use[0], &item));
        held += pw_task_holds_out(&set.use[0], &item);
        other += met;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
        pw_str_fini(&drawn);
        pw_str_fini(&more);
    }
    assert_int_equal(held + other, 64);
    assert_in_range(held, 2, 14);
    pw_taskset_fini(&set);
}

static void lines_of_a_file(void **state)
{
    char path[] = "/tmp/pewter-every-XXXXXX", text[80];
    static char *prompts[MOST];
    int fd = mkstemp(path), lengths[8];
    FILE *f = fdopen(fd, "w");
    struct pw_taskset set;
    (void)state;
    fputs("c d e\tx\na b\ty\na b c d\tz\nb a\ty\n", f);
    fclose(f);
    snprintf(text, sizeof text, "file path=%s lengths=2..3", path);
    texts_open(&set, text);
    remove(path);
    assert_int_equal(list(&set, prompts, lengths), 4);
    assert_string_equal(prompts[0], " c d e >");
    assert_string_equal(prompts[3], " b a >");
    assert_int_equal(lengths[2], 4);
    free_all(prompts, 4);
    pw_taskset_fini(&set);
}

static void what_can_not_be_listed(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "lego");
    assert_true(pw_every_count(&set.use[0]) < 0);
    pw_taskset_fini(&set);
    texts_open(&set, "pcfg");
    assert_true(pw_every_count(&set.use[0]) < 0);
    pw_taskset_fini(&set);
    texts_open(&set, "sort variant=multi lengths=100 test=200");
    assert_true(isinf(pw_every_count(&set.use[0])));
    pw_taskset_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_once),
        cmocka_unit_test(the_grammars_order),
        cmocka_unit_test(held_out),
        cmocka_unit_test(lines_of_a_file),
        cmocka_unit_test(what_can_not_be_listed),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
