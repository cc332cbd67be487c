/* test_samples.c - tests samples: their texts, with solvers that read only the text; their tokens; and their
 * distribution. */
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

static void join(const struct pw_taskset *set, const int *tokens, int n, struct pw_str *out)
{
    for (int i = 0; i < n; i++)
        pw_str_add(out, "%s", set->vocab.words[tokens[i]]);
}

/* Copies text with every character of `drop` replaced by a blank, then splits it at blanks. */
static int cut_words(char *buf, size_t size, const char *text, const char *drop, char **words)
{
    int n = 0;
    assert_true(strlen(text) < size);
    strcpy(buf, text);
    for (char *c = buf; *c != '\0'; c++)
        if (strchr(drop, *c) != NULL)
            *c = ' ';
    for (char *w = strtok(buf, " "); w != NULL; w = strtok(NULL, " ")) {
        assert_true(n < MAX);
        words[n++] = w;
    }
    return n;
}

/* ---- solvers: each checks that answer is right for prompt, and returns the length that it read */

static int place(const char *symbol)
{
    static const char order[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *at = strchr(order, *symbol);
    assert_non_null(at);
    assert_int_equal(symbol[1], '\0');
    return (int)(at - order);
}

static int solve_sort(const char *prompt, const char *answer, bool paper)
{
    char a[4096], b[4096], *p[MAX], *q[MAX];
    int n = cut_words(a, sizeof a, prompt, ",.[]>", p), m = cut_words(b, sizeof b, answer, ",.[]", q);
    int first = paper ? 4 : 1, lead = paper ? 4 : 0, count[62] = {0};
    assert_int_equal(n - first, m - lead);
    for (int i = first; i < n; i++)
        count[place(p[i])]++;
    for (int i = lead; i < m; i++) {
        count[place(q[i])]--;
        if (i > lead)
            assert_true(place(q[i - 1]) <= place(q[i]));
    }
    for (int i = 0; i < 62; i++)
        assert_int_equal(count[i], 0); /* the same multiset */
    return n - first;
}

static int solve_copy(const char *prompt, const char *answer, bool paper, const char *variant)
{
    char a[4096], b[4096], *p[MAX], *q[MAX];
    bool rdc = strcmp(variant, "rdc") == 0, twice = strstr(variant, "2x") != NULL;
    int n = cut_words(a, sizeof a, prompt, "", p) - 1, m = cut_words(b, sizeof b, answer, "", q);
    int first = rdc ? (paper ? 5 : 4) : 1, length = n - first;
    const char *next = paper ? "[NEXT]" : "|";
    assert_string_equal(p[n], paper ? "[SEP]" : ">");
    assert_int_equal(m, length * (1 + twice) + (strcmp(variant, "cmc2x") == 0));
    for (int i = 0, k = 0; i < m; i++) {
        if (strcmp(variant, "cmc2x") == 0 && i == length) {
            assert_string_equal(q[i], next);
            continue;
        }
        assert_string_equal(q[i], rdc ? (paper ? p[3] : p[2]) : p[first + k % length]);
        k++;
    }
    if (strcmp(variant, "cmc") != 0 && strcmp(variant, "cmc2x") != 0)
        for (int i = first; i < n; i++)
            assert_string_equal(p[i], p[first]); /* one symbol repeated */
    if (rdc) {
        assert_string_equal(p[1], p[first]);
        assert_string_not_equal(p[1], paper ? p[3] : p[2]);
    }
    return length;
}

/* Reads triples "var sign one-or-var"; in the paper's sentence = , . ? are dropped first. Shuffled clauses
 * are sorted into the chain's order; *in_order is false if they were not in that order. */
static int solve_lego(const char *prompt, const char *answer, bool paper, int *asked, bool *in_order)
{
    char a[4096], *p[MAX], spread[4096], want[32];
    int value[128] = {0}, at[128], n, length = 0, i, last = '1';
    size_t len = 0;
    for (const char *c = prompt; *c != '\0'; c++) { /* "-1" as "- 1" */
        assert_true(len + 3 < sizeof spread);
        spread[len++] = *c;
        if (*c == '-' || *c == '+')
            spread[len++] = ' ';
    }
    spread[len] = '\0';
    n = cut_words(a, sizeof a, spread, "=,.?>", p);
    int end = 1;
    while (end + 2 < n && strcmp(p[end], "Then") != 0)
        end += 3;
    *in_order = true;
    for (length = 0; length < (end - 1) / 3; length++) {
        for (i = 1; i < end && *p[i + 2] != last; i += 3)
            ;
        assert_true(i < end); /* the chain continues */
        *in_order = *in_order && i == 1 + 3 * length;
        int var = *p[i], sign = *p[i + 1] == '-' ? -1 : 1;
        assert_int_equal(p[i][1], '\0');
        assert_true(var >= 'a' && var <= 'z');
        assert_int_equal(value[var], 0); /* distinct letters */
        value[var] = sign * (last == '1' ? 1 : value[last]);
        at[var] = length;
        last = var;
    }
    i = n - 1;
    assert_true(value[(int)*p[i]] != 0);
    snprintf(want, sizeof want, paper ? "The answer is %+d." : " %+d", value[(int)*p[i]]);
    assert_string_equal(answer, want);
    *asked = at[(int)*p[i]];
    return length;
}

static int solve(const struct pw_task_use *use, const char *variant, const char *prompt, const char *answer)
{
    bool paper = use->o.common.text == PW_TEXT_PAPER;
    int asked, length;
    bool in_order;
    if (strcmp(use->task->name, "sort") == 0)
        return solve_sort(prompt, answer, paper);
    if (strcmp(use->task->name, "copy") == 0)
        return solve_copy(prompt, answer, paper, variant);
    length = solve_lego(prompt, answer, paper, &asked, &in_order);
    assert_true(in_order || strcmp(variant, "shuffled") == 0);
    /* The second half: from n/2 for even n, from (n+1)/2 for odd n. The paper's appendix includes the
     * middle. */
    bool middle = strcmp(variant, "seed") == 0;
    assert_true(asked >= length / 2 + (middle ? 0 : length % 2) && asked < length);
    return length;
}

static const struct {
    const char *text, *variant;
} sets[] = {
    {"sort", ""},
    {"sort alphabet=62 lengths=1..20 text=paper", ""},
    {"sort lengths=6..8 test=2..4", ""}, /* the longest one is trained */
    {"copy variant=rsc", "rsc"},
    {"copy variant=rsc2x", "rsc2x"},
    {"copy variant=rdc", "rdc"},
    {"copy variant=cmc", "cmc"},
    {"copy variant=cmc2x alphabet=62", "cmc2x"},
    {"copy variant=rsc text=paper", "rsc"},
    {"copy variant=rsc2x text=paper", "rsc2x"},
    {"copy variant=rdc text=paper alphabet=62", "rdc"},
    {"copy variant=cmc text=paper", "cmc"},
    {"copy variant=cmc2x text=paper", "cmc2x"},
    {"lego", ""},
    {"lego lengths=2..13 alphabet=26", ""},
    {"lego text=paper", ""},
    {"lego sampling=appendix", "seed"},
    {"lego sampling=appendix text=paper lengths=3..7", "seed"},
    {"lego clauses=shuffled", "shuffled"},
    {"lego clauses=shuffled text=paper", "shuffled"},
    {"copy,sort,lego text=short", "cmc"},
    {"sort,lego,copy(variant=rdc) text=paper", "rdc"},
};

static void check_sample(const struct pw_taskset *set, const char *variant, enum pw_split split, uint64_t i,
                         int task, int length, int *longest)
{
    struct pw_str prompt = {0}, answer = {0}, head = {0}, tail = {0}, whole = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = set->max_tokens};
    assert_true(set->max_tokens <= MAX);
    pw_taskset_sample_text(set, 7, split, i, task, length, &prompt, &answer);
    pw_taskset_sample(set, 7, split, i, task, length, &s);
    assert_int_equal(s.length, solve(&set->use[s.task], variant, prompt.s, answer.s));

    /* The text must be the plain concatenation of the tokens. */
    assert_int_equal(s.tokens[s.n - 1], PW_EOS);
    join(set, s.tokens, s.n_prompt, &head);
    join(set, s.tokens + s.n_prompt, s.n - 1 - s.n_prompt, &tail);
    pw_str_add(&whole, "%s%s", head.s, tail.s);
    pw_str_put(&prompt, "", 0);
    /* The prompt's tokens end within its text, and the first answer token ends after it. In the paper's
     * prompts only the final blank belongs to the answer token. */
    assert_true(head.len <= prompt.len && prompt.len - head.len <= 1);
    assert_memory_equal(head.s, prompt.s, head.len);
    assert_true(head.len + strlen(set->vocab.words[s.tokens[s.n_prompt]]) > prompt.len);
    pw_str_put(&prompt, answer.s, answer.len);
    assert_string_equal(whole.s, prompt.s);
    if (s.n > *longest)
        *longest = s.n;
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    pw_str_fini(&head);
    pw_str_fini(&tail);
    pw_str_fini(&whole);
}

