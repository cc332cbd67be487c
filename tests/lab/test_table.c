/* test_table.c - tests the training counts in an arm's table, by counting over the same samples. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/pe.h"
#include "ref_lab.h"
#include "tasks/task.h"

#define TASK  "sort lengths=2..5 test=6..8"
#define MODEL "model tiny context=32 layers=1 width=16 heads=2; optim batch=8; "

/* Counts pairs and rows of training samples first .. first + n - 1, one query and key at a time. */
static void count(int64_t *pairs, int64_t *rows, int N, uint64_t first, int n)
{
    struct pw_taskset set;
    struct pw_err err;
    int tokens[512];
    assert_int_equal(pw_taskset_init(&set, TASK, &err), PW_OK);
    memset(pairs, 0, (size_t)N * sizeof *pairs);
    memset(rows, 0, (size_t)N * sizeof *rows);
    for (int k = 0; k < n; k++) {
        struct pw_sample x = {.tokens = tokens, .cap = 512};
        pw_taskset_sample(&set, 0, PW_SPLIT_TRAIN, first + (uint64_t)k, 0, 0, &x);
        for (int i = 0; i < x.n - 1 && i < N; i++) {
            rows[i]++;
            for (int j = 0; j <= i; j++)
                pairs[i - j]++;
        }
    }
    pw_taskset_fini(&set);
}

/* Checks the last table event of an arm against steps from .. to - 1 of batch 8. */
static void check(struct bench *b, int arm, int from, int to)
{
    const struct pw_ev_table *t = pw_table_of(b->s, arm);
    int64_t pairs[32], rows[32];
    assert_non_null(t);
    assert_in_range(t->length, 12, 32);
    count(pairs, rows, t->length, 8 * (uint64_t)from, 8 * (to - from));
    assert_memory_equal(t->met, pairs, (size_t)t->length * sizeof *pairs);
    assert_memory_equal(t->rows, rows, (size_t)t->length * sizeof *rows);
    assert_int_equal(t->met_from, from);
    assert_true(pairs[t->trained] > 0 || to == from);
    assert_true(t->trained + 1 == t->length || pairs[t->trained + 1] == 0);
}

static void counts_are_of_the_batches(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, "task " TASK "; " MODEL "pe t5 buckets=6 distance=18; table");
    check(&b, 1, 0, 0);
    assert_int_equal(pw_table_of(b.s, 1)->trained, 0);
    assert_null(pw_table_of(b.s, 1)->grad);
    bench_must(&b, "train 13; table");
    check(&b, 1, 0, 13);
    bench_must(&b, "fork; pe none arm=2; train 4; table; table arm=2");
    check(&b, 1, 0, 17);
    check(&b, 2, 13, 17); /* since the swap */
    bench_must(&b, "fork; table arm=3; set threads 1; table");
    check(&b, 3, 0, 17); /* a copy has seen what its source has */
    check(&b, 1, 0, 17);
    bench_must(&b, "reset; table");
    check(&b, 1, 0, 0);
    bench_close(&b);
}

static void what_was_never_met_is_as_it_began(void **state)
{
    struct bench b;
    float before[12][2];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe t5 buckets=12 distance=30; table");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_buckets, 12);
    memcpy(before, t->bucket_bias, sizeof before);
    bench_must(&b, "optim decay=0; train 21; table");
    t = pw_table_of(b.s, 1);
    assert_int_equal(t->n_grad, 3);
    int never = 0;
    for (int i = 0; i < 12; i++) {
        int64_t met = pw_bucket_seen(t, i);
        never += met == 0;
        assert_true(t->bucket_from[i] < t->bucket_from[i + 1]);
        assert_int_equal(met > 0, t->bucket_from[i] <= t->trained);
        for (int h = 0; h < 2; h++) {
            assert_int_equal(t->grad[i * 2 + h] > 0, met > 0);
            assert_int_equal(t->bucket_bias[i * 2 + h] != before[i][h], met > 0);
        }
    }
    assert_in_range(never, 1, 6);
    for (int d = 0; d < t->length; d++) {
        int i = t->bucket[d];
        assert_true(d >= t->bucket_from[i] && d < t->bucket_from[i + 1]);
    }
    bench_close(&b);
}

static void learned_rows_beyond_training_have_no_gradient(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL "pe learned; train 11; table length=32");
    const struct pw_ev_table *t = pw_table_of(b.s, 1);
    assert_int_equal(t->length, 32);
    assert_non_null(t->grad);
    for (int p = 0; p < 32; p++)
        assert_int_equal(t->grad[p] > 0, t->rows[p] > 0);
    assert_true(t->rows[12] == 0 && t->rows[4] == 88);
    bench_close(&b);
}

/* Position p of a sequence of length N was seen in training if sequences had it; counted from the end,
 * too. */
