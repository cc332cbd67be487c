/* test_pairs.c - tests lengths that are pairs. The pairs are read from the text of samples. Evaluation must
 * cycle through all pairs, and training's draws must not change. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX 2048

/* The pair of the short text of an addition or a LEGO. Addition: digits by digits. LEGO: the number of
 * clauses, and the index of the clause of the variable in question. */
static struct pw_pair read_pair(const char *text)
{
    struct pw_pair p = {0, 0};
    if (strncmp(text, "addition", 8) == 0) {
        const char *plus = strchr(text, '+');
        for (; *text != '\0'; text++)
            if (isdigit((unsigned char)*text))
                ++*(text < plus ? &p.a : &p.b);
        return p;
    }
    const char *end = strrchr(text, '>'), *clause = text + strlen("lego ");
    char asked = end[-2];
    for (; clause < end - 2; clause += strlen("a + b ")) {
        if (*clause == asked)
            p.b = p.a;
        p.a++;
    }
    return p;
}

static struct pw_pair sample_pair(const struct pw_taskset *set, enum pw_split split, uint64_t i, int length)
{
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    struct pw_str prompt = {0}, answer = {0};
    pw_taskset_sample(set, 3, split, i, 0, length, &s);
    pw_taskset_sample_text(set, 3, split, i, 0, length, &prompt, &answer);
    struct pw_pair p = read_pair(prompt.s);
    assert_int_equal(s.pair.a, p.a);
    assert_int_equal(s.pair.b, p.b);
    if (split == PW_SPLIT_TEST)
        assert_int_equal(s.length, length);
    struct pw_sample typed = {.tokens = tokens, .cap = MAX};
    struct pw_err err;
    assert_int_equal(pw_taskset_prompt(set, prompt.s, MAX, &typed, &err), PW_OK);
    assert_int_equal(typed.pair.a, p.a);
    assert_int_equal(typed.pair.b, p.b);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    return p;
}

static const char *const sets[] = {"addition lengths=3..5",      "addition dist=pairs",
                                   "addition data=2000",         "addition held=on lengths=1..4",
                                   "lego lengths=3..6",          "lego sampling=appendix lengths=3..7",
                                   "lego lengths=4..6 data=300", "lego dist=geometric held=on"};

static void training_stays_inside_and_evaluation_goes_round(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k]);
        const struct pw_task_use *use = &set.use[0];
        struct pw_range train = pw_task_train(use), test = pw_task_test(use);
        for (uint64_t i = 0; i < 2000; i++) {
            struct pw_pair p = sample_pair(&set, i % 4 == 0 ? PW_SPLIT_VALID : PW_SPLIT_TRAIN, i, 0);
            assert_true(pw_task_trains(use, p));
            assert_true(p.a <= train.hi && p.b <= train.hi);
        }
        for (int length = train.lo; length <= test.hi; length++) {
            struct pw_pair pairs[PW_MAX_PAIRS];
            int n = pw_task_pairs_at(use, length, pairs), rounds = 3, count[PW_MAX_PAIRS] = {0};
            assert_int_equal(n, pw_task_pairs_at(use, length, NULL));
            int all = pw_task_samples_at(use, length, rounds * n);
            for (int i = 0; i < all; i++) {
                struct pw_pair p = sample_pair(&set, PW_SPLIT_TEST, (uint64_t)i, length);
                int at = 0;
                while (at < n && (pairs[at].a != p.a || pairs[at].b != p.b))
                    at++;
                assert_true(at < n);
                count[at]++;
                if (length > train.hi || use->pool == NULL)
                    assert_int_equal(at, i % n);
            }
            for (int i = 0; i < n; i++) {
                assert_int_equal(pw_task_trains(use, pairs[i]), length <= train.hi);
                if (all == rounds * n && use->pool == NULL)
                    assert_int_equal(count[i], rounds);
            }
        }
        pw_taskset_fini(&set);
    }
}

static void there_are_as_many_as_the_paper_has(void **state)
{
    struct pw_taskset set;
    int train = 0, test = 0;
    (void)state;
    texts_open(&set, "addition");
    for (int length = 1; length <= 16; length++)
        *(length <= 8 ? &train : &test) += pw_task_pairs_at(&set.use[0], length, NULL);
    assert_int_equal(train, 64);
    assert_int_equal(test, 192);
    assert_false(pw_task_trains(&set.use[0], (struct pw_pair){9, 1}));
    assert_false(pw_task_trains(&set.use[0], (struct pw_pair){1, 9}));
    assert_true(pw_task_trains(&set.use[0], (struct pw_pair){8, 1}));
    pw_taskset_fini(&set);
    /* Only the paper's appendix asks for the middle of five: "from the middle of the graph to the end". */
    texts_open(&set, "lego");
    for (int n = 2; n <= 16; n++)
        assert_int_equal(pw_task_pairs_at(&set.use[0], n, NULL), n / 2);
    assert_false(pw_task_trains(&set.use[0], (struct pw_pair){5, 2}));
    pw_taskset_fini(&set);
    texts_open(&set, "lego sampling=appendix");
    for (int n = 2; n <= 16; n++)
        assert_int_equal(pw_task_pairs_at(&set.use[0], n, NULL), n - n / 2);
    assert_true(pw_task_trains(&set.use[0], (struct pw_pair){5, 2}));
    pw_taskset_fini(&set);
    texts_open(&set, "sort");
    assert_int_equal(pw_task_pairs_at(&set.use[0], 5, NULL), 0);
    assert_true(pw_task_trains(&set.use[0], (struct pw_pair){5, 0}));
    assert_false(pw_task_trains(&set.use[0], (struct pw_pair){9, 0}));
    pw_taskset_fini(&set);
}

/* dist=pairs: 64 pairs with equal probability, or LEGO's ten of lengths 4 to 7. */
static void pairs_can_be_drawn_alike(void **state)
{
    static const char *const texts[] = {"addition dist=pairs", "lego lengths=4..7 dist=pairs"};
    static const int pairs[] = {64, 10};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_taskset set;
        int count[32][32] = {{0}}, n = 300 * pairs[k], met = 0;
        texts_open(&set, texts[k]);
        for (uint64_t i = 0; i < (uint64_t)n; i++) {
            struct pw_pair p = sample_pair(&set, PW_SPLIT_TRAIN, i, 0);
            count[p.a][p.b]++;
        }
        for (int i = 0; i < 32 * 32; i++) {
            int c = count[i / 32][i % 32];
            met += c > 0;
            assert_true(c == 0 || abs(c - 300) < 5 * 18);
        }
        assert_int_equal(met, pairs[k]);
        pw_taskset_fini(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_stays_inside_and_evaluation_goes_round),
        cmocka_unit_test(there_are_as_many_as_the_paper_has),
        cmocka_unit_test(pairs_can_be_drawn_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
