/* test_pcfg.c - tests PCFG SET. The evaluator is compared with the public samples, and with a different
 * evaluator on random sources. Draws are compared with a simple sampler of the grammar. It also tests the
 * texts, and the errors for unreadable ones. */
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

#define MAX 1200

/* ---- the other evaluator: from right to left, on a stack of texts */

struct value {
    const char *v[MAX];
    int n;
};

static const char *const unary[] = {"copy", "reverse", "shift", "swap_first_last", "repeat", "echo"};
static const char *const binary[] = {"append", "prepend", "remove_first", "remove_second"};

static int find(const char *word, const char *const *list, int n)
{
    while (n-- > 0 && strcmp(word, list[n]) != 0)
        ;
    return n;
}

static void apply_unary(int f, struct value *x)
{
    struct value y = {.n = 0};
    for (int i = 0; i < x->n; i++)
        switch (f) {
        case 1: y.v[y.n++] = x->v[x->n - 1 - i]; break;
        case 2: y.v[y.n++] = x->v[(i + 1) % x->n]; break;
        case 3: y.v[y.n++] = x->v[i == 0 ? x->n - 1 : i == x->n - 1 ? 0 : i]; break;
        default: y.v[y.n++] = x->v[i]; break;
        }
    for (int i = 0; i < x->n && f == 4; i++)
        y.v[y.n++] = x->v[i];
    if (f == 5)
        y.v[y.n++] = x->v[x->n - 1];
    *x = y;
}

/* Evaluates "append A1 A2 , A3 A4". It also counts functions, strings and tokens. */
static void evaluate(const char *source, struct pw_str *out, int *n_functions, int *n_strings, int *n_tokens)
{
    static struct value stack[64];
    static char text[8192];
    char *words[MAX];
    int n = 0, top = 0;
    snprintf(text, sizeof text, "%s", source);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        words[n++] = w;
    *n_functions = *n_strings = 0;
    *n_tokens = n;
    for (int i = n; i-- > 0;) {
        int one = find(words[i], unary, 6), two = find(words[i], binary, 4);
        if (one >= 0) {
            apply_unary(one, &stack[top - 1]);
        } else if (two >= 0) {
            struct value *x = &stack[top - 1], *y = &stack[top - 2], z = {.n = 0};
            const struct value *parts[2] = {two == 1 || two == 2 ? y : x, two == 0 ? y : two == 1 ? x : NULL};
            for (int k = 0; k < 2; k++)
                for (int j = 0; parts[k] != NULL && j < parts[k]->n; j++)
                    z.v[z.n++] = parts[k]->v[j];
            *y = z;
            top--;
        } else if (strcmp(words[i], ",") != 0) {
            struct value *x = &stack[top++];
            x->n = 0;
            for (; i >= 0 && words[i][0] >= 'A' && words[i][0] <= 'Z'; i--)
                x->v[x->n++] = words[i];
            i++;
            apply_unary(1, x); /* it was read backwards */
            assert_true(x->n >= 2 && x->n <= 5);
            ++*n_strings;
        }
        *n_functions += one >= 0 || two >= 0;
    }
    assert_int_equal(top, 1);
    for (int j = 0; j < stack[0].n; j++)
        pw_str_add(out, " %s", stack[0].v[j]);
}

static void known_samples(void **state)
{
    static const char *const cases[][2] = {
        {"reverse copy O14 O4 C12 J14 W3", "W3 J14 C12 O4 O14"},
        {"prepend reverse R1 J11 , K8 L16 Y18", "K8 L16 Y18 J11 R1"},
        {"swap_first_last append A1 B1 , C1 D1", "D1 B1 C1 A1"}, /* the A of the reference is A1 here */
        {"echo remove_first A1 B1 , C1 D1", "C1 D1 D1"},
        {"append A1 B1 , prepend C1 D1 , E1 F1", "A1 B1 E1 F1 C1 D1"},
        {"remove_second append A1 B1 , C1 D1 , E1 F1", "A1 B1 C1 D1"},
        {"repeat shift A1 B1 C1", "B1 C1 A1 B1 C1 A1"},
    };
    struct pw_taskset set;
    int tokens[MAX], functions, strings, words;
    (void)state;
    texts_open(&set, "pcfg alphabet=520 text=paper");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        struct pw_str typed = {0}, want = {0}, got = {0}, other = {0};
        struct pw_err err;
        pw_str_add(&typed, "Solve: %s[SEP] ", cases[i][0]);
        pw_str_add(&want, "Solve: %s[SEP]| %s</s>", cases[i][0], cases[i][1]);
        if (pw_taskset_prompt(&set, typed.s, MAX, &s, &err) != PW_OK)
            fail_msg("%s: %s", typed.s, err.msg);
        for (int k = 0; k < s.n; k++)
            pw_str_add(&got, "%s%s", k == s.n_prompt ? "|" : "", set.vocab.words[tokens[k]]);
        assert_string_equal(got.s, want.s);
        evaluate(cases[i][0], &other, &functions, &strings, &words);
        assert_string_equal(other.s + 1, cases[i][1]);
        assert_int_equal(s.length, functions);
        pw_str_fini(&typed);
        pw_str_fini(&want);
        pw_str_fini(&got);
        pw_str_fini(&other);
    }
    pw_taskset_fini(&set);
}

