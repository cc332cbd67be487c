/* test_theorems.c - tests the probes of both theorems. The constructions must give the golden values of
 * Kazemnejad et al. 2023, for any width and any prompt. If the arm is no construction, or was changed, the
 * probes must report it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_probe.h"

#define FORM "norm=none width=8 heads=2 "

/* A construction that counts T positions, and its twin. */
struct arm {
    struct pw_model *m, *control;
};

static struct arm construct(int theorem, int T, int context, const char *pe)
{
    char config[256];
    snprintf(config, sizeof config, FORM "scale=off init=theorem%d layers=%d ffn=%d context=%d", theorem,
             theorem, T + 2, context);
    return (struct arm){ref_probe_model(config, pe, 4), ref_probe_model(config, pe, 4)};
}

static void destroy(struct arm *a)
{
    pw_model_destroy(a->m);
    pw_model_destroy(a->control);
}

static void look(struct pw_finding *f, const char *name, const char *opts, struct arm *a)
{
    ref_probe(f, name, opts, &a->m, &a->control, 1);
}

static bool remarks(const struct pw_finding *f, const char *text)
{
    for (int i = 0; i < f->n_remarks; i++)
        if (strstr(f->remarks[i].text, text) != NULL)
            return true;
    return false;
}

/* Kazemnejad et al. 2023, T + 1 = 6: the head writes 1, .5, .333333, ..., the MLP adds 0, 1.5, 2.666667,
 * ... */
static void test_golden(void **state)
{
    static const double head[] = {1, .5, .333333, .25, .2, .166667};
    static const double adds[] = {0, 1.5, 2.666667, 3.75, 4.8, 5.833333};
    struct arm a = construct(1, 6, 64, "none");
    struct pw_finding f;
    (void)state;
    look(&f, "theorem1", "", &a);
    const struct pw_block *h0 = ref_block(&f, "H0"), *b = ref_block(&f, "head 0");
    for (int t = 0; t < 6; t++) {
        assert_true(pw_finding_cell(&f, h0, t, 0) == 1);
        assert_true(pw_finding_cell(&f, h0, t, 1) == (t == 0));
        assert_true(pw_finding_cell(&f, h0, t, 2) == 0);
        assert_true(pw_finding_cell(&f, b, t, 0) == 1);
        assert_true(pw_finding_cell(&f, b, t, 1) == (t == 0));
        assert_true(fabs(pw_finding_cell(&f, b, t, 2) - head[t]) < 1e-6);
        assert_true(fabs(pw_finding_cell(&f, b, t, 3) - head[t]) < 1e-6);
        assert_true(fabs(pw_finding_cell(&f, b, t, 4) - pw_finding_cell(&f, b, t, 3) - adds[t]) < 1e-6);
    }
    const struct pw_block *map = ref_block(&f, "attention");
    for (int i = 0; i < map->rows; i++)
        for (int j = 0; j < map->cols; j++) {
            double p = pw_finding_cell(&f, map, i, j);
            assert_true(j > i ? isnan(p) : fabs(p * (i + 1) - 1) < 1e-6);
        }
    assert_string_equal(pw_finding_row_name(&f, h0, 0), "1 w2");
    assert_true(remarks(&f, "the first 14 tokens are the pinned prompt"));
    pw_finding_fini(&f);
    destroy(&a);
}

/* For every width all claims must hold, and positions beyond the width must follow the predicted curve. */
static void test_widths(void **state)
{
    static const int widths[] = {1, 2, 6, 32, 43, 512, 2048};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        int T = widths[i], n = T < 512 ? 4 * T : T + 8;
        struct arm a = construct(1, T, n, "none");
        struct pw_finding f;
        look(&f, "theorem1", "", &a);
        assert_int_equal(f.n_claims, 5);
        assert_int_equal(ref_claim(&f, "Kazemnejad et al. 2023, Eq. 24")->verdict, PW_CLAIM_REPRODUCED);
        assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
        const struct pw_block *b = ref_block(&f, "dimension 3 after the MLP");
        assert_true(pw_finding_x_at(&f, b, b->rows - 1) == n);
        for (int k = 0; k < b->rows; k++) {
            double t = pw_finding_x_at(&f, b, k), says = pw_finding_y_at(&f, b, k, 0, 0);
            if (t <= T) /* rounding must make it exact */
                assert_true(says == t);
            else
                assert_true(says <= 2 * T - 1 && says <= t);
        }
        pw_finding_fini(&f);
        destroy(&a);
    }
}

/* Beyond T the curve is 2T - 1 - T(T-1)/t: for T = 32 it is 38.2 at 40, 47.5 at 64, 55.25 at 128. */
static void test_bend(void **state)
{
    static const double says[] = {32, 38.2, 47.5, 55.25};
    struct arm a = construct(1, 32, 128, "none");
    struct pw_finding f;
    (void)state;
    look(&f, "theorem1", "", &a);
    const struct pw_block *b = ref_block(&f, "output of the MLP beyond");
    assert_int_equal(b->rows, 4);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(pw_finding_cell(&f, b, i, 0) - says[i]) < 1e-3);
    pw_finding_fini(&f);
    look(&f, "theorem1", "positions=32", &a); /* no positions beyond T */
    assert_int_equal(f.n_claims, 4);
    assert_true(remarks(&f, "too few to show where the curve of the MLP bends"));
    pw_finding_fini(&f);
    destroy(&a);
}

