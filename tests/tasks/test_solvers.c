/* test_solvers.c - tests samples of the arithmetic tasks, of reverse and of sorted numbers in every style,
 * with solvers that read only the text; and the distribution of addition's length pairs. */
#include <ctype.h>
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

#define MAX 2048

/* Reads the digits of s up to any byte of `stop` as one number; *n: the number of digits. */
static unsigned long long number(const char **s, const char *stop, int *n)
{
    unsigned long long v = 0;
    for (*n = 0; **s != '\0' && strchr(stop, **s) == NULL; ++*s)
        if (isdigit((unsigned char)**s)) {
            v = 10 * v + (unsigned long long)(**s - '0');
            ++*n;
        }
    return v;
}

/* Reads digits, the least significant first, up to a character. */
static unsigned long long backwards(const char **s, const char *end, int *n)
{
    unsigned long long v = 0, place = 1;
    *n = 0;
    for (; **s != '\0' && strchr(end, **s) == NULL; ++*s)
        if (isdigit((unsigned char)**s)) {
            v += place * (unsigned long long)(**s - '0');
            place *= 10;
            ++*n;
        }
    return v;
}

static int solve_addition(const char *p, const char *a, const char *order)
{
    int n_a, n_b, n;
    bool all = strcmp(order, "all") == 0;
    unsigned long long x = all ? backwards(&p, "+", &n_a) : number(&p, "+", &n_a),
                       y = all ? backwards(&p, "", &n_b) : number(&p, "", &n_b), z = 0;
    if (*order != '\0') {
        z = backwards(&a, "", &n);
    } else {
        z = number(&a, "", &n);
        assert_int_equal(n, snprintf(NULL, 0, "%llu", z)); /* no padding */
    }
    assert_true(z == x + y);
    assert_int_equal(n_a, snprintf(NULL, 0, "%llu", x));
    assert_int_equal(n_b, snprintf(NULL, 0, "%llu", y));
    return n_a > n_b ? n_a : n_b;
}

static int solve_summation(const char *p, const char *a)
{
    int n = 0, sum = 0, digits;
    for (; *p != '\0' && *p != '%'; p++)
        if (isdigit((unsigned char)*p)) {
            assert_true(*p != '0');
            sum += *p - '0';
            n++;
        }
    assert_int_equal(number(&a, "", &digits), sum % 10);
    assert_int_equal(digits, 1);
    return n;
}

static int solve_parity(const char *p, const char *a)
{
    const char *list = strchr(p, '[');
    int ones = 0, n = 0;
    for (p = list != NULL ? list : p; *p != '\0'; p++) {
        ones += *p == '1';
        n += *p == '0' || *p == '1';
    }
    bool even = strstr(a, "Yes") != NULL || strcmp(a, " even") == 0;
    assert_true(even || strstr(a, "No") != NULL || strcmp(a, " odd") == 0);
    assert_int_equal(even, ones % 2 == 0);
    return n;
}

/* Numbers with their signs, in the order of the text: x, then coefficient and degree of every term. */
static int solve_polynomial(const char *p, const char *a)
{
    double v[MAX] = {0}, sum = 0;
    int n = 0, sign = 1, digits;
    for (; *p != '\0' && *p != '%'; p++) {
        if (isdigit((unsigned char)*p)) {
            v[n++] = sign * (*p - '0');
            sign = 1;
        } else if (*p == '-') {
            sign = -1;
        }
    }
    assert_int_equal(n % 2, 1);
    assert_true(fabs(v[0]) <= 2);
    for (int i = 1; i < n; i += 2) {
        assert_true(fabs(v[i]) <= 3 && v[i + 1] >= 0 && v[i + 1] <= 3);
        sum += v[i] * pow(v[0], v[i + 1]);
    }
    assert_int_equal(number(&a, "", &digits), (int)(sum - 10 * floor(sum / 10)));
    return n / 2;
}

