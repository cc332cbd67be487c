/* test_needle.c - tests task needle in the lab: an answer in the tokens of a tokenizer has no end mark, so
 * decoding stops where the right answer does, and evaluation counts it. */
#include <stdio.h>
#include <string.h>

#include "ref_lab.h"

#define TOKENIZER PEWTER_SOURCE_DIR "/tests/golden/tokenizers/gpt2.json"

static void test_tokens(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model layers=1 width=16 heads=2 context=200; task needle tokens=" TOKENIZER
                   " lengths=1..2 digits=2; optim batch=2; train 3; prompt needle garden 48");
    assert_int_equal(b.decoded, 1);
    int n = b.s->n_tokens;
    assert_true(n >= 2 && n <= 4); /* the right answer's tokens, and none more */
    assert_true(b.s->tokens[n - 1].last);
    assert_true(b.s->tokens[n - 1].target[0] != '\0');
    bench_must(&b, "eval samples=4");
    assert_int_equal(b.evals, 1);
    /* both prompts have the same answer: there is no end mark at which the search for a difference ends */
    bench_run(&b, "patch needle garden 48");
    assert_int_equal(b.errors, 1);
    bench_close(&b);
}

static void test_characters(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "model tiny context=200; task needle lengths=1 test=2 digits=1; train 2; eval samples=4");
    assert_int_equal(b.evals, 1);
    bench_must(&b, "prompt needle garden 4");
    assert_int_equal(b.decoded, 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tokens), cmocka_unit_test(test_characters)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
