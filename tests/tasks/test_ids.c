/* test_ids.c - tests task ids: tokens are numbers from 0 on, without padding and end mark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/task.h"

static void check_prompt(const char *text, int n, const int *right)
{
    struct pw_taskset set;
    struct pw_err err;
    int tokens[32];
    struct pw_sample s = {.tokens = tokens, .cap = 32};
    assert_int_equal(pw_taskset_init(&set, "ids vocab=20", &err), PW_OK);
    assert_int_equal(pw_taskset_prompt(&set, text, 32, &s, &err), PW_OK);
    assert_int_equal(s.n_prompt, n);
    assert_int_equal(s.n, n);
    assert_memory_equal(tokens, right, (size_t)n * sizeof *right);
    pw_taskset_fini(&set);
}

static void test_prompts(void **state)
{
    (void)state;
    check_prompt("17 4", 2, (const int[]){17, 4});
    check_prompt("#17 #4", 2, (const int[]){17, 4});
    check_prompt("  0,1 1 0", 4, (const int[]){0, 1, 1, 0});
}

/* A prompt can be longer than any sample, and one that is too long says how long it is. */
static void test_long_prompts(void **state)
{
    enum { N = 9000 };
    struct pw_taskset set;
    struct pw_err err;
    struct pw_str text = {0};
    static int tokens[N];
    struct pw_sample s = {.tokens = tokens, .cap = N};
    (void)state;
    for (int i = 0; i < N; i++)
        pw_str_add(&text, "%d ", i % 19);
    assert_int_equal(pw_taskset_init(&set, "ids vocab=20", &err), PW_OK);
    assert_int_equal(pw_taskset_prompt(&set, text.s, N, &s, &err), PW_OK);
    assert_int_equal(s.n_prompt, N);
    assert_int_equal(s.length, N);
    assert_int_equal(tokens[N - 1], (N - 1) % 19);
    assert_int_equal(pw_taskset_prompt(&set, text.s, 4096, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "the prompt has 9000 tokens; at most 4096 are allowed");
    assert_true(sizeof(struct pw_item) <= 2056); /* samples stay small */
    pw_str_fini(&text);
    pw_taskset_fini(&set);
}

static void test_refused(void **state)
{
    static const char *const bad[][2] = {{"", "the prompt is empty"},
                                         {"20", "'20': tokens are numbers 0..19"},
                                         {"1 -1", "tokens are numbers 0..19"},
                                         {"#", "'#': tokens are numbers 0..19"},
                                         {"1 x", "'x': tokens are numbers 0..19"}};
    struct pw_taskset set;
    struct pw_err err;
    int tokens[32];
    struct pw_sample s = {.tokens = tokens, .cap = 32};
    (void)state;
    assert_int_equal(pw_taskset_init(&set, "ids vocab=20", &err), PW_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pw_taskset_prompt(&set, bad[i][0], 32, &s, &err), PW_EUSER);
        if (strstr(err.msg, bad[i][1]) == NULL)
            fail_msg("'%s'", err.msg);
    }
    pw_taskset_fini(&set);
    assert_int_equal(pw_taskset_init(&set, "ids data=9", &err), PW_EUSER);
    assert_int_equal(pw_taskset_init(&set, "ids,sort", &err), PW_EUSER);
}

/* The vocabulary is that of another program: no word of pewter's own is in it. */
static void test_vocabulary(void **state)
{
    struct pw_taskset set, other;
    struct pw_str text = {0};
    struct pw_err err;
    int tokens[16];
    struct pw_sample s = {.tokens = tokens, .cap = 16};
    (void)state;
    assert_int_equal(pw_taskset_init(&set, "ids vocab=3 lengths=2..5", &err), PW_OK);
    assert_int_equal(set.vocab.n, 3);
    assert_true(set.vocab.plain);
    assert_false(pw_vocab_ends(&set.vocab, PW_EOS));
    assert_string_equal(set.vocab.words[0], " #0");
    for (uint64_t i = 0; i < 200; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        assert_true(s.n >= 3 && s.n <= 6 && s.n_prompt == 1);
        for (int k = 0; k < s.n; k++)
            assert_in_range(tokens[k], 0, 2);
    }
    pw_taskset_print(&set, &text);
    assert_int_equal(pw_taskset_init(&other, text.s, &err), PW_OK);
    assert_true(pw_vocab_same(&set.vocab, &other.vocab));
    pw_str_fini(&text);
    pw_taskset_fini(&set);
    pw_taskset_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prompts), cmocka_unit_test(test_long_prompts),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_vocabulary)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
