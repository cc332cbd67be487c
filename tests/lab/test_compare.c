/* test_compare.c - tests attention distances of resident models. Compares them with plain loops, checks
 * invariants, the remarks on initialisations and floors, and that a re-run has the same bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "ref_record.h"
#include "reproduce/figure4.h"

#define SMALL "task sort lengths=2..4 test=5..6; model tiny layers=2 width=32 heads=4; "

static const struct pw_finding *found(const struct bench *b, const char *topic)
{
    const struct pw_finding_view *v = pw_finding_of(b->s, "distance", topic);
    if (v == NULL)
        fail_msg("no finding 'distance' about '%s': %s", topic, b->error);
    return &v->f;
}

static const struct pw_block *block(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strncmp(f->blocks[i].title, title, strlen(title)) == 0)
            return &f->blocks[i];
    fail_msg("no block '%s'", title);
    return NULL;
}

static bool remarks(const struct pw_finding *f, const char *text)
{
    for (int i = 0; i < f->n_remarks; i++)
        if (strstr(f->remarks[i].text, text) != NULL)
            return true;
    return false;
}

/* A cell of the table of means, by the names of the curve and of the column. */
static double mean(const struct pw_finding *f, const char *curve, const char *column)
{
    const struct pw_block *t = block(f, "means over layers and lengths");
    for (int i = 0; i < t->rows; i++)
        for (int k = 0; k < t->cols; k++)
            if (strcmp(pw_finding_row_name(f, t, i), curve) == 0 &&
                strcmp(pw_finding_col_name(f, t, k), column) == 0)
                return pw_finding_cell(f, t, i, k);
    fail_msg("no '%s' of '%s'", column, curve);
    return NAN;
}

/* ---- values */

/* The Jensen-Shannon divergence by its definition, with the C library's logarithm. */
static double naive(const float *p, const float *q, int n)
{
    double a = 0, b = 0;
    for (int j = 0; j < n; j++) {
        double m = 0.5 * ((double)p[j] + (double)q[j]);
        a += p[j] > 0 ? (double)p[j] * log((double)p[j] / m) : 0;
        b += q[j] > 0 ? (double)q[j] * log((double)q[j] / m) : 0;
    }
    return 0.5 * a + 0.5 * b;
}

/* Eq. 2 for sample `index` of a length in a layer, between arms 1 and 2. answer: only over the rows of the
 * answer, else over all T rows. */
static double naive_least(struct pw_lab *lab, int length, int index, int layer, bool answer)
{
    int tokens[64];
    struct pw_sample x = {.tokens = tokens, .cap = 64};
    const struct pw_replica *one = pw_lab_arm(lab, 1), *other = pw_lab_arm(lab, 2);
    struct pw_lab_facts now = pw_lab_facts(lab);
    pw_taskset_sample(now.tasks, now.record->lab.seed, PW_SPLIT_TEST, (uint64_t)index, 0, length, &x);
    int T = x.n - 1, H = one->cfg.heads, L = one->cfg.layers, from = answer ? x.n_prompt - 1 : 0;
    float *P = pw_alloc((size_t)L * H * T * T, sizeof *P), *Q = pw_alloc((size_t)L * H * T * T, sizeof *Q);
    double least = INFINITY;
    struct pw_err err;
    assert_int_equal(pw_model_inspect(one->model, tokens, T, &(struct pw_inspection){.probs = P}, &err),
                     PW_OK);
    assert_int_equal(pw_model_inspect(other->model, tokens, T, &(struct pw_inspection){.probs = Q}, &err),
                     PW_OK);
    for (int a = 0; a < H; a++)
        for (int b = 0; b < H; b++) {
            double sum = 0;
            for (int t = from; t < T; t++)
                sum += naive(P + ((size_t)(layer * H + a) * T + t) * T,
                             Q + ((size_t)(layer * H + b) * T + t) * T, T);
            least = sum / (T - from) < least ? sum / (T - from) : least;
        }
    free(P);
    free(Q);
    return least;
}

static void check_values(struct bench *b, const char *topic, bool answer)
{
    const struct pw_finding *f = found(b, topic);
    const struct pw_block *all = block(f, "mean over"), *layer = block(f, "layer 1");
    assert_int_equal(all->rows, 5);
    for (int i = 0; i < all->rows; i++) {
        double x[3], one = 0, mean = 0, squares = 0;
        for (int k = 0; k < 3; k++) {
            double upper = naive_least(b->lab, 2 + i, k, 1, answer);
            one += upper / 3;
            x[k] = (upper + naive_least(b->lab, 2 + i, k, 0, answer)) / 2;
            mean += x[k] / 3;
        }
        for (int k = 0; k < 3; k++)
            squares += (x[k] - mean) * (x[k] - mean);
        assert_true(pw_finding_x_at(f, all, i) == 2 + i);
        assert_true(fabs(pw_finding_y_at(f, all, i, 0, 0) - mean) < 1e-12);
        assert_true(fabs(pw_finding_y_at(f, all, i, 0, 2) - mean - sqrt(squares / 2)) < 1e-9);
        assert_true(fabs(pw_finding_y_at(f, layer, i, 0, 0) - one) < 1e-12);
    }
}

