/* test_ablation.c - tests `probe ablation`. For each head, length and seed it must find the same as eval,
 * ablate and eval again, and leave the arms unchanged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"

#define SET_UP                                                                                               \
    "task sort lengths=1..2 test=3..4; model tiny layers=2 width=32 heads=2; optim batch=32 lr=0.01 "        \
    "warmup=5; "

static const struct pw_finding *found(const struct bench *b)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    for (int i = 0, n = pw_findings(b->s, list); i < n; i++)
        if (strcmp(list[i]->f.name, "ablation") == 0)
            return &list[i]->f;
    fail_msg("no finding");
    return NULL;
}

static const struct pw_block *block(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strstr(f->blocks[i].title, title) != NULL)
            return &f->blocks[i];
    fail_msg("no block '%s'", title);
    return NULL;
}

/* Exact match in per cent of a replica of arm 1 at a length, by its last evaluation. */
static double exact(const struct bench *b, int replica, int length)
{
    const struct pw_eval_row *row = pw_eval_find(&b->s->arms[0].rep[replica - 1].eval, 0, length);
    return 100.0 * row->exact / row->samples;
}

static void test_is_what_ablate_does(void **state)
{
    struct bench b;
    char before[sizeof b.digests], title[64];
    double whole[3][5];
    int lost = 0;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SET_UP "race none seeds=2; train 200; eval samples=40; digest");
    memcpy(before, b.digests, sizeof before);
    bench_must(&b, "probe ablation samples=40; digest");
    assert_string_equal(b.digests, before);
    assert_int_equal(found(&b)->n_blocks, 1 + 1 + 1 + 2); /* spread, map, costliest heads, a table a seed */
    for (int r = 1; r <= 2; r++) {
        snprintf(title, sizeof title, "arm 1 none, seed %d: ", r - 1);
        const struct pw_block *t = block(found(&b), title);
        assert_int_equal(t->rows, 1 + 4);
        assert_int_equal(t->cols, 4);
        for (int l = 0; l < 4; l++) {
            whole[r][l] = exact(&b, r, 1 + l);
            assert_float_equal(pw_finding_cell(found(&b), t, 0, l), whole[r][l], 1e-9);
        }
    }
    for (int head = 0; head < 4; head++) {
        char line[80];
        snprintf(line, sizeof line, "ablate %d.%d; eval samples=40; restore", head / 2, head % 2);
        bench_must(&b, line);
        for (int r = 1; r <= 2; r++) {
            snprintf(title, sizeof title, "arm 1 none, seed %d: ", r - 1);
            const struct pw_block *t = block(found(&b), title);
            for (int l = 0; l < 4; l++) {
                double drop = whole[r][l] - exact(&b, r, 1 + l);
                lost += drop > 0;
                assert_float_equal(pw_finding_cell(found(&b), t, 1 + head, l), drop, 1e-9);
            }
        }
    }
    assert_true(lost >= 4); /* else the test would compare nothing */
    bench_close(&b);
}

/* The mean over seeds is between the least and the greatest, each of which belongs to a seed. */
static void test_spread(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SET_UP "race none,t5 seeds=3; train 60; probe ablation 2 samples=20 lengths=2..3");
    const struct pw_finding *f = found(&b);
    assert_string_equal(f->topic, "2");
    const struct pw_block *t = block(f, "mean, least and most over 3 replicas"),
                          *map = block(f, "by head and length, mean");
    assert_int_equal(t->cols, 6);
    assert_int_equal(map->rows, 4);
    for (int row = 0; row < t->rows; row++) {
        double sum = 0, least = INFINITY, most = -INFINITY;
        for (int r = 0; r < 3; r++) { /* only length 2 was trained */
            char title[64];
            snprintf(title, sizeof title, "seed %d: percentage points", r);
            double v = pw_finding_cell(f, block(f, title), row, 0);
            sum += v;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        assert_float_equal(pw_finding_cell(f, t, row, 0), sum / 3, 1e-9);
        assert_float_equal(pw_finding_cell(f, t, row, 1), least, 1e-9);
        assert_float_equal(pw_finding_cell(f, t, row, 2), most, 1e-9);
        if (row > 0)
            assert_float_equal(pw_finding_cell(f, map, row - 1, 0), sum / 3, 1e-9);
    }
    bench_close(&b);
}

static void test_refused(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SET_UP "race none");
    static const struct {
        const char *line, *why;
    } cases[] = {{"probe ablation 2", "there is no arm 2"},
                 {"probe ablation lengths=70..80", "length 70: its samples have"},
                 {"probe ablation head=0.1", "no option 'head'"},
                 {"probe ablation samples=0", "samples=0: allowed are 1.."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        assert_int_equal(b.errors, 1);
        if (strstr(b.error, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].line, b.error);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_what_ablate_does),
                                       cmocka_unit_test(test_spread), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