static void samples_are_right_and_their_tokens_spell_them(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        int longest = 0;
        texts_open(&set, sets[k].text);
        for (uint64_t i = 0; i < 300; i++) {
            check_sample(&set, sets[k].variant, PW_SPLIT_TRAIN, i, 0, 0, &longest);
            check_sample(&set, sets[k].variant, PW_SPLIT_VALID, i, 0, 0, &longest);
        }
        for (int t = 0; t < set.n; t++) {
            struct pw_range r = pw_task_test(&set.use[t]);
            for (int length = r.lo; length <= r.hi; length++)
                for (uint64_t i = 0; i < 20; i++)
                    check_sample(&set, sets[k].variant, PW_SPLIT_TEST, i, t, length, &longest);
        }
        assert_int_equal(longest, set.max_tokens); /* the bound must be tight */
        pw_taskset_fini(&set);
    }
}

/* Counts must be within five standard deviations of equal shares. */
static void assert_uniform(const int *count, int n, int total)
{
    double p = 1.0 / n, mean = total * p, variance = total * p * (1 - p);
    for (int i = 0; i < n; i++) {
        double off = count[i] - mean;
        if (off * off > 25 * variance)
            fail_msg("count %d of %d is %d, far from %g", i, n, count[i], mean);
    }
}

