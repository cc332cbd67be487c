/* test_packed.c - tests models that have each weight once, in packs: they have every bit of a model with the
 * same parameters in float, before and after their first step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/rng.h"
#include "model/attribution.h"
#include "model/checkpoint.h"
#include "model/decode.h"
#include "model/model_int.h"
#include "ref_toy.h"

enum { V = 41, T = 9 };

/* The parameters of the model to make. */
struct values {
    const float *all;
};

static enum pw_code fill(void *arg, const struct pw_param *p, float *out, bool *filled, struct pw_err *err)
{
    const struct values *v = arg;
    (void)err;
    memcpy(out, v->all + p->offset, pw_param_count(p) * sizeof *out);
    *filled = true;
    return PW_OK;
}

/* A model in float and one in packs, with equal parameters. */
struct pair {
    struct pw_model *plain, *packed;
};

/* Rounds the parameters to a form; in `mixed` the tensors alternate between all three. */
static void round_to(float *x, const struct pw_param *p, int i, enum pw_stored stored, bool mixed)
{
    if (mixed)
        stored = (enum pw_stored)(i % 3);
    for (size_t k = p->offset; k < p->offset + pw_param_count(p); k++) {
        uint32_t bits;
        memcpy(&bits, x + k, sizeof bits);
        bits = stored == PW_STORED_BF16 ? bits & 0xffff0000 : bits;
        memcpy(x + k, &bits, sizeof bits);
        x[k] = stored == PW_STORED_F16 ? pw_from_half(pw_half(x[k])) : x[k];
    }
}

