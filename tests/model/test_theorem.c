/* test_theorem.c - tests the weights of `construct` (Kazemnejad et al. 2023, appendix C). They must be those
 * that the paper prints. All weights that the proofs leave open must be the initial values of another model
 * of this shape. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/theorem.h"

enum { VOCAB = 7, BOS = 3, T = 6, C = 8, H = 2, D = 4 };

struct bench {
    struct pw_backend *be;
    struct pw_model *m;
    float *p;
};

static struct pw_config config(int init, int layers)
{
    struct pw_config c;
    pw_opt_defaults(pw_config_opts, &c);
    c.layers = layers;
    c.width = C;
    c.heads = H;
    c.ffn = pw_theorem_ffn(T);
    c.norm = PW_NORM_NONE;
    c.scale = false;
    c.init = init;
    c.context = 32;
    c.vocab = VOCAB;
    c.n_bos = 1;
    c.bos[0] = BOS;
    return c;
}

static void make(struct bench *b, int init, int layers)
{
    struct pw_config c = config(init, layers);
    struct pw_pe_use_opts pe;
    struct pw_err err;
    assert_int_equal(pw_pe_parse(&pe, "none", &c, &err), PW_OK);
    assert_int_equal(pw_backend_cpu()->open(&b->be, 1, &err), PW_OK);
    if (pw_model_create(&b->m, pw_backend_cpu(), b->be, &c, &pe, 5, &err) != PW_OK)
        fail_msg("%s", err.msg);
    b->p = malloc(pw_model_size(b->m) * sizeof *b->p);
    pw_model_get(b->m, b->p, NULL, NULL);
}

static void drop(struct bench *b)
{
    pw_model_destroy(b->m);
    pw_backend_cpu()->close(b->be);
    free(b->p);
}

static float at(const struct bench *b, const char *name, int row, int col)
{
    int n;
    const struct pw_param *t = pw_model_params(b->m, &n);
    for (; n > 0; n--, t++)
        if (strcmp(t->name, name) == 0)
            return b->p[t->offset + (size_t)row * (size_t)t->cols + (size_t)col];
    fail_msg("no tensor %s", name);
    return 0;
}

/* Eq. 17, 18 and 19; W_Q and the other head have initial values. */
static void test_first_layer(void **state)
{
    struct bench b, drawn;
    (void)state;
    make(&b, PW_INIT_THEOREM1, 1);
    make(&drawn, PW_INIT_PEWTER, 1);
    for (int v = 0; v < VOCAB; v++) {
        assert_true(at(&b, "embed.weight", v, 0) == 1);
        assert_true(at(&b, "embed.weight", v, 1) == (v == BOS));
        assert_true(at(&b, "embed.weight", v, 2) == 0);
        for (int c = 3; c < C; c++)
            assert_true(at(&b, "embed.weight", v, c) == at(&drawn, "embed.weight", v, c));
        for (int c = 0; c < C; c++)
            assert_true(at(&b, "head.weight", v, c) == (c < 3 ? 0 : at(&drawn, "head.weight", v, c)));
    }
    for (int r = 0; r < H * D; r++)
        for (int c = 0; c < C; c++) {
            float k = at(&drawn, "layers.0.attn.k.weight", r, c);
            float v = at(&drawn, "layers.0.attn.v.weight", r, c);
            float o = c < 3 ? 0 : at(&drawn, "layers.0.attn.o.weight", c, r);
            assert_true(at(&b, "layers.0.attn.q.weight", r, c) == at(&drawn, "layers.0.attn.q.weight", r, c));
            assert_true(at(&b, "layers.0.attn.k.weight", r, c) == (r < D ? (float)(c == 0) : k));
            assert_true(at(&b, "layers.0.attn.v.weight", r, c) == (r < D ? (float)(r == 0 && c == 1) : v));
            assert_true(at(&b, "layers.0.attn.o.weight", c, r) == (r < D ? (float)(r == 0 && c == 2) : o));
        }
    drop(&b);
    drop(&drawn);
}

