/* test_adapter.c - low-rank adapters: a new one changes nothing, matrices read as W + B A, and an adapter
 * stays through steps, swaps of the encoding, copies and checkpoints. test_gradient.c and test_golden_torch.c
 * check its gradients, test_threads.c its bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/model_int.h"
#include "ref_toy.h"

enum { V = 7, MOST = 1 << 14, ROWS = 128 };
#define OPTIONS "layers=2 width=12 heads=6 kv_heads=2 ffn=10 context=32 gated=on bias=on "

static void train(struct pw_model *m, const char *options, int n)
{
    struct pw_optim o = toy_optim(options);

    for (int i = 0; i < n; i++)
        toy_step(m, &o, (uint64_t)i, 6, 4, 20, V);
}

static struct pw_model *adapted(struct pw_model *m, int rank)
{
    struct pw_model *next;
    struct pw_err err;

    if (pw_model_adapt(&next, m, rank, &err) != PW_OK)
        fail_msg("%s", err.msg);
    pw_model_destroy(m);
    return next;
}

static void losses(struct pw_model *m, float loss[ROWS])
{
    struct pw_batch *b = toy_batch(99, 6, 4, 20, V);
    int best[ROWS];
    struct pw_err err;

    assert_true(b->n_scored <= ROWS);
    memset(loss, 0, ROWS * sizeof *loss);
    assert_int_equal(pw_model_eval(m, b, best, loss, &err), PW_OK);
    toy_batch_free(b);
}

static const struct pw_param *find(const struct pw_model *m, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);

    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

/* A new adapter: every loss has the bits that it had, and all tensors keep weights, moments, counts, and the
 * place in the schedule. The next steps change the adapter alone. */
static void test_begins_at_nothing(void **state)
{
    static float before[3 * MOST], after[3 * MOST];
    float then[ROWS], now[ROWS];
    struct pw_model *m = toy_model(*state, OPTIONS, "t5", V, 3);
    int64_t pairs[32], rows[32];

    toy_shake(m, 4);
    train(m, "lr=0.01 warmup=2 steps=40", 5);
    losses(m, then);
    size_t n = pw_model_size(m), core = m->lay.core, pe = m->lay.size - core;
    pw_model_get(m, before, before + n, before + 2 * n);
    m = adapted(m, 3);
    losses(m, now);
    assert_memory_equal(then, now, sizeof now);
    size_t size = pw_model_size(m);
    /* A and B of the joint q, k and v, of o, of gate and up, and of down */
    assert_int_equal(size - n, 2 * 3 * ((12 + 20) + (12 + 12) + (12 + 20) + (10 + 12)));
    pw_model_get(m, after, after + size, after + 2 * size);
    for (int set = 0; set < 3; set++) {
        assert_memory_equal(before + set * n, after + set * size, core * sizeof(float));
        assert_memory_equal(before + set * n + core, after + set * size + m->lay.core, pe * sizeof(float));
    }
    assert_int_equal(find(m, "embed.weight")->t, 5);
    assert_int_equal(find(m, "pe.bias")->t, 5);
    assert_int_equal(find(m, "layers.1.attn.qkv.adapter_a")->t, 0);
    assert_int_equal(m->schedule, 5);
    assert_int_equal(pw_model_seen(m, pairs, rows), 5);
    train(m, "lr=0.01 warmup=2 steps=40 trains=adapter", 5);
    losses(m, now);
    assert_memory_not_equal(then, now, sizeof now);
    pw_model_get(m, after, NULL, NULL);
    assert_memory_equal(before, after, core * sizeof(float));
    pw_model_destroy(m);
}

/* Every matrix reads as W + B A, in parts or tensor by tensor, also right after a step; everything else as it
 * is.
 */
