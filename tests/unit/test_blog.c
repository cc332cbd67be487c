/* test_blog.c - tests studies with several models: the training script, the numbers kept of each model,
 * intervals that decide claims, and refused input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/stats.h"
#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {{"most", "numbers", 0, PW_OF_MOST, 0, 0},
                                                {"every other", "numbers", 1, PW_OF_MEAN, 1, 2},
                                                {"least of all", "numbers", -1, PW_OF_LEAST, 0, 0},
                                                {0}};
static const struct pw_blog_number control = {"control", "numbers", 0, PW_OF_LEAST, 0, 0};
static const struct pw_blog_claim claims[] = {
    {"above", "first", 1, {"", "numbers", 0, PW_OF_LEAST, 0, 1000}, {0}, PW_ABOVE, 9, 5},
    {"difference",
     "less second",
     1,
     {"", "numbers", 0, PW_OF_LEAST, 0, 1000},
     {"", "numbers", 0, PW_OF_LEAST, 1, 1000},
     PW_BELOW,
     0,
     (double)NAN},
    {0},
};
static const struct pw_blog_plan plan = {.name = "study",
                                         .pes = "none,alibi",
                                         .probe = "probe",
                                         .seeds = 5,
                                         .judged = 1,
                                         .plot = "curve",
                                         .numbers = numbers,
                                         .claims = claims,
                                         .control = &control,
                                         .control_most = 100};

static const struct pw_blog options = {600, 4, 7, 0};

/* Adds the probe's finding of an arm. It has a table of 10 * arm + row + by and its negative, a plot, a claim
 * of the arm and a common one. */
static void add(struct pw_snapshot *s, int arm, double by, enum pw_claim_verdict common)
{
    struct pw_finding_view *v = &s->findings[arm];
    struct pw_finding *f = &v->f;
    char topic[8];
    if (v->f_seq != 0)
        pw_finding_fini(f);
    v->f_seq = (uint64_t)arm;
    v->step = options.steps;
    snprintf(topic, sizeof topic, "%d", arm);
    snprintf(s->arms[arm - 1].info.name, sizeof s->arms[arm - 1].info.name, "%s",
             arm == 1 ? "none" : "alibi");
    s->arms[arm - 1].info.seed = s->lab.seed;
    pw_finding_init(f, "probe", topic, "from a test");
    int b = pw_finding_table(f, "numbers of heads", 4, 2);
    for (int r = 0; r < 4; r++) {
        pw_finding_put(f, b, r, 0, 10 * arm + r + by);
        pw_finding_put(f, b, r, 1, -10 * arm - r - by);
    }
    b = pw_finding_plot(f, "curve of heads", "x", "y", 3, 2, true);
    f->blocks[b].log_y = true;
    pw_finding_name(f, b, 1, "second");
    for (int i = 0; i < 3; i++) {
        pw_finding_x(f, b, i, i);
        pw_finding_band(f, b, i, 1, arm, arm - 1, arm + 1);
    }
    pw_finding_claim(f, common, "common", "of arm %d", arm);
    if (arm == 2)
        pw_finding_claim(f, PW_CLAIM_REPRODUCED, "own", "of arm %d", arm);
}

/* Judges and keeps model k. The numbers of its first arm are shifted by `by`; the last model has the second
 * arm, too. */