/* From 0 to 10000, as in the paper's appendix, or two to four digits, as in its data. */
static int numbers(const char *s, bool seed, long *v)
{
    int n = 0, digits;
    while (*s != '\0') {
        v[n++] = (long)number(&s, ",", &digits);
        assert_true(seed ? v[n - 1] <= 10000 : v[n - 1] >= 10 && v[n - 1] <= 9999);
        assert_int_equal(digits, snprintf(NULL, 0, "%ld", v[n - 1])); /* no padding */
        s += *s == ',';
    }
    return n;
}

static int up(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static int solve_sort(const char *p, const char *a, bool seed)
{
    long x[MAX], y[MAX];
    int n = numbers(p, seed, x), m = numbers(a, seed, y);
    assert_int_equal(n, m);
    qsort(x, (size_t)n, sizeof *x, up);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    return n;
}

/* Symbols are all words except the fixed words around them. */
static int list_of(char *text, const char **v)
{
    static const char *const around[] = {
        "reverse", "Reverse:", "Reverse", "the", "following", "words:", ">", ".", "[SEP]", "[NEXT]", "|"};
    int n = 0;
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " ")) {
        bool symbol = true;
        for (size_t i = 0; i < sizeof around / sizeof *around; i++)
            symbol = symbol && strcmp(w, around[i]) != 0;
        if (symbol)
            v[n++] = w;
    }
    return n;
}

static int solve_reverse(const char *p, const char *a, const char *variant)
{
    char prompt[MAX], answer[MAX];
    const char *x[MAX], *y[MAX];
    snprintf(prompt, sizeof prompt, "%s", p);
    snprintf(answer, sizeof answer, "%s", a);
    int n = list_of(prompt, x), m = list_of(answer, y);
    assert_int_equal(m, strcmp(variant, "mc") == 0 ? n : 2 * n);
    for (int i = 0; i < m; i++)
        assert_string_equal(y[i], i < n                          ? x[n - 1 - i]
                                  : strcmp(variant, "mcrv") == 0 ? x[i - n]
                                                                 : x[2 * n - 1 - i]);
    return n;
}

static int solve(const char *task, const char *variant, const char *p, const char *a)
{
    switch (*task) {
    case 'a': return solve_addition(p, a, variant);
    case 'r': return solve_reverse(p, a, variant);
    case 's': return task[1] == 'u' ? solve_summation(p, a) : solve_sort(p, a, *variant != '\0');
    default: return task[1] == 'a' ? solve_parity(p, a) : solve_polynomial(p, a);
    }
}

static void samples_are_right_in_every_style(void **state)
{
    static const struct {
        const char *text, *variant;
    } sets[] = {
        {"addition", ""},
        {"addition order=reversed", "reversed"},
        {"addition order=all", "all"},
        {"summation", ""},
        {"parity", ""},
        {"polynomial", ""},
        {"sort variant=multi", ""},
        {"sort variant=multi sampling=appendix", "seed"},
        {"reverse", "mc"},
        {"reverse variant=mc2x", "mc2x"},
        {"reverse variant=mcrv", "mcrv"},
    };
    static const char *const styles[] = {"short", "paper", "seed"};
    (void)state;
    for (size_t k = 0; k < 3 * sizeof sets / sizeof *sets; k++) {
        struct pw_taskset set;
        struct pw_str name = {0};
        int tokens[MAX], again[MAX];
        pw_str_add(&name, "%s text=%s", sets[k / 3].text, styles[k % 3]);
        texts_open(&set, name.s);
        struct pw_range train = pw_task_train(&set.use[0]), test = pw_task_test(&set.use[0]);
        for (uint64_t i = 0; i < 1000; i++) {
            struct pw_str p = {0}, a = {0};
            struct pw_sample s = {.tokens = tokens, .cap = MAX}, typed = {.tokens = again, .cap = MAX};
            struct pw_err err = {0};
            enum pw_split split = i % 2 == 0 ? PW_SPLIT_TRAIN : PW_SPLIT_TEST;
            int length = test.lo + (int)i % (test.hi - test.lo + 1);
            pw_taskset_sample(&set, 5, split, i, 0, length, &s);
            pw_taskset_sample_text(&set, 5, split, i, 0, length, &p, &a);
            assert_int_equal(solve(set.use[0].task->name, sets[k / 3].variant, p.s, a.s), s.length);
            if (split == PW_SPLIT_TRAIN)
                assert_true(s.length >= train.lo && s.length <= train.hi); /* no test length in training */
            else
                assert_int_equal(s.length, length);
            assert_true(s.n <= pw_taskset_tokens_at(&set, 0, s.length) && s.n <= set.max_tokens);
            if (pw_taskset_prompt(&set, p.s, MAX, &typed, &err) != PW_OK)
                fail_msg("'%s': %s", p.s, err.msg);
            assert_int_equal(typed.n, s.n);
            assert_int_equal(typed.n_prompt, s.n_prompt);
            assert_memory_equal(tokens, again, (size_t)s.n * sizeof *tokens);
            pw_str_fini(&p);
            pw_str_fini(&a);
        }
        pw_taskset_fini(&set);
        pw_str_fini(&name);
    }
}

