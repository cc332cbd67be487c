/* test_pool.c - tests fixed sets: the paper's counts, with all samples in the right bins, and epochs that
 * contain every sample once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"

#define MAX 2048

static void assert_same(struct texts a, struct texts b)
{
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++)
        assert_string_equal(a.v[i], b.v[i]);
}

/* Counts the samples that training and validation together have in a set of 100000, by pair. */
static void count_all(const char *text, int valid, int count[32][32])
{
    struct pw_taskset set;
    int tokens[MAX];
    texts_open(&set, text);
    assert_int_equal(pw_task_data(&set.use[0], PW_SPLIT_TRAIN), 100000);
    assert_int_equal(pw_task_data(&set.use[0], PW_SPLIT_VALID), valid);
    memset(count, 0, 32 * sizeof *count);
    for (int split = PW_SPLIT_TRAIN; split <= PW_SPLIT_VALID; split++)
        for (int i = 0; i < pw_task_data(&set.use[0], (enum pw_split)split); i++) {
            struct pw_sample s = {.tokens = tokens, .cap = MAX};
            pw_taskset_sample(&set, 1, (enum pw_split)split, (uint64_t)i, 0, 0, &s);
            count[s.pair.a][s.pair.b]++;
        }
    pw_taskset_fini(&set);
}

static void bins_have_the_papers_counts(void **state)
{
    static const int chains[] = {11499, 11499, 7666, 7666, 5749};
    int count[32][32];
    (void)state;
    count_all("copy lengths=2..20 data=100000", 14988, count);
    for (int length = 0; length < 32; length++)
        assert_int_equal(count[length][0], length >= 2 && length <= 20 ? 6052 : 0);
    count_all("addition data=100000", 14944, count);
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++)
            assert_int_equal(count[a][b], a >= 1 && a <= 8 && b >= 1 && b <= 8 ? 1796 : 0);
    count_all("lego data=100000", 2 * 2 * 11499 + 2 * 3 * 7666 + 4 * 5749 - 100000, count);
    for (int n = 0; n < 32; n++)
        for (int q = 0; q < 32; q++)
            assert_int_equal(count[n][q], n >= 4 && n <= 8 && q >= n - n / 2 && q < n ? chains[n - 4] : 0);
}

/* A LEGO chain must occur with all its questions: without the last variable, prompts form groups. */
static void chains_are_asked_for_each_variable(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "lego lengths=8 data=900");
    struct texts train = texts_take(&set, 5, PW_SPLIT_TRAIN, 0, 900);
    struct texts valid = texts_take(&set, 5, PW_SPLIT_VALID, 0, pw_task_data(&set.use[0], PW_SPLIT_VALID));
    int n = train.n + valid.n;
    char **all = malloc((size_t)n * sizeof *all);
    memcpy(all, train.v, (size_t)train.n * sizeof *all);
    memcpy(all + train.n, valid.v, (size_t)valid.n * sizeof *all);
    assert_int_equal(n, 1032); /* int(1.15 * 900 / 4) chains of 8 variables */
    qsort(all, (size_t)n, sizeof *all, texts_compare);
    for (int i = 0; i < n; i++)
        assert_int_equal(strncmp(all[i], all[i / 4 * 4], strlen(all[i]) - strlen("a >")), 0);
    for (int i = 1; i < n; i++)
        assert_string_not_equal(all[i - 1], all[i]);
    free(all);
    texts_drop(train);
    texts_drop(valid);
    pw_taskset_fini(&set);
}

static void an_epoch_meets_every_sample_once(void **state)
{
    struct pw_taskset set;
    struct pw_sample s;
    (void)state;
    texts_open(&set, "copy alphabet=62 lengths=10..12 data=700"); /* long enough that no two are equal */
    struct texts first = texts_take(&set, 2, PW_SPLIT_TRAIN, 0, 700);
    struct texts other_seed = texts_take(&set, 3, PW_SPLIT_TRAIN, 0, 700);
    struct texts valid = texts_take(&set, 2, PW_SPLIT_VALID, 0, pw_task_data(&set.use[0], PW_SPLIT_VALID));
    assert_int_equal(texts_different(first), 700);
    assert_int_equal(texts_different(valid), 3 * 268 - 700);
    for (int i = 0; i < valid.n; i++)
        assert_false(texts_have(first, valid.v[i]));
    for (int i = 0; i < 700; i++)
        assert_false(texts_have(first, other_seed.v[i]));
    for (uint64_t epoch = 1; epoch < 4; epoch++) {
        struct texts again = texts_take(&set, 2, PW_SPLIT_TRAIN, 700 * epoch, 700);
        int in_place = 0;
        assert_same(first, again);
        for (uint64_t i = 0; i < 700; i++) {
            char *a = texts_one(&set, 2, PW_SPLIT_TRAIN, i, 0, &s);
            char *b = texts_one(&set, 2, PW_SPLIT_TRAIN, 700 * epoch + i, 0, &s);
            in_place += strcmp(a, b) == 0;
            free(a);
            free(b);
        }
        assert_true(in_place < 10); /* one expected */
        texts_drop(again);
    }
    /* Trained lengths must be evaluated on the validation samples, each of them once. */
    int n = 0;
    for (int length = 10; length <= 12; length++)
        for (int k = 0; k < pw_task_samples_at(&set.use[0], length, 1000); k++, n++) {
            char *text = texts_one(&set, 2, PW_SPLIT_TEST, (uint64_t)k, length, &s);
            assert_true(texts_have(valid, text));
            assert_int_equal(s.length, length);
            free(text);
        }
    assert_int_equal(n, valid.n);
    assert_int_equal(pw_task_samples_at(&set.use[0], 13, 1000), 1000);
    texts_drop(first);
    texts_drop(other_seed);
    texts_drop(valid);
    pw_taskset_fini(&set);
}

/* Every run of three samples must have each task once. Sets of different sizes have separate epochs. */
static void a_mixture_keeps_epochs_whole(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "copy(data=100,alphabet=62,lengths=9..10),sort(lengths=2..9,alphabet=62),"
                     "reverse(data=60,alphabet=62,lengths=9..10)");
    char *met[3][300];
    int order[6] = {0};
    for (int i = 0; i < 300; i++) {
        int which[3];
        for (int k = 0; k < 3; k++) {
            struct pw_sample s;
            char *text = texts_one(&set, 4, PW_SPLIT_TRAIN, (uint64_t)(3 * i + k), 0, &s);
            which[k] = s.task;
            met[s.task][i] = text;
        }
        assert_int_equal(1 << which[0] | 1 << which[1] | 1 << which[2], 7);
        order[2 * which[0] + (which[1] > which[2])]++;
    }
    for (int i = 0; i < 6; i++)
        assert_true(order[i] > 20); /* 50 expected */
    for (int task = 0; task < 3; task += 2)
        for (int first = 0, n = task == 0 ? 100 : 60; first + n <= 300; first += n) {
            struct texts epoch = {n, met[task] + first};
            qsort(epoch.v, (size_t)n, sizeof *epoch.v, texts_compare);
            assert_int_equal(texts_different(epoch), n);
            for (int i = 0; i < n; i++)
                assert_string_equal(epoch.v[i], met[task][i]);
        }
    for (int task = 0; task < 3; task++)
        for (int i = 0; i < 300; i++)
            free(met[task][i]);
    pw_taskset_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_have_the_papers_counts),
        cmocka_unit_test(chains_are_asked_for_each_variable),
        cmocka_unit_test(an_epoch_meets_every_sample_once),
        cmocka_unit_test(a_mixture_keeps_epochs_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