static void keep(struct pw_snapshot *s, int k, double by, enum pw_claim_verdict common)
{
    struct pw_blog o = options;
    struct pw_err err;
    struct pw_finding_view *v = &s->findings[10 + k];
    o.model = k;
    s->lab.seed = (uint64_t)(o.seed + k - 1);
    add(s, 1, by, common);
    if (k == o.seeds)
        add(s, 2, 0, PW_CLAIM_INCONCLUSIVE);
    if (v->f_seq != 0)
        pw_finding_fini(&v->f);
    v->f_seq = 10 + (uint64_t)k;
    if (pw_blog_judge(&plan, &o, s, &v->f, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_null(pw_finding_check(&v->f));
}

static void test_one(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    keep(s, 1, 0.5, PW_CLAIM_REPRODUCED);
    const struct pw_finding *f = &s->findings[11].f;
    assert_string_equal(f->topic, "model 1");
    assert_string_equal(f->title, "probe probe of none after 600 steps of copying random tokens, seed 7");
    assert_true(pw_finding_cell(f, &f->blocks[0], 0, 0) == 10.5); /* row 0 */
    assert_true(pw_finding_cell(f, &f->blocks[0], 0, 1) == -1);   /* row 0 minus row 1 */
    assert_true(pw_finding_cell(f, &f->blocks[1], 0, 0) == 13.5);
    assert_true(pw_finding_cell(f, &f->blocks[1], 0, 1) == -12.5); /* rows 1 and 3: -11.5 and -13.5 */
    assert_int_equal(f->n_claims, 1);                              /* the probe's own; one model adds none */
    pw_snapshot_free(s);
}

static void test_all(void **state)
{
    static const double by[] = {0.5, -0.5, 1, 0};
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_finding f;
    struct pw_err err;
    double x[4];
    (void)state;
    for (int k = 1; k <= 4; k++) {
        keep(s, k, by[k - 1], k == 2 ? PW_CLAIM_CONTRADICTED : PW_CLAIM_REPRODUCED);
        x[k - 1] = 10 + by[k - 1];
    }
    assert_int_equal(pw_blog_judge(&plan, &options, s, &f, &err), PW_OK);
    assert_null(pw_finding_check(&f));
    assert_string_equal(f.topic, "none,alibi");
    assert_non_null(strstr(f.title, "4 models, seeds 7 to 10"));
    struct pw_interval i = pw_mean_interval(x, 4);
    const struct pw_block *b = &f.blocks[0], *arms = &f.blocks[1], *plot = &f.blocks[3];
    assert_int_equal(b->rows, 7); /* four models, the mean, both ends */
    assert_string_equal(pw_finding_row_name(&f, b, 1), "seed 8");
    for (int k = 0; k < 4; k++)
        assert_true(pw_finding_cell(&f, b, k, 0) == x[k] && pw_finding_cell(&f, b, k, 1) == -1);
    assert_true(pw_finding_cell(&f, b, 4, 0) == i.mean && pw_finding_cell(&f, b, 5, 0) == i.lo &&
                pw_finding_cell(&f, b, 6, 0) == i.hi);
    assert_true(pw_finding_cell(&f, arms, 0, 0) == 13.25 && pw_finding_cell(&f, arms, 1, 0) == 23);
    assert_true(pw_finding_cell(&f, arms, 0, 3) == 4 && pw_finding_cell(&f, arms, 1, 3) == 1); /* models */
    assert_string_equal(pw_finding_row_name(&f, arms, 1), "2 alibi");
    assert_string_equal(plot->title, "alibi: curve of heads");
    assert_true(plot->log_y && plot->band && pw_finding_y_at(&f, plot, 2, 1, 2) == 3);
    assert_int_equal(f.n_claims, 4);
    assert_int_equal(f.claims[0].verdict, PW_CLAIM_CONTRADICTED); /* the worst verdict of all models */
    assert_string_equal(f.claims[1].claim, "own");
    assert_int_equal(f.claims[2].verdict, PW_CLAIM_TOY);
    assert_non_null(strstr(f.claims[2].found, "of 4 trained models, 95 % interval"));
    assert_int_equal(f.claims[3].verdict, PW_CLAIM_TOY);
    pw_finding_fini(&f);
    keep(s, 2, 100, PW_CLAIM_REPRODUCED); /* its control is above 100: nothing is decided */
    assert_int_equal(pw_blog_judge(&plan, &options, s, &f, &err), PW_OK);
    assert_int_equal(f.claims[3].verdict, PW_CLAIM_INCONCLUSIVE);
    assert_non_null(strstr(f.remarks[1].text, "above 100 in at least one model, so no claim is decided"));
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

/* Verdicts from means and intervals: holds, contradicted, neither. One number, or a missing one, decides
 * nothing. */
static void test_verdict(void **state)
{
    static const struct {
        double x[4];
        enum pw_claim_verdict above, below; /* with holds 1, fails 0; with holds 0, fails 1 */
    } cases[] = {
        {{1.5, 1.6, 1.4, 1.5}, PW_CLAIM_TOY, PW_CLAIM_CONTRADICTED},
        {{-.5, -.6, -.4, -.5}, PW_CLAIM_CONTRADICTED, PW_CLAIM_TOY},
        {{.5, .6, .4, .5}, PW_CLAIM_INCONCLUSIVE, PW_CLAIM_INCONCLUSIVE},
        {{9, -1, 9, 3},
         PW_CLAIM_INCONCLUSIVE,
         PW_CLAIM_INCONCLUSIVE}, /* the mean is 5, and the interval excludes nothing */
        {{1.5, 1.6, 1.4, (double)NAN}, PW_CLAIM_INCONCLUSIVE, PW_CLAIM_INCONCLUSIVE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_blog_claim c = {.side = PW_ABOVE, .holds = 1, .fails = 0};
        assert_int_equal(pw_blog_verdict(&c, cases[i].x, 4), cases[i].above);
        assert_int_equal(pw_blog_verdict(&c, cases[i].x, 1), PW_CLAIM_INCONCLUSIVE);
        c = (struct pw_blog_claim){.side = PW_BELOW, .holds = 0, .fails = 1};
        assert_int_equal(pw_blog_verdict(&c, cases[i].x, 4), cases[i].below);
        c.fails = (double)NAN; /* such a claim can't be contradicted */
        assert_true(pw_blog_verdict(&c, cases[i].x, 4) != PW_CLAIM_CONTRADICTED);
    }
}

static void refused(const struct pw_snapshot *s, struct pw_blog o, const char *what)
{
    struct pw_finding f = {0};
    struct pw_err err;
    assert_int_equal(pw_blog_judge(&plan, &o, s, &f, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, what));
    pw_finding_fini(&f);
}

static void test_refused(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_blog o = options;
    (void)state;
    refused(s, o, "judge study: model 1 of 4 is missing: run 'reproduce study', which measures it");
    o.model = 5;
    refused(s, o, "model=5: the study has 4 models");
    o.model = 1;
    s->lab.seed = 7;
    refused(s, o, "no finding 'probe' about arm 1");
    add(s, 1, 0, PW_CLAIM_REPRODUCED);
    s->findings[1].step = 599;
    refused(s, o, "arm 1 was measured after 599 steps: the study needs 600");
    s->findings[1].step = 600;
    s->arms[0].pe_seq = s->findings[1].f_seq + 1;
    refused(s, o, "the finding 'probe' is older than arm 1");
    s->arms[0].pe_seq = 0;
    for (int k = 1; k <= 4; k++)
        keep(s, k, 0, PW_CLAIM_REPRODUCED);
    o = options;
    o.seed = 8;
    refused(s, o, "seed 7': the study needs 'probe probe of none after 600 steps");
    o.seed = 7;
    o.seeds = 5;
    refused(s, o, "model 4 is "); /* it has both arms */
    pw_snapshot_free(s);
}

static void test_script(void **state)
{
    const struct pw_blog o = {5, 4, 7, 0};
    struct pw_str out = {0};
    static const char first[] =
        "seed 7\ntask copy variant=rdc\nmodel tiny\noptim steps=5\nrace none seeds=1\ntrain\n"
        "probe probe arm=1\njudge study steps=5 seeds=4 seed=7 model=1\n";
    const char *last;
    (void)state;
    pw_blog_script(&plan, &o, &out);
    last = strstr(pw_str_text(&out), "seed 7\n");
    assert_non_null(last);
    assert_int_equal(strncmp(last, first, sizeof first - 1), 0);
    last = strstr(pw_str_text(&out), "seed 10\n");
    assert_non_null(last);
    assert_string_equal(
        last, "seed 10\ntask copy variant=rdc\nmodel tiny\noptim steps=5\nrace none,alibi seeds=1\ntrain\n"
              "probe probe arm=1\nprobe probe arm=2\njudge study steps=5 seeds=4 seed=7 model=4\n");
    /* Without a number of models the plan's number is used. */
    pw_str_fini(&out);
    out = (struct pw_str){0};
    pw_blog_script(&plan, &(struct pw_blog){5, 0, 7, 0}, &out);
    assert_null(strstr(pw_str_text(&out), "judge study steps=5 seeds="));
    assert_non_null(strstr(pw_str_text(&out), "judge study steps=5 seed=7 model=5\n"));
    assert_null(strstr(pw_str_text(&out), "model=6"));
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_verdict), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
