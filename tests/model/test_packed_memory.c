/* test_packed_memory.c - tests that models with each weight once take the memory that they say: while they
 * are made, when a sequence is read, and in steps that change vectors alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/model_int.h"
#include "ref_toy.h"
#include "tests/resident.h"

enum { V = 41, T = 9 };

static const int tokens[T] = {2, 9, 40, 4, 7, 3, 10, 0, 33};

static enum pw_code fill_rounded(void *arg, const struct pw_param *p, float *out, bool *filled,
                                 struct pw_err *err)
{
    (void)err;
    for (size_t i = 0; i < pw_param_count(p); i++)
        out[i] = *(bool *)arg ? 0x1.24p-4f : 0x1.24681p-4f;
    *filled = true;
    return PW_OK;
}

/* Makes a model in packs; narrow: its elements have 16 bits. */
static struct pw_model *from_file(struct toy *t, const struct pw_config *cfg, const struct pw_pe_use_opts *pe,
                                  bool narrow)
{
    struct pw_model *m;
    struct pw_err err;
    if (pw_model_create_from(&m, t->ops, t->be, cfg, pe, 1, fill_rounded, &narrow, &err) != PW_OK)
        fail_msg("%s", err.msg);
    return m;
}

/* Resident memory after each tensor that is read, less `before`. */
struct watched {
    bool narrow;
    size_t before, most;
};

static enum pw_code fill_watched(void *arg, const struct pw_param *p, float *out, bool *filled,
                                 struct pw_err *err)
{
    struct watched *w = arg;
    enum pw_code code = fill_rounded(&w->narrow, p, out, filled, err);
    size_t now = resident() - w->before;
    w->most = now > w->most ? now : w->most;
    return code;
}

/* Embedding and head are large; the head in float does not come on top of all weights. */
static void test_peak(void **state)
{
    struct toy *t = *state;
    struct pw_config cfg = toy_config("layers=16 width=256 heads=4 ffn=1024 tied=off context=32", 16000);
    struct pw_pe_use_opts pe = toy_pe("rotary", &cfg);
    struct watched w = {.narrow = true, .before = resident()};
    struct pw_model *m;
    struct pw_err err;
    if (w.before == 0)
        skip();
    if (pw_model_create_from(&m, t->ops, t->be, &cfg, &pe, 1, fill_watched, &w, &err) != PW_OK)
        fail_msg("%s", err.msg);
    size_t need = pw_model_one_copy_need(t->ops, &cfg, &pe, 2), held = pw_model_one_copy_bytes(m);
    if (w.most > need + (3 << 20) || need > held + held / 10) /* huge pages */
        fail_msg("%zu bytes are held, %zu were said, %zu were taken", held, need, w.most);
    pw_model_destroy(m);
}

/* A model of 13 million weights takes at most 1.2 times their bytes, and no more when a sequence is read. */
static void test_memory(void **state)
{
    struct toy *t = *state;
    struct pw_config cfg = toy_config("layers=4 width=512 heads=8 ffn=2048 tied=on context=32", 2000);
    struct pw_pe_use_opts pe = toy_pe("rotary", &cfg);
    if (resident() == 0)
        skip();
    for (int narrow = 0; narrow < 2; narrow++) {
        struct pw_err err;
        float logits[2000];
        size_t before = resident();
        struct pw_model *m = from_file(t, &cfg, &pe, narrow);
        size_t weights = pw_model_size(m) * (narrow ? 2 : 4), said = pw_model_one_copy_bytes(m);
        size_t need = pw_model_one_copy_need(t->ops, &cfg, &pe, narrow ? 2 : 4);
        struct pw_inspection in = {.logits = logits, .last_logits = true};
        assert_int_equal(pw_model_inspect(m, tokens, T, &in, &err), PW_OK);
        size_t most = weights + weights / 5 + (4 << 20); /* huge pages */
        size_t taken = resident() - before;
        if (taken > most || said > weights + weights / 50 || said > taken || need < said)
            fail_msg("%zu bytes of weights: %zu are taken, %zu were said, %zu are needed", weights, taken,
                     said, need);
        uint64_t digest[2];
        pw_model_digest(m, digest);
        assert_true(resident() - before < most);
        struct pw_model *copy;
        assert_int_equal(pw_model_clone(&copy, m, t->ops, t->be, &err), PW_OK);
        assert_true(resident() - before < most);
        pw_model_destroy(m);
        pw_model_destroy(copy);
        assert_true(resident() - before < most - weights);
    }
}

/* Steps that change vectors alone add one copy of the weights, in the form of the first. */
static void test_part_memory(void **state)
{
    struct toy *t = *state;
    struct pw_config cfg = toy_config("layers=4 width=512 heads=8 ffn=2048 tied=on context=32", V);
    struct pw_pe_use_opts pe = toy_pe("rotary", &cfg);
    if (resident() == 0)
        skip();
    struct pw_optim o = toy_optim("lr=0.01 warmup=1 steps=9 trains=norms");
    for (int narrow = 0; narrow < 2; narrow++) {
        size_t before = resident();
        struct pw_model *m = from_file(t, &cfg, &pe, narrow);
        toy_step(m, &o, 1, 4, 2, T, V);
        size_t weights = pw_model_size(m) * (narrow ? 2 : 4), taken = resident() - before;
        size_t said = pw_model_bytes(t->ops, &cfg, &pe, pw_model_kinds(m), narrow ? 2 : 4, 4, 2, T);
        if (taken > said + weights / 5 + (4 << 20) || said > 2 * weights + weights / 5)
            fail_msg("%zu bytes of weights: %zu are taken, %zu were said", weights, taken, said);
        pw_model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_peak),
                                       cmocka_unit_test(test_part_memory)};
    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
