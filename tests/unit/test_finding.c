/* test_finding.c - tests that a finding returns the values that were put into it, with any neighbouring
 * blocks. */
#include "unit.h"

#include <math.h>

#include "base/finding.h"
#include "sessions/event.h"

static struct pw_finding built(void)
{
    struct pw_finding f;
    pw_finding_init(&f, "decay", "2", "kernels of %d arms", 3);
    int table = pw_finding_table(&f, "slopes", 2, 3);
    int plot = pw_finding_plot(&f, "by distance", "distance", "bits", 2, 2, true);
    int map = pw_finding_map(&f, "named", 1, 2, -1, 1, true),
        bare = pw_finding_map(&f, "", 2, 1, 0, 0, false);
    f.blocks[table].decimals = 2;
    for (int i = 0; i < 6; i++)
        pw_finding_put(&f, table, i / 3, i % 3, i);
    pw_finding_put(&f, table, 1, 1, NAN);
    pw_finding_row(&f, table, 1, "layer %d", 1);
    pw_finding_col(&f, table, 0, "head %d", 0);
    pw_finding_col(&f, table, 2, "grows?");
    pw_finding_name(&f, plot, 1, "theory");
    for (int i = 0; i < 2; i++) {
        pw_finding_x(&f, plot, i, 10 + i);
        pw_finding_band(&f, plot, i, 0, i, i - 0.5, i + 0.5);
        pw_finding_y(&f, plot, i, 1, 7 + i);
    }
    pw_finding_row(&f, map, 0, "r");
    pw_finding_col(&f, map, 1, "c");
    pw_finding_put(&f, map, 0, 1, -0.25);
    pw_finding_put(&f, bare, 1, 0, 9);
    return f;
}

static void test_said_back(void **state)
{
    char text[32];
    (void)state;
    struct pw_finding f = built();
    const struct pw_block *table = &f.blocks[0], *plot = &f.blocks[1], *map = &f.blocks[2],
                          *bare = &f.blocks[3];
    assert_null(pw_finding_check(&f));
    assert_string_equal(f.title, "kernels of 3 arms");
    assert_string_equal(pw_finding_row_name(&f, table, 1), "layer 1");
    assert_string_equal(pw_finding_row_name(&f, table, 0), "");
    assert_string_equal(pw_finding_col_name(&f, table, 0), "head 0");
    assert_true(pw_finding_cell(&f, table, 1, 0) == 3);
    pw_finding_cell_text(&f, table, 1, 0, text, sizeof text);
    assert_string_equal(text, "3.00");
    pw_finding_cell_text(&f, table, 1, 1, text, sizeof text);
    assert_string_equal(text, "-");
    pw_finding_cell_text(&f, table, 1, 2, text, sizeof text);
    assert_string_equal(text, "yes");
    assert_string_equal(pw_finding_col_name(&f, plot, 1), "theory");
    assert_true(pw_finding_x_at(&f, plot, 1) == 11);
    assert_true(pw_finding_y_at(&f, plot, 1, 0, 0) == 1 && pw_finding_y_at(&f, plot, 1, 0, 2) == 1.5);
    assert_true(pw_finding_y_at(&f, plot, 1, 1, 0) == 8 && pw_finding_y_at(&f, plot, 1, 1, 1) == 8);
    assert_string_equal(pw_finding_row_name(&f, map, 0), "r");
    assert_string_equal(pw_finding_col_name(&f, map, 1), "c");
    assert_true(pw_finding_cell(&f, map, 0, 1) == -0.25 && isnan(pw_finding_cell(&f, map, 0, 0)));
    assert_string_equal(pw_finding_row_name(&f, bare, 1), "");
    assert_true(pw_finding_cell(&f, bare, 1, 0) == 9);
    pw_finding_fini(&f);
    assert_true(f.blocks == NULL && f.n_values == 0);
}

static struct pw_event *copied(const struct pw_finding *f)
{
    struct pw_event e = {.kind = PW_EV_FINDING, .u.finding = *f};
    return pw_event_copy(&e);
}

static void test_copy_is_its_own(void **state)
{
    (void)state;
    struct pw_finding f = built();
    pw_finding_remark(&f, "first");
    pw_finding_action(&f, 0, 1, "arm 1; fork");
    struct pw_event *copy = copied(&f);
    const struct pw_finding *g = &copy->u.finding;
    pw_finding_put(&f, 0, 0, 0, 99);
    pw_finding_fini(&f);
    assert_null(pw_finding_check(g));
    assert_true(pw_finding_cell(g, &g->blocks[0], 0, 0) == 0);
    assert_string_equal(g->remarks[0].text, "first");
    assert_string_equal(pw_finding_action_of(g, 0, 1), "arm 1; fork");
    assert_null(pw_finding_action_of(g, 0, 0));
    pw_event_free(copy);
    pw_finding_init(&f, "empty", "", "nothing");
    copy = copied(&f);
    assert_null(pw_finding_check(&copy->u.finding));
    pw_event_free(copy);
    pw_finding_fini(&f);
}

/* A text that is too long is cut. Control characters that would move a terminal's cursor are removed. */
static void test_texts(void **state)
{
    char longer[400];
    (void)state;
    struct pw_finding f = built();
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    pw_finding_remark(&f, "%s", longer);
    pw_finding_remark(&f, "a\033[2Jb");
    pw_finding_row(&f, 0, 0, "%s", longer);
    assert_int_equal(strlen(f.remarks[0].text), PW_FINDING_TEXT - 1);
    assert_string_equal(f.remarks[1].text, "a?[2Jb");
    pw_finding_action(&f, 0, 0, longer);
    assert_int_equal(f.n_actions, 0); /* a part of the commands would do something else */
    assert_int_equal(strlen(pw_finding_row_name(&f, &f.blocks[0], 0)), PW_FINDING_LABEL - 1);
    pw_finding_fini(&f);
}

static void test_verdict_is_the_worst(void **state)
{
    (void)state;
    struct pw_finding f = built();
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_VERDICTS);
    pw_finding_claim(&f, PW_CLAIM_TOY, "it falls", "by %d", 3);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_TOY);
    pw_finding_claim(&f, PW_CLAIM_INCONCLUSIVE, "it falls fast", "by 3");
    pw_finding_claim(&f, PW_CLAIM_REPRODUCED, "it is there", "1");
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_INCONCLUSIVE);
    assert_string_equal(f.claims[0].found, "by 3");
    pw_finding_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_said_back),
        cmocka_unit_test(test_copy_is_its_own),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_verdict_is_the_worst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
