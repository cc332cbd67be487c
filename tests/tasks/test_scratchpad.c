/* test_scratchpad.c - tests scratchpads. The released code's texts must match to the character. A second
 * implementation that reads only the text checks every step. All combinations of parts are converted to
 * tokens and back. It also tests which answers count as right. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_steps.h"
#include "ref_texts.h"
#include "tasks/scratchpad.h"

#define MAX 4096

static void join(const struct pw_taskset *set, const int *tokens, int n, struct pw_str *out)
{
    for (int i = 0; i < n; i++)
        pw_str_add(out, "%s", set->vocab.words[tokens[i]]);
}

/* ---- texts to the character. They come from the released code; prompts and answers are only joined. */

#define MINIMUM "The minimum of the unsorted portion"

static const struct {
    const char *set, *text, *answer; /* the start of the answer */
} examples[] = {
    {"addition scratchpad=full",
     "Compute 9 7 + 5 ? Thinking step by step:  in 7, 5 comp 7 + 5 + carry = 12 + 0 = 12 out 2 [ carry: 1 ] "
     "re "
     "9 + 0  # in 9, 0 comp 9 + 0 + carry = 9 + 1 = 10 out 0 [ carry: 1 ] re  +   # in 0, 0 comp 0 + 0 + "
     "carry "
     "= 0 + 1 = 1 out 1 [ carry: 0 ] re  +   . Thus,  The answer is 1 0 2.",
     "Thinking"},
    {"polynomial scratchpad=full",
     "Evaluate at x = - 2 in - 2 * x ** 2 + - 1 * x ** 0 + 3 * x ** 3 ? Thinking step by step:  in - 2 * x "
     "** 2 "
     "comp - 2 * - 2 ** 2 = - 2 * 4 out - 8 [ sum: 0 + - 8 = 2 ] re - 1 * x ** 0 + 3 * x ** 3  # in - 1 * x "
     "** "
     "0 comp - 1 * - 2 ** 0 = - 1 * 1 out - 1 [ sum: 2 + - 1 = 1 ] re 3 * x ** 3  # in 3 * x ** 3 comp 3 * - "
     "2 "
     "** 3 = 3 * - 8 out - 2 4 [ sum: 1 + - 2 4 = 7 ] re   . Thus,  The answer is 7.",
     "Thinking"},
    {"summation scratchpad=full",
     "Compute: 3 + 9 + 1 + 8 .[SEP] Thinking step by step:  in 3 comp 3 + sum = 3 + 0 = out 3 [ sum: 3 = 3 ] "
     "re "
     "9 + 1 + 8  # in 9 comp 9 + sum = 9 + 3 = out 1 2 [ sum: 1 2 = 2 ] re 1 + 8  # in 1 comp 1 + sum = 1 + "
     "2 = "
     "out 3 [ sum: 3 = 3 ] re 8  # in 8 comp 8 + sum = 8 + 3 = out 1 1 [ sum: 1 1 = 1 ] re   . Thus,  The "
     "answer is 1 .",
     "Thinking"},
    {"parity scratchpad=full",
     "Is the number of 1's even in the sequence [ 1, 0, 1, 1 ] ? Thinking step by step:  in 1 comp 1 ** par "
     "= 1 "
     "** 0 out 1 [ par: 1 ] re [ 0, 1, 1 ]  # in 0 comp 0 ** par = 0 ** 1 out 1 [ par: 1 ] re [ 1, 1 ]  # in "
     "1 "
     "comp 1 ** par = 1 ** 1 out 0 [ par: 0 ] re [ 1 ]  # in 1 comp 1 ** par = 1 ** 0 out 1 [ par: 1 ] re [  "
     "] "
     " . Thus,  The answer is No.",
     "Thinking"},
    {"sort alphabet=50 scratchpad=full",
     "Sort the following list [ l, d, e, d ]. Thinking step by step:  in l comp " MINIMUM
     " out d re [ l, e, d ] "
     " # in l comp " MINIMUM " out d re [ e, l ]  # in e comp " MINIMUM
     " out e re [ l ]  # in l comp " MINIMUM " out l re [  ]  . Thus,  The sorted list is [ d, d, e, l ].",
     "Thinking"},
    {"sort variant=multi scratchpad=full",
     "Sort the following list [ 2 4 6 8, 6 8, 8 8 1 ]. Thinking step by step:  in 2 4 6 8 comp " MINIMUM
     " out 6 8 re [ 2 4 6 8, 8 8 1 ]  # in 2 4 6 8 comp " MINIMUM " out 8 8 1 re [ 2 4 6 8 ]  # in 2 4 6 8 "
     "comp " MINIMUM " out 2 4 6 8 re [  ]  . Thus,  The sorted list is [ 6 8, 8 8 1, 2 4 6 8 ].",
     "Thinking"},
    {"lego scratchpad=full",
     "If q = -1, t = - q, c = + t, f = - c. Then, what is the value of c? Thinking step by step:  in q comp  "
     "out "
     "-1 re t = - q, c = + t, f = - c  # in t comp - q = - -1 out +1 re c = + t, f = - c  # in c comp + t = "
     "+ +1 "
     "out +1 re f = - c  . Thus,  The answer is +1.",
     "Thinking"},
    {"addition scratchpad=minimal",
     "Compute 7 2 6 + 5 9 ? Thinking step by step:  comp 6 + 9 + carry = 15 + 0 = 15 out 5  # comp 2 + 5 + "
     "carry "
     "= 7 + 1 = 8 out 8  # comp 7 + 0 + carry = 7 + 0 = 7 out 7  . Thus,  The answer is 7 8 5.",
     "Thinking"},
    {"addition scratchpad=bare",
     "Compute 7 2 6 + 5 9 ? Thinking step by step:   #  #  . Thus,  The answer is 7 8 5.", "Thinking"},
    {"addition", "Compute 7 2 6 + 5 9 ? The answer is 7 8 5.", "The answer"},
};

