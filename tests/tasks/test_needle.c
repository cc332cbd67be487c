/* test_needle.c - tests task needle: texts, depth, tokens of a tokenizer without an end mark, typed prompts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/task.h"

#define FOLDER PEWTER_SOURCE_DIR "/tests/golden/tokenizers/"

enum { CAP = 4096 };

static void open_set(struct pw_taskset *set, const char *text)
{
    struct pw_err err;
    if (pw_taskset_init(set, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
}

static void refuse(const char *text, const char *words)
{
    struct pw_taskset set;
    struct pw_err err;
    assert_int_equal(pw_taskset_init(&set, text, &err), PW_EUSER);
    if (strstr(err.msg, words) == NULL)
        fail_msg("%s: '%s' does not say '%s'", text, err.msg, words);
}

/* The sentences before a place in a text. */
static int sentences(const char *text, const char *end)
{
    int n = 0;
    for (const char *s = text; s < end; s++)
        n += *s == '.';
    return n;
}

/* Checks a sample's text, and returns how many sentences stand before the fact. */
static int check_text(const char *prompt, const char *answer, int length)
{
    char key[16], fact[80], question[160];
    const char *asked = strstr(prompt, "What is the number of the ");
    assert_non_null(asked);
    assert_int_equal(sscanf(asked, "What is the number of the %15[a-z]?", key), 1);
    snprintf(question, sizeof question, "What is the number of the %s? The number of the %s is", key, key);
    assert_string_equal(asked, question);
    snprintf(fact, sizeof fact, "The number of the %s is%s. ", key, answer);
    const char *at = strstr(prompt, fact);
    assert_non_null(at);
    assert_null(strstr(at + 1, fact));
    assert_int_equal(sentences(prompt, asked), length);
    return sentences(prompt, at);
}