/* The paper trains 64 buckets a-by-b of numbers up to 8 digits. Length L has 2L-1 buckets, all equally
 * likely. */
static void additions_buckets_are_filled_evenly(void **state)
{
    struct pw_taskset set;
    int count[9][9] = {{0}}, total[9] = {0}, buckets = 0;
    (void)state;
    texts_open(&set, "addition");
    for (uint64_t i = 0; i < 64000; i++) {
        struct pw_str p = {0}, a = {0};
        int n_a, n_b;
        pw_taskset_sample_text(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &p, &a);
        const char *at = p.s;
        number(&at, "+", &n_a);
        number(&at, "", &n_b);
        count[n_a][n_b]++;
        total[n_a > n_b ? n_a : n_b]++;
        pw_str_fini(&p);
        pw_str_fini(&a);
    }
    for (int n_a = 1; n_a <= 8; n_a++)
        for (int n_b = 1; n_b <= 8; n_b++) {
            int length = n_a > n_b ? n_a : n_b;
            double share = 1.0 / (2 * length - 1), mean = total[length] * share;
            buckets += count[n_a][n_b] > 0;
            assert_true(fabs(count[n_a][n_b] - mean) <= 5 * sqrt(mean));
        }
    assert_int_equal(buckets, 64);
    pw_taskset_fini(&set);
}

/* U(0, 10000): both ends must occur, and all hundreds equally often. */
static void the_appendixs_numbers_are_uniform(void **state)
{
    struct pw_taskset set;
    int count[101] = {0}, total = 0;
    (void)state;
    texts_open(&set, "sort variant=multi sampling=appendix lengths=100");
    bool zero = false;
    for (uint64_t i = 0; i < 1000; i++) {
        struct pw_str p = {0}, a = {0};
        long v[MAX];
        pw_taskset_sample_text(&set, 5, PW_SPLIT_TRAIN, i, 0, 0, &p, &a);
        int n = numbers(p.s, true, v);
        for (int k = 0; k < n; k++) {
            count[v[k] / 100]++;
            zero = zero || v[k] == 0;
        }
        total += n;
        pw_str_fini(&p);
        pw_str_fini(&a);
    }
    assert_int_equal(total, 100000);
    assert_true(zero && count[100] > 0 && count[100] < 40); /* 10 expected, for 10000 alone */
    for (int i = 0; i < 100; i++)
        assert_true(abs(count[i] - 1000) < 160);
    pw_taskset_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_right_in_every_style),
        cmocka_unit_test(additions_buckets_are_filled_evenly),
        cmocka_unit_test(the_appendixs_numbers_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