static void texts_are_the_released_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct pw_taskset set;
        struct pw_str name = {0}, prompt = {0}, all = {0};
        struct pw_err err = {0};
        int tokens[MAX];
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        pw_str_add(&name, "%s text=paper", examples[i].set);
        texts_open(&set, name.s);
        pw_str_put(&prompt, examples[i].text,
                   (size_t)(strstr(examples[i].text, examples[i].answer) - examples[i].text));
        if (pw_taskset_prompt(&set, prompt.s, MAX, &s, &err) != PW_OK)
            fail_msg("%s: %s", prompt.s, err.msg);
        join(&set, s.tokens, s.n - 1, &all);
        assert_string_equal(all.s, examples[i].text);
        assert_int_equal(s.tokens[s.n - 1], PW_EOS);
        pw_taskset_fini(&set);
        pw_str_fini(&name);
        pw_str_fini(&prompt);
        pw_str_fini(&all);
    }
}

/* ---- every combination of parts */

static const struct {
    const char *set, *task; /* task: its name for steps_of */
    const char *letters;
} sets[] = {
    {"addition lengths=1..6", "addition", "icovr"},
    {"addition lengths=1..6 order=reversed", "addition", "icovr"},
    {"summation lengths=1..9", "summation", "icovr"},
    {"parity lengths=1..7", "parity", "icovr"},
    {"polynomial lengths=1..5", "polynomial", "icovr"},
    {"sort lengths=1..6 alphabet=50", "sort", "icor"},
    {"sort lengths=1..5 variant=multi", "sort multi", "icor"},
    {"lego lengths=2..6", "lego", "icor"},
    {"lego lengths=2..6 clauses=shuffled", "lego", "icor"},
};

/* The option's text for a combination, and its letters. */
static void name_combination(int bits, const char *all, char option[16], char letters[8])
{
    int n = 0;
    for (size_t k = 0; k < strlen(all); k++)
        if (bits >> k & 1)
            letters[n++] = all[k];
    letters[n] = '\0';
    snprintf(option, 16, "%s", n == 0 ? "bare" : letters);
}

/* Checks one sample. Its text must be that of the second implementation, followed by the answer without a
 * scratchpad. Its tokens must spell the text. The typed prompt must give the same sample. */
static void check_sample(const struct pw_taskset *set, const struct pw_taskset *plain, const char *task,
                         const char *letters, uint64_t i, int length)
{
    bool brief = set->use[0].o.common.text == PW_TEXT_SHORT;
    enum pw_split split = i % 2 == 0 ? PW_SPLIT_TRAIN : PW_SPLIT_TEST;
    struct pw_str prompt = {0}, answer = {0}, own = {0}, alone = {0}, want = {0}, spelt = {0};
    static int tokens[MAX], again[MAX];
    static struct steps steps;
    struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};
    struct pw_err err = {0};
    pw_taskset_sample(set, 5, split, i, 0, length, &s);
    pw_taskset_sample_text(set, 5, split, i, 0, length, &prompt, &answer);
    pw_taskset_sample_text(plain, 5, split, i, 0, length, &own, &alone);
    assert_string_equal(prompt.s, own.s);
    steps_of(&steps, task, prompt.s, brief);
    steps_join(&steps, letters, brief, &want);
    pw_str_add(&want, "%s", alone.s);
    assert_string_equal(answer.s, want.s);

    join(set, s.tokens, s.n - 1, &spelt);
    pw_str_add(&prompt, "%s", answer.s);
    assert_string_equal(spelt.s, prompt.s);
    assert_true(s.n <= pw_taskset_tokens_at(set, 0, s.length) && s.n <= set->max_tokens);
    if (pw_taskset_prompt(set, own.s, MAX, &typed, &err) != PW_OK)
        fail_msg("'%s': %s", own.s, err.msg);
    assert_int_equal(typed.n, s.n);
    assert_int_equal(typed.n_prompt, s.n_prompt);
    assert_memory_equal(again, tokens, (size_t)s.n * sizeof *tokens);
    assert_true(pw_taskset_right(set, &s, s.tokens + s.n_prompt, s.n - s.n_prompt));
    struct pw_str *all[] = {&prompt, &answer, &own, &alone, &want, &spelt};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        pw_str_fini(all[k]);
}

