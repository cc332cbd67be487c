/* test_bytes.c - compares the predicted memory of a model with its allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "ref_toy.h"

enum { V = 40 };

/* The CPU backend with counted memory. Each size is stored before the block. */
static size_t held;
static const struct pw_backend_ops *cpu;

static void *count_alloc(struct pw_backend *be, size_t bytes)
{
    char *p = cpu->alloc(be, bytes + 64);

    assert_non_null(p);
    memcpy(p, &bytes, sizeof bytes);
    held += bytes;
    return p + 64;
}

static void count_free(struct pw_backend *be, void *ptr)
{
    size_t bytes;

    if (ptr == NULL)
        return;
    memcpy(&bytes, (char *)ptr - 64, sizeof bytes);
    held -= bytes;
    cpu->free(be, (char *)ptr - 64);
}

/* The counting table with `slots` gradient slots; 0: the CPU's default. */
static struct pw_backend_ops counted(int slots)
{
    struct pw_backend_ops ops = *cpu;

    ops.alloc = count_alloc;
    ops.free = count_free;
    ops.slots = slots;
    held = 0;
    return ops;
}

/* The memory in use must be between `least` and 1.002 of the prediction for such batches. The prediction
 * includes the model's one host buffer, which is not counted. */
static void holds(const struct pw_model *m, const struct pw_backend_ops *ops, int batch, int threads, int T,
                  double least)
{
    size_t promise =
        pw_model_bytes(ops, pw_model_config(m), pw_model_pe(m), pw_model_kinds(m), 0, batch, threads, T);
    size_t host = pw_model_size(m) * sizeof(float);
    double part = (double)(held + host) / (double)promise;
    if (part > 1.002 || part < least)
        fail_msg("%s, %d slots, batch %d: %zu bytes are held and %zu on the host, %zu were said",
                 pw_model_pe(m)->pe->name, ops->slots, batch, held, host, promise);
}

/* Checks before the first step, and after steps and evaluations of full batches. optim: of the steps. */
static void check_slots(const char *options, const char *pe_text, const char *optim, int batch, int threads,
                        int T, int slots)
{
    struct pw_config cfg = toy_config(options, V);
    struct pw_pe_use_opts pe = toy_pe(pe_text, &cfg);
    struct pw_backend_ops ops = counted(slots);
    struct pw_backend *be;
    struct pw_model *m;
    struct pw_optim o = toy_optim(optim);
    struct pw_step_result result;
    struct pw_err err = {0};
    int *best = malloc((size_t)batch * T * sizeof *best);

    assert_non_null(best);
    assert_int_equal(ops.open(&be, threads, &err), PW_OK);
    assert_int_equal(pw_model_create(&m, &ops, be, &cfg, &pe, 1, &err), PW_OK);
    assert_int_equal(pw_model_largest(m), 0);
    holds(m, &ops, 0, threads, T, 0.65); /* seen.c has most of the rest */
    for (int i = 0; i < 2; i++) {
        struct pw_batch *b = toy_batch((uint64_t)i, batch, T, T, V);
        assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
        assert_int_equal(pw_model_eval(m, b, best, NULL, &err), PW_OK);
        toy_batch_free(b);
    }
    assert_int_equal(pw_model_largest(m), batch);
    holds(m, &ops, batch, threads, T, 0.7);
    pw_model_destroy(m);
    assert_int_equal(held, 0);
    ops.close(be);
    free(best);
}

static void check(const char *options, const char *pe_text, int batch, int threads, int T)
{
    check_slots(options, pe_text, "", batch, threads, T, 0);
    check_slots(options, pe_text, "", batch, threads, T, 1);
}

static void test_promise(void **state)
{
    (void)state;
    check("layers=2 width=64 heads=8 context=128", "t5", 32, 2, 20);
    check("layers=2 width=64 heads=8 context=128 act=gelu bias=on norm=layernorm", "rotary", 32, 1, 60);
    check("layers=1 width=32 heads=4 context=256 tied=on", "learned", 3, 3, 100);
    check("layers=5 width=24 heads=2 context=64", "alibi", 16, 2, 64);
    check("layers=1 width=128 heads=2 context=64", "sinusoidal", 8, 1, 33);
    check("layers=2 width=64 heads=8 context=128", "dpe", 32, 2, 20);
    check("layers=1 width=32 heads=4 context=256", "ldpe", 3, 1, 100);
    check("layers=2 width=64 heads=8 context=128 causal=off", "shaw distance=30", 32, 2, 20);
    check("layers=2 width=64 heads=8 context=128", "fire", 32, 2, 20);
    check("layers=3 width=32 heads=4 context=256 tied=on", "fire", 4, 1, 200);
    check("layers=3 width=64 heads=8 context=128", "fox", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "inkling", 32, 2, 60);
    check("layers=2 width=64 heads=8 context=128", "inkling mixes=8 alpha=0.1", 32, 2, 20);
    check("layers=3 width=64 heads=8 context=128", "grape", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "stickbreaking", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "cope", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "selective", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "pope", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "grape_turn", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "path", 32, 2, 60);
    check("layers=3 width=64 heads=8 context=128", "wall", 32, 2, 60);
    check("layers=2 width=64 heads=8 kv_heads=2 context=128 gated=on act=silu", "rotary", 32, 2, 20);
    check("layers=2 width=64 heads=8 kv_heads=4 context=128 gated=on qk_norm=head post_norm=on logit_cap=30",
          "rotary", 32, 1, 60);
    check("layers=2 width=64 heads=8 context=128 norm=layernorm bias=mlp head_bias=on parallel=shared "
          "embed_norm=on",
          "alibi", 32, 2, 20);
    check("layers=3 width=64 heads=8 context=128 norm=layernorm norm_at=after bias=on tied=on", "learned", 32,
          2, 60);
    check("layers=2 width=64 heads=8 context=128 embed_width=32", "learned", 32, 2, 60);
    check("layers=2 width=64 heads=8 context=128", "expr 'angle = i / n; scale = h'", 32, 2, 100);
    check("layers=3 width=64 heads=8 context=128 adapter=8 gated=on bias=on", "rotary", 32, 2, 60);
}