static void test_texts(void **state)
{
    struct pw_taskset set;
    int seen[5] = {0};
    (void)state;
    open_set(&set, "needle lengths=2..5");
    for (uint64_t i = 0; i < 200; i++) {
        struct pw_str prompt = {0}, answer = {0};
        int tokens[CAP], back[CAP], length = 2 + (int)(i % 9);
        struct pw_sample s = {.tokens = tokens, .cap = CAP}, typed = {.tokens = back, .cap = CAP};
        struct pw_err err;
        pw_taskset_sample_text(&set, 7, PW_SPLIT_TEST, i, 0, length, &prompt, &answer);
        int before = check_text(prompt.s, answer.s, length);
        assert_int_equal(strlen(answer.s), 5);
        seen[before < 5 ? before : 4]++;
        pw_taskset_sample(&set, 7, PW_SPLIT_TEST, i, 0, length, &s);
        assert_int_equal(s.length, length);
        assert_int_equal(s.n, (int)(prompt.len + answer.len) + 1); /* characters, and the end mark */
        assert_int_equal(s.n_prompt, prompt.len);
        assert_true(s.n <= pw_taskset_tokens_at(&set, 0, length));
        if (pw_taskset_prompt(&set, prompt.s, CAP, &typed, &err) != PW_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(typed.length, length);
        assert_int_equal(typed.n, s.n);
        assert_memory_equal(back, tokens, (size_t)s.n * sizeof *tokens);
        int at[CAP]; /* the answer is copied from the fact */
        for (int k = 0; k < 5; k++) {
            assert_int_equal(pw_taskset_pointers(&set, &s, k, at), 1);
            assert_int_equal(tokens[at[0]], tokens[s.n_prompt + k]);
            assert_true(at[0] < s.n_prompt);
        }
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
    }
    for (int i = 0; i < 5; i++)
        assert_true(seen[i] > 5);
    pw_taskset_fini(&set);
}

static void test_depth(void **state)
{
    static const struct {
        const char *text;
        int before;
    } cases[] = {
        {"needle depth=0", 0}, {"needle depth=100", 8}, {"needle depth=50", 4}, {"needle depth=25..25", 2}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pw_taskset set;
        open_set(&set, cases[c].text);
        for (uint64_t i = 0; i < 20; i++) {
            struct pw_str prompt = {0}, answer = {0};
            pw_taskset_sample_text(&set, 1, PW_SPLIT_TEST, i, 0, 9, &prompt, &answer);
            assert_int_equal(check_text(prompt.s, answer.s, 9), cases[c].before);
            pw_str_fini(&prompt);
            pw_str_fini(&answer);
        }
        pw_taskset_fini(&set);
    }
}

/* In the tokens of another program there is no end mark. The answer is all tokens behind the prompt's text.
 */
static void test_tokenizer(void **state)
{
    static const char *const files[] = {"gpt2.json", "llama2.json", "llama3.json", "gemma.json", "gpt2.gguf"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char text[300];
        struct pw_taskset set, other;
        struct pw_str printed = {0};
        snprintf(text, sizeof text, "needle tokens=" FOLDER "%s vocab=2000 lengths=1..3", files[f]);
        open_set(&set, text);
        assert_true(set.vocab.plain);
        assert_int_equal(set.vocab.n, 2000);
        assert_false(pw_taskset_ends(&set, 0));
        assert_false(pw_taskset_single(&set, 0));
        assert_false(pw_taskset_runs(&set));
        for (uint64_t i = 0; i < 40; i++) {
            int tokens[CAP], length = 1 + (int)(i % 12);
            struct pw_sample s = {.tokens = tokens, .cap = pw_taskset_tokens_at(&set, 0, length)};
            struct pw_str prompt = {0}, answer = {0}, said = {0};
            assert_true(s.cap <= CAP);
            pw_taskset_sample_text(&set, 3, PW_SPLIT_TEST, i, 0, length, &prompt, &answer);
            pw_taskset_sample(&set, 3, PW_SPLIT_TEST, i, 0, length, &s);
            assert_true(s.n < s.cap);
            for (int k = s.n_prompt; k < s.n; k++)
                pw_vocab_put(&set.vocab, tokens[k], &said);
            if (strcmp(said.s, answer.s) != 0)
                fail_msg("%s: the answer's tokens are '%s', not '%s'", files[f], said.s, answer.s);
            assert_true(pw_taskset_right(&set, &s, tokens + s.n_prompt, s.n - s.n_prompt));
            assert_false(pw_taskset_right(&set, &s, tokens + s.n_prompt, s.n - s.n_prompt - 1));
            pw_str_fini(&prompt);
            pw_str_fini(&answer);
            pw_str_fini(&said);
        }
        pw_taskset_print(&set, &printed);
        assert_non_null(strstr(printed.s, " tokenizer="));
        open_set(&other, printed.s);
        assert_true(pw_vocab_same(&set.vocab, &other.vocab));
        pw_taskset_fini(&other);
        pw_taskset_fini(&set);
        pw_str_fini(&printed);
    }
}

static void test_prompts(void **state)
{
    struct pw_taskset set;
    struct pw_err err;
    int tokens[CAP];
    struct pw_sample s = {.tokens = tokens, .cap = CAP};
    (void)state;
    open_set(&set, "needle digits=2 tokens=bytes");
    assert_int_equal(pw_taskset_prompt(&set, "needle harbor 07", CAP, &s, &err), PW_OK);
    assert_int_equal(s.length, 4);
    assert_int_equal(s.n - s.n_prompt, 4);
    static const char *const bad[] = {
        "needle harbor 7",
        "needle harbor 007",
        "needle ship 07",
        "The number of the harbor is 07. What is the number of the garden? The number of the garden is",
        ("The number of the harbor is 07. The sky is blue. What is the number of the harbor? The number of "
         "the harbor is"),
        "The number of the harbor is 07.",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pw_taskset_prompt(&set, bad[i], CAP, &s, &err) != PW_EUSER ||
            strncmp(err.msg, "needle: ", 8) != 0)
            fail_msg("'%s': %s", bad[i], err.msg);
    pw_taskset_fini(&set);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("needle tokens=words", "needle: tokens=words: allowed are chars, bytes, and a file");
    refuse("needle vocab=99", "needle: vocab= beside tokens=chars");
    refuse("needle digits=7", "digits=7");
    refuse("needle depth=0..101", "depth=0..101");
    refuse("needle tokens=none.json", "none.json");
    refuse("needle tokens=" FOLDER "gpt2.json vocab=3", "needle: vocab=3: ");
    refuse("needle tokens=" FOLDER "gpt2.json tokenizer=0000000000000000",
           "is not the tokenizer that tokenizer=0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_tokenizer), cmocka_unit_test(test_prompts),
                                       cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