static void every_combination_says_what_a_second_writer_says(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * sizeof sets / sizeof *sets; k++) {
        const char *letters = sets[k / 2].letters, *style = k % 2 == 0 ? "short" : "paper";
        for (int bits = 0; bits < 1 << strlen(letters); bits++) {
            struct pw_taskset set, plain;
            struct pw_str name = {0};
            char option[16], parts[8];
            name_combination(bits, letters, option, parts);
            pw_str_add(&name, "%s text=%s", sets[k / 2].set, style);
            texts_open(&plain, name.s);
            pw_str_add(&name, " scratchpad=%s", option);
            texts_open(&set, name.s);
            struct pw_range test = pw_task_test(&set.use[0]);
            for (uint64_t i = 0; i < 24; i++)
                check_sample(&set, &plain, sets[k / 2].task, parts, i,
                             test.lo + (int)(i / 2) % (test.hi - test.lo + 1));
            pw_taskset_fini(&set);
            pw_taskset_fini(&plain);
            pw_str_fini(&name);
        }
    }
}

/* No sample may be longer than the task's stated longest sample, and one must be as long. */
static void the_longest_is_the_longest(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * sizeof sets / sizeof *sets; k++) {
        const char *letters = sets[k / 2].letters;
        if (strcmp(sets[k / 2].task, "polynomial") != 0 && strcmp(sets[k / 2].task, "summation") != 0)
            continue; /* the other tasks have an obvious number of tokens */
        int length = *sets[k / 2].task == 'p' ? 1 : 2;
        for (int bits = 0; bits < 1 << strlen(letters); bits++) {
            struct pw_taskset set;
            struct pw_str name = {0};
            char option[16], parts[8];
            int most = 0, tokens[MAX];
            name_combination(bits, letters, option, parts);
            pw_str_add(&name, "%s text=%s scratchpad=%s", sets[k / 2].set, k % 2 == 0 ? "short" : "paper",
                       option);
            texts_open(&set, name.s);
            for (uint64_t i = 0; i < 400; i++) {
                struct pw_sample s = {.tokens = tokens, .cap = MAX};
                pw_taskset_sample(&set, 5, PW_SPLIT_TEST, i, 0, length, &s);
                most = s.n > most ? s.n : most;
            }
            assert_int_equal(most, pw_taskset_tokens_at(&set, 0, length));
            pw_taskset_fini(&set);
            pw_str_fini(&name);
        }
    }
}

/* ---- the option */

static void the_option_has_one_short_form(void **state)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"parity scratchpad=off", "parity"},
        {"parity scratchpad=full", "parity scratchpad=full"},
        {"parity scratchpad=rvoci", "parity scratchpad=full"},
        {"parity scratchpad=oc", "parity scratchpad=minimal"},
        {"parity scratchpad=bare", "parity scratchpad=bare"},
        {"parity scratchpad=ri", "parity scratchpad=ir"},
        {"sort scratchpad=icor", "sort scratchpad=full"},
        {"sort,parity,copy scratchpad=full", "sort(scratchpad=full),parity(scratchpad=full),copy"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_str printed = {0};
        texts_open(&set, cases[i].text);
        pw_taskset_print(&set, &printed);
        assert_string_equal(printed.s, cases[i].printed);
        pw_taskset_fini(&set);
        pw_str_fini(&printed);
    }
}