/* Moments and gradients exist only for tensors that steps change. */
static void test_part(void **state)
{
    static const char *const options = "layers=3 width=64 heads=8 context=128 adapter=4 tied=on gated=on";
    static const char *const kinds[] = {"trains=norms", "trains=encoding", "trains=adapter"};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int slots = 0; slots < 2; slots++) {
            check_slots(options, "t5", kinds[i], 8, 2, 20, slots);
            check_slots(options, "learned", kinds[i], 8, 1, 60, slots);
        }
    struct pw_config cfg = toy_config("layers=4 width=256 heads=4 context=64 adapter=2", V);
    struct pw_pe_use_opts pe = toy_pe("rotary", &cfg);
    size_t before = pw_model_bytes(cpu, &cfg, &pe, 0, 0, 0, 1, 10);
    size_t all = pw_model_bytes(cpu, &cfg, &pe, pw_trains_kind(PW_TRAINS_ALL), 0, 1, 1, 10) - before;
    size_t part = pw_model_bytes(cpu, &cfg, &pe, pw_trains_kind(PW_TRAINS_ADAPTER), 0, 1, 1, 10) - before;
    assert_true(part < all / 2); /* most of the rest are packs for the backward pass */
    assert_int_equal(pw_model_bytes(cpu, &cfg, &pe,
                                    pw_trains_kind(PW_TRAINS_ALL) | pw_trains_kind(PW_TRAINS_NORMS), 0, 1, 1,
                                    10),
                     all + before);
}

struct seen {
    size_t params, bytes, promise; /* after the first step */
    float *grad;                   /* [n] after the last step */
    size_t n;
};

/* Runs a step on one sequence, which uses one slot on any backend, then a step with another encoding. */
static struct seen one_sequence(int slots)
{
    struct pw_config cfg = toy_config("layers=2 width=32 heads=4 context=64 tied=on", V);
    struct pw_pe_use_opts t5 = toy_pe("t5", &cfg), none = toy_pe("none", &cfg);
    struct pw_backend_ops ops = counted(slots);
    struct pw_optim o = toy_optim("");
    struct pw_batch *b = toy_batch(3, 1, 20, 20, V);
    struct pw_backend *be;
    struct pw_model *m;
    struct pw_step_result result;
    struct pw_err err = {0};
    struct seen seen;
    double loss;

    assert_int_equal(ops.open(&be, 1, &err), PW_OK);
    assert_int_equal(pw_model_create(&m, &ops, be, &cfg, &t5, 1, &err), PW_OK);
    seen.params = pw_model_size(m);
    seen.promise = pw_model_bytes(&ops, &cfg, &t5, pw_trains_kind(PW_TRAINS_ALL), 0, 1, 1, 20);
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
    seen.bytes = held;
    toy_swap(&m, &none, 2, true);
    assert_int_equal(pw_model_step(m, &o, b, NULL, &result, &err), PW_OK);
    seen.n = pw_model_size(m);
    seen.grad = calloc(seen.n, sizeof *seen.grad);
    assert_non_null(seen.grad);
    assert_int_equal(pw_model_gradient(m, b, seen.grad, &loss, &err), PW_OK);
    pw_model_destroy(m);
    assert_int_equal(held, 0);
    ops.close(be);
    toy_batch_free(b);
    return seen;
}

/* If a gradient never has more than one slot, it needs no memory of its own, and the bits are the same. */
static void test_one_slot(void **state)
{
    struct seen many = one_sequence(0), one = one_sequence(1);

    (void)state;
    assert_int_equal(many.bytes - one.bytes, many.params * sizeof(float));
    assert_int_equal(many.promise - one.promise, many.params * sizeof(float));
    assert_int_equal(one.n, many.n);
    assert_memory_equal(one.grad, many.grad, one.n * sizeof *one.grad);
    free(many.grad);
    free(one.grad);
}

/* The largest values that options allow must give an answer immediately and without overflow. */
static void test_absurd(void **state)
{
    struct pw_config cfg =
        toy_config("layers=64 width=8192 heads=128 head_width=512 ffn=65536 context=65536 act=gelu", 1 << 24);
    struct pw_pe_use_opts pe = toy_pe("t5", &cfg);
    size_t bytes = pw_model_bytes(cpu, &cfg, &pe, pw_trains_kind(PW_TRAINS_ALL), 0, 4096, 64, 65536);

    (void)state;
    assert_true(bytes > (size_t)1 << 40 && bytes < (size_t)1 << 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_promise), cmocka_unit_test(test_part),
                                       cmocka_unit_test(test_one_slot), cmocka_unit_test(test_absurd)};

    cpu = pw_backend_cpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