static void rows_that_depend_on_the_length(void **state)
{
    static const char *const pes[] = {"ldpe", "learned_reversed", "2dspe"};
    struct bench b;
    char line[256];
    (void)state;
    bench_open(&b, 1, false);
    for (int e = 0; e < 3; e++)
        for (int N = 1; N <= 32; N += 11) {
            snprintf(line, sizeof line, "task " TASK "; " MODEL "pe %s; train 11; table length=%d", pes[e],
                     N);
            bench_must(&b, line);
            const struct pw_ev_table *t = pw_table_of(b.s, 1);
            int64_t pairs[33], met[33]; /* number of sequences with more rows than the index */
            count(pairs, met, 33, 0, 88);
            assert_true(t->by_length && t->length == N);
            assert_int_equal(t->grad != NULL, e < 2);
            for (int p = 0; p < N; p++) {
                int64_t front = met[p], back = met[N - 1 - p], whole = met[N - 1] - met[N];
                int64_t other = e == 2 ? whole : back;
                assert_int_equal(t->rows[p], e == 1 || other < front ? other : front);
                if (t->grad != NULL)
                    assert_int_equal(t->grad[p] > 0, back > 0 || (e == 0 && front > 0));
            }
        }
    bench_must(&b, "pe learned; table length=12");
    assert_false(pw_table_of(b.s, 1)->by_length);
    bench_close(&b);
}

/* Counts pairs of training samples 0 .. n - 1 without the causal mask, by key - query + N - 1. */
static void count_both(int64_t *pairs, int N, int n)
{
    struct pw_taskset set;
    struct pw_err err;
    int tokens[512];
    assert_int_equal(pw_taskset_init(&set, TASK, &err), PW_OK);
    memset(pairs, 0, (size_t)(2 * N - 1) * sizeof *pairs);
    for (int k = 0; k < n; k++) {
        struct pw_sample x = {.tokens = tokens, .cap = 512};
        pw_taskset_sample(&set, 0, PW_SPLIT_TRAIN, (uint64_t)k, 0, 0, &x);
        for (int query = 0; query < x.n - 1; query++)
            for (int key = 0; key < x.n - 1; key++)
                if (key - query < N && query - key < N)
                    pairs[key - query + N - 1]++;
    }
    pw_taskset_fini(&set);
}

/* Without the causal mask the table has the buckets of both sides: their limits, the pairs of training, the
 * gradients. (With two layers: only answers are scored, and their queries have no distant later key.) */
static void both_sides_without_the_mask(void **state)
{
    static const struct {
        const char *pe;
        int before, later;
        int first[12]; /* first distance of each bucket */
    } cases[] = {
        {"clipped distance=5", 6, 5, {0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}},
        {"t5 buckets=12 distance=24", 6, 6, {0, 1, 2, 3, 6, 12, 1, 1, 2, 3, 6, 12}},
    };
    enum { N = 32 };
    char line[256];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    for (int c = 0; c < 2; c++) {
        int64_t pairs[2 * N - 1];
        int n = cases[c].before + cases[c].later;
        snprintf(line, sizeof line,
                 "task " TASK "; " MODEL "model layers=2 causal=off; pe %s; train 11; table length=%d",
                 cases[c].pe, N);
        bench_must(&b, line);
        const struct pw_ev_table *t = pw_table_of(b.s, 1);
        assert_int_equal(t->n_buckets, n);
        assert_int_equal(t->later, cases[c].later);
        count_both(pairs, N, 88);
        for (int i = 0; i < n; i++) {
            bool later = i >= cases[c].before, last = i == cases[c].before - 1 || i == n - 1;
            int64_t met = 0;
            assert_int_equal(pw_bucket_later(t, i), later);
            assert_int_equal(t->bucket_from[i], cases[c].first[i]);
            assert_int_equal(pw_bucket_end(t, i), last ? INT_MAX : cases[c].first[i + 1]);
            for (int d = later; d < N; d++) { /* of key - query, or query - key */
                bool in = d >= cases[c].first[i] && (last || d < cases[c].first[i + 1]);
                assert_int_equal(pw_bucket_of(t, later ? -d : d) == i, in);
                met += in ? pairs[(later ? d : -d) + N - 1] : 0;
            }
            assert_int_equal(pw_bucket_seen(t, i), met);
            for (int h = 0; h < 2; h++) /* only two of the eleven steps: long distances may be missing */
                assert_true(t->grad[i * 2 + h] > 0 ? met > 0 : met < 100);
        }
        for (int h = 0; h < 2; h++)
            assert_true(t->bias[h * N + 31] == t->bucket_bias[(cases[c].before - 1) * 2 + h]);
    }
    bench_close(&b);
}

/* A causal model with such an encoding gets a warning that says what that means. */
static void the_length_leaks(void **state)
{
    static const char *const lines[] = {"pe dpe", "fork ldpe", "arm add rspe", "race none,aspe",
                                        "arm 2; model causal=off; model causal=on"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; " MODEL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        b.note[0] = '\0';
        bench_must(&b, lines[i]);
        assert_non_null(
            strstr(b.note, "depends on the final length: causal training leaks it, and in decoding (length: "
                           "the tokens so far) every new token changes all earlier keys"));
    }
    bench_must(&b, "model causal=off");
    b.note[0] = '\0';
    bench_must(&b, "pe dpe");
    assert_null(strstr(b.note, "leaks"));
    bench_close(&b);
}

