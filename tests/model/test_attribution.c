/* test_attribution.c - tests the attribution of logits. For every kind of model the parts of a logit must add
 * up to it. Each part must have its defined value. The last line of the lens must equal the model's
 * output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/attribution.h"
#include "ref_toy.h"

enum { T = 7, V = 11, MOST = 40 };

static const int tokens[T] = {2, 9, 4, 4, 7, 3, 10};

struct look {
    struct toy toy;
    struct pw_model *m;
    const struct pw_config *cfg;
    struct pw_inspection in;
    int n_parts;
    struct pw_part parts[MOST];
    double part[MOST * V], mean[MOST];
    float *lens;
};

static float *room(size_t n)
{
    float *p = calloc(n, sizeof *p);
    assert_non_null(p);
    return p;
}

static void inspect(struct look *k)
{
    struct pw_err err = {0};
    if (pw_model_inspect(k->m, tokens, T, &k->in, &err))
        fail_msg("%s", err.msg);
}

static void open(struct look *k, const char *options, const char *pe)
{
    *k = (struct look){.toy = toy_open(1)};
    k->m = toy_model(&k->toy, options, pe, V, 3);
    toy_shake(k->m, 5);
    k->cfg = pw_model_config(k->m);
    size_t L = (size_t)k->cfg->layers, C = (size_t)k->cfg->width;
    k->in = (struct pw_inspection){.resid = room((L + 1) * T * C),
                                   .z = room(L * T * (size_t)k->cfg->heads * (size_t)k->cfg->head_width),
                                   .mlp = room(L * T * (size_t)k->cfg->ffn),
                                   .logits = room(T * V)};
    k->lens = calloc((L + 1) * V, sizeof *k->lens);
    assert_non_null(k->lens);
    k->n_parts = pw_model_parts(k->m, NULL);
    assert_in_range(k->n_parts, 1, MOST);
    assert_int_equal(pw_model_parts(k->m, k->parts), k->n_parts);
    inspect(k);
}

static void close_(struct look *k)
{
    free(k->in.resid);
    free(k->in.z);
    free(k->in.mlp);
    free(k->in.logits);
    free(k->lens);
    pw_model_destroy(k->m);
    toy_close(&k->toy);
}

static void attribute(struct look *k, int t)
{
    int all[V];
    struct pw_err err = {0};
    for (int v = 0; v < V; v++)
        all[v] = v;
    assert_int_equal(pw_model_attribute(k->m, &k->in, tokens, T, t, all, V, k->part, k->mean, &err), PW_OK);
}

static const struct {
    const char *options, *pe;
    bool position, bias;
} kinds[] = {
    {"layers=2 width=16 heads=2", "none", false, false},
    {"layers=2 width=16 heads=4 norm=rmsnorm bias=on tied=on logit_scale=0", "learned", true, true},
    {"layers=3 width=12 heads=3 norm=layernorm bias=on tied=off", "sinusoidal", true, true},
    {"layers=1 width=16 heads=2 norm=layernorm bias=off", "t5", false, false},
    {"layers=2 width=16 heads=2 norm=none tied=off logit_scale=0.5", "rotary", false, false},
    {"layers=2 width=16 heads=2 norm=none bias=on", "alibi", false, true},
    {"layers=2 width=16 heads=2 norm_at=ff act=relu scale=off dropout=0.3", "t5", false, false},
    {"layers=2 width=16 heads=2 head_width=5 ffn=9 norm_at=ff norm=layernorm bias=on causal=off", "learned",
     true, true},
    {"layers=2 width=16 heads=4 kv_heads=2 gated=on act=silu qk_norm=head bias=qkv", "rotary", false, false},
    {"layers=2 width=16 heads=2 norm=layernorm bias=mlp head_bias=on parallel=shared", "learned", true, true},
    {"layers=2 width=16 heads=2 parallel=on head_bias=on tied=on", "none", false, true},
    {"layers=2 width=16 heads=2 adapter=3 post_norm=on", "learned", true, false},
    /* The MLP's matrix is read in two parts. */
    {"layers=1 width=80 heads=2 ffn=8192 adapter=2 post_norm=on", "none", false, false},
    {"layers=2 width=16 heads=2 norm=layernorm bias=on embed_norm=on embed_scale=2", "learned", true, true},
    {"layers=2 width=16 heads=2 post_norm=on embed_scale=4 logit_cap=2 tied=on", "rotary", false, false},
    {"layers=2 width=16 heads=2 post_norm=on norm=layernorm bias=on head_bias=on logit_cap=1", "learned",
     true, true},
    {"layers=3 width=16 heads=2 norm_at=after logit_scale=0.5", "rotary", false, false},
    {"layers=2 width=16 heads=4 norm_at=after norm=layernorm bias=on tied=on", "learned", true, true},
    {"layers=2 width=16 heads=2 norm_at=after norm=layernorm bias=mlp embed_norm=on embed_scale=2 "
     "logit_cap=2",
     "sinusoidal", true, true},
    {"layers=2 width=16 heads=2 norm_at=after adapter=3 kv_heads=1 gated=on", "t5", false, false},
    {"layers=2 width=16 heads=2 norm_at=after norm=layernorm bias=on tied=on embed_width=6", "learned", true,
     true},
    {"layers=2 width=16 heads=2 embed_width=30 embed_norm=on embed_scale=2 head_bias=on logit_cap=2",
     "sinusoidal", true, true},
};

