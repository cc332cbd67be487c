/* Scratchpads: the released code's texts to the character, and every step checked by somebody who reads
 * nothing but the text; all combinations of parts through the vocabulary and back; which answers count as
 * right. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/scratchpad.h"

#define MAX 4096

static void open_set(struct pw_taskset *set, const char *text)
{
    struct pw_err err = {0};
    if (pw_taskset_init(set, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
}

static void join(const struct pw_taskset *set, const int *tokens, int n, struct pw_str *out)
{
    for (int i = 0; i < n; i++)
        pw_str_add(out, "%s", set->vocab.words[tokens[i]]);
}

/* ---- texts to the character. They come from the released code; only its prompts and answers are joined. */

#define MINIMUM "The minimum of the unsorted portion"

static const struct {
    const char *set, *text, *answer; /* where the answer begins */
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
        open_set(&set, name.s);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_the_released_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
