/* test_families.c - tests that a model with the options of published families is saved, cloned, swapped and
 * inspected, and that options which contradict each other are refused with one line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/metadata.h"
#include "ref_toy.h"

enum { V = 11 };

#define SIZES "layers=2 width=24 heads=6 ffn=10 context=32 "

static const struct {
    const char *options, *pe;
} families[] = {
    {SIZES "kv_heads=2 gated=on act=silu norm_eps=2e-5 bias=qkv", "rotary"},
    {SIZES "kv_heads=3 gated=on act=gelu_tanh qk_norm=head post_norm=on embed_scale=4.9 score_scale=0.3 "
           "logit_cap=4 tied=on",
     "rotary"},
    {SIZES "norm=layernorm bias=mlp head_bias=on parallel=shared embed_norm=on", "alibi"},
    {SIZES "norm=layernorm bias=on parallel=on act=gelu", "t5"},
    {SIZES "norm=layernorm act=gelu qkv_clip=0.5 tied=on", "alibi"},
    {SIZES "norm=layernorm norm_at=after bias=on tied=on embed_width=10", "learned"},
    {SIZES "embed_width=40 embed_scale=2", "sinusoidal"},
};
enum { FAMILIES = sizeof families / sizeof *families };

static struct pw_model *trained(struct toy *toy, int i, int steps)
{
    struct pw_model *m = toy_model(toy, families[i].options, families[i].pe, V, 3);
    struct pw_optim o = toy_optim("lr=0.01 warmup=2");
    struct pw_step_result r;
    struct pw_err err = {0};

    for (int k = 0; k < steps; k++) {
        struct pw_batch *b = toy_batch((uint64_t)k, 4, 3, 12, V);
        if (pw_model_step(m, &o, b, NULL, &r, &err))
            fail_msg("%s", err.msg);
        toy_batch_free(b);
    }
    return m;
}

/* Both models take the same step to the same bits. */
static void assert_alike(struct pw_model *a, struct pw_model *b)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=2");
    struct pw_batch *batch = toy_batch(99, 4, 3, 12, V);
    struct pw_step_result r[2];
    struct pw_err err = {0};
    uint64_t d[2][2];

    assert_int_equal(pw_model_step(a, &o, batch, NULL, &r[0], &err), PW_OK);
    assert_int_equal(pw_model_step(b, &o, batch, NULL, &r[1], &err), PW_OK);
    assert_memory_equal(&r[0], &r[1], sizeof r[0]);
    pw_model_digest(a, d[0]);
    pw_model_digest(b, d[1]);
    assert_memory_equal(d[0], d[1], sizeof d[0]);
    toy_batch_free(batch);
}

static void test_files(void **state)
{
    char file[] = "/tmp/pewter-families-XXXXXX";
    struct pw_err err = {0};

    assert_true(close(mkstemp(file)) == 0);
    for (int i = 0; i < FAMILIES; i++) {
        struct pw_model *m = trained(*state, i, 2), *again;
        struct pw_checkpoint_info info = {.optim = toy_optim("")};
        struct pw_checkpoint *c;
        if (pw_checkpoint_save(m, file, &info, true, &err) || pw_checkpoint_open(&c, file, &err))
            fail_msg("%s", err.msg);
        const struct pw_config *was = pw_model_config(m), *is = &pw_checkpoint_info(c)->config;
        for (const struct pw_opt *o = pw_config_opts; o->name != NULL; o++) {
            struct pw_str a = {0}, b = {0};
            pw_opt_value(o, was, &a);
            pw_opt_value(o, is, &b);
            assert_string_equal(pw_str_text(&a), pw_str_text(&b));
            pw_str_fini(&a);
            pw_str_fini(&b);
        }
        again = toy_model(*state, families[i].options, families[i].pe, V, 8);
        if (pw_checkpoint_load(c, again, &err))
            fail_msg("%s", err.msg);
        assert_alike(m, again);
        pw_checkpoint_close(c);
        pw_model_destroy(m);
        pw_model_destroy(again);
    }
    unlink(file);
}

static void test_copies(void **state)
{
    struct toy *toy = *state;
    struct pw_err err = {0};

    for (int i = 0; i < FAMILIES; i++) {
        struct pw_model *m = trained(toy, i, 2), *copy;
        struct pw_pe_use_opts none = toy_pe("none", pw_model_config(m));
        assert_int_equal(pw_model_clone(&copy, m, toy->ops, toy->be, &err), PW_OK);
        assert_alike(m, copy);
        toy_swap(&m, &none, 2, false);
        toy_swap(&copy, &none, 2, false);
        assert_alike(m, copy);
        pw_model_destroy(m);
        pw_model_destroy(copy);
    }
}

