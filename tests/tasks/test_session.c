/* test_session.c - tests the task session: samples against the rule, read from their text; nothing after the
 * answer; the best score of a guesser that doesn't know the order; and the errors for impossible options. */
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

#define MAX 256

/* The items of " 3 1 4 >", or the single item of " 3". */
static int items(const char *text, int *v)
{
    int n = 0;
    for (; text[0] == ' ' && text[1] != '>'; text += 2)
        v[n++] = pw_symbol_index(text + 1, 1);
    return n;
}

static const struct {
    const char *text;
    char by;
    int at, alphabet;
} sets[] = {
    {"session", 'f', 1, 10},
    {"session by=last", 'l', 1, 10},
    {"session by=both", 'b', 1, 10},
    {"session by=first at=3 lengths=3..8 alphabet=20", 'f', 3, 20},
    {"session by=last at=2 lengths=2..4 data=500", 'l', 2, 10},
    {"session by=both at=2 lengths=4..30 alphabet=62 held=on", 'b', 2, 62},
};

static void samples_follow_the_rule(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k].text);
        struct pw_range test = pw_task_test(&set.use[0]);
        assert_true(test.hi <= sets[k].alphabet);
        assert_false(pw_taskset_ends(&set, 0) || pw_taskset_ends(&set, -1));
        for (uint64_t i = 0; i < 1000; i++) {
            struct pw_str p = {0}, a = {0};
            struct pw_err err = {0};
            int tokens[MAX], again[MAX], at[MAX], v[MAX], y;
            struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};
            enum pw_split split = (enum pw_split)(i % 3);
            int length = test.lo + (int)i % (test.hi - test.lo + 1), seen[PW_MAX_SYMBOLS] = {0};
            pw_taskset_sample(&set, 5, split, i, 0, length, &s);
            pw_taskset_sample_text(&set, 5, split, i, 0, length, &p, &a);
            int n = items(p.s, v), first = v[sets[k].at - 1], last = v[n - sets[k].at];
            assert_int_equal(items(a.s, &y), 1);
            assert_int_equal(y, sets[k].by == 'f'   ? first
                                : sets[k].by == 'l' ? last
                                                    : (last - first + sets[k].alphabet) % sets[k].alphabet);
            for (int j = 0; j < n; j++)
                assert_int_equal(seen[v[j]]++, 0);
            assert_int_equal(s.length, n);
            /* the prompt, one token, and no end mark */
            assert_int_equal(s.n_prompt, n + 1);
            assert_int_equal(s.n, n + 2);
            assert_int_equal(s.n, pw_taskset_tokens_at(&set, 0, n));
            for (int j = 0; j < s.n; j++)
                assert_true(tokens[j] > PW_EOS);

            if (pw_taskset_prompt(&set, p.s, MAX, &typed, &err) != PW_OK)
                fail_msg("'%s': %s", p.s, err.msg);
            assert_int_equal(typed.n, s.n);
            assert_memory_equal(tokens, again, (size_t)s.n * sizeof *tokens);

            int m = pw_taskset_pointers(&set, &s, 0, at);
            assert_int_equal(m, 1 + (sets[k].by == 'b'));
            assert_int_equal(v[at[0]], sets[k].by == 'l' ? last : first);
            assert_int_equal(v[at[m - 1]], sets[k].by == 'f' ? first : last);
            assert_int_equal(pw_taskset_pointers(&set, &s, 1, at), 0);
            pw_str_fini(&p);
            pw_str_fini(&a);
        }
        pw_taskset_fini(&set);
    }
}

/* The best score of a guesser that sees the items without their order: the largest share of orders that give
 * the same answer. */
static double best_guess(char by, const int *v, int n, int alphabet)
{
    int count[PW_MAX_SYMBOLS] = {0}, most = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int next = by == 'f' ? v[a] : by == 'l' ? v[b] : (v[b] - v[a] + alphabet) % alphabet;
            if (a != b && ++count[next] > most)
                most = count[next];
        }
    return (double)most / (n * (n - 1));
}

static void chance_is_that_of_the_items_without_their_order(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k].text);
        const struct pw_task_use *use = &set.use[0];
        for (int length = 2; length <= 10; length++) {
            double sum = 0, chance = use->task->chance(&use->o, length);
            for (uint64_t i = 0; i < 500; i++) {
                struct pw_str p = {0}, a = {0};
                int v[MAX];
                pw_taskset_sample_text(&set, 5, PW_SPLIT_TEST, i, 0, length, &p, &a);
                sum += best_guess(sets[k].by, v, items(p.s, v), sets[k].alphabet);
                pw_str_fini(&p);
                pw_str_fini(&a);
            }
            if (k < 2)
                assert_true(chance == 1.0 / length);
            assert_true(fabs(sum / 500 - chance) < 0.01);
            assert_true(chance < 0.6);
        }
        pw_taskset_fini(&set);
    }
}

static void typed_and_mixed(void **state)
{
    static const struct typed cases[] = {
        {"session", "session 3 1 4 1 5", " 3 1 4 1 5 >| 3"},
        {"session", "3 1 4 >", " 3 1 4 >| 3"},
        {"session by=last at=2", "session 3,1,4", " 3 1 4 >| 1"},
        {"session by=both", "session 9 1 4", " 9 1 4 >| 5"},
        {"session", "session", "session: by=first at=1 needs 1 items or more; write: session 3 1 4 0 5"},
        {"session by=both at=2 lengths=4..5", "session 3 1 4",
         "session: by=both at=2 needs 4 items or more; write: session 3 1 4 0 5"},
        {"session", "session 3 a", "session: 'a' is not one of the 10 symbols 0..9"},
        {"session", "session 3 > 4", "session: unexpected '4'; write: session 3 1 4 0 5"},
        {"session", "three", "session: 'three' is not one of the 10 symbols 0..9, separated by blanks"},
        {"session", "", "the prompt is empty; write:  4 3 0 >"},
        {"sort,session", "session 3 1", " 3 1 >| 3"},
        {"sort,session", "3 1", " 3 1 >| 3"},
        {"sort,session", "sort 3 1", "sort 3 1 >| 1 3</s>"},
        {"session,sort", "sort x", "sort: 'x' is not one of the 10 symbols 0..9"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
    struct pw_taskset set;
    texts_open(&set, "sort,session");
    assert_true(pw_taskset_ends(&set, 0) && !pw_taskset_ends(&set, 1) && pw_taskset_ends(&set, -1));
    pw_taskset_fini(&set);
}

static void what_cannot_be_is_said(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"session lengths=3..12",
         "session: items do not repeat, so sessions of 24 need alphabet=24 or more, not 10"},
        {"session test=8..11",
         "session: items do not repeat, so sessions of 11 need alphabet=11 or more, not 10"},
        {"session at=4", "session: by=first at=4 needs sessions of 4 items or more, not 3"},
        {"session by=both at=2", "session: by=both at=2 needs sessions of 4 items or more, not 3"},
        {"session by=middle", NULL},
        {"session at=0", NULL},
        {"session alphabet=63", NULL},
        {"session text=paper", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        assert_int_equal(pw_taskset_init(&set, cases[i].text, &err), PW_EUSER);
        if (cases[i].message != NULL)
            assert_string_equal(err.msg, cases[i].message);
        assert_true(err.msg[0] != '\0' && strchr(err.msg, '\n') == NULL);
        assert_int_equal(set.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_follow_the_rule),
        cmocka_unit_test(chance_is_that_of_the_items_without_their_order),
        cmocka_unit_test(typed_and_mixed),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