static void the_kernel_of_a_layer(void **state)
{
    static const struct {
        const char *pe;
        bool kernel[2]; /* of layers 0 and 1 */
    } all[] = {{"none", {false, false}},
               {"alibi", {true, true}},
               {"rotary", {true, true}},
               {"sinusoidal", {true, false}},
               {"clipped distance=3", {true, true}},
               {"dpe", {true, false}},
               {"ldpe", {true, false}}};
    struct bench b;
    char line[96];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task " TASK "; model tiny context=32 layers=2 width=16 heads=2");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int layer = 0; layer < 2; layer++) {
            snprintf(line, sizeof line, "pe %s; table layer=%d; table", all[i].pe, layer); /* which is kept */
            bench_must(&b, line);
            const struct pw_ev_table *t = pw_table_of(b.s, 1);
            assert_int_equal(t->layer, layer);
            assert_int_equal(t->layers, 2);
            assert_int_equal(t->n_kernel, 16);
            assert_int_equal(t->kernel != NULL, all[i].kernel[layer]);
            assert_true(isfinite(t->score[0]) && isfinite(t->score[t->length]));
            for (int d = 0; t->slopes != NULL && d < t->length; d++)
                assert_true(t->kernel[d] == -t->slopes[0] * (float)d);
        }
    bench_must(&b, "table layer=+1; table"); /* wraps around to the first */
    assert_int_equal(pw_table_of(b.s, 1)->layer, 0);
    bench_must(&b, "table layer=+1");
    assert_int_equal(pw_table_of(b.s, 1)->layer, 1);
    bench_run(&b, "table layer=2");
    assert_string_equal(b.error, "table: layer=2: arm 1 has layers 0..1");
    bench_run(&b, "table arm=2");
    assert_string_equal(b.error, "there is no arm 2; there is only arm 1");
    bench_run(&b, "table 2");
    assert_non_null(strstr(b.error, "not key=value"));
    assert_int_equal(pw_table_of(b.s, 1)->layer, 1);
    bench_close(&b);
}

/* In the workbench: tables that were requested are emitted again, round-robin, and a smaller arm shows what
 * it has. */
static void looked_at_tables_stay_up_to_date(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, true);
    bench_must(&b, "task " TASK "; " MODEL "race t5,alibi,rotary");
    bench_must(&b, "arm 2; table length=20; arm 1; train 6");
    assert_int_equal(b.s->arms[0].table_step, 6);
    assert_int_equal(b.s->arms[1].table_step, 6);
    assert_null(pw_table_of(b.s, 3)); /* never requested */
    assert_int_equal(pw_table_of(b.s, 1)->length, 20);
    bench_must(&b, "table layer=0 length=19"); /* also when it changes the selection */
    assert_int_equal(pw_table_of(b.s, 2)->length, 19);
    bench_must(&b, "model context=18 arm=1");
    assert_int_equal(pw_table_of(b.s, 1)->length, 18);
    bench_close(&b);
}

static void a_shallower_arm_exports_what_it_has(void **state)
{
    char path[] = "/tmp/pewter_table_XXXXXX.json", line[256];
    struct bench b;
    (void)state;
    close(mkstemps(path, 5));
    bench_open(&b, 1, false);
    snprintf(line, sizeof line,
             "task " TASK "; " MODEL
             "race none,t5; model layers=3 arm=1; table layer=2; arm 2; export table %s",
             path);
    bench_must(&b, line);
    bench_must(&b, "arm 1; table"); /* the selection stays */
    assert_int_equal(pw_table_of(b.s, 1)->layer, 2);
    bench_close(&b);
    unlink(path);
}

/* Without a table, order comes from the causal mask alone only if no encoding reads the tokens. */
static void test_order(void **state)
{
    struct bench b;
    int n = 0;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny layers=1 width=16 heads=2");
    for (int i = 0; pw_pes[i] != NULL; i++) {
        char line[64];
        if ((pw_pes[i]->uses & PW_PE_CONTENT) == 0 && pw_pes[i]->uses != 0)
            continue;
        snprintf(line, sizeof line, "pe %s; table", pw_pes[i]->name);
        bench_must(&b, line);
        bool alone = strcmp(pw_table_order(&b.s->arms[0].table), "the causal mask alone") == 0;
        if (alone != (pw_pes[i]->uses == 0))
            fail_msg("%s: %s", pw_pes[i]->name, pw_table_order(&b.s->arms[0].table));
        n++;
    }
    assert_true(n >= 7);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(counts_are_of_the_batches),
        cmocka_unit_test(what_was_never_met_is_as_it_began),
        cmocka_unit_test(learned_rows_beyond_training_have_no_gradient),
        cmocka_unit_test(rows_that_depend_on_the_length),
        cmocka_unit_test(both_sides_without_the_mask),
        cmocka_unit_test(the_length_leaks),
        cmocka_unit_test(the_kernel_of_a_layer),
        cmocka_unit_test(looked_at_tables_stay_up_to_date),
        cmocka_unit_test(a_shallower_arm_exports_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