/* Query heads of a group see one key and one value; a normed head has the norm that its gain gives it. */
static void test_shared_heads(void **state)
{
    enum { L = 2, H = 6, K = 2, D = 4, T = 9 };
    static const int tokens[T] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    float q[L * T * H * D], k[L * T * H * D], v[L * T * H * D], mlp[L * T * 10], logits[T * V];
    struct pw_inspection in = {.q = q, .k = k, .v = v, .mlp = mlp, .logits = logits};
    struct pw_model *m =
        toy_model(*state, SIZES "kv_heads=2 gated=on qk_norm=head logit_cap=0.5", "none", V, 3);
    struct pw_err err = {0};

    assert_int_equal(pw_model_inspect(m, tokens, T, &in, &err), PW_OK);
    for (int row = 0; row < L * T; row++)
        for (int h = 0; h < H; h++) {
            const float *key = k + (row * H + h) * D, *value = v + (row * H + h) * D;
            int first = h / (H / K) * (H / K);
            double square = 0;
            assert_memory_equal(key, k + (row * H + first) * D, D * sizeof *key);
            assert_memory_equal(value, v + (row * H + first) * D, D * sizeof *value);
            for (int d = 0; d < D; d++)
                square += (double)key[d] * (double)key[d];
            assert_true(fabs(square - D) < 1e-3); /* gains are 1 */
        }
    for (int i = 0; i < T * V; i++)
        assert_true(fabsf(logits[i]) <= 0.5f);
    pw_model_destroy(m);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *options, *message;
    } wrong[] = {
        {"heads=8 kv_heads=3", "kv_heads=3 heads=8: the heads must be a multiple of kv_heads"},
        {"heads=4 kv_heads=8", "kv_heads=8 heads=4: the heads must be a multiple of kv_heads"},
        {"parallel=on norm_at=ff", "parallel=on norm_at=ff: a parallel block needs norm_at=both"},
        {"parallel=shared norm_at=ff", "parallel=shared norm_at=ff: a parallel block needs norm_at=both"},
        {"parallel=on norm_at=after", "parallel=on norm_at=after: a parallel block needs norm_at=both"},
        {"post_norm=on norm_at=after",
         "norm_at=after post_norm=on: one norm after attention and MLP is allowed; "
         "use post_norm=off or norm_at=both"},
        {"norm=none norm_at=after",
         "norm_at=after norm=none: there is no norm to apply; use norm=rmsnorm or layernorm"},
        {"norm=none post_norm=on",
         "post_norm=on norm=none: there is no norm to apply; use norm=rmsnorm or layernorm"},
        {"norm=none embed_norm=on",
         "embed_norm=on norm=none: there is no norm to apply; use norm=rmsnorm or layernorm"},
    };
    static const char *const with_theorem[] = {"gated=on",     "kv_heads=2",  "parallel=on",
                                               "qk_norm=head", "bias=mlp",    "act=silu",
                                               "head_bias=on", "logit_cap=1", "embed_width=5"};
    struct pw_err err = {0};
    struct pw_config c;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        toy_set(&c, wrong[i].options);
        assert_int_equal(pw_config_check(&c, &err), PW_EUSER);
        assert_string_equal(err.msg, wrong[i].message);
    }
    for (size_t i = 0; i < sizeof with_theorem / sizeof *with_theorem; i++) {
        toy_set(&c, "init=theorem1 norm=none ffn=20");
        assert_int_equal(pw_config_check(&c, &err), PW_OK);
        char text[100];
        snprintf(text, sizeof text, "init=theorem1 norm=none ffn=20 %s", with_theorem[i]);
        toy_set(&c, text);
        assert_int_equal(pw_config_check(&c, &err), PW_EUSER);
        assert_non_null(strstr(err.msg, "init=theorem1 needs norm=none act=relu bias=off"));
    }
    toy_set(&c, "heads=8 kv_heads=8");
    assert_int_equal(pw_config_check(&c, &err), PW_OK);
    toy_set(&c, "width=32 embed_width=32"); /* no projection */
    assert_int_equal(pw_config_check(&c, &err), PW_OK);
    assert_int_equal(c.embed_width, 0);
}

/* Canonical texts of models without these options are as they were. */
static void test_texts(void **state)
{
    struct pw_config c;
    struct pw_str text = {0};

    (void)state;
    toy_set(&c, "");
    pw_opt_print(pw_config_opts, &c, false, &text);
    assert_null(strstr(pw_str_text(&text), "gated"));
    assert_non_null(strstr(pw_str_text(&text), " context=128"));
    assert_string_equal(strstr(pw_str_text(&text), " context="), " context=128");
    pw_str_clear(&text);
    toy_set(&c, "bias=on kv_heads=2 logit_cap=30");
    pw_opt_print(pw_config_opts, &c, false, &text);
    assert_non_null(strstr(pw_str_text(&text), " bias=on"));
    assert_string_equal(strstr(pw_str_text(&text), " context="), " context=128 kv_heads=2 logit_cap=30");
    pw_str_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),    cmocka_unit_test(test_copies), cmocka_unit_test(test_shared_heads),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
