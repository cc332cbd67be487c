/* test_config.c - tests presets, limits and messages of models and optimisers, and names and shapes of
 * tensors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/model_int.h"
#include "ref_toy.h"

static const char *set(const struct pw_opt *table, void *target, const char *key, const char *value)
{
    static struct pw_err err;

    err = (struct pw_err){0};
    return pw_opt_set(table, target, "model", key, value, &err) ? err.msg : "";
}

static void test_presets(void **state)
{
    struct pw_config c = {.vocab = 5};
    struct pw_optim o;
    struct pw_err err = {0};

    (void)state;
    assert_int_equal(pw_preset("tiny", &c, &o, &err), PW_OK);
    assert_int_equal(c.layers, 2);
    assert_int_equal(c.width, 64);
    assert_int_equal(c.heads, 8);
    assert_int_equal(c.head_width, 8);
    assert_int_equal(c.ffn, 256);
    assert_int_equal(c.norm, PW_NORM_RMS);
    assert_int_equal(c.norm_at, 0);
    assert_int_equal(c.act, 0);
    assert_true(!c.bias && !c.tied && c.scale && c.causal && c.logit_scale == 1);
    assert_int_equal(c.context, 128);
    assert_int_equal(c.vocab, 5); /* set by the task */
    assert_true(o.lr == 3e-3f && o.beta1 == 0.9f && o.beta2 == 0.95f && o.eps == 1e-8f && o.decay == 0.01f);
    assert_true(o.clip == 1 && o.floor == 0.05f);
    assert_int_equal(o.warmup, 100);
    assert_int_equal(o.steps, 1000);
    assert_int_equal(o.schedule, PW_SCHEDULE_COSINE);
    assert_int_equal(o.batch, 32);

    assert_int_equal(pw_preset("small", &c, &o, &err), PW_OK);
    assert_int_equal(c.layers, 3);
    assert_int_equal(c.width, 128);
    assert_int_equal(c.head_width, 16);
    assert_int_equal(c.ffn, 512);
    assert_int_equal(c.context, 256);
    assert_true(o.lr == 1.5e-3f);
    assert_int_equal(pw_preset("medium", &c, &o, &err), PW_OK);
    assert_int_equal(c.layers, 6);
    assert_int_equal(c.width, 256);
    assert_int_equal(c.heads, 8);
    assert_int_equal(c.context, 512);
    assert_true(!c.bias && !c.tied && o.lr == 1e-3f && o.batch == 32);
    for (int i = 0; pw_preset_names[i] != NULL; i++)
        assert_int_equal(pw_preset(pw_preset_names[i], &c, &o, &err), PW_OK);
    assert_int_equal(pw_preset("tinny", &c, &o, &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "no preset 'tinny'; did you mean 'tiny'?; there are tiny, small, medium and paper");
}