static void test_relative(void **state)
{
    static const double row[] = {.032058603, .087144319, .236882818, .643914260};
    struct arm a = construct(2, 16, 64, "none");
    struct pw_finding f;
    (void)state;
    look(&f, "theorem2", "", &a);
    assert_int_equal(f.n_claims, 2);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    const struct pw_block *vectors = ref_block(&f, "second layer"),
                          *soft = ref_block(&f, "attention at t = 4");
    for (int t = 0; t < vectors->rows; t++) {
        assert_true(pw_finding_cell(&f, vectors, t, 0) == 1);
        assert_true(pw_finding_cell(&f, vectors, t, 1) == -(t + 1));
        assert_true(pw_finding_cell(&f, vectors, t, 2) == t + 1);
        assert_true(pw_finding_cell(&f, vectors, t, 3) == 1);
    }
    for (int i = 0; i < 4; i++)
        assert_true(fabs(pw_finding_cell(&f, soft, i, 0) - row[i]) < 1e-8);
    const struct pw_block *cnt = ref_block(&f, "f_cnt"), *rel = ref_block(&f, "f_rel"),
                          *all = ref_block(&f, "the score");
    double content = 0;
    for (int t = 0; t < 16; t++)
        for (int i = 0; i <= t; i++) {
            double c = pw_finding_cell(&f, cnt, t, i);
            assert_true(pw_finding_cell(&f, rel, t, i) == i - t);
            assert_true(fabs(pw_finding_cell(&f, all, t, i) - c + (t - i)) < 1e-5);
            content = fmax(content, fabs(c));
        }
    assert_true(content > 0.1); /* there is content */
    pw_finding_fini(&f);
    look(&f, "theorem1", "", &a); /* the first layer is that of theorem 1 */
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    destroy(&a);
    a = construct(2, 512, 520, "none");
    look(&f, "theorem2", "", &a);
    assert_int_equal(pw_finding_verdict(&f), PW_CLAIM_REPRODUCED);
    pw_finding_fini(&f);
    destroy(&a);
}

/* One changed weight makes it another model: nothing may be claimed, and the construction must be shown next
 * to it. */
static void test_moved(void **state)
{
    struct pw_finding f;
    (void)state;
    for (int theorem = 1; theorem <= 2; theorem++) {
        char name[] = "theorem1";
        struct arm a = construct(theorem, 16, 64, "none");
        float *p = malloc(pw_model_size(a.m) * sizeof *p);
        int n;
        name[7] = (char)('0' + theorem);
        pw_model_get(a.m, p, NULL, NULL);
        const struct pw_param *t = pw_model_params(a.m, &n);
        while (strcmp(t->name, "layers.0.mlp.down.weight") != 0)
            t++;
        p[t->offset + 2 * (size_t)t->cols] += 0.5F; /* ReLU(1 - u) to dimension 3: t + (1 - 1/t) / 2 */
        pw_model_put(a.m, p, NULL, NULL);
        free(p);
        look(&f, name, "", &a);
        assert_int_equal(f.n_claims, 0);
        assert_true(remarks(&f, "no longer the construction (after 0 steps of training)"));
        if (theorem == 1) {
            const struct pw_block *b = ref_block(&f, "change since");
            assert_true(pw_finding_cell(&f, b, 0, 0) < 1e-6);
            assert_true(fabs(pw_finding_cell(&f, b, 2, 0) - 0.5 * (1 - 1 / 16.0)) < 1e-3);
            assert_true(pw_finding_cell(&f, b, 2, 1) == 0);
        } else {
            assert_true(remarks(&f, "distance term: 0.469 now, 0 as constructed"));
        }
        pw_finding_fini(&f);
        destroy(&a);
    }
    struct arm a = construct(1, 16, 64, "t5");
    look(&f, "theorem1", "", &a);
    assert_true(remarks(&f, "its encoding is t5") && f.n_claims == 0);
    pw_finding_fini(&f);
    destroy(&a);
    a = construct(1, 16, 64, "none");
    struct pw_err err;
    assert_int_equal(pw_model_replace_head(a.m, 0, 1, 1, NULL, &err), PW_OK);
    look(&f, "theorem1", "", &a);
    assert_true(remarks(&f, "head 0.1 is ablated") && f.n_claims == 0);
    pw_finding_fini(&f);
    destroy(&a);
}

static void test_refused(void **state)
{
    struct pw_finding f;
    struct pw_err err;
    struct arm none = {ref_probe_model("norm=none", "none", 1), ref_probe_model("norm=none", "none", 1)};
    struct arm first = construct(1, 16, 64, "none");
    (void)state;
    assert_int_equal(ref_probe_run(&f, "theorem1", "", &none.m, &none.control, 1, &err), PW_EUSER);
    assert_string_equal(err.msg, "probe theorem1: arm 1 isn't the construction of a proof: create one with "
                                 "'construct theorem1'");
    assert_int_equal(ref_probe_run(&f, "theorem2", "", &first.m, &first.control, 1, &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "probe theorem2: arm 1 isn't the construction of this proof: create one with "
                        "'construct theorem2'");
    assert_int_equal(ref_probe_run(&f, "theorem1", "positions=65", &first.m, &first.control, 1, &err),
                     PW_EUSER);
    assert_string_equal(err.msg, "probe theorem1: positions=65: arm 1 has context=64");
    destroy(&none);
    destroy(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_widths),
                                       cmocka_unit_test(test_bend),   cmocka_unit_test(test_relative),
                                       cmocka_unit_test(test_moved),  cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
