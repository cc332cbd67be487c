/* test_recall.c - tests the tasks recall and flipflop: samples against the rule, read from their text; shares
 * of the instructions; gold pointers; typed prompts and the errors for wrong ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX 512

static const char *const sets[] = {
    "recall",
    "recall alphabet=52 values=2 lengths=1..20 test=52",
    "recall alphabet=3 lengths=1..2 test=3 data=200",
    "flipflop",
    "flipflop ignored=0 lengths=2..9 test=200",
    "flipflop ignored=100 held=on",
};

/* The answer to "recall a 1 b 2 ? a": behind the earlier place of the last letter. *keys: different keys. */
static char solve_recall(const char *p, int *keys)
{
    char asked = p[strlen(p) - 1];
    const char *pairs = p + strlen("recall"), *end = strchr(pairs, '?');
    int seen[256] = {0};

    *keys = 0;
    for (const char *at = pairs; at + 4 <= end; at += 4) /* " a 1" */
        *keys += seen[(unsigned char)at[1]]++ == 0;
    return strchr(pairs, asked)[2];
}

/* The answer to "flipflop w 1 i 0 r": the bit of the last write; every read shows it. */
static char solve_flipflop(const char *p, int *instructions)
{
    char last = '?';

    *instructions = 0;
    for (const char *at = p + strlen("flipflop"); *at != '\0'; at += strlen(at) < 4 ? 2 : 4) { /* " w 1" */
        if (at[1] == 'w')
            last = at[3];
        else if (at[1] == 'r' && at[2] != '\0')
            assert_int_equal(at[3], last);
        ++*instructions;
    }
    assert_int_equal(p[strlen(p) - 1], 'r');
    return last;
}

static void check_sample(const struct pw_taskset *set, enum pw_split split, uint64_t i, int length)
{
    struct pw_str p = {0}, a = {0};
    struct pw_err err = {0};
    int tokens[MAX], again[MAX], at[MAX], n;
    struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};

    pw_taskset_sample(set, 5, split, i, 0, length, &s);
    pw_taskset_sample_text(set, 5, split, i, 0, length, &p, &a);
    char right = *p.s == 'r' ? solve_recall(p.s, &n) : solve_flipflop(p.s, &n);
    assert_int_equal(a.len, 2);
    assert_int_equal(a.s[1], right);
    assert_int_equal(n, s.length);
    if (split == PW_SPLIT_TEST)
        assert_int_equal(s.length, length);
    assert_int_equal(s.n, pw_taskset_tokens_at(set, 0, s.length));

    if (pw_taskset_prompt(set, p.s, MAX, &typed, &err) != PW_OK)
        fail_msg("'%s': %s", p.s, err.msg);
    assert_int_equal(typed.n, s.n);
    assert_memory_equal(tokens, again, (size_t)s.n * sizeof *tokens);

    int m = pw_taskset_pointers(set, &s, 0, at);
    assert_true(m >= 1);
    for (int k = 0; k < m; k++) /* every pointer is at the answer's token */
        assert_int_equal(tokens[at[k]], tokens[s.n_prompt]);
    pw_str_fini(&p);
    pw_str_fini(&a);
}

static void samples_follow_the_rule(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k]);
        struct pw_range test = pw_task_test(&set.use[0]);
        for (uint64_t i = 0; i < 600; i++)
            check_sample(&set, (enum pw_split)(i % 3), i, test.lo + (int)i % (test.hi - test.lo + 1));
        pw_taskset_fini(&set);
    }
}

static void ignored_is_their_share(void **state)
{
    int count[256] = {0}, all = 0;
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "flipflop ignored=60 lengths=100");
    for (uint64_t i = 0; i < 100; i++) {
        struct pw_str p = {0}, a = {0};
        pw_taskset_sample_text(&set, 5, PW_SPLIT_TRAIN, i, 0, 100, &p, &a);
        for (const char *at = p.s + strlen("flipflop w 1"); strlen(at) >= 4; at += 4, all++)
            count[(unsigned char)at[1]]++;
        pw_str_fini(&p);
        pw_str_fini(&a);
    }
    assert_int_equal(all, 100 * 98);
    assert_true(fabs((double)count['i'] / all - 0.6) < 0.02);
    assert_true(fabs((double)count['w'] / all - 0.2) < 0.02);
    pw_taskset_fini(&set);
}

