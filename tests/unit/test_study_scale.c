/* test_study_scale.c - tests the scales of a study's text, and the studies that come with the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "study/ready.h"
#include "study/scale.h"
#include "study/study.h"

static void test_kept(void **state)
{
    static const struct {
        const char *text, *toy, *paper;
    } cases[] = {
        {"race none; task sort", "race none; task sort", "race none; task sort"},
        {"toy: optim steps=600; paper: optim steps=40000", "optim steps=600", "optim steps=40000"},
        {"race none; toy: task sort; seeds 3; paper: task copy", "race none; task sort; seeds 3",
         "race none; seeds 3; task copy"},
        {"# a: comment; with 'it\ntoy: seeds 3 # three\nrace none\n",
         "# a: comment; with 'it\nseeds 3 # three\nrace none\n", "# a: comment; with 'it\nrace none\n"},
        {"paper: race \"expr a = 1; bias = a\"; task sort\n\nseeds 2", " task sort\n\nseeds 2",
         "race \"expr a = 1; bias = a\"; task sort\n\nseeds 2"},
        {"paper: task sort(\nlengths=2..8), # one\n  copy # two\nseeds 2\n", "seeds 2\n",
         "task sort(\nlengths=2..8), # one\n  copy # two\nseeds 2\n"},
        {"\ttoy:race none", "race none", ""},
        {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 2; k++) {
            struct pw_str out = {0};
            struct pw_err err;
            assert_int_equal(pw_study_scale(&out, cases[i].text, pw_study_scales[k], &err), PW_OK);
            assert_string_equal(pw_str_text(&out), k == 0 ? cases[i].toy : cases[i].paper);
            pw_str_fini(&out);
        }
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text, *scale, *says;
    } cases[] = {
        {"tyo: seeds 3", "toy", "no scale 'tyo'; allowed are toy and paper"},
        {"race none; Paper: seeds 3", "toy", "no scale 'Paper'; allowed are toy and paper"},
        {"race none", "papr", "no scale 'papr'; allowed are toy and paper"},
        {"toy: race 'none", "toy", "a quote is not closed"},
        {"paper: race 'none", "toy", "a quote is not closed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_str out = {0};
        struct pw_err err;
        assert_int_equal(pw_study_scale(&out, cases[i].text, cases[i].scale, &err), PW_EUSER);
        assert_string_equal(err.msg, cases[i].says);
        pw_str_fini(&out);
    }
}

/* Reads a ready study at a scale. */
static void read_ready(struct pw_study *s, const char *name, int scale)
{
    const struct pw_study_ready *r;
    struct pw_str text = {0};
    struct pw_err err;
    assert_int_equal(pw_study_ready_find(&r, name, &err), PW_OK);
    assert_int_equal(pw_study_scale(&text, r->text, pw_study_scales[scale], &err), PW_OK);
    if (pw_study_read(s, pw_str_text(&text), &err) != PW_OK)
        fail_msg("%s, %s: %s", name, pw_study_scales[scale], err.msg);
    assert_null(strstr(text.s, "\npaper:"));
    pw_str_fini(&text);
}

static void test_ready(void **state)
{
    struct pw_study s;
    struct pw_err err;
    const struct pw_study_ready *r;
    const char *title;
    (void)state;
    for (int i = 0; pw_study_readies[i].name != NULL; i++) {
        int n = pw_study_ready_title(&pw_study_readies[i], &title);
        assert_in_range(n, 20, 110); /* a line of a terminal */
        read_ready(&s, pw_study_readies[i].name, 0);
        pw_study_fini(&s);
    }
    read_ready(&s, "table", 1); /* the paper's 17 tasks, five encodings, three seeds */
    assert_int_equal(s.tasks.n, 17);
    assert_int_equal(s.n_arms, 5);
    assert_int_equal(s.seeds_max, 3);
    pw_study_fini(&s);
    read_ready(&s, "scratchpads", 1);
    assert_int_equal(s.tasks.n, 4 * 8 + 3 * 7);
    pw_study_fini(&s);
    read_ready(&s, "figure4", 1);
    assert_true(s.keep_weights);
    pw_study_fini(&s);
    assert_int_equal(pw_study_ready_find(&r, "tabel", &err), PW_EUSER);
    assert_string_equal(err.msg, "no ready study 'tabel'; there are content, figure4, scratchpads, table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
