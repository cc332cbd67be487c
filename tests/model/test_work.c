/* test_work.c - tests two measures of a step: its number of operations against a direct count, and the size
 * of each block's update against the parameters before and after. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_toy.h"

enum { V = 13, LAYERS = 3, BLOCKS = LAYERS + 3 };

/* ---- operations */

/* Counts every multiply-add of every matrix product of a forward pass, in the order of computation. */
static int64_t count_forward(const struct pw_config *c, const struct pw_batch *b)
{
    int kv = c->kv_heads > 0 ? c->kv_heads : c->heads;
    const int sides[][2] = {{(c->heads + 2 * kv) * c->head_width, c->width},
                            {c->width, c->heads * c->head_width},
                            {c->gated ? 2 * c->ffn : c->ffn, c->width},
                            {c->width, c->ffn}};
    int64_t n = 0;

    for (int l = 0; l < c->layers; l++) {
        for (int s = 0; s < b->n_seqs; s++)
            for (int i = b->start[s]; i < b->start[s + 1]; i++) {
                for (int m = 0; m < 4; m++)
                    n += (int64_t)sides[m][0] * sides[m][1];
                for (int j = b->start[s]; j < b->start[s + 1]; j++)
                    if (j <= i || !c->causal)
                        n += 2 * c->heads * c->head_width; /* q.k and p*v */
            }
    }
    if (c->embed_width == 0)
        return n + (int64_t)b->n_scored * V * c->width;
    for (int i = 0; i < b->n_rows + b->n_scored; i++)
        n += (int64_t)c->embed_width * c->width;
    return n + (int64_t)b->n_scored * V * c->embed_width;
}

static void test_flops(void **state)
{
    static const char *const options[] = {"layers=2 width=12 heads=3", "layers=1 width=16 heads=2 causal=off",
                                          "layers=3 width=8 heads=2 head_width=7 ffn=5 tied=on",
                                          "layers=2 width=12 heads=6 kv_heads=2 ffn=7 gated=on",
                                          "layers=2 width=12 heads=3 embed_width=5 tied=on"};
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct pw_config cfg = toy_config(options[i], V);
        struct pw_batch *b = toy_batch(i, 5, 1, 9, V);
        /* a multiply-add is two operations; backward takes twice as many as forward */
        assert_int_equal(pw_model_flops(&cfg, pw_pe_find("none"), b), 2 * 3 * count_forward(&cfg, b));
        int64_t pairs = 0; /* pope's q.k costs twice as much */
        for (int s = 0; s < b->n_seqs; s++) {
            int64_t T = b->start[s + 1] - b->start[s];
            pairs += cfg.causal ? T * (T + 1) / 2 : T * T;
        }
        assert_int_equal(pw_model_flops(&cfg, pw_pe_find("pope"), b) -
                             pw_model_flops(&cfg, pw_pe_find("none"), b),
                         6 * cfg.layers * cfg.heads * cfg.head_width * pairs);
        toy_batch_free(b);
    }
}

/* ---- updates */

static int block_of(const char *name)
{
    if (strncmp(name, "layers.", 7) == 0)
        return 1 + name[7] - '0';
    return strncmp(name, "embed", 5) == 0 ? 0 : strstr(name, "pe.") == name ? LAYERS + 2 : LAYERS + 1;
}

static void expect(double *ratio, struct pw_model *m, const float *before, const float *after)
{
    double moved[BLOCKS] = {0}, norm[BLOCKS] = {0};
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    for (int i = 0; i < n; i++)
        for (int k = 0; k < (p[i].rows > 0 ? p[i].rows : 1) * p[i].cols; k++) {
            double old = (double)before[p[i].offset + k], by = (double)after[p[i].offset + k] - old;
            moved[block_of(p[i].name)] += by * by;
            norm[block_of(p[i].name)] += old * old;
        }
    for (int b = 0; b < BLOCKS; b++)
        ratio[b] = norm[b] > 0 ? sqrt(moved[b] / norm[b]) : (double)NAN;
}

/* Runs four steps with clipping and decay. ratio [BLOCKS]: of the last step. */
static void run(struct toy *t, const char *options, const char *pe, float *ratio)
{
    struct pw_model *m = toy_model(t, options, pe, V, 5);
    size_t n = pw_model_size(m);
    float *before = malloc(n * sizeof *before), *after = malloc(n * sizeof *after);
    struct pw_optim o = toy_optim("lr=0.01 warmup=2 decay=0.1 clip=0.5");
    struct pw_step_result r;
    struct pw_err err = {0};
    double want[BLOCKS];

    assert_true(before != NULL && after != NULL);
    pw_model_updates(m, ratio);
    for (int b = 0; b < BLOCKS; b++)
        assert_true(isnan(ratio[b])); /* no step yet */
    for (int i = 0; i < 4; i++) {
        struct pw_batch *b = toy_batch((uint64_t)i, 6, 2, 8, V);
        pw_model_get(m, before, NULL, NULL);
        assert_int_equal(pw_model_step(m, &o, b, NULL, &r, &err), PW_OK);
        pw_model_get(m, after, NULL, NULL);
        pw_model_updates(m, ratio);
        expect(want, m, before, after);
        for (int k = 0; k < BLOCKS; k++)
            if (isnan(want[k]) ? !isnan(ratio[k]) : !(fabs((double)ratio[k] - want[k]) <= 1e-5 * want[k]))
                fail_msg("%s %s: block %d moved by %g, not %g", options, pe, k, (double)ratio[k], want[k]);
        toy_batch_free(b);
    }
    pw_model_destroy(m);
    free(before);
    free(after);
}

static void test_updates(void **state)
{
    static const char *const cases[][2] = {{"layers=3 width=24 heads=2 norm=layernorm bias=on", "t5"},
                                           {"layers=3 width=16 heads=2 tied=on", "learned"},
                                           {"layers=3 width=16 heads=2 tied=on norm=none", "alibi"},
                                           {"layers=3 width=64 heads=4", "rotary"},
                                           {"layers=3 width=24 heads=4 kv_heads=2 gated=on embed_norm=on "
                                            "post_norm=on qk_norm=head head_bias=on",
                                            "rotary"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float one[BLOCKS], more[BLOCKS];
        struct toy t = toy_open(1);
        run(&t, cases[i][0], cases[i][1], one);
        assert_true(one[0] > 0 && one[LAYERS] > 0);
        assert_int_equal(isnan(one[LAYERS + 1]), i == 2); /* tied, and no norm: the block doesn't exist */
        assert_int_equal(isnan(one[LAYERS + 2]), i >= 2);
        toy_close(&t);
        for (int threads = 2; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
            t = toy_open(threads);
            run(&t, cases[i][0], cases[i][1], more);
            assert_memory_equal(more, one, sizeof one); /* the same bits */
            toy_close(&t);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flops), cmocka_unit_test(test_updates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
