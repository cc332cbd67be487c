/* test_shift.c - tests the probe shift. If all position ids rise by the same offset, relative encodings must
 * be unaffected and added rows must not. Wrong options must be refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_numbers(void **state)
{
    static const struct {
        const char *pe;
        double least, most; /* change of the loss */
    } cases[] = {{"none", 0, 0},         {"alibi", 0, 0},      {"t5", 0, 0},
                 {"rotary", 1e-9, 1e-4}, {"learned", 0.1, 10}, {"sinusoidal", 0.05, 10}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct pw_model *m = ref_probe_model("layers=2", cases[i].pe, 1);
        struct pw_finding f;
        ref_probe(&f, "shift", "samples=4", &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "all position ids");
        int last = b->rows - 1; /* 14 tokens of 64: offsets 0, 1, 2, ... 32 */
        assert_int_equal(b->rows, 7);
        assert_true(pw_finding_cell(&f, b, 0, 1) == 0 && pw_finding_cell(&f, b, 0, 2) == 1);
        assert_true(pw_finding_cell(&f, b, last, 1) >= cases[i].least);
        assert_true(pw_finding_cell(&f, b, last, 1) <= cases[i].most);
        bool relative = strcmp(cases[i].pe, "rotary") == 0 || strcmp(cases[i].pe, "alibi") == 0 ||
                        strcmp(cases[i].pe, "t5") == 0;
        assert_int_equal(f.n_claims, relative); /* for any weights; no other claim */
        if (relative)
            assert_int_equal(f.claims[0].verdict, PW_CLAIM_REPRODUCED);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

/* From its threshold on, FIRE's bias depends on the query's position, so it must not be judged as
 * relative. */
static void test_both_positions(void **state)
{
    static const char *const pes[] = {"fire threshold=64", "fire threshold=4"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_model *m = ref_probe_model("layers=2", pes[i], 1);
        struct pw_finding f;
        ref_probe(&f, "shift", "samples=4", &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "all position ids");
        double change = pw_finding_cell(&f, b, b->rows - 1, 1);
        assert_true(i == 0 ? change == 0 : change > 1e-6);
        assert_int_equal(f.n_claims, 0);
        assert_non_null(strstr(f.remarks[0].text, "fire scales distances by the position of the query"));
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

static void test_text(void **state)
{
    struct pw_model *m = ref_probe_model("layers=2", "none", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "shift", "samples=32", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "the same text");
    assert_int_equal(b->rows, 4); /* after 4, 8, 16, 32 tokens */
    assert_true(pw_finding_y_at(&f, b, 0, 0, 0) > 0.5 && pw_finding_y_at(&f, b, 0, 0, 0) < 1);
    assert_true(pw_finding_y_at(&f, b, 3, 0, 0) < pw_finding_y_at(&f, b, 0, 0, 0));
    assert_true(pw_finding_y_at(&f, b, 3, 0, 0) == pw_finding_y_at(&f, b, 3, 1, 0)); /* its own twin */
    const struct pw_block *ends = ref_block(&f, "cosine of a text's last state");
    assert_true(pw_finding_cell(&f, ends, 0, 0) == pw_finding_y_at(&f, b, 0, 0, 0));
    assert_true(pw_finding_cell(&f, ends, 1, 1) == pw_finding_y_at(&f, b, 3, 1, 0));
    assert_int_equal(f.n_claims, 0);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

static void refused(const char *config, const char *pe, const char *opts, const char *what)
{
    struct pw_model *m = ref_probe_model(config, pe, 1);
    struct pw_finding f;
    struct pw_err err;
    assert_int_equal(ref_probe_run(&f, "shift", opts, &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, what);
    pw_model_destroy(m);
}

static void test_refused(void **state)
{
    (void)state;
    refused(
        "layers=1", "dpe", "",
        "probe shift: arm 1: encoding dpe depends on the length of the sequence, so a shift isn't defined");
    refused(
        "layers=1", "none", "tokens=61",
        "probe shift: tokens=61: with 4 tokens before the text, it must fit into the context of 64 tokens");
    refused("layers=1 context=14", "none", "tokens=2",
            "probe shift: arm 1: its context of 14 tokens has no room to shift a sample");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_both_positions),
                                       cmocka_unit_test(test_text), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
