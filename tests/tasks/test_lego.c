/* test_lego.c - tests LEGO with clauses=shuffled. It has the clauses of clauses=chain in random order, and
 * accepts them in any order; the chain still determines the answer. test_samples.c tests the content of a
 * chain's samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX    1200
#define CLAUSE 6 /* "a + b " */

static void texts(const struct pw_taskset *set, uint64_t i, int length, struct pw_str *prompt,
                  struct pw_str *answer)
{
    pw_str_clear(prompt);
    pw_str_clear(answer);
    pw_taskset_sample_text(set, 3, PW_SPLIT_TEST, i, 0, length, prompt, answer);
}

/* A sample must have the clauses, question and answer of the chain with the same index, and all orders must
 * be equally likely. */
static void the_order_is_all_that_changes(void **state)
{
    struct pw_taskset chain, shuffled;
    struct pw_str a = {0}, a_answer = {0}, b = {0}, b_answer = {0};
    int count[27] = {0}, orders = 0;
    (void)state;
    texts_open(&chain, "lego lengths=2..3");
    texts_open(&shuffled, "lego lengths=2..3 clauses=shuffled");
    for (uint64_t i = 0; i < 6000; i++) {
        int order = 0;
        texts(&chain, i, 3, &a, &a_answer);
        texts(&shuffled, i, 3, &b, &b_answer);
        assert_int_equal(a.len, b.len);
        assert_string_equal(a_answer.s, b_answer.s);
        assert_string_equal(a.s + 5 + 3 * CLAUSE, b.s + 5 + 3 * CLAUSE); /* the variable in question */
        for (int k = 0; k < 3; k++) {
            int at = 0;
            while (at < 3 && strncmp(a.s + 5 + k * CLAUSE, b.s + 5 + at * CLAUSE, CLAUSE) != 0)
                at++;
            assert_true(at < 3);
            order = 3 * order + at;
        }
        count[order]++;
    }
    for (int i = 0; i < 27; i++) {
        orders += count[i] > 0;
        assert_true(count[i] == 0 || abs(count[i] - 1000) < 150);
    }
    assert_int_equal(orders, 6);
    assert_true(pw_task_inputs(&shuffled.use[0], 3) == 6 * pw_task_inputs(&chain.use[0], 3));
    pw_str_fini(&a);
    pw_str_fini(&a_answer);
    pw_str_fini(&b);
    pw_str_fini(&b_answer);
    pw_taskset_fini(&chain);
    pw_taskset_fini(&shuffled);
}

/* A parsed prompt must have the pair and pointers of the chain, also if a fixed set asks for all variables of
 * a chain. */
static void the_chain_is_found_again(void **state)
{
    static const char *const sets[] = {"lego clauses=shuffled",
                                       "lego clauses=shuffled data=500 text=appendix"};
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        int tokens[MAX], again[MAX], at[MAX];
        texts_open(&set, sets[k]);
        for (uint64_t i = 0; i < 300; i++) {
            struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};
            struct pw_str prompt = {0}, answer = {0};
            struct pw_err err;
            pw_taskset_sample(&set, 3, PW_SPLIT_TRAIN, i, 0, 0, &s);
            pw_taskset_sample_text(&set, 3, PW_SPLIT_TRAIN, i, 0, 0, &prompt, &answer);
            if (pw_taskset_prompt(&set, prompt.s, MAX, &typed, &err) != PW_OK)
                fail_msg("%s: %s", prompt.s, err.msg);
            assert_int_equal(typed.n, s.n);
            assert_memory_equal(tokens, again, (size_t)s.n * sizeof *tokens);
            assert_true(typed.pair.a == s.pair.a && typed.pair.b == s.pair.b);
            assert_true(pw_task_trains(&set.use[0], s.pair));
            for (int a = 0; a + 1 < s.n - s.n_prompt; a++) {
                int n = pw_taskset_pointers(&set, &s, a, at);
                assert_true(n == 0 ||
                            n == 3 * (s.pair.b + 1) - (k == 1)); /* text=appendix: "-1" is one token */
                for (int j = 1; j < n; j++)
                    assert_true(at[j] > at[j - 1]);
            }
            pw_str_fini(&prompt);
            pw_str_fini(&answer);
        }
        pw_taskset_fini(&set);
    }
}

static void typed_in_any_order(void **state)
{
    static const struct typed cases[] = {
        {"lego clauses=shuffled", "lego c = +b, b = -a, a = -1, c ?", "lego c + b b - a a - 1 c >| +1</s>"},
        {"lego clauses=shuffled", "lego a = -1, b = -a, b ?", "lego a - 1 b - a b >| +1</s>"},
        {"lego clauses=shuffled", "lego b = -a, c = a, a = 1, d = -1, c ?",
         "lego b - a c + a a + 1 d - 1 c >| +1</s>"},
        {"lego clauses=shuffled", "lego b = -a, b ?", "lego: 'a' has no value; known are none"},
        {"lego clauses=shuffled", "lego b = -a, a = -b, c = 1, c ?", "lego: 'a' has no value; known are c"},
        {"lego clauses=shuffled", "lego b = -a, a = 1, b = a, b ?", "lego: 'b' is assigned twice"},
        {"lego clauses=shuffled", "lego b = -a, a = 1, c ?", "lego: 'c' has no value; known are a b"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_all_that_changes),
        cmocka_unit_test(the_chain_is_found_again),
        cmocka_unit_test(typed_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