/* Kazemnejad et al. 2023, Table 2; and which parameters have weight decay. */
static void test_paper(void **state)
{
    struct pw_config c = {.vocab = 32100};
    struct pw_optim o;
    struct pw_pe_use_opts t5;
    struct pw_param_layout lay;
    struct pw_err err = {0};

    (void)state;
    assert_int_equal(pw_preset("paper", &c, &o, &err), PW_OK);
    assert_int_equal(c.layers, 12);
    assert_int_equal(c.width, 768);
    assert_int_equal(c.head_width, 64);
    assert_int_equal(c.ffn, 3072);
    assert_true(!c.bias && c.tied && !c.scale && c.norm == PW_NORM_RMS && c.act == 0);
    assert_true(fabs(c.logit_scale - 0.036084392) < 1e-8 && c.dropout == 0.1f);
    assert_true(o.lr == 3e-5f && o.beta1 == 0.9f && o.beta2 == 0.999f && o.eps == 1e-8f && o.clip == 1);
    assert_true(o.decay == 0.05f && o.decay_gains);
    assert_int_equal(o.batch, 64);
    assert_true(fabs(pw_optim_lr(&o, 2400) - 3e-5) < 1e-11 && fabs(pw_optim_lr(&o, 1200) - 1.5e-5) < 1e-11);
    assert_true(fabs(pw_optim_lr(&o, 21200) - 1.505e-5) < 1e-10); /* half way down to 1e-7 */
    assert_true(fabs(pw_optim_lr(&o, 40000) - 1e-7) < 1e-12);

    t5 = toy_pe("t5", &c);
    assert_int_equal(pw_layout_init(&lay, &c, &t5, &err), PW_OK);
    assert_int_equal(lay.size, 109607040); /* the size of the paper's model */
    for (int i = 0; i < lay.n; i++) {
        const struct pw_param *p = &lay.params[i];
        const char *name = p->name;
        double std = strstr(name, "attn.q") != NULL     ? 1 / sqrt(768 * 64)
                     : strstr(name, "mlp.down") != NULL ? 1 / sqrt(3072)
                     : strstr(name, "norm") != NULL     ? 0
                     : strstr(name, "embed") != NULL    ? 1
                                                        : 1 / sqrt(768);
        assert_true(fabs(p->init_std - std) < 1e-7);
    }
    pw_layout_fini(&lay);

    static const char *const released[][2] = {
        {"rotary", "rotary base=10000 dims=16 pairing=interleaved"},
        {"rotary dims=64", "rotary base=10000 dims=64 pairing=interleaved"},
        {"rotary dims=0 pairing=half", "rotary base=10000 dims=0 pairing=half"},
        {"sinusoidal", "sinusoidal base=10000 layout=split amplitude=1"},
        {"sinusoidal layout=interleaved", "sinusoidal base=10000 layout=interleaved amplitude=1"},
        {"t5", "t5 buckets=32 distance=128"},
    };
    for (size_t i = 0; i < sizeof released / sizeof *released; i++) {
        struct pw_pe_use_opts use = toy_pe(released[i][0], &c);
        struct pw_str s = {0};
        pw_pe_print(&use, &s);
        assert_string_equal(pw_str_text(&s), released[i][1]);
        pw_str_fini(&s);
    }

    pw_config_unset_width(&c); /* as 'model width=256' after 'model paper' */
    c.width = 256;
    c.heads = 4;
    assert_int_equal(pw_config_check(&c, &err), PW_OK);
    assert_int_equal(c.head_width, 64);
    assert_int_equal(c.ffn, 1024);
    assert_true(c.logit_scale == 0.0625f);
    c.context = 128;
    t5 = toy_pe("t5", &c); /* the released code's buckets, at every length */
    assert_int_equal(t5.pe->param_rows(t5.o.bytes, &c), 32);
}

/* decay_gains applies decay to the gains of norms and to no bias. With a zero gradient, only decay changes a
 * parameter. */
static void test_decay_of_gains(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        struct toy toy = toy_open(1);
        struct pw_model *m = toy_model(&toy, "layers=1 width=8 heads=2 bias=on norm=layernorm", "t5", 7, 1);
        struct pw_optim o = toy_optim("warmup=0 lr=0.001 decay=1 clip=1e-30");
        struct pw_batch *b = toy_batch(1, 3, 4, 9, 7);
        struct pw_step_result result;
        struct pw_err err = {0};
        static float before[4096], after[4096];
        int n;
        o.decay_gains = on;
        toy_shake(m, 2);
        pw_model_get(m, before, NULL, NULL);
        assert_true(pw_model_size(m) <= 4096);
        o.eps = 0.1f; /* with the clip: a gradient without effect */
        assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
        pw_model_get(m, after, NULL, NULL);
        const struct pw_param *p = pw_model_params(m, &n);
        for (int i = 0; i < n; i++) {
            bool gain = strstr(p[i].name, "norm") != NULL && strstr(p[i].name, "weight") != NULL;
            bool decays = gain ? on : p[i].rows > 0 && !p[i].pe;
            for (size_t k = p[i].offset; k < p[i].offset + pw_param_count(&p[i]); k++)
                assert_true(fabsf(after[k] - before[k] * (decays ? 0.999f : 1)) <= 1e-6f * fabsf(before[k]));
        }
        toy_batch_free(b);
        pw_model_destroy(m);
        toy_close(&toy);
    }
}