static void test_values(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,alibi; seed 7 arm=2; train 20; compare 1 2 samples=3; probe distance 1 2 "
                         "samples=3 rows=answer control=off");
    check_values(&b, "1 2", false);
    check_values(&b, "1 2 answer", true);
    assert_true(isnan(mean(found(&b, "1 2 answer"), "2 alibi", "untrained")));
    bench_close(&b);
}

/* ---- invariants */

static void test_invariants(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,rotary; seed 7 arm=2; train 30; arm 1; fork; digest; compare 1 2 3 "
                         "samples=3; compare 2 1 samples=3; compare 1 3 pairs=same samples=3; digest");
    const struct pw_finding *f = found(&b, "1 2 3");
    for (const char *const *column = (const char *const[]){"all pairs", "matched", "equal number", "in range",
                                                           "beyond", "untrained", NULL};
         *column != NULL; column++) /* a model and itself */
        assert_true(mean(f, "3 none, fork", *column) == 0);
    double least = mean(f, "2 rotary", "all pairs"), matched = mean(f, "2 rotary", "matched");
    assert_true(least > 0 && least <= matched && matched < log(2));
    assert_true(isnan(mean(f, "2 rotary", "equal number"))); /* other weights: no heads correspond */
    assert_true(least == mean(found(&b, "2 1"), "1 none", "all pairs"));
    assert_true(mean(f, "2 rotary", "head pairs") == 16);
    assert_true(remarks(f, "no floor"));
    assert_true(block(found(&b, "1 3 same"), "mean over")->cols == 1);
    /* the compared models don't change */
    const char *half = b.digests + strlen(b.digests) / 2;
    assert_true(strlen(b.digests) % 2 == 0 && strncmp(b.digests, half, strlen(half)) == 0);
    bench_close(&b);
}

/* Models of one seed have the same initial weights, whatever the encoding, and form columns of their own. The
 * replicas of an arm are its floor. */
static void test_starts(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,alibi,none seeds=2; seed 40 arm=3; compare samples=2; compare 1 2 "
                         "samples=2 against=all formula=released pairs=matched");
    const struct pw_finding *f = found(&b, "1 2 3");
    assert_int_equal(block(f, "mean over")->cols, 4);
    assert_true(mean(f, "1 none*", "model pairs") == 1 && mean(f, "1 none*", "all pairs") > 1e-3);
    assert_true(mean(f, "3 none*", "model pairs") == 4);
    assert_true(mean(f, "2 alibi", "model pairs") == 2 && mean(f, "2 alibi, same init", "model pairs") == 2);
    assert_true(mean(f, "2 alibi, same init", "same init?") == 1 && mean(f, "2 alibi", "same init?") == 0);
    /* before the first step only the encoding distinguishes them */
    assert_true(mean(f, "2 alibi, same init", "matched") < mean(f, "2 alibi", "matched") / 10);
    assert_true(mean(f, "2 alibi", "all pairs") == mean(f, "2 alibi", "untrained"));
    assert_true(remarks(f, "same init") && !remarks(f, "no floor"));
    f = found(&b, "1 2 released matched all");
    assert_int_equal(block(f, "mean over")->cols, 4);
    assert_true(mean(f, "1-1 none-none*", "pairs a < b") > 0 && mean(f, "2-2 alibi-alibi*", "matched") > 0);
    assert_true(mean(f, "1-2 none-alibi", "matched") > mean(f, "1-2 non-ali, same init", "matched"));
    assert_true(mean(f, "1-2 non-ali, same init", "head pairs") == 6); /* of 16: a < b */
    assert_true(remarks(f, "erratum"));
    bench_close(&b);
}

