/* test_pointers.c - tests gold pointers: known samples by hand, drawn ones by the tokens that the pointers
 * select. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX 1200

/* Token indices count from 0. Bars separate the pointers of consecutive answer tokens. */
static void known_samples(void **state)
{
    static const struct {
        const char *set, *typed, *pointers;
    } cases[] = {
        {"copy", "copy a b", " 1| 2||"},
        {"copy text=paper variant=cmc2x", "copy a b", " 2| 3|| 2| 3||"}, /* Copy : a b [SEP] a b [NEXT] a b */
        {"copy variant=rsc2x", "copy 1 1", " 1| 2| 1| 2||"},
        {"copy variant=rdc", "copy 6 6 -> 8", " 2 4| 2 5||"}, /* replace 6 8 : 6 6 > */
        {"reverse", "reverse a b c", " 3| 2| 1||"},
        {"reverse variant=mc2x", "reverse a b", " 2| 1|| 2| 1||"},
        {"reverse variant=mcrv text=appendix", "reverse 0 1", " 6| 5|| 5| 6|||"}, /* ends in " ." */
        {"sort", "sort 3 1 3", " 2| 1 3| 1 3||"},
        {"sort text=appendix", "sort 2 1",
         "||| 6| 5|||"}, /* Sort the following numbers : 2 1 ? The answer is */
        {"sort variant=multi", "sort 12 11 12", " 4| 5|| 1 7| 2 8|| 1 7| 2 8||"}, /* sort 1 2 , 1 1 , 1 2 */
        {"addition", "addition 95 + 7", " 1| 1| 2 4||"},                          /* 102: the carry of 9 + */
        {"addition order=reversed", "addition 95 + 7", " 2 4| 1| 1||"},
        {"addition order=all", "addition 59 + 7", " 1 4| 2| 2||"},
        {"addition text=paper", "addition 1 + 2", "||| 1 3|||"},
        {"summation", "summation 3 9", " 1 2||"},
        {"summation text=appendix", "summation 3 9", "||| 3 5|||"}, /* Compute : ( 3 + 9 ) %10 ? */
        {"parity", "parity 101", " 1 2 3||"},
        {"parity text=paper", "parity 10", "||| 10 12|||"},
        {"polynomial", "polynomial x=-2: 3x^2", " 1 3 4||"},
        {"polynomial text=appendix", "polynomial x=-2: -3x^2",
         "||| 3 4 7 8 11|||"}, /* Evaluate x = - 2 in ( - 3 x ** 2 */
        {"lego", "lego a = -1, b = -a, c = +a, c ?", " 1 2 3 7 8 9||"},
        {"lego clauses=shuffled", "lego c = +a, b = -a, a = -1, c ?", " 1 2 3 7 8 9||"},
        {"lego text=paper", "lego a = -1, b = -a, c = +b, b ?",
         "||| 1 3 5 7 8|||"}, /* If a = -1 , b = - a , */
        {"lego text=appendix", "lego a = -1, b = -a, b ?", "||| 1 3 5 7 8|||"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        struct pw_str got = {0};
        int tokens[MAX], at[MAX];
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        texts_open(&set, cases[i].set);
        if (pw_taskset_prompt(&set, cases[i].typed, MAX, &s, &err) != PW_OK)
            fail_msg("%s", err.msg);
        for (int k = 0; k < s.n - s.n_prompt; k++) {
            int n = pw_taskset_pointers(&set, &s, k, at);
            for (int j = 0; j < n; j++)
                pw_str_add(&got, " %d", at[j]);
            pw_str_add(&got, "|");
        }
        if (strcmp(got.s, cases[i].pointers) != 0)
            fail_msg("%s: %s: %s, not %s", cases[i].set, cases[i].typed, got.s, cases[i].pointers);
        assert_int_equal(pw_taskset_pointers(&set, &s, -1, at), 0);
        assert_int_equal(pw_taskset_pointers(&set, &s, s.n, at), 0);
        s.task = -1;
        assert_int_equal(pw_taskset_pointers(&set, &s, 0, at), 0);
        pw_str_fini(&got);
        pw_taskset_fini(&set);
    }
}

/* In copied or moved sequences each pointer must select the same symbol, and every symbol must have a
 * pointer. */
static void pointers_lead_to_the_same_symbol(void **state)
{
    static const char *const sets[] = {"copy",
                                       "copy text=paper variant=cmc2x",
                                       "copy text=appendix",
                                       "reverse variant=mcrv text=paper",
                                       "sort",
                                       "sort text=paper alphabet=62",
                                       "reverse",
                                       "sort variant=multi text=paper lengths=1..4",
                                       "sort text=appendix variant=multi"};
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k]);
        for (uint64_t i = 0; i < 200; i++) {
            int tokens[MAX], at[MAX], pointed[MAX] = {0}, sources = 0;
            struct pw_sample s = {.tokens = tokens, .cap = MAX};
            pw_taskset_sample(&set, 3, PW_SPLIT_TRAIN, i, 0, 0, &s);
            for (int a = 0; a < s.n - s.n_prompt; a++) {
                int n = pw_taskset_pointers(&set, &s, a, at);
                sources += n > 0;
                for (int j = 0; j < n; j++) {
                    assert_true(at[j] >= 0 && at[j] < s.n_prompt && (j == 0 || at[j] > at[j - 1]));
                    assert_int_equal(tokens[at[j]], tokens[s.n_prompt + a]);
                    pointed[at[j]] = 1;
                }
            }
            int all = 0;
            for (int p = 0; p < s.n_prompt; p++)
                all += pointed[p];
            assert_true(all >= s.length && sources >= s.length);
        }
        pw_taskset_fini(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_samples),
        cmocka_unit_test(pointers_lead_to_the_same_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
