/* test_blog.c - arms side by side: the numbers that are picked, plots that are copied, claims that are told
 * once, and findings that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/blog.h"

static const struct pw_blog_number numbers[] = {{"most", "numbers", 0, PW_OF_MOST, 0, 0},
                                                {"every other", "numbers", 1, PW_OF_MEAN, 1, 2},
                                                {"least of all", "numbers", -1, PW_OF_LEAST, 0, 0},
                                                {0}};
static const struct pw_blog_plan plan = {
    .name = "study", .pes = "none,alibi", .probe = "probe", .plot = "curve", .numbers = numbers};

/* A table of ten times the arm plus row, and minus that; a plot; a claim of its own and a common one. */
static void add(struct pw_snapshot *s, int arm, enum pw_claim_verdict common)
{
    struct pw_finding *f = &s->findings[arm].f;
    char topic[8];
    s->findings[arm].f_seq = (uint64_t)arm;
    snprintf(topic, sizeof topic, "%d", arm);
    pw_finding_init(f, "probe", topic, "from a test");
    int b = pw_finding_table(f, "numbers of heads", 4, 2);
    for (int r = 0; r < 4; r++) {
        pw_finding_put(f, b, r, 0, 10 * arm + r);
        pw_finding_put(f, b, r, 1, -10 * arm - r);
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

static void test_judge(void **state)
{
    const struct pw_blog o = {600, 1};
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    add(s, 1, PW_CLAIM_REPRODUCED);
    add(s, 2, PW_CLAIM_INCONCLUSIVE);
    assert_int_equal(pw_blog_judge(&plan, &o, s, &f, &err), PW_OK);
    assert_null(pw_finding_check(&f));
    assert_int_equal(f.n_blocks, 3);
    const struct pw_block *b = &f.blocks[0], *plot = &f.blocks[2];
    assert_string_equal(pw_finding_row_name(&f, b, 1), "2 alibi");
    assert_true(pw_finding_cell(&f, b, 1, 0) == 23);
    assert_true(pw_finding_cell(&f, b, 0, 1) == -12); /* rows 1 and 3: -11 and -13 */
    assert_true(pw_finding_cell(&f, b, 1, 2) == -23);
    assert_string_equal(plot->title, "alibi: curve of heads");
    assert_true(plot->log_y && plot->band);
    assert_string_equal(pw_finding_col_name(&f, plot, 1), "second");
    assert_true(pw_finding_y_at(&f, plot, 2, 1, 0) == 2 && pw_finding_y_at(&f, plot, 2, 1, 2) == 3);
    assert_int_equal(f.n_claims, 2);
    assert_int_equal(f.claims[0].verdict, PW_CLAIM_INCONCLUSIVE); /* the worse of two */
    assert_string_equal(f.claims[0].found, "of arm 2");
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

static void test_missing(void **state)
{
    const struct pw_blog o = {600, 1};
    struct pw_snapshot *s = pw_snapshot_new();
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    add(s, 1, PW_CLAIM_REPRODUCED);
    assert_int_equal(pw_blog_judge(&plan, &o, s, &f, &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "judge study: there is no finding 'probe' about arm 2; 'reproduce study' measures "
                        "all it takes");
    pw_finding_fini(&f);
    pw_snapshot_free(s);
}

static void test_script(void **state)
{
    const struct pw_blog o = {5, 7};
    struct pw_str out = {0};
    (void)state;
    pw_blog_script(&plan, &o, &out);
    assert_string_equal(pw_str_text(&out),
                        "seed 7\ntask copy variant=rdc\nmodel tiny\noptim steps=5\n"
                        "race none,alibi\ntrain 5\nprobe probe arm=1\nprobe probe arm=2\n");
    pw_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge), cmocka_unit_test(test_missing),
                                       cmocka_unit_test(test_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