/* Remarks name whatever makes a comparison unfair. */
static void test_limits(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,t5; train 3 arm=2; compare samples=1");
    assert_true(remarks(found(&b, "1 2"), "at different steps, from 0 to 3"));
    assert_false(remarks(found(&b, "1 2"), "another encoding"));
    bench_must(&b, "arm 2; pe alibi; compare samples=1");
    assert_true(remarks(found(&b, "1 2"), "arm 2 alibi started its training with another encoding"));
    bench_must(&b, "arm 2; model heads=8; compare samples=1");
    assert_true(remarks(found(&b, "1 2"), "different numbers of heads"));
    assert_true(mean(found(&b, "1 2"), "2 alibi", "head pairs") == 32);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *error;
    } wrong[] = {
        {"compare 1", "compare: arm 1: name at least one other arm"},
        {"compare 1 4", "there is no arm 4"},
        {"compare 1 1", "compare: arm 1 is named twice"},
        {"compare 1 9", "there is no arm 9"},
        {"compare 1 2 pairs=none", "allowed are all|matched|same"},
        {"compare 1 2 heads=3", "no option 'heads'"},
        {"compare 1 2 lengths=200..201",
         "compare: samples of length 200 don't fit into the context of arm 1 none, which is 128 tokens"},
        {"compare 1 3",
         "compare: arm 3 rotary base=10000 dims=0 pairing=half has 3 layers, arm 1 none has 2"},
        {"compare 1 2 pairs=same", "compare: pairs=same: no two of these models share an initialisation"},
        {"probe distance 1 2 pairs=same", "probe distance: pairs=same: no two of these models"},
        {"probe distance 1 1", "probe distance: arm 1 is named twice"},
        {"compare 1 2 arm=2", "compare: no option 'arm'; write the arms' numbers after the name"},
        {"compare 1 2 samples=0", "samples=0"},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, SMALL "race none,t5,rotary; seed 4 arm=2; arm 3; model layers=3; arm 1");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bench_run(&b, wrong[i].line);
        if (b.errors != 1 || strstr(b.error, wrong[i].error) == NULL)
            fail_msg("%s: %s", wrong[i].line, b.error);
    }
    bench_must(&b, "arm drop 3; arm drop 2");
    bench_run(&b, "compare");
    assert_non_null(strstr(b.error, "compare: only one model to compare"));
    bench_close(&b);
}

/* ---- re-runs */

static void test_bits(void **state)
{
    static const char *script = SMALL "race none,t5,sinusoidal; seed 3 arm=2; train 12; compare samples=2; "
                                      "compare 1 2 formula=released samples=2";
    struct pw_event *first = NULL;
    struct bench b;
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        bench_open(&b, threads, false);
        bench_must(&b, script);
        const struct pw_finding *f = found(&b, "1 2 3");
        if (threads == 1)
            first = finding_copied(f);
        assert_int_equal(f->n_values, first->u.finding.n_values);
        assert_memory_equal(f->values, first->u.finding.values, (size_t)f->n_values * sizeof *f->values);
        bench_close(&b);
    }
    pw_event_free(first);
    struct record r;
    record_open(&b, &r, 1, false);
    bench_must(&b, script);
    bench_close(&b);
    assert_true(record_find(&r, PW_EV_FINDING, NULL) >= 0);
    record_must(&r, 2);
    record_free(&r);
}

/* The study of Figure 4 reports the numbers that its script yields. */
static void test_study(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b,
               "seed 101; task sort; model tiny; optim steps=2; race "
               "none,none,t5(buckets=32,distance=128),alibi,rotary,sinusoidal; seed 102 arm=2; train; eval "
               "samples=64; compare 1 2 3 4 5 6 samples=2 formula=released control=off; compare 1 2 3 4 5 6 "
               "samples=2; compare 2 1 3 4 5 6 samples=2 formula=released control=off; compare 2 1 "
               "3 4 5 6 samples=2 control=off; judge figure4 task=sort steps=2 samples=2 run=1; judge "
               "figure4 task=sort steps=2 samples=2");
    const struct pw_finding_view *v = pw_finding_of(b.s, "figure4", "");
    assert_non_null(v);
    assert_int_equal(v->f.n_claims, 7);
    for (int i = 0; i < v->f.n_claims; i++) /* one run decides nothing */
        assert_int_equal(v->f.claims[i].verdict, PW_CLAIM_INCONCLUSIVE);
    v = pw_finding_of(b.s, "figure4", "run 1");
    assert_non_null(v);
    const struct pw_block *table = &v->f.blocks[PW_FIGURE4_MEANS];
    assert_true(pw_finding_cell(&v->f, table, 0, PW_FIGURE4_JSD) ==
                mean(found(&b, "1 2 3 4 5 6"), "2 none*", "all pairs"));
    assert_true(pw_finding_cell(&v->f, table, 1, PW_FIGURE4_UNTRAINED) ==
                mean(found(&b, "1 2 3 4 5 6"), "3 t5, same init", "untrained"));
    assert_true(pw_finding_cell(&v->f, table, 2, PW_FIGURE4_MATCHED) ==
                mean(found(&b, "1 2 3 4 5 6"), "4 alibi, same init", "matched"));
    assert_true(pw_finding_cell(&v->f, table, 4, PW_FIGURE4_JSD_OTHER) ==
                mean(found(&b, "2 1 3 4 5 6"), "6 sinusoidal", "all pairs"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),  cmocka_unit_test(test_invariants),
                                       cmocka_unit_test(test_starts),  cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_study)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