static void test_acting(void **state)
{
    static float p[MOST], acting[MOST];
    struct pw_model *m = toy_model(*state, OPTIONS "adapter=3", "t5", V, 3);
    const int Q = 12, K = 4, C = 12, r = 3;

    toy_shake(m, 4);
    train(m, "lr=0.01 trains=adapter", 2);
    pw_model_get(m, p, NULL, NULL);
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *all = &m->lay.params[i];
        pw_model_read_acting(m, acting + all->offset, all->offset, pw_param_count(all));
    }
    const struct pw_param *v = find(m, "layers.1.attn.v.weight");
    const float *a = p + find(m, "layers.1.attn.qkv.adapter_a")->offset;
    const float *b = p + find(m, "layers.1.attn.qkv.adapter_b")->offset;
    for (int o = 0; o < K; o++)
        for (int i = 0; i < C; i++) {
            double sum = p[v->offset + (size_t)(o * C + i)];
            for (int k = 0; k < r; k++)
                sum += (double)b[(Q + K + o) * r + k] * a[k * C + i];
            assert_true(fabs(sum - acting[v->offset + (size_t)(o * C + i)]) < 1e-5);
        }
    float row[12];
    pw_model_read_acting(m, row, v->offset + 2 * 12, 12);
    assert_memory_equal(row, acting + v->offset + 2 * 12, sizeof row);
    pw_model_read_acting(m, row, m->lay.embed, 12);
    assert_memory_equal(row, p + m->lay.embed, sizeof row);
    for (size_t i = 0; i < m->lay.size; i++)
        assert_true(p[i] == acting[i] || (i >= m->lay.layer[0].qkv && i < m->lay.layer[1].down + 12 * 10));
    pw_model_destroy(m);
}

/* A swap of the encoding and a copy keep the adapter; a swap there and back gives the same losses. */
static void test_swap(void **state)
{
    float then[ROWS], now[ROWS];
    struct toy *t = *state;
    struct pw_model *m = toy_model(t, OPTIONS, "alibi", V, 3), *copy;
    struct pw_err err;

    m = adapted(m, 2);
    train(m, "lr=0.01 trains=adapter", 4);
    losses(m, then);
    struct pw_pe_use_opts learned = toy_pe("learned", pw_model_config(m));
    struct pw_pe_use_opts alibi = toy_pe("alibi", pw_model_config(m));
    toy_swap(&m, &learned, 1, false);
    losses(m, now);
    assert_memory_not_equal(then, now, sizeof now);
    toy_swap(&m, &alibi, 1, false);
    losses(m, now);
    assert_memory_equal(then, now, sizeof now);
    assert_int_equal(pw_model_clone(&copy, m, t->ops, t->be, &err), PW_OK);
    train(m, "lr=0.01 trains=adapter", 2);
    train(copy, "lr=0.01 trains=adapter", 2);
    losses(m, then);
    losses(copy, now);
    assert_memory_equal(then, now, sizeof now);
    pw_model_destroy(copy);
    pw_model_destroy(m);
}

/* An image holds A and B, and restores the next steps. */
static void test_image(void **state)
{
    uint64_t then[2], now[2];
    struct toy *t = *state;
    struct pw_model *m = adapted(toy_model(t, OPTIONS, "t5", V, 3), 2), *other;
    struct pw_checkpoint_info info = {.optim = toy_optim("trains=adapter rank=2"), .seed = 3, .step = 4};
    struct pw_checkpoint *c;
    struct pw_err err;
    void *bytes;
    size_t n;

    train(m, "lr=0.01 trains=adapter", 4);
    assert_int_equal(pw_checkpoint_image(m, &info, &bytes, &n, &err), PW_OK);
    assert_int_equal(pw_checkpoint_open_bytes(&c, bytes, n, "it", &err), PW_OK);
    assert_int_equal(pw_checkpoint_info(c)->config.adapter, 2);
    assert_int_equal(pw_checkpoint_info(c)->optim.rank, 2);
    other = toy_model(t, OPTIONS "adapter=2", "t5", V, 9);
    if (pw_checkpoint_load(c, other, &err) != PW_OK)
        fail_msg("%s", err.msg);
    train(m, "lr=0.01 trains=adapter", 2);
    train(other, "lr=0.01 trains=adapter", 2);
    pw_model_digest(m, then);
    pw_model_digest(other, now);
    assert_memory_equal(then, now, sizeof now);
    pw_model_destroy(other);
    other = toy_model(t, OPTIONS, "t5", V, 9);
    assert_int_equal(pw_checkpoint_load(c, other, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "adapter_a' that this model does not have"));
    pw_checkpoint_close(c);
    free(bytes);
    pw_model_destroy(other);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_begins_at_nothing),
                                       cmocka_unit_test(test_acting), cmocka_unit_test(test_swap),
                                       cmocka_unit_test(test_image)};

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