static void test_options(void **state)
{
    struct pw_config c;
    struct pw_optim o;

    (void)state;
    pw_opt_defaults(pw_config_opts, &c);
    pw_opt_defaults(pw_optim_opts, &o);
    assert_string_equal(set(pw_config_opts, &c, "layers", "64"), "");
    assert_string_equal(set(pw_config_opts, &c, "layers", "65"), "model: layers=65: allowed are 1..64");
    assert_string_equal(set(pw_config_opts, &c, "layers", "0"), "model: layers=0: allowed are 1..64");
    assert_string_equal(set(pw_config_opts, &c, "norm", "layernorm"), "");
    assert_int_equal(c.norm, PW_NORM_LAYER);
    assert_string_equal(set(pw_config_opts, &c, "norm", "batchnorm"),
                        "model: norm=batchnorm: allowed are rmsnorm|layernorm|none");
    assert_string_equal(set(pw_config_opts, &c, "act", "gelu_tanh"), "");
    assert_int_equal(c.act, 2);
    assert_string_equal(set(pw_config_opts, &c, "tied", "yes"), "model: tied=yes: allowed are on|off");
    assert_string_equal(set(pw_optim_opts, &o, "beta2", "0.999"), "");
    assert_true(strstr(set(pw_optim_opts, &o, "beta2", "1"), "allowed are") != NULL);
    assert_true(strstr(set(pw_optim_opts, &o, "lr", "-1"), "allowed are") != NULL);
    assert_true(strstr(set(pw_optim_opts, &o, "lr", "nan"), "allowed are") != NULL);
}

static void test_relations(void **state)
{
    struct pw_config c = toy_config("width=48 heads=6", 3);
    struct pw_err err = {0};

    (void)state;
    assert_int_equal(c.head_width, 8);
    assert_int_equal(c.ffn, 192);
    pw_opt_defaults(pw_config_opts, &c);
    c.heads = 7;
    assert_int_equal(pw_config_check(&c, &err), PW_EUSER);
    assert_string_equal(err.msg,
                        "width=64 heads=7: the width must be a multiple of the heads; or use head_width=N");
    assert_int_equal(c.ffn, 0); /* unchanged */
    c.head_width = 5;
    assert_int_equal(pw_config_check(&c, &err), PW_OK);
    c.heads = 128;
    c.head_width = 1024;
    assert_int_equal(pw_config_check(&c, &err), PW_EUSER);
}

static void test_learning_rate(void **state)
{
    struct pw_optim o = toy_optim("lr=0.01 warmup=10 steps=110 floor=0.1");

    (void)state;
    assert_true(fabs(pw_optim_lr(&o, 1) - 0.001) < 1e-9);
    assert_true(fabs(pw_optim_lr(&o, 5) - 0.005) < 1e-9);
    assert_true(fabs(pw_optim_lr(&o, 10) - 0.01) < 1e-9);
    assert_true(fabs(pw_optim_lr(&o, 60) - 0.0055) < 1e-9); /* half way */
    assert_true(fabs(pw_optim_lr(&o, 35) - (0.001 + 0.009 * (0.5 + sqrt(0.125)))) <
                1e-9); /* a quarter: cos 45 */
    assert_true(fabs(pw_optim_lr(&o, 110) - 0.001) < 1e-9);
    assert_true(fabs(pw_optim_lr(&o, 100000) - 0.001) < 1e-9);
    for (long t = 11; t < 120; t++)
        assert_true(pw_optim_lr(&o, t) <= pw_optim_lr(&o, t - 1));
    o.schedule = PW_SCHEDULE_LINEAR;
    assert_true(fabs(pw_optim_lr(&o, 35) - 0.00775) < 1e-9);
    assert_true(fabs(pw_optim_lr(&o, 110) - 0.001) < 1e-9);
    o.schedule = PW_SCHEDULE_CONSTANT;
    assert_true(pw_optim_lr(&o, 9) < 0.01f);
    assert_true(pw_optim_lr(&o, 35) == 0.01f && pw_optim_lr(&o, 5000) == 0.01f);
    o = toy_optim("warmup=0 steps=1");
    assert_true(pw_optim_lr(&o, 1) == 0.05f * 0.003f);
}