static struct pair make(struct toy *t, const char *options, const char *pe, int vocab, enum pw_stored stored,
                        bool mixed)
{
    struct pair x = {.plain = toy_model(t, options, pe, vocab, 3)};
    size_t n = pw_model_size(x.plain);
    float *all = malloc(n * sizeof *all);
    struct pw_err err;
    int n_params;
    assert_non_null(all);
    toy_shake(x.plain, 5);
    const struct pw_param *params = pw_model_params(x.plain, &n_params);
    pw_model_get(x.plain, all, NULL, NULL);
    for (int i = 0; i < n_params; i++)
        round_to(all, &params[i], i, stored, mixed);
    pw_model_put(x.plain, all, NULL, NULL);
    struct values values = {all};
    if (pw_model_create_from(&x.packed, t->ops, t->be, pw_model_config(x.plain), pw_model_pe(x.plain), 3,
                             fill, &values, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_true(x.packed->packed && pw_model_one_copy_bytes(x.packed) > 0);
    assert_int_equal(pw_model_one_copy_bytes(x.plain), 0);
    free(all);
    return x;
}

static void free_pair(struct pair *x)
{
    pw_model_destroy(x->plain);
    pw_model_destroy(x->packed);
}

static void same_digest(struct pw_model *a, struct pw_model *b)
{
    uint64_t x[2], y[2];
    pw_model_digest(a, x);
    pw_model_digest(b, y);
    assert_memory_equal(x, y, sizeof x);
}

/* All parameters, and parts that begin and end inside of a row. */
static void same_parameters(struct pw_model *a, struct pw_model *b)
{
    size_t n = pw_model_size(a);
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    assert_true(x != NULL && y != NULL && pw_model_size(b) == n);
    pw_model_get(a, x, NULL, NULL);
    pw_model_get(b, y, NULL, NULL);
    assert_memory_equal(x, y, n * sizeof *x);
    for (size_t from = 0; from < n; from += n / 5 + 1) {
        size_t some = n - from < n / 4 ? n - from : n / 4;
        pw_model_read(b, y, from, some);
        assert_memory_equal(x + from, y, some * sizeof *x);
    }
    same_digest(a, b);
    free(x);
    free(y);
}

static const int tokens[T] = {2, 9, 40, 4, 7, 3, 10, 0, 33};

/* The results of a sequence: tensors, logits of the decoder, and the parts of a logit. */
struct seen {
    float *resid, *z, *mlp, *logits, *decoded;
    double *parts, *mean;
    float *lens;
    size_t n_resid, n_z, n_mlp, n_parts, n_lens;
};

static struct seen look(struct pw_model *m)
{
    const struct pw_config *cfg = pw_model_config(m);
    size_t L = (size_t)cfg->layers, C = (size_t)cfg->width, parts = (size_t)pw_model_parts(m, NULL);
    struct seen s = {.n_resid = (L + 1) * T * C,
                     .n_z = L * T * (size_t)cfg->heads * (size_t)cfg->head_width,
                     .n_mlp = L * T * (size_t)cfg->ffn,
                     .n_parts = parts * 2,
                     .n_lens = (L + 1) * V};
    struct pw_decoder *d = NULL;
    struct pw_err err;
    s.resid = calloc(s.n_resid, sizeof *s.resid);
    s.z = calloc(s.n_z, sizeof *s.z);
    s.mlp = calloc(s.n_mlp, sizeof *s.mlp);
    s.logits = calloc(T * V, sizeof *s.logits);
    s.decoded = calloc(V, sizeof *s.decoded);
    s.parts = calloc(s.n_parts, sizeof *s.parts);
    s.mean = calloc(parts, sizeof *s.mean);
    s.lens = calloc(s.n_lens, sizeof *s.lens);
    struct pw_inspection in = {.resid = s.resid, .z = s.z, .mlp = s.mlp, .logits = s.logits};
    if (pw_model_inspect(m, tokens, T, &in, &err) != PW_OK || pw_decoder_create(&d, m, T, &err) != PW_OK ||
        pw_decoder_feed(d, tokens, T, s.decoded, &err) != PW_OK ||
        pw_model_attribute(m, &in, tokens, T, T - 1, (int[]){3, 40}, 2, s.parts, s.mean, &err) != PW_OK ||
        pw_model_lens(m, &in, T, T - 2, 0, (int)L + 1, s.lens, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_decoder_destroy(d);
    return s;
}

static void same_looks(struct pw_model *a, struct pw_model *b)
{
    struct seen x = look(a), y = look(b);
    assert_memory_equal(x.resid, y.resid, x.n_resid * sizeof *x.resid);
    assert_memory_equal(x.logits, y.logits, T * V * sizeof *x.logits);
    assert_memory_equal(x.decoded, y.decoded, V * sizeof *x.decoded);
    assert_memory_equal(x.parts, y.parts, x.n_parts * sizeof *x.parts);
    assert_memory_equal(x.lens, y.lens, x.n_lens * sizeof *x.lens);
    void *all[] = {x.resid, x.z, x.mlp, x.logits, x.decoded, x.parts, x.mean, x.lens,
                   y.resid, y.z, y.mlp, y.logits, y.decoded, y.parts, y.mean, y.lens};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void train_part(struct pw_model *m, const char *trains)
{
    char text[80];
    snprintf(text, sizeof text, "lr=0.01 warmup=1 steps=9 %s", trains);
    struct pw_optim o = toy_optim(text);
    toy_step(m, &o, 1, 4, 2, T, V);
}

static void train(struct pw_model *m)
{
    train_part(m, "trains=all");
}

static const char *const kinds[][2] = {
    {"layers=2 width=16 heads=4 kv_heads=2 gated=on act=silu tied=on", "rotary"},
    {"layers=2 width=20 heads=2 head_width=7 ffn=9 bias=on norm=layernorm", "learned"},
    {"layers=1 width=33 heads=3 embed_norm=on embed_scale=2 norm=layernorm bias=on head_bias=on", "alibi"},
    {"layers=3 width=40 heads=4 post_norm=on qk_norm=head logit_cap=3 tied=on", "t5"},
    {"layers=2 width=24 heads=2 parallel=shared norm=layernorm", "shaw"},
    {"layers=2 width=24 heads=2 norm_at=after norm=layernorm bias=on tied=on embed_width=10", "learned"},
    {"layers=1 width=24 heads=2 embed_width=33 embed_scale=3", "sinusoidal"},
    {"layers=2 width=24 heads=4 kv_heads=2", "fox"},
    {"layers=2 width=24 heads=4 kv_heads=2", "inkling"},
    {"layers=2 width=24 heads=4 kv_heads=2", "grape"},
    {"layers=2 width=24 heads=4 kv_heads=2", "stickbreaking"},
    {"layers=2 width=24 heads=4 kv_heads=2", "cope"},
    {"layers=2 width=24 heads=4 kv_heads=2", "selective"},
    {"layers=2 width=24 heads=4 kv_heads=2", "pope"},
    {"layers=2 width=24 heads=4 kv_heads=2", "grape_turn"},
    {"layers=2 width=24 heads=4 kv_heads=2", "path"},
    {"layers=2 width=24 heads=4 kv_heads=2", "wall"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_bits(void **state)
{
    for (int i = 0; i < KINDS; i++)
        for (int form = 0; form < 4; form++) {
            struct pair x = make(*state, kinds[i][0], kinds[i][1], V, (enum pw_stored)(form % 3), form == 3);
            same_parameters(x.plain, x.packed);
            same_looks(x.plain, x.packed);
            assert_true(x.packed->packed); /* reading has not ended it */
            train(x.plain);
            train(x.packed);
            assert_false(x.packed->packed);
            same_parameters(x.plain, x.packed);
            same_looks(x.plain, x.packed);
            free_pair(&x);
        }
}

/* Steps that change vectors alone leave the matrices in packs: also in a copy, and with another encoding. A
 * step that changes all ends that. */
static void test_vectors_train(void **state)
{
    struct toy *t = *state;
    for (int i = 0; i < KINDS; i++)
        for (int form = 0; form < 4; form++) {
            struct pair x = make(t, kinds[i][0], kinds[i][1], V, (enum pw_stored)(form % 3), form == 3);
            struct pw_pe_use_opts pe = toy_pe("fire", pw_model_config(x.plain));
            struct pw_model *copy;
            struct pw_err err;
            train_part(x.plain, "trains=norms");
            train_part(x.packed, "trains=norms");
            same_parameters(x.plain, x.packed);
            same_looks(x.plain, x.packed);
            assert_int_equal(pw_model_clone(&copy, x.packed, t->ops, t->be, &err), PW_OK);
            assert_true(x.packed->packed && copy->packed && copy->pack == x.packed->pack);
            train_part(x.plain, "trains=norms");
            train_part(copy, "trains=norms");
            same_parameters(x.plain, copy);
            pw_model_destroy(copy);
            train_part(x.packed, "trains=norms");
            toy_swap(&x.plain, &pe, 9, false);
            toy_swap(&x.packed, &pe, 9, false);
            train_part(x.plain, "trains=encoding");
            train_part(x.packed, "trains=encoding");
            assert_true(x.packed->packed);
            same_parameters(x.plain, x.packed);
            train(x.plain);
            train(x.packed);
            assert_false(x.packed->packed);
            same_parameters(x.plain, x.packed);
            same_looks(x.plain, x.packed);
            free_pair(&x);
        }
}

/* Matrices have the form of their values. */
static void test_forms(void **state)
{
    static const enum pw_stored forms[] = {PW_STORED_F32, PW_STORED_BF16, PW_STORED_F16};
    for (int i = 0; i < 3; i++) {
        struct pair x = make(*state, kinds[0][0], "none", V, forms[i], false);
        for (int k = 0; k <= 2 * PW_MATS; k++)
            assert_int_equal(x.packed->mats[k].stored, forms[i]);
        free_pair(&x);
    }
    /* infinity, NaN and numbers that round are in no form that would change them */
    static const float odd[] = {65536.0f, 65520.0f, 0x1p-25f, 0x1.002p0f, 0x1.002p-15f, -65504.0f, 0x1p-24f};
    static const bool half[] = {false, false, false, false, false, true, true};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct pw_model *m;
        struct pw_err err;
        struct pw_config cfg = toy_config(kinds[0][0], V);
        struct pw_pe_use_opts pe = toy_pe("none", &cfg);
        struct pw_model *shape = toy_model(*state, kinds[0][0], "none", V, 1);
        float *all = calloc(pw_model_size(shape), sizeof *all), back;
        assert_non_null(all);
        for (size_t k = 0; k < pw_model_size(shape); k++)
            all[k] = 0x1.004p0f; /* 9 bits of a fraction: in half precision, not in bf16 */
        all[3] = odd[i];
        assert_int_equal(pw_model_create_from(&m, ((struct toy *)*state)->ops, ((struct toy *)*state)->be,
                                              &cfg, &pe, 1, fill, &(struct values){all}, &err),
                         PW_OK);
        assert_int_equal(m->mats[2 * PW_MATS].stored, half[i] ? PW_STORED_F16 : PW_STORED_F32);
        pw_model_read(m, &back, 3, 1);
        assert_memory_equal(&back, &odd[i], sizeof back);
        pw_model_destroy(m);
        pw_model_destroy(shape);
        free(all);
    }
}

/* Copies, other encodings and new weights. */
static void test_copies(void **state)
{
    struct toy *t = *state;
    for (int i = 0; i < KINDS; i++) {
        struct pair x = make(t, kinds[i][0], kinds[i][1], V, PW_STORED_BF16, false);
        struct pw_pe_use_opts pe = toy_pe("fire", pw_model_config(x.plain));
        struct pw_model *copy;
        struct pw_err err;
        assert_int_equal(pw_model_clone(&copy, x.packed, t->ops, t->be, &err), PW_OK);
        assert_true(copy->packed && copy->pack == x.packed->pack);
        same_parameters(x.plain, copy);
        same_looks(x.plain, copy);
        train(copy); /* takes packs of its own */
        assert_true(copy->pack != x.packed->pack);
        same_parameters(x.plain, x.packed);
        same_looks(x.plain, x.packed);
        pw_model_destroy(copy);
        assert_int_equal(pw_model_clone(&copy, x.packed, t->ops, t->be, &err), PW_OK);
        train(x.packed); /* and so does the first one */
        same_parameters(x.plain, copy);
        same_looks(x.plain, copy);
        pw_model_destroy(x.packed);
        x.packed = copy;
        same_looks(x.plain, x.packed);
        toy_swap(&x.plain, &pe, 9, false);
        toy_swap(&x.packed, &pe, 9, false);
        assert_true(x.packed->packed);
        same_parameters(x.plain, x.packed);
        same_looks(x.plain, x.packed);
        toy_shake(x.plain, 11);
        toy_shake(x.packed, 11);
        assert_false(x.packed->packed);
        same_parameters(x.plain, x.packed);
        same_looks(x.plain, x.packed);
        free_pair(&x);
    }
}

/* On a backend whose packs are rounded, copies have their parameters in float. */
static void test_other_backend(void **state)
{
    struct pair x = make(*state, kinds[0][0], kinds[0][1], V, PW_STORED_F16, false);
    struct pw_backend_ops rounded = *((struct toy *)*state)->ops;
    struct pw_model *there, *back;
    struct pw_err err;
    rounded.unpack = NULL;
    assert_int_equal(pw_model_clone(&there, x.packed, &rounded, ((struct toy *)*state)->be, &err), PW_OK);
    assert_false(there->packed);
    same_parameters(x.plain, there);
    same_looks(x.plain, there);
    assert_int_equal(
        pw_model_clone(&back, there, ((struct toy *)*state)->ops, ((struct toy *)*state)->be, &err), PW_OK);
    same_parameters(x.plain, back);
    pw_model_destroy(there);
    pw_model_destroy(back);
    free_pair(&x);
}

/* An image has all weights, and a model that loads it has them in float. */
static void test_image(void **state)
{
    struct pair x = make(*state, kinds[1][0], kinds[1][1], V, PW_STORED_F16, false), y;
    struct pw_checkpoint_info info = {.optim = toy_optim(""), .seed = 1};
    void *bytes[2];
    size_t n[2];
    struct pw_checkpoint *c;
    struct pw_err err;
    assert_int_equal(pw_checkpoint_image(x.plain, &info, &bytes[0], &n[0], &err), PW_OK);
    assert_int_equal(pw_checkpoint_image(x.packed, &info, &bytes[1], &n[1], &err), PW_OK);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    y = make(*state, kinds[1][0], kinds[1][1], V, PW_STORED_BF16, false);
    assert_int_equal(pw_checkpoint_open_bytes(&c, bytes[1], n[1], "it", &err), PW_OK);
    assert_int_equal(pw_checkpoint_load(c, y.packed, &err), PW_OK);
    same_parameters(x.packed, y.packed);
    same_looks(x.packed, y.packed);
    pw_checkpoint_close(c);
    free(bytes[0]);
    free(bytes[1]);
    free_pair(&x);
    free_pair(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),   cmocka_unit_test(test_vectors_train), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_copies), cmocka_unit_test(test_other_backend), cmocka_unit_test(test_image),
    };
    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
