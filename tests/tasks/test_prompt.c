/* test_prompt.c - tests typed prompts: the reference texts to the character, both notations, and the errors
 * for all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX 600

/* The texts of the paper's data. Its prompts end with a blank, which is the first character of the answer's
 * first token. */
static void the_papers_texts_come_out_to_the_character(void **state)
{
    static const struct texts_good cases[] = {
        {"sort text=paper alphabet=62", "Sort the following list [ l, d, e, d ]. ",
         "Sort the following list [ l, d, e, d ].| The sorted list is [ d, d, e, l ].", 0, 4},
        {"lego text=paper", "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c? ",
         "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c?| The answer is +1.", 0, 4},
        {"copy text=paper", "Copy: a b c [SEP] ", "Copy: a b c [SEP]| a b c", 0, 3},
        {"copy text=paper alphabet=20 variant=cmc2x", "Copy: a b c [SEP] ",
         "Copy: a b c [SEP]| a b c [NEXT] a b c", 0, 3},
        {"copy text=paper variant=rsc", "Copy: a a a [SEP] ", "Copy: a a a [SEP]| a a a", 0, 3},
        {"copy text=paper variant=rsc2x", "Copy: a a [SEP] ", "Copy: a a [SEP]| a a a a", 0, 2},
        {"copy text=paper variant=rdc alphabet=62", "Replace 6 with x in 6 6 6 [SEP] ",
         "Replace 6 with x in 6 6 6 [SEP]| x x x", 0, 3},
        {"sort", "sort 3 1 4 1 5 >", "sort 3 1 4 1 5 >| 1 1 3 4 5", 0, 5},
        {"copy", "copy a b c >", "copy a b c >| a b c", 0, 3},
        {"copy variant=cmc2x", "copy 1 2 >", "copy 1 2 >| 1 2 | 1 2", 0, 2},
        {"copy variant=rsc2x", "copy 1 1 >", "copy 1 1 >| 1 1 1 1", 0, 2},
        {"copy variant=rdc", "replace 6 a : 6 6 >", "replace 6 a : 6 6 >| a a", 0, 2},
        {"lego", "lego a - 1 b - a c + b c >", "lego a - 1 b - a c + b c >| +1", 0, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bare[256];
        size_t n;
        struct pw_str blanks = {0};
        texts_reads(&cases[i], cases[i].typed);
        /* Also without the final blank and separator, and with blanks around. */
        strcpy(bare, cases[i].typed);
        n = strlen(bare);
        while (n > 0 && strchr(" ]PES[>?.", bare[n - 1]) != NULL)
            bare[--n] = '\0';
        texts_reads(&cases[i], bare);
        pw_str_add(&blanks, " \t %s \n", cases[i].typed);
        texts_reads(&cases[i], blanks.s);
        pw_str_fini(&blanks);
    }
}

static void a_task_and_its_payload(void **state)
{
    static const struct texts_good cases[] = {
        {"sort", "sort 3 1 4 1 5", "sort 3 1 4 1 5 >| 1 1 3 4 5", 0, 5},
        {"sort", "sort 3,1,4", "sort 3 1 4 >| 1 3 4", 0, 3},
        {"sort", "sort 7", "sort 7 >| 7", 0, 1}, /* shorter than trained lengths, but still answered */
        {"sort text=paper", "sort 3 1", "Sort the following list [ 3, 1 ].| The sorted list is [ 1, 3 ].", 0,
         2},
        {"sort alphabet=62", "sort b A a Z 0", "sort b A a Z 0 >| 0 a b A Z", 0, 5},
        {"copy", "copy 3 1 4", "copy 3 1 4 >| 3 1 4", 0, 3},
        {"copy text=paper", "copy 3 1 4", "Copy: 3 1 4 [SEP]| 3 1 4", 0, 3},
        {"copy variant=rsc", "copy a b", "copy a b >| a b", 0, 2},
        {"copy variant=rdc", "copy 6 6 6 -> 8", "replace 6 8 : 6 6 6 >| 8 8 8", 0, 3},
        {"copy variant=rdc text=paper", "copy 6->8", "Replace 6 with 8 in 6 [SEP]| 8", 0, 1},
        {"copy variant=rdc", "replace 6 a : 6 7 6", "replace 6 a : 6 7 6 >| a 7 a", 0, 3},
        {"lego", "lego a = -1, b = -a, c = +b, c ?", "lego a - 1 b - a c + b c >| +1", 0, 3},
        {"lego", "lego a=-1;b=-a;c=+b;c?", "lego a - 1 b - a c + b c >| +1", 0, 3},
        {"lego", "lego a = - 1 , b = a , b", "lego a - 1 b + a b >| -1", 0, 2},
        {"lego", "lego a = 1, b = - a, value of b", "lego a + 1 b - a b >| -1", 0, 2},
        {"lego", "lego a = +1, b = -a. Then, what is the value of b?", "lego a + 1 b - a b >| -1", 0, 2},
        {"lego", "lego a = -1, a?", "lego a - 1 a >| -1", 0, 1},
        /* Any order in which clauses use only earlier variables: two roots, a fork, a question from the first
         * half. */
        {"lego", "lego z = -1, a = +1, b = -z, c = -z, d = +a, b ?",
         "lego z - 1 a + 1 b - z c - z d + a b >| +1", 0, 5},
        {"lego text=paper", "lego a = -1, b = -a, b ?",
         "If a = -1, b = - a. Then, what is the value of b?| The answer is +1.", 0, 2},
        {"lego text=paper", "If z = -1, a = +1, b = - z. Then, what is the value of z?",
         "If z = -1, a = +1, b = - z. Then, what is the value of z?| The answer is -1.", 0, 3},
        {"copy,sort,lego", "sort 2 1", "sort 2 1 >| 1 2", 1, 2},
        {"copy,sort,lego", "copy 2 1 >", "copy 2 1 >| 2 1", 0, 2},
        {"copy,sort,lego", "lego a = -1, b = -a, b ?", "lego a - 1 b - a b >| +1", 2, 2},
        {"copy,sort,lego text=paper", "Copy: 2 1", "Copy: 2 1 [SEP]| 2 1", 0, 2},
        {"copy,sort,lego text=paper", "Sort the following list [2,1].",
         "Sort the following list [ 2, 1 ].| The sorted list is [ 1, 2 ].", 1, 2},
        {"copy,sort,lego text=paper", "lego a = -1, a ?",
         "If a = -1. Then, what is the value of a?| The answer is -1.", 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        texts_reads(&cases[i], cases[i].typed);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct typed cases[] = {
        {"sort", "sort 3 x", "sort: 'x' is not one of the 10 symbols 0..9"},
        {"sort alphabet=20", "sort 3 x", "sort: 'x' is not one of the 20 symbols 0..9 a..j"},
        {"sort alphabet=40", "sort 3 Z", "sort: 'Z' is not one of the 40 symbols 0..9 a..z A..D"},
        {"sort alphabet=11", "sort 3 Z", "sort: 'Z' is not one of the 11 symbols 0..9 a"},
        {"sort alphabet=1", "sort 3", "sort: '3' is not one of the 1 symbols 0"},
        {"sort", "sort 314", "sort: '314' is not one of the 10 symbols 0..9, separated by blanks"},
        {"sort", "sort \xc3\xa9", "sort: '\xc3\xa9' is not one of the 10 symbols 0..9"},
        {"sort", "sort \x1b", "sort: '?' is not one of the 10 symbols 0..9"},
        {"sort", "sort 1\x7f", "sort: '1?' is not one of the 10 symbols 0..9, separated by blanks"},
        {"sort", "sort", "sort: no symbols to sort; write: sort 3 1 4 1 5"},
        {"sort", "sort > 1", "sort: no symbols to sort; write: sort 3 1 4 1 5"},
        {"sort", "sort 1 > 1", "sort: unexpected '1'; write: sort 3 1 4 1 5"},
        {"sort", "sort 1 - 2", "sort: unexpected '-'; write: sort 3 1 4 1 5"},
        {"sort", "", "the prompt is empty; write: sort 4 3 >"},
        {"sort", " \t\n", "the prompt is empty; write: sort 4 3 >"},
        {"sort", "copy 1 2",
         "'copy' is not in the current task (sort); type ':task copy' first, or write: sort 4 3 >"},
        {"sort", "lego a = -1, a ?",
         "'lego' is not in the current task (sort); type ':task lego' first, or write: sort 4 3 >"},
        {"sort", "3 1 4", "'3' begins no prompt of the current task (sort); write: sort 4 3 >"},
        {"sort", "sorted 3", "'sorted' begins no prompt of the current task (sort); write: sort 4 3 >"},
        {"sort", "sort 1 \xff", "the prompt is not valid UTF-8 text"},
        {"sort,copy", "lego a = -1",
         "'lego' is not in the current task (sort,copy); type ':task lego' first, or write: sort 4 3 > or: "
         "copy 8 6 "
         ">"},
        {"sort,copy", "hello",
         "'hello' begins no prompt of the current task (sort,copy); write: sort 4 3 > or: copy 8 6 >"},
        {"sort,copy", "copy 1 x", "copy: 'x' is not one of the 20 symbols 0..9 a..j"},
        {"sort text=paper", "Sort the following list [ 1, x ]. ",
         "sort: 'x' is not one of the 10 symbols 0..9"},
        {"sort text=paper", "Sort the list 1", "sort: a prompt must start with 'Sort the following list ['"},
        {"copy", "copy", "copy: no symbols to copy; write: copy 3 1 4"},
        {"copy", "copy 6 6 -> 8", "copy: unexpected '-'; write: copy 3 1 4"},
        {"copy variant=rdc", "copy 6 6", "copy: variant=rdc needs a replacement; write: copy 6 6 6 -> 8"},
        {"copy variant=rdc", "copy 6 7 -> 8", "copy: variant=rdc expects one repeated symbol, not 6 and 7"},
        {"copy variant=rdc", "copy 6 6 ->",
         "copy: the text ends where one of the 20 symbols 0..9 a..j must follow"},
        {"copy variant=rdc", "copy 6 6 -> 8 9", "copy: unexpected '9'; write: copy 6 6 6 -> 8"},
        {"copy variant=rdc", "replace 6 a 6 6", "copy: ':' is missing after 'a'"},
        {"copy variant=rdc text=paper", "Replace 6 by a in 6", "copy: 'with' is missing after '6'"},
        {"lego", "lego", "lego: the question is missing at the end; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego", "lego a = -1, b = -a",
         "lego: the question is missing at the end; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego", "lego a = -1, b = -c, b ?", "lego: 'c' has no value yet; known are a"},
        {"lego", "lego b = -a, a = -1, b ?", "lego: 'a' has no value yet; known are none"},
        {"lego", "lego a = -1, d = a, c ?", "lego: 'c' has no value yet; known are a d"},
        {"lego", "lego a = -1, a = +1, a ?", "lego: 'a' is assigned twice"},
        {"lego", "lego a = -a, a ?", "lego: 'a' has no value yet; known are none"},
        {"lego", "lego a 1, a ?", "lego: '1' after 'a': expected a clause such as a = -1 or b = -a"},
        {"lego", "lego a = 2, a ?",
         "lego: '2' is not one of the 26 variables a..z; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego", "lego A = 1, A ?",
         "lego: 'A' is not one of the 26 variables a..z; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego alphabet=16", "lego z = 1, z ?",
         "lego: 'z' is not one of the 16 variables a..p; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego", "lego a = -1, a ? b", "lego: unexpected 'b'; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego",
         "lego a =", "lego: the question is missing at the end; write: lego a = -1, b = -a, c = +b, c ?"},
        {"lego text=paper", "If a = -1. Therefore, what is b?",
         "lego: 'Therefore' is not one of the 26 variables a..z; write: lego a = -1, b = -a, c = +b, c ?"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
}

static void too_long_names_both_numbers(void **state)
{
    struct pw_taskset set;
    struct pw_err err = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    struct pw_str text = {0};
    (void)state;
    texts_open(&set, "sort");
    pw_str_add(&text, "sort");
    for (int i = 0; i < 60; i++)
        pw_str_add(&text, " %d", i % 10);
    /* sort, 60 symbols, >, 60 symbols, end mark */
    assert_int_equal(pw_taskset_prompt(&set, text.s, 123, &s, &err), PW_OK);
    assert_int_equal(s.n, 123);
    assert_int_equal(s.n_prompt, 62);
    tokens[122] = -7;
    assert_int_equal(pw_taskset_prompt(&set, text.s, 122, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "the prompt has 62 tokens, 123 with its answer; at most 122 are allowed");
    assert_int_equal(tokens[122], -7);
    assert_int_equal(pw_taskset_prompt(&set, text.s, 0, &s, &err), PW_EUSER);
    s.cap = 40; /* the buffer's size is a limit, too */
    assert_int_equal(pw_taskset_prompt(&set, text.s, 500, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "the prompt has 62 tokens, 123 with its answer; at most 40 are allowed");
    s.cap = MAX;
    for (int i = 0; i < 5000; i++)
        pw_str_add(&text, " 1");
    assert_int_equal(pw_taskset_prompt(&set, text.s, MAX, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "sort: 5060 symbols; at most 256 are allowed");
    pw_str_fini(&text);
    pw_taskset_fini(&set);
}

/* A task must accept every prompt that it writes, and give the same tokens. */
static void every_sample_can_be_typed(void **state)
{
    static const char *const sets[] = {
        "sort",
        "sort text=paper",
        "copy variant=rsc2x",
        "copy variant=rdc",
        "copy variant=rdc text=paper",
        "copy variant=cmc2x text=paper",
        "lego",
        "lego text=paper",
        "copy,sort,lego alphabet=16",
        "copy(variant=rdc),lego,sort text=paper",
        "scan,pcfg,session,lego(clauses=shuffled) text=paper",
    };
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k]);
        for (uint64_t i = 0; i < 200; i++) {
            int a[MAX], b[MAX];
            struct pw_sample drawn = {.tokens = a, .cap = MAX}, typed = {.tokens = b, .cap = MAX};
            struct pw_str prompt = {0}, answer = {0};
            struct pw_err err = {0};
            pw_taskset_sample(&set, 2, PW_SPLIT_VALID, i, 0, 0, &drawn);
            pw_taskset_sample_text(&set, 2, PW_SPLIT_VALID, i, 0, 0, &prompt, &answer);
            if (pw_taskset_prompt(&set, prompt.s, set.max_tokens, &typed, &err) != PW_OK)
                fail_msg("'%s': %s", prompt.s, err.msg);
            assert_int_equal(typed.task, drawn.task);
            assert_int_equal(typed.length, drawn.length);
            assert_int_equal(typed.n_prompt, drawn.n_prompt);
            assert_int_equal(typed.n, drawn.n);
            assert_memory_equal(a, b, (size_t)drawn.n * sizeof *a);
            pw_str_fini(&prompt);
            pw_str_fini(&answer);
        }
        pw_taskset_fini(&set);
    }
}

/* Random bytes and random pieces must at most be refused. */
static void junk_is_refused_in_one_clean_line(void **state)
{
    static const char *const pieces[] = {
        "sort", "copy",  "lego",      "Copy",   ":",       "[",    "]",        "->",      "=",      "-",
        "+",    "1",     "a",         "?",      ">",       ",",    ".",        "Replace", "with",   "Then",
        "what", "is",    "the",       "value",  "of",      "If",   "\xc3\xa9", "\x01",    "[SEP]",  "|",
        "9",    "Sort",  "following", "list",   "scan",    "walk", "turn",     "left",    "around", "twice",
        "and",  "after", "pcfg",      "append", "reverse", "A1",   "A2",       "session", "Solve:"};
    static const char *const sets[] = {"sort",
                                       "copy variant=rdc",
                                       "lego text=paper",
                                       "copy,sort,lego text=paper",
                                       "lego clauses=shuffled",
                                       "scan",
                                       "pcfg",
                                       "session by=both",
                                       "scan,pcfg,session,sort text=paper"};
    struct pw_rng rng;
    (void)state;
    pw_rng_init(&rng, 11, PW_STREAM_PROMPT, 0);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k]);
        for (int i = 0; i < 3000; i++) {
            struct pw_str text = {0};
            struct pw_err err = {0};
            int tokens[MAX], n = (int)pw_rng_below(&rng, 12);
            struct pw_sample s = {.tokens = tokens, .cap = MAX};
            for (int j = 0; j < n; j++) {
                char byte = (char)(1 + pw_rng_below(&rng, 255));
                if (i % 2 == 0)
                    pw_str_put(&text, &byte, 1);
                else
                    pw_str_add(&text, "%s%s", pw_rng_below(&rng, 3) > 0 ? " " : "",
                               pieces[pw_rng_below(&rng, (uint32_t)(sizeof pieces / sizeof *pieces))]);
            }
            if (pw_taskset_prompt(&set, pw_str_text(&text), MAX, &s, &err) == PW_OK) {
                assert_true(s.n > s.n_prompt && s.n_prompt > 0);
            } else {
                assert_true(err.msg[0] != '\0' && pw_utf8_valid(err.msg, strlen(err.msg)));
                for (const char *c = err.msg; *c != '\0'; c++)
                    assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
            }
            pw_str_fini(&text);
        }
        pw_taskset_fini(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_texts_come_out_to_the_character),
        cmocka_unit_test(a_task_and_its_payload),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(too_long_names_both_numbers),
        cmocka_unit_test(every_sample_can_be_typed),
        cmocka_unit_test(junk_is_refused_in_one_clean_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