/* Names, shapes, decay and initial values; the parameter count of the paper's model (109,607,040). */
static void test_parameters(void **state)
{
    struct pw_config c = toy_config("layers=12 width=768 heads=12 tied=on context=512", 32100);
    struct pw_pe_use_opts t5 = toy_pe("t5", &c);
    struct pw_param_layout lay;
    struct pw_err err = {0};

    (void)state;
    assert_int_equal(pw_layout_init(&lay, &c, &t5, &err), PW_OK);
    assert_int_equal(lay.size, 109607040);
    assert_int_equal(lay.size - lay.core, 32 * 12);
    pw_layout_fini(&lay);

    c = toy_config("layers=1 width=16 heads=4 ffn=24 bias=on norm=layernorm context=10", 9);
    t5 = toy_pe("learned", &c);
    assert_int_equal(pw_layout_init(&lay, &c, &t5, &err), PW_OK);
    static const struct {
        const char *name;
        int rows, cols;
        double std;
        float value;
        bool decay;
    } want[] = {
        {"embed.weight", 9, 16, 1, 0, true},
        {"layers.0.norm1.weight", 0, 16, 0, 1, false},
        {"layers.0.norm1.bias", 0, 16, 0, 0, false},
        {"layers.0.attn.q.weight", 16, 16, 0.25, 0, true},
        {"layers.0.attn.k.weight", 16, 16, 0.25, 0, true},
        {"layers.0.attn.v.weight", 16, 16, 0.25, 0, true},
        {"layers.0.attn.q.bias", 0, 16, 0, 0, false},
        {"layers.0.attn.k.bias", 0, 16, 0, 0, false},
        {"layers.0.attn.v.bias", 0, 16, 0, 0, false},
        {"layers.0.attn.o.weight", 16, 16, 0.25 / M_SQRT2, 0, true},
        {"layers.0.attn.o.bias", 0, 16, 0, 0, false},
        {"layers.0.norm2.weight", 0, 16, 0, 1, false},
        {"layers.0.norm2.bias", 0, 16, 0, 0, false},
        {"layers.0.mlp.up.weight", 24, 16, 0.25, 0, true},
        {"layers.0.mlp.up.bias", 0, 24, 0, 0, false},
        {"layers.0.mlp.down.weight", 16, 24, 0.14433756729740643, 0, true},
        {"layers.0.mlp.down.bias", 0, 16, 0, 0, false},
        {"norm.weight", 0, 16, 0, 1, false},
        {"norm.bias", 0, 16, 0, 0, false},
        {"head.weight", 9, 16, 0.25, 0, true},
        {"pe.table", 10, 16, 1, 0, true},
    };
    size_t offset = 0;
    assert_int_equal(lay.n, sizeof want / sizeof *want);
    for (int i = 0; i < lay.n; i++) {
        const struct pw_param *p = &lay.params[i];
        assert_string_equal(p->name, want[i].name);
        assert_int_equal(p->rows, want[i].rows);
        assert_int_equal(p->cols, want[i].cols);
        assert_true(fabs(p->init_std - want[i].std) < 1e-7 && p->init_value == want[i].value);
        assert_int_equal(p->decay, want[i].decay);
        assert_int_equal(p->offset, offset);
        offset += pw_param_count(p);
    }
    assert_int_equal(offset, lay.size);
    pw_layout_fini(&lay);
}

/* Initial values have the standard deviation that the parameter list states. Drawing them in pieces gives the
 * same values. */
static void test_first_values(void **state)
{
    struct pw_param p = {.name = "x", .rows = 100, .cols = 200, .init_std = 0.5f};
    static float x[20000], y[20000];
    double sum = 0, squares = 0;

    (void)state;
    pw_param_init(&p, x, 1, 0, pw_param_count(&p));
    for (int i = 0; i < 20000; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    for (size_t at = 0; at < 20000; at += 7000)
        pw_param_init(&p, y + at, 1, at, at < 14000 ? 7000 : 6000);
    assert_memory_equal(x, y, sizeof x);
    assert_true(fabs(sum / 20000) < 4 * 0.5 / sqrt(20000));
    assert_true(fabs(sqrt(squares / 20000) - 0.5) < 4 * 0.5 / sqrt(40000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),    cmocka_unit_test(test_options),
        cmocka_unit_test(test_relations),  cmocka_unit_test(test_learning_rate),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_first_values),
        cmocka_unit_test(test_paper),      cmocka_unit_test(test_decay_of_gains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