static void samples_are_right(void **state)
{
    static const struct {
        const char *text;
        int tokens, answer;
    } sets[] = {
        {"pcfg", 71, 48},
        {"pcfg alphabet=520 text=paper", 71, 48},
        {"pcfg lengths=1..4 tokens=20 answer=10 alphabet=2 held=on", 20, 10},
        {"pcfg tokens=250 answer=500 data=2000", 250, 500},
    };
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        texts_open(&set, sets[k].text);
        struct pw_range test = pw_task_test(&set.use[0]);
        assert_int_equal(test.hi, sets[k].tokens == 20 ? 18 : 35); /* 18 functions and a string of two */
        for (uint64_t i = 0; i < 800; i++) {
            int tokens[MAX], again[MAX], at[MAX], functions, strings, words;
            struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};
            struct pw_str p = {0}, a = {0}, want = {0};
            struct pw_err err;
            int length = test.lo + (int)i % (test.hi - test.lo + 1);
            bool paper = set.use[0].o.common.text == PW_TEXT_PAPER;
            pw_taskset_sample(&set, 5, (enum pw_split)(i % 3), i, 0, length, &s);
            pw_taskset_sample_text(&set, 5, (enum pw_split)(i % 3), i, 0, length, &p, &a);
            if (pw_taskset_prompt(&set, p.s, MAX, &typed, &err) != PW_OK)
                fail_msg("%s: %s", p.s, err.msg);
            assert_int_equal(typed.n, s.n);
            assert_memory_equal(tokens, again, (size_t)s.n * sizeof *tokens);

            p.s[p.len - (paper ? strlen("[SEP] ") : strlen(" >"))] = '\0';
            evaluate(p.s + strlen(paper ? "Solve: " : "pcfg "), &want, &functions, &strings, &words);
            assert_string_equal(a.s, want.s + paper);
            assert_int_equal(functions, s.length);
            if (i % 3 == PW_SPLIT_TEST)
                assert_int_equal(s.length, length);
            int answer = s.n - s.n_prompt - 1;
            assert_true(words <= sets[k].tokens && answer <= sets[k].answer);
            assert_true(s.n <= pw_taskset_tokens_at(&set, 0, s.length) && s.n <= set.max_tokens);
            for (int j = 0; j < answer; j++) { /* each copied token must be where its pointer points */
                assert_int_equal(pw_taskset_pointers(&set, &s, j, at), 1);
                assert_true(at[0] < s.n_prompt);
                assert_int_equal(tokens[at[0]], tokens[s.n_prompt + j]);
            }
            assert_int_equal(pw_taskset_pointers(&set, &s, answer, at), 0);
            pw_str_fini(&p);
            pw_str_fini(&a);
            pw_str_fini(&want);
        }
        pw_taskset_fini(&set);
    }
}

/* ---- draws */

struct counts {
    int functions, binary, strings, tokens, answer;
};

/* Draws from the grammar directly, and the length of its answer. Returns false if the source has too many
 * functions. */
static bool draw_plainly(struct pw_rng *rng, struct counts *c, int *answer)
{
    int first, second = 0;
    if (++c->functions > 35)
        return false;
    bool two = pw_rng_unit(rng) >= 0.584;
    for (int i = 0; i < 1 + two; i++) {
        int *n = i == 0 ? &first : &second;
        if (pw_rng_unit(rng) < 0.576) {
            if (!draw_plainly(rng, c, n))
                return false;
        } else {
            *n = 2 + (int)pw_rng_below(rng, 4);
            c->strings++;
            c->tokens += *n;
        }
    }
    c->binary += two;
    c->tokens += 1 + two;
    uint32_t f = pw_rng_below(rng, two ? 4 : 6);
    *answer = two      ? (f < 2    ? first + second
                          : f == 2 ? second
                                   : first)
              : f == 4 ? 2 * first
                       : first + (f == 5);
    return true;
}

/* The proportion of sources with n functions in the released data, before normalisation. */
static double released(int n)
{
    double choose = 1;
    for (int i = 1; i <= 4; i++) /* n + 3 over 4 */
        choose *= (n - 1 + i) / (double)i;
    return choose * pow(4.22 / 9.22, n - 1);
}

/* At each length both samplers must agree in strings and tokens: where the cap of 30 tokens matters, and
 * where it doesn't. Lengths must be as frequent as in the released data, less the sources with more than 30
 * tokens. */