static void parts_sum_up_to_the_logit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct look k;
        open(&k, kinds[i].options, kinds[i].pe);
        assert_int_equal(k.n_parts,
                         1 + kinds[i].position + k.cfg->layers * (k.cfg->heads + 1) + kinds[i].bias);
        for (int t = 0; t < T; t++) {
            double all = 0, mean = 0;
            attribute(&k, t);
            for (int v = 0; v < V; v++) {
                double sum = 0;
                for (int p = 0; p < k.n_parts; p++)
                    sum += k.part[p * V + v];
                if (!(fabs(sum - (double)k.in.logits[t * V + v]) < 2e-5))
                    fail_msg("%s %s: row %d token %d: %.7f is not %.7f", kinds[i].options, kinds[i].pe, t, v,
                             sum, (double)k.in.logits[t * V + v]);
                all += sum;
            }
            for (int p = 0; p < k.n_parts; p++)
                mean += k.mean[p];
            assert_true(fabs(mean - all / V) < 1e-9);
        }
        close_(&k);
    }
}

static void the_lens_ends_at_the_logits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct look k;
        struct pw_err err = {0};
        open(&k, kinds[i].options, kinds[i].pe);
        for (int t = 0; t < T; t++) {
            double apart = 0;
            float one[V];
            assert_int_equal(pw_model_lens(k.m, &k.in, T, t, 0, k.cfg->layers + 1, k.lens, &err), PW_OK);
            for (int l = 0; l <= k.cfg->layers; l++) { /* a row alone has the same bits */
                assert_int_equal(pw_model_lens(k.m, &k.in, T, t, l, 1, one, &err), PW_OK);
                assert_memory_equal(one, k.lens + (size_t)l * V, sizeof one);
            }
            for (int v = 0; v < V; v++) {
                double last = (double)k.lens[(size_t)k.cfg->layers * V + v], first = (double)k.lens[v];
                assert_true(fabs(last - (double)k.in.logits[t * V + v]) < 2e-5);
                apart += fabs(first - last);
            }
            assert_true(apart > 0.01); /* the layers have an effect */
        }
        close_(&k);
    }
}

/* Without a norm the parts are independent. In the last layer, zeroing a head's columns of W_o must therefore
 * change the logits by exactly the head's part. */
static void a_head_s_part_is_what_goes_with_it(void **state)
{
    (void)state;
    struct look k;
    open(&k, "layers=1 width=12 heads=3 norm=none bias=on ffn=4", "none");
    size_t size = pw_model_size(k.m);
    float *p = room(size), *was = room(T * V);
    int n;
    const struct pw_param *list = pw_model_params(k.m, &n);

    /* only the MLP follows the head, and it is zeroed */
    pw_model_get(k.m, p, NULL, NULL);
    for (int i = 0; i < n; i++)
        if (strstr(list[i].name, "mlp.down.weight") != NULL)
            memset(p + list[i].offset, 0, sizeof *p * (size_t)list[i].rows * (size_t)list[i].cols);
    pw_model_put(k.m, p, NULL, NULL);
    inspect(&k);
    memcpy(was, k.in.logits, sizeof *was * T * V);
    attribute(&k, T - 1);
    assert_int_equal(k.parts[2].kind, PW_PART_HEAD);
    assert_int_equal(k.parts[2].head, 1);
    for (int i = 0; i < n; i++)
        if (strstr(list[i].name, "attn.o.weight") != NULL)
            for (int r = 0; r < list[i].rows; r++)
                for (int d = 4; d < 8; d++)
                    p[list[i].offset + (size_t)r * (size_t)list[i].cols + (size_t)d] = 0;
    pw_model_put(k.m, p, NULL, NULL);
    inspect(&k);
    for (int v = 0; v < V; v++) {
        size_t at = (T - 1) * V + (size_t)v;
        assert_true(fabs((double)was[at] - (double)k.in.logits[at] - k.part[2 * V + v]) < 2e-5);
    }
    free(p);
    free(was);
    close_(&k);
}

/* Attribution of some tokens must give the same numbers as of all tokens. */
static void tokens_are_taken_apart_one_by_one(void **state)
{
    (void)state;
    struct look k;
    struct pw_err err = {0};
    double two[MOST * 2], mean[MOST];
    open(&k, "layers=2 width=16 heads=2", "t5");
    attribute(&k, 3);
    assert_int_equal(pw_model_attribute(k.m, &k.in, tokens, T, 3, (const int[]){8, 0}, 2, two, mean, &err),
                     PW_OK);
    for (int p = 0; p < k.n_parts; p++) {
        assert_true(two[2 * p] == k.part[p * V + 8]);
        assert_true(two[2 * p + 1] == k.part[p * V]);
        assert_true(mean[p] == k.mean[p]);
    }
    close_(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_up_to_the_logit),
        cmocka_unit_test(the_lens_ends_at_the_logits),
        cmocka_unit_test(a_head_s_part_is_what_goes_with_it),
        cmocka_unit_test(tokens_are_taken_apart_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