static void what_it_cannot_be_is_one_line(void **state)
{
    static const char allowed[] =
        "allowed are off, full, minimal (co), bare, or letters of icovr: input (i), "
        "computation (c), output (o), variables (v), remaining input (r)";
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"parity scratchpad=much", "parity: scratchpad=much: "},
        {"parity scratchpad=cc", "parity: scratchpad=cc: "},
        {"parity scratchpad=\"\"", "parity: scratchpad=: "},
        {"sort scratchpad=icovr",
         "sort: scratchpad=icovr: its steps have no variables (v); 'scratchpad=full' has all parts"},
        {"lego scratchpad=v",
         "lego: scratchpad=v: its steps have no variables (v); 'scratchpad=full' has all parts"},
        {"sort scratchpad=x",
         "sort: scratchpad=x: allowed are off, full, minimal (co), bare, or letters of icor: input (i), "
         "computation (c), output (o), variables (v), remaining input (r)"},
        {"addition scratchpad=full text=appendix",
         "addition: text=appendix has no scratchpad, because the appendix shows none; use text=paper (the "
         "released code's)"},
        {"copy scratchpad=full",
         "copy: no option 'scratchpad'; there are lengths test text dist data held alphabet variant"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        struct pw_str want = {0};
        assert_int_equal(pw_taskset_init(&set, cases[i].text, &err), PW_EUSER);
        pw_str_add(&want, "%s%s", cases[i].message,
                   cases[i].message[strlen(cases[i].message) - 1] == ' ' ? allowed : "");
        assert_string_equal(err.msg, want.s);
        pw_str_fini(&want);
    }
}

/* ---- which answers are right */

static void the_answer_alone_counts(void **state)
{
    static const struct {
        const char *set, *prompt, *said;
        bool right;
    } cases[] = {
        {"addition scratchpad=full", "addition 9 7 + 5 >", " in 7 5 so 1 0 2", true},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " so 1 0 2", true},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " # # = 3 so 0 0 1 0 2", true}, /* a number */
        {"addition scratchpad=full", "addition 9 7 + 5 >", " 1 0 2", true}, /* no end: all is answer */
        {"addition scratchpad=full", "addition 9 7 + 5 >", " in 1 0 2", false},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " in 7 5 so 1 0 3", false},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " in 7 5 so 1 0", false},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " in 7 5 so", false},
        {"addition scratchpad=full", "addition 9 7 + 5 >", " so 1 0 2 so 1 0 2", false},
        {"addition scratchpad=full", "addition 9 7 + 5 >", "", false},
        {"addition scratchpad=full order=reversed", "addition 9 7 + 3 >", " so 0 0 1", true},
        {"addition scratchpad=full order=reversed", "addition 9 7 + 3 >", " so 0 0 1 0", true},
        {"addition scratchpad=full order=reversed", "addition 9 7 + 3 >", " so 1", false},
        {"addition scratchpad=bare text=paper", "Compute 9 7 + 5 ? ", "  . Thus,  The answer is 1 0 2.",
         true},
        {"addition scratchpad=bare text=paper", "Compute 9 7 + 5 ? ", "  . Thus,  The answer is 1 0 2", true},
        {"addition scratchpad=bare text=paper", "Compute 9 7 + 5 ? ", "  . Thus,  1 0 2.", false},
        {"addition scratchpad=bare text=paper", "Compute 9 7 + 5 ? ", " The answer is 1 0 2.", true},
        {"summation scratchpad=full", "summation 3 9 >", " so 2", true},
        {"summation scratchpad=full", "summation 3 9 >", " so 0 2", true},
        {"summation scratchpad=full", "summation 3 9 >", " so 1 2", false},
        {"polynomial scratchpad=full", "polynomial -2 : -2 x^2 -1 x^0 +3 x^3 >", " # so 7", true},
        {"polynomial scratchpad=full", "polynomial -2 : -2 x^2 -1 x^0 +3 x^3 >", " # so - 7", false},
        {"parity scratchpad=full", "parity 1 0 1 1 >", " # # so odd", true},
        {"parity scratchpad=full", "parity 1 0 1 1 >", " # # so even", false},
        {"parity scratchpad=full", "parity 1 0 1 1 >", " # # so odd odd", false},
        {"parity scratchpad=full text=paper", "Is the number of 1's even in the sequence [ 1, 0, 1, 1 ] ? ",
         "  . Thus,  The answer is No.", true},
        {"sort scratchpad=full", "sort 3 1 2 >", " so 1 2 3", true},
        {"sort scratchpad=full", "sort 3 1 2 >", " so 1 2", false},
        {"sort scratchpad=full", "sort 3 1 2 >", " so 1 2 3 3", false},
        {"sort scratchpad=full", "sort 3 1 2 >", " so 1 3 2", false},
        {"sort variant=multi scratchpad=full", "sort 3 1, 2 >", " re so 2, 3 1", true},
        {"sort variant=multi scratchpad=full", "sort 3 1, 2 >", " re so 0 2, 3 1", true},
        {"sort variant=multi scratchpad=full", "sort 3 1, 2 >", " re so 3 1, 2", false},
        {"lego scratchpad=full", "lego q - 1 t - q t >", " in so +1", true},
        {"lego scratchpad=full", "lego q - 1 t - q t >", " in so -1", false},
        {"lego scratchpad=full", "lego q - 1 t - q t >", " in so", false},
        /* Without a scratchpad every token counts. */
        {"addition", "addition 9 7 + 5 >", " 1 0 2", true},
        {"addition", "addition 9 7 + 5 >", " 0 1 0 2", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        int tokens[MAX], said[MAX];
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        texts_open(&set, cases[i].set);
        if (pw_taskset_prompt(&set, cases[i].prompt, MAX, &s, &err) != PW_OK)
            fail_msg("'%s': %s", cases[i].prompt, err.msg);
        int n = pw_vocab_cut(&set.vocab, cases[i].said, said, MAX, &err);
        if (n < 0)
            fail_msg("'%s': %s", cases[i].said, err.msg);
        assert_false(pw_taskset_right(&set, &s, said, n)); /* it has no end mark */
        said[n++] = PW_EOS;
        if (pw_taskset_right(&set, &s, said, n) != cases[i].right)
            fail_msg("'%s%s' is taken for %s", cases[i].prompt, cases[i].said,
                     cases[i].right ? "wrong" : "right");
        pw_taskset_fini(&set);
    }
}