static void the_grammars_chances(void **state)
{
    struct pw_taskset set;
    struct pw_rng rng;
    double strings[36][2] = {{0}}, tokens[36][2] = {{0}}, sum = 0;
    int n[36][2] = {{0}}, released_n[36] = {0};
    (void)state;
    texts_open(&set, "pcfg tokens=30 answer=500 lengths=1..10");
    pw_rng_init(&rng, 8, PW_STREAM_PROMPT, 0);
    for (int i = 0; i < 100000; i++) {
        struct counts c = {0};
        if (!draw_plainly(&rng, &c, &c.answer) || c.tokens > 71 || c.functions > 10)
            continue;
        released_n[c.functions]++;
        if (c.tokens > 30)
            continue;
        n[c.functions][0]++;
        strings[c.functions][0] += c.strings;
        tokens[c.functions][0] += c.tokens;
    }
    for (uint64_t i = 0; i < 30000; i++) {
        int buffer[MAX], functions, found, words;
        struct pw_sample s = {.tokens = buffer, .cap = MAX};
        struct pw_str text = {0}, answer = {0};
        pw_taskset_sample(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &s);
        for (int k = 1; k < s.n_prompt - 1; k++)
            pw_str_add(&text, "%s", set.vocab.words[buffer[k]]);
        evaluate(text.s, &answer, &functions, &found, &words);
        n[s.length][1]++;
        strings[s.length][1] += found;
        tokens[s.length][1] += words;
        pw_str_fini(&text);
        pw_str_fini(&answer);
    }
    for (int length = 1; length <= 10; length++)
        sum += released(length) * n[length][0] / released_n[length];
    for (int length = 1; length <= 10; length++) {
        double share = pw_task_share(&set.use[0], length), fit = (double)n[length][0] / released_n[length];
        double some = fmin(n[length][0], n[length][1]);
        assert_true(some > 100);
        assert_true(fabs(released(length) * fit / sum - share) < 5 * share / sqrt(some));
        assert_true(fabs(n[length][1] / 30000.0 - share) < 5 * sqrt(share / 30000));
        assert_true(fabs(strings[length][0] / n[length][0] - strings[length][1] / n[length][1]) <
                    6 / sqrt(some));
        assert_true(fabs(tokens[length][0] / n[length][0] - tokens[length][1] / n[length][1]) <
                    25 / sqrt(some));
    }
    pw_taskset_fini(&set);
}

/* Published statistics of PCFG SET: 18.2 tokens on average; 11,333 of 92,343 sources have more than 8
 * functions; 0.60 of the functions have one argument; 0.576 of the arguments are functions. first_lines
 * counts functions in the first 176 sources of its validation set (pcfgset/dev.src). */
static void the_releases_frequencies(void **state)
{
    static const int first_lines[] = {0, 6, 22, 35, 28, 22, 18, 16, 13, 16}; /* the last: 9 and more */
    enum { SAMPLES = 40000, LINES = 176 };
    struct pw_taskset set;
    double sum[4] = {0}, chi2 = 0, share[10] = {0};
    (void)state;
    texts_open(&set, "pcfg alphabet=520 answer=500 lengths=1..35");
    for (int n = 1; n <= 35; n++)
        share[n < 9 ? n : 9] += pw_task_share(&set.use[0], n);
    assert_true(fabs(share[9] - 11333.0 / 92343) < 0.002);
    for (int n = 1; n <= 9; n++)
        chi2 += pow(first_lines[n] - LINES * share[n], 2) / (LINES * share[n]);
    assert_true(chi2 < 15.5); /* 8 degrees of freedom, p = 0.05 */
    for (uint64_t i = 0; i < SAMPLES; i++) {
        int buffer[MAX], functions, strings, words;
        struct pw_sample s = {.tokens = buffer, .cap = MAX};
        struct pw_str text = {0}, answer = {0};
        pw_taskset_sample(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &s);
        for (int k = 1; k < s.n_prompt - 1; k++)
            pw_str_add(&text, "%s", set.vocab.words[buffer[k]]);
        evaluate(text.s, &answer, &functions, &strings, &words);
        sum[0] += words;
        sum[1] += functions;
        sum[2] += strings - 1; /* functions of two arguments */
        sum[3] += strings;
        pw_str_fini(&text);
        pw_str_fini(&answer);
    }
    print_message("tokens %.2f, functions %.2f, of one argument %.3f, arguments that are functions %.3f\n",
                  sum[0] / SAMPLES, sum[1] / SAMPLES, 1 - sum[2] / sum[1],
                  (sum[1] - SAMPLES) / (sum[1] - SAMPLES + sum[3]));
    assert_true(fabs(sum[0] / SAMPLES - 18.2) < 0.25); /* standard deviation 11 / sqrt(SAMPLES) = 0.055 */
    assert_true(fabs(1 - sum[2] / sum[1] - 0.60) < 0.01);
    assert_true(fabs((sum[1] - SAMPLES) / (sum[1] - SAMPLES + sum[3]) - 0.576) < 0.005);
    pw_taskset_fini(&set);
}