/* Guessing the most frequent value: always right for one pair, and better than one value in ten. */
static void chance_is_that_of_the_most_frequent_value(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "recall");
    const struct pw_task_use *use = &set.use[0];
    assert_true(use->task->chance(&use->o, 1) == 1);
    assert_true(fabs(use->task->chance(&use->o, 2) - 0.55) < 0.02);
    assert_true(use->task->chance(&use->o, 8) > 0.1 && use->task->chance(&use->o, 8) < 0.4);
    pw_taskset_fini(&set);
}

static void prompts_and_errors(void **state)
{
    static const struct typed cases[] = {
        {"recall", "recall c 9 k 8 ? k", "recall c 9 k 8 ? k| 8</s>"},
        {"recall", "recall c 9, k 8 ? c", "recall c 9 k 8 ? c| 9</s>"},
        {"recall", "recall c 9 c 8 ? c", "recall: the key 'c' comes twice"},
        {"recall", "recall c 9 ? k", "recall: the key 'k' has no value; write: recall c 9 k 8 j 3 ? k"},
        {"recall", "recall 9 c", "recall: '9' is no key: keys are letters; write: recall c 9 k 8 j 3 ? k"},
        {"recall", "recall c d ? c", "recall: 'd' is not one of the 10 symbols 0..9"},
        {"recall", "recall c 9 ? c 4", "recall: unexpected '4'; write: recall c 9 k 8 j 3 ? k"},
        {"recall alphabet=2 lengths=1 test=2", "recall a 1 b 2 a 3 ? a",
         "recall: at most 2 pairs are allowed"},
        {"recall", "recall", "recall: the text ends where one of the 36 symbols 0..9 a..z must follow"},
        {"flipflop", "flipflop w 1 i 0 r", "flipflop w 1 i 0 r| 1</s>"},
        {"flipflop", "flipflop w 1 r 1 w 0, r", "flipflop w 1 r 1 w 0 r| 0</s>"},
        {"flipflop", "flipflop i 0 r",
         "flipflop: the first instruction must be w; write: flipflop w 1 i 0 w 0 i 1 r"},
        {"flipflop", "flipflop w 1 r 0 r", "flipflop: r 0 reads a bit that was not written last"},
        {"flipflop", "flipflop w 1 i 0",
         "flipflop: the last instruction must be r, without a bit; write: flipflop w 1 i 0 w 0 i 1 r"},
        {"flipflop", "flipflop w",
         "flipflop: the last instruction must be r, without a bit; write: flipflop w 1 i 0 w 0 i 1 r"},
        {"flipflop", "flipflop w 2 r",
         "flipflop: '2' is not one of the bits 0 and 1; write: flipflop w 1 i 0 w 0 i 1 r"},
        {"flipflop", "flipflop x 1 r",
         "flipflop: 'x': an instruction is w, i or r; write: flipflop w 1 i 0 w 0 i 1 r"},
    };
    static const char *const refused[][2] = {
        {"recall alphabet=7", "recall: keys do not repeat, so 16 pairs need alphabet=16 or more, not 7"},
        {"recall alphabet=53", "alphabet=53"},
        {"recall values=1", "values=1"},
        {"flipflop ignored=101", "ignored=101"},
        {"flipflop lengths=1", "lengths=1"},
        {"flipflop text=paper", "text=paper"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        if (pw_taskset_init(&set, refused[i][0], &err) == PW_OK || strstr(err.msg, refused[i][1]) == NULL)
            fail_msg("'%s': %s", refused[i][0], err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_follow_the_rule),
        cmocka_unit_test(ignored_is_their_share),
        cmocka_unit_test(chance_is_that_of_the_most_frequent_value),
        cmocka_unit_test(prompts_and_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