/* Any output of a model must be accepted; output without the form of an answer is wrong. */
static void anything_is_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        struct pw_str name = {0};
        int right = 0;
        pw_str_add(&name, "%s scratchpad=full text=%s", sets[k / 2].set, k % 2 == 0 ? "short" : "paper");
        texts_open(&set, name.s);
        for (uint64_t i = 0; i < 300; i++) {
            int tokens[MAX], said[MAX], n = 0;
            struct pw_sample s = {.tokens = tokens, .cap = MAX};
            struct pw_rng rng;
            pw_rng_init(&rng, 3, PW_STREAM_TEST, i);
            pw_taskset_sample(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &s);
            int kept = (int)pw_rng_below(&rng, (uint32_t)(s.n - s.n_prompt)),
                more = (int)pw_rng_below(&rng, 900);
            for (; n < kept; n++) /* the start of the right answer, then random tokens */
                said[n] = tokens[s.n_prompt + n];
            for (; n < kept + more; n++)
                said[n] = (int)pw_rng_below(&rng, (uint32_t)set.vocab.n);
            said[n++] = PW_EOS;
            right += pw_taskset_right(&set, &s, said, n);
        }
        assert_true(right < 60); /* by chance, or as an answer without its full stop */
        pw_taskset_fini(&set);
        pw_str_fini(&name);
    }
}

/* ---- pointers */

static void only_the_answer_has_pointers(void **state)
{
    struct pw_taskset set, plain;
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_str name = {0};
        texts_open(&plain, sets[k].set);
        pw_str_add(&name, "%s scratchpad=full", sets[k].set);
        texts_open(&set, name.s);
        for (uint64_t i = 0; i < 20; i++) {
            int tokens[MAX], short_tokens[MAX], at[MAX], want[MAX];
            struct pw_sample s = {.tokens = tokens, .cap = MAX}, p = {.tokens = short_tokens, .cap = MAX};
            pw_taskset_sample(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &s);
            pw_taskset_sample(&plain, 5, PW_SPLIT_TRAIN, i, 0, 0, &p);
            int steps = s.n - p.n;
            assert_true(steps > 0 && s.n_prompt == p.n_prompt);
            for (int j = 0; j < steps; j++)
                assert_int_equal(pw_taskset_pointers(&set, &s, j, at), 0);
            for (int j = 0; j < p.n - p.n_prompt; j++) {
                int n = pw_taskset_pointers(&plain, &p, j, want);
                assert_int_equal(pw_taskset_pointers(&set, &s, j + steps, at), n);
                assert_memory_equal(at, want, (size_t)n * sizeof *at);
            }
        }
        pw_taskset_fini(&set);
        pw_taskset_fini(&plain);
        pw_str_fini(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_the_released_codes),
        cmocka_unit_test(every_combination_says_what_a_second_writer_says),
        cmocka_unit_test(the_longest_is_the_longest),
        cmocka_unit_test(the_option_has_one_short_form),
        cmocka_unit_test(what_it_cannot_be_is_one_line),
        cmocka_unit_test(the_answer_alone_counts),
        cmocka_unit_test(anything_is_read),
        cmocka_unit_test(only_the_answer_has_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