static void lengths_and_inputs(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "pcfg");
    assert_int_equal(pw_task_train(&set.use[0]).hi, 8);
    assert_int_equal(pw_task_test(&set.use[0]).lo, 9);
    assert_int_equal(pw_task_test(&set.use[0]).hi, 35);
    assert_true(set.max_tokens <= 129); /* fits into a context of 128 */
    pw_taskset_fini(&set);
    /* One function: there are 4 + 8 + 16 + 32 strings, six functions of one argument and four of two. With 5
     * tokens: strings of two to four, and no function of two. */
    texts_open(&set, "pcfg alphabet=2");
    assert_true(pw_task_inputs(&set.use[0], 1) == 6 * 60 + 4 * 60 * 60);
    assert_true(pw_task_seen(&set.use[0], 1) && !pw_task_seen(&set.use[0], 3));
    pw_taskset_fini(&set);
    texts_open(&set, "pcfg alphabet=2 tokens=5");
    assert_true(pw_task_inputs(&set.use[0], 1) == 6 * 28);
    assert_true(pw_task_inputs(&set.use[0], 3) == 6 * 6 * 6 * 4);
    assert_true(pw_task_has(&set.use[0], 3) && !pw_task_has(&set.use[0], 4));
    pw_taskset_fini(&set);
}

/* ---- typed prompts */

static void texts_and_what_is_wrong(void **state)
{
    static const struct typed cases[] = {
        {"pcfg", "pcfg append reverse A1 A2 , A3 A4", "pcfg append reverse A1 A2 , A3 A4 >| A2 A1 A3 A4</s>"},
        {"pcfg", "pcfg  echo A1 A20,>",
         "pcfg: too many arguments after ','; append prepend remove_first remove_second take two, copy "
         "reverse shift swap_first_last repeat echo one"},
        {"pcfg text=paper", "pcfg prepend A1 A2,A3 A4", "Solve: prepend A1 A2 , A3 A4[SEP]| A3 A4 A1 A2</s>"},
        {"pcfg", "pcfg", "pcfg: a function must come first; write: pcfg append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg A1 A2", "pcfg: a function must come first; write: pcfg append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg revers A1 A2", "pcfg: no function 'revers'; did you mean 'reverse'?"},
        {"pcfg", "pcfg copy B1 A2",
         "pcfg: 'B1': allowed are the functions copy reverse shift swap_first_last repeat echo append "
         "prepend remove_first remove_second and the symbols A1..A20"},
        {"pcfg", "pcfg append A1 A2",
         "pcfg: 'append' takes two arguments; ',' is missing between them; "
         "write: pcfg append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg append A1 A2 ,",
         "pcfg: an argument of 'append' is missing at the end; write: pcfg "
         "append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg append , A1 A2",
         "pcfg: ',' instead of an argument of 'append'; write: pcfg "
         "append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg copy A1", "pcfg: the string 'A1' has one symbol; two or more are allowed"},
        {"pcfg", "pcfg copy A1 A2 shift A1 A2",
         "pcfg: unexpected 'shift'; write: pcfg append reverse A1 A2 , A3 A4"},
        {"pcfg", "pcfg repeat repeat repeat repeat repeat repeat repeat repeat A1 A2",
         "pcfg: the answer, or a part of it, has more than 500 symbols"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);

    struct pw_taskset set;
    struct pw_err err;
    struct pw_str deep = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    texts_open(&set, "pcfg");
    pw_str_add(&deep, "pcfg");
    for (int i = 0; i < 600; i++)
        pw_str_add(&deep, " copy");
    pw_str_add(&deep, " A1 A2");
    assert_int_equal(pw_taskset_prompt(&set, deep.s, MAX, &s, &err), PW_EUSER);
    assert_string_equal(err.msg, "pcfg: at most 512 tokens are allowed before the answer");
    pw_str_fini(&deep);
    pw_taskset_fini(&set);
    static const char *const refused[] = {"pcfg alphabet=521", "pcfg tokens=2", "pcfg lengths=1..36",
                                          "pcfg text=appendix", "pcfg tokens=4 lengths=5..8"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(pw_taskset_init(&set, refused[i], &err), PW_EUSER);
        assert_true(err.msg[0] != '\0' && strchr(err.msg, '\n') == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_samples),           cmocka_unit_test(samples_are_right),
        cmocka_unit_test(the_grammars_chances),    cmocka_unit_test(lengths_and_inputs),
        cmocka_unit_test(texts_and_what_is_wrong), cmocka_unit_test(the_releases_frequencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