static void training_meets_its_tasks_and_lengths_evenly_and_no_other(void **state)
{
    struct pw_taskset set;
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;
    texts_open(&set, "copy(lengths=3..6),sort(lengths=2..8),lego");
    for (int split = PW_SPLIT_TRAIN; split <= PW_SPLIT_VALID; split++) {
        int tasks[3] = {0}, lengths[3][32] = {{0}};
        for (uint64_t i = 0; i < 20000; i++) {
            pw_taskset_sample(&set, 3, (enum pw_split)split, i, 0, 0, &s);
            tasks[s.task]++;
            lengths[s.task][s.length]++;
        }
        assert_uniform(tasks, 3, 20000);
        for (int t = 0; t < 3; t++) {
            struct pw_range r = pw_task_train(&set.use[t]);
            assert_uniform(lengths[t] + r.lo, r.hi - r.lo + 1, tasks[t]);
            for (int length = 0; length < 32; length++)
                if (length < r.lo || length > r.hi)
                    assert_int_equal(lengths[t][length], 0);
        }
    }
    pw_taskset_fini(&set);
}

static void geometric_lengths_halve(void **state)
{
    struct pw_taskset set;
    int tokens[MAX], count[6] = {0};
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;
    texts_open(&set, "sort lengths=2..5 dist=geometric");
    for (uint64_t i = 0; i < 8000; i++) {
        pw_taskset_sample(&set, 3, PW_SPLIT_TRAIN, i, 0, 0, &s);
        count[s.length]++;
    }
    /* 4000, 2000, 1000, 1000; five standard deviations */
    assert_true(abs(count[2] - 4000) < 224 && abs(count[3] - 2000) < 194);
    assert_true(abs(count[4] - 1000) < 148 && abs(count[5] - 1000) < 148);
    pw_taskset_fini(&set);
}

static void contents_are_drawn_evenly(void **state)
{
    struct pw_taskset set;
    int tokens[MAX], symbols[4] = {0}, pairs[12] = {0}, asked[4] = {0}, plus[2] = {0}, first[26] = {0};
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;

    texts_open(&set, "sort alphabet=4 lengths=5");
    for (uint64_t i = 0; i < 4000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        assert_int_equal(s.length, 5);
        for (int k = 1; k <= 5; k++)
            symbols[*(set.vocab.words[tokens[k]] + 1) - '0']++;
    }
    assert_uniform(symbols, 4, 20000);
    pw_taskset_fini(&set);

    texts_open(&set, "copy variant=rdc alphabet=4");
    for (uint64_t i = 0; i < 12000; i++) {
        int from, to;
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        from = *(set.vocab.words[tokens[1]] + 1) - '0';
        to = *(set.vocab.words[tokens[2]] + 1) - '0';
        assert_true(from != to && from >= 0 && from < 4 && to >= 0 && to < 4);
        pairs[from * 3 + to - (to > from)]++;
    }
    assert_uniform(pairs, 12, 12000);
    pw_taskset_fini(&set);

    /* Seven variables: questions about 4, 5 and 6; eight: 4 to 7. */
    texts_open(&set, "lego lengths=7..8");
    for (uint64_t i = 0; i < 8000; i++) {
        struct pw_str prompt = {0}, answer = {0};
        int q;
        bool in_order;
        pw_taskset_sample_text(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &prompt, &answer);
        if (solve_lego(prompt.s, answer.s, false, &q, &in_order) == 8)
            asked[q - 4]++;
        else
            assert_true(q >= 4 && q <= 6);
        plus[answer.s[1] == '+']++;
        first[prompt.s[5] - 'a']++;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
    }
    assert_uniform(asked, 4, asked[0] + asked[1] + asked[2] + asked[3]);
    assert_uniform(plus, 2, 8000);
    assert_uniform(first, 26, 8000);
    pw_taskset_fini(&set);

    texts_open(&set,
               "lego lengths=7 sampling=appendix"); /* "from the middle of the graph to the end": 3 to 6 */
    memset(asked, 0, sizeof asked);
    for (uint64_t i = 0; i < 4000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        assert_true(s.pair.a == 7 && s.pair.b >= 3 && s.pair.b <= 6);
        asked[s.pair.b - 3]++;
    }
    assert_uniform(asked, 4, 4000);
    pw_taskset_fini(&set);
}