/* 2k ReLU(1/k - u); the MLP writes only dimension 3. */
static void test_mlp(void **state)
{
    struct bench b;
    float constants = 0;
    (void)state;
    make(&b, PW_INIT_THEOREM1, 1);
    for (int k = 1; k < T; k++) {
        assert_true(at(&b, "layers.0.mlp.up.weight", k - 1, 0) == 1.0F / (float)k);
        assert_true(at(&b, "layers.0.mlp.up.weight", k - 1, 2) == -1);
        assert_true(at(&b, "layers.0.mlp.down.weight", 2, k - 1) == 2 * (float)k);
    }
    for (int i = T - 1; i < T + 1; i++) { /* +C and 1, -C */
        assert_true(at(&b, "layers.0.mlp.up.weight", i, 0) == 1);
        constants += at(&b, "layers.0.mlp.down.weight", 2, i);
    }
    assert_true(constants == 1);
    assert_true(at(&b, "layers.0.mlp.up.weight", T + 1, 2) == 1);
    assert_true(at(&b, "layers.0.mlp.down.weight", 2, T + 1) == -1);
    for (int c = 0; c < C; c++)
        for (int i = 0; i < pw_theorem_ffn(T); i++)
            assert_true(c == 2 || at(&b, "layers.0.mlp.down.weight", c, i) == 0);
    drop(&b);
}

/* Eq. 28 and 29, in both heads of both further layers; no layer writes to the three dimensions. */
static void test_later_layers(void **state)
{
    struct bench b;
    char name[64];
    (void)state;
    make(&b, PW_INIT_THEOREM2, 3);
    for (int l = 1; l < 3; l++)
        for (int r = 0; r < H * D; r++)
            for (int c = 0; c < 3; c++) {
                snprintf(name, sizeof name, "layers.%d.attn.q.weight", l);
                assert_true(at(&b, name, r, c) == (r % D == 0 && c == 0 ? 1 : r % D == 1 && c == 2 ? -1 : 0));
                snprintf(name, sizeof name, "layers.%d.attn.k.weight", l);
                assert_true(at(&b, name, r, c) == (r % D == 0 && c == 2) + (r % D == 1 && c == 0));
                snprintf(name, sizeof name, "layers.%d.attn.o.weight", l);
                assert_true(at(&b, name, c, r) == 0);
                snprintf(name, sizeof name, "layers.%d.mlp.down.weight", l);
                assert_true(at(&b, name, c, r) == 0);
            }
    assert_true(at(&b, "layers.1.attn.q.weight", 2, 3) != 0);
    drop(&b);
}

/* The value of the sum 1 + sum 2k ReLU(1/k - 1/t), within the MLP's width and beyond it. */
static void test_count(void **state)
{
    (void)state;
    for (int t = 1; t <= 32; t++)
        assert_true(fabs(pw_theorem_count(1.0 / t, 32) - t) < 1e-12);
    assert_true(fabs(pw_theorem_count(1.0 / 40, 32) - 38.2) < 1e-12);
    assert_true(fabs(pw_theorem_count(1.0 / 64, 32) - 47.5) < 1e-12);
    assert_true(fabs(pw_theorem_count(1.0 / 128, 32) - 55.25) < 1e-12);
    assert_true(fabs(pw_theorem_count(0, 32) - 63) < 1e-12);
    assert_true(pw_theorem_count(0.3, 1) == 1);
    for (int n = 1; n < 100; n++)
        assert_int_equal(pw_theorem_T(pw_theorem_ffn(n)), n);
}

/* Each proof requires a particular shape; other shapes must be refused. */
static void test_refused(void **state)
{
    static const struct {
        const char *key, *value;
        int init;
    } wrong[] = {{"norm", "rmsnorm", PW_INIT_THEOREM1}, {"act", "gelu", PW_INIT_THEOREM1},
                 {"bias", "on", PW_INIT_THEOREM1},      {"causal", "off", PW_INIT_THEOREM1},
                 {"ffn", "2", PW_INIT_THEOREM1},        {"ffn", "2051", PW_INIT_THEOREM1},
                 {"width", "3", PW_INIT_THEOREM1},      {"scale", "on", PW_INIT_THEOREM2},
                 {"layers", "1", PW_INIT_THEOREM2},     {"head_width", "1", PW_INIT_THEOREM2}};
    struct pw_err err;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pw_config c = config(wrong[i].init, 2);
        c.head_width = D;
        assert_int_equal(pw_config_check(&c, &err), PW_OK);
        assert_int_equal(pw_opt_set(pw_config_opts, &c, "test", wrong[i].key, wrong[i].value, &err), PW_OK);
        assert_int_equal(pw_config_check(&c, &err), PW_EUSER);
        assert_non_null(strstr(err.msg, "init=theorem"));
        c.init = PW_INIT_PEWTER;
        assert_int_equal(pw_config_check(&c, &err), PW_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_layer), cmocka_unit_test(test_mlp),
                                       cmocka_unit_test(test_later_layers), cmocka_unit_test(test_count),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
