/* test_decay.c - tests the probe decay. Rotary's kernel and bound must have values computed independently
 * with Python, and ALiBi's attention mass must fall by its slopes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

static void test_rotary(void **state)
{
    static const double kernel[] = {1, 0.9662, 0.7479, 0.6054, 0.4346, 0.2839, 0.3537, 0.2629};
    /* r = 0, 1, 4, 16, 64, 128, 256 */
    static const double bound[] = {32.5,
                                   31.538166142658085,
                                   22.60404312143703,
                                   15.77495145103864,
                                   10.089941545044859,
                                   9.272902724638474,
                                   6.543097322978939};
    struct pw_model *m = ref_probe_model("layers=1", "rotary", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "decay", "samples=2 length=20", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "rotary and sinusoidal");
    for (int r = 0; r < 8; r++)
        assert_true(fabs(pw_finding_cell(&f, b, r, 0) - kernel[r]) < 6e-5);
    assert_int_equal(f.n_claims, 2);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    ref_probe(&f, "decay", "samples=2 length=20 width=128", &m, &m, 1);
    b = ref_block(&f, "rotary and sinusoidal");
    for (int r = 0; r < 7; r++)
        assert_true(fabs(pw_finding_cell(&f, b, r, 4) - bound[r]) < 1e-9);
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

/* With zero content, ln mass must fall by exactly the slope per step. Without an encoding it must be
 * constant. */
static void test_arm(void **state)
{
    const char *const pes[] = {"alibi", "none"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model("layers=1", pes[k], 1);
        float *zero = calloc(pw_model_size(m), sizeof *zero);
        struct pw_finding f;
        pw_model_put(m, zero, NULL, NULL);
        ref_probe(&f, "decay", "samples=2 length=40", &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "slope of ln");
        for (int h = 0; h < 4; h++)
            assert_true(fabs(pw_finding_cell(&f, b, h, 0) + (k == 0 ? pow(4, -(h + 1)) : 0)) < 1e-5);
        if (k == 0) {
            const struct pw_block *part = ref_block(&f, "layer 0: contribution of the encoding");
            assert_true(fabs(pw_finding_y_at(&f, part, 8, 0, 0) + 2) < 1e-6);
            assert_int_equal(ref_claim(&f, "Su 2024: ALiBi")->verdict, PW_CLAIM_REPRODUCED);
            for (int h = 0; h < 4; h++) /* over the distances 1 to reach = 19 */
                assert_true(fabs(log(pw_finding_cell(&f, b, h, 5)) - 18 * pow(4, -(h + 1))) < 1e-4);
        } else {
            assert_int_equal(f.n_claims, 2); /* about rotary scores; no claim about a single model */
            for (int h = 0; h < 4; h++)
                assert_true(fabs(pw_finding_cell(&f, b, h, 5) - 1) < 1e-5);
        }
        free(zero);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

/* For a bias by both positions, the part by distance is a mean, and the finding must state this. */
static void test_both_positions(void **state)
{
    static const char *const pes[] = {"fire", "t5"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model("layers=1", pes[k], 1);
        struct pw_finding f;
        ref_probe(&f, "decay", "samples=2 length=40", &m, &m, 1);
        assert_int_equal(ref_block(&f, "layer 0: contribution of the encoding")->rows, 40);
        assert_int_equal(strstr(f.remarks[0].text, "mean over the queries") != NULL, k == 0);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

/* With zero weights all gates are one half: fox has one for each head, wall one for each channel. */
static void test_gates(void **state)
{
    static const char *const pes[] = {"fox", "wall"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model("layers=2", pes[k], 1);
        float *zero = calloc(pw_model_size(m), sizeof *zero);
        struct pw_finding f;
        pw_model_put(m, zero, NULL, NULL);
        ref_probe(&f, "decay", "samples=2 length=40", &m, &m, 1);
        const struct pw_block *b = ref_block(&f, "layer 1: share of a token that forgetting keeps");
        assert_int_equal(b->rows, 20);
        for (int r = 0; r < 20; r++)
            for (int h = 0; h < 5; h++) /* the last is the mean of the untrained heads */
                assert_true(fabs(pw_finding_y_at(&f, b, r, h, 0) * pow(2, r) - 1) < 1e-4);
        assert_non_null(strstr(f.remarks[0].text, "not by their distance"));
        assert_int_equal(strstr(f.remarks[0].text, "the channels") != NULL, k == 1);
        free(zero);
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

/* The share that wall keeps is that of the gates that a head of its own has: as its parameters are made, the
 * gate of each channel is near sigmoid(gate_bias) at every token. */
static void test_gates_drawn(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "wall gate_bias=2", 1);
    struct pw_finding f;
    (void)state;
    ref_probe(&f, "decay", "samples=2 length=40", &m, &m, 1);
    const struct pw_block *b = ref_block(&f, "layer 0: share of a token that forgetting keeps");
    for (int h = 0; h < 4; h++) {
        assert_true(fabs(pw_finding_y_at(&f, b, 0, h, 0) - 1) < 1e-9);
        assert_true(fabs(pw_finding_y_at(&f, b, 4, h, 0) / pow(1 / (1 + exp(-2)), 4) - 1) < 0.05);
    }
    pw_finding_fini(&f);
    pw_model_destroy(m);
}

/* An encoding that doesn't forget, or that turns q and k on its way, has no such curve. */
static void test_no_gates(void **state)
{
    static const char *const pes[] = {"none", "path"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_model *m = ref_probe_model("layers=1", pes[k], 1);
        struct pw_finding f;
        ref_probe(&f, "decay", "samples=2 length=40", &m, &m, 1);
        for (int i = 0; i < f.n_blocks; i++)
            assert_null(strstr(f.blocks[i].title, "forgetting"));
        pw_finding_fini(&f);
        pw_model_destroy(m);
    }
}

static void test_refused(void **state)
{
    struct pw_model *m = ref_probe_model("layers=1", "none", 1);
    struct pw_finding f;
    struct pw_err err;
    (void)state;
    assert_int_equal(ref_probe_run(&f, "decay", "width=7", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe decay: width=7: allowed are even numbers");
    assert_int_equal(ref_probe_run(&f, "decay", "length=6", &m, &m, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe decay: length 6: at least 8 tokens are needed");
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rotary),         cmocka_unit_test(test_arm),
                                       cmocka_unit_test(test_both_positions), cmocka_unit_test(test_gates),
                                       cmocka_unit_test(test_gates_drawn),    cmocka_unit_test(test_no_gates),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