static void take(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t i, int length,
                 struct pw_str *out)
{
    pw_str_clear(out);
    pw_taskset_sample_text(set, seed, split, i, 0, length, out, out);
}

static void a_sample_is_a_function_of_seed_split_and_index(void **state)
{
    struct pw_taskset set;
    struct pw_str a = {0}, b = {0};
    int same_seed = 0, same_split = 0, same_index = 0, same_test = 0;
    (void)state;
    texts_open(&set, "copy alphabet=62 lengths=10 test=11..20");
    for (uint64_t i = 0; i < 100; i++) {
        take(&set, 5, PW_SPLIT_TRAIN, i, 0, &a);
        take(&set, 5, PW_SPLIT_TRAIN, 1000 + i, 0, &b); /* another sample in between */
        same_index += strcmp(a.s, b.s) == 0;
        take(&set, 5, PW_SPLIT_TRAIN, i, 0, &b);
        assert_string_equal(a.s, b.s);
        take(&set, 6, PW_SPLIT_TRAIN, i, 0, &b);
        same_seed += strcmp(a.s, b.s) == 0;
        take(&set, 5, PW_SPLIT_VALID, i, 0, &b);
        same_split += strcmp(a.s, b.s) == 0;
        take(&set, 5, PW_SPLIT_TEST, i, 10, &b);
        same_test += strcmp(a.s, b.s) == 0;
    }
    assert_int_equal(same_seed + same_split + same_index + same_test, 0);
    pw_taskset_fini(&set);

    /* Recorded sessions depend on these samples: a change makes old sessions unverifiable. */
    texts_open(&set, "sort");
    take(&set, 0, PW_SPLIT_TRAIN, 0, 0, &a);
    assert_string_equal(a.s, "sort 6 7 > 6 7");
    take(&set, 0, PW_SPLIT_TRAIN, 1, 0, &a);
    assert_string_equal(a.s, "sort 2 7 0 2 3 7 4 > 0 2 2 3 4 7 7");
    pw_taskset_fini(&set);
    texts_open(&set, "lego");
    take(&set, 0, PW_SPLIT_TRAIN, 0, 0, &a);
    assert_string_equal(a.s, "lego r + 1 u - r w - u g - w g > -1");
    pw_taskset_fini(&set);
    pw_str_fini(&a);
    pw_str_fini(&b);
}

static void test_samples_differ_between_lengths_and_tasks(void **state)
{
    struct pw_taskset set;
    struct pw_str a = {0}, b = {0};
    const char *list;
    (void)state;
    /* If the length were no part of the random stream's index, the longer list would continue the shorter
     * one. */
    texts_open(&set, "copy(alphabet=62),sort(alphabet=62)");
    pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, 3, 0, 12, &a, &b);
    list = a.s + strlen("copy");
    for (int length = 13; length < 16; length++) {
        struct pw_str c = {0}, d = {0};
        pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, 3, 0, length, &c, &d);
        assert_int_not_equal(strncmp(list, c.s + strlen("copy"), 24), 0);
        pw_str_clear(&c);
        pw_taskset_sample_text(&set, 0, PW_SPLIT_TEST, 3, 1, 12, &c, &d);
        assert_int_not_equal(strncmp(list, c.s + strlen("sort"), 24), 0);
        pw_str_fini(&c);
        pw_str_fini(&d);
    }
    pw_str_fini(&a);
    pw_str_fini(&b);
    pw_taskset_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_right_and_their_tokens_spell_them),
        cmocka_unit_test(training_meets_its_tasks_and_lengths_evenly_and_no_other),
        cmocka_unit_test(geometric_lengths_halve),
        cmocka_unit_test(contents_are_drawn_evenly),
        cmocka_unit_test(a_sample_is_a_function_of_seed_split_and_index),
        cmocka_unit_test(test_samples_differ_between_lengths_and_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
