/* test_moments.c - tests that moments and gradients of the tensors that steps change, wherever they are, give
 * the bits of moments and gradients of all tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/checkpoint.h"
#include "model/model_int.h"
#include "ref_toy.h"

/* Several tiles, of which steps with trains=norms or adapter leave out some as a whole. */
enum { V = 7, MOST = 1 << 17 };

static const char options[] =
    "layers=3 width=64 heads=4 kv_heads=2 ffn=120 context=40 gated=on tied=on qk_norm=head adapter=3";

static const char *const kinds[] = {"trains=all", "trains=norms", "trains=encoding", "trains=adapter"};

static struct pw_model *open_model(struct toy *t, const char *pe)
{
    struct pw_model *m = toy_model(t, options, pe, V, 3);

    toy_shake(m, 2);
    assert_in_range(m->lay.size, 20 * PW_TILE, MOST);
    return m;
}

/* Takes a step; the gradient is clipped, so each bit of its norm acts on the weights. Returns the norm. */
static double step(struct pw_model *m, const char *trains, uint64_t seed)
{
    char text[80];
    snprintf(text, sizeof text, "lr=0.01 warmup=0 clip=0.01 %s", trains);
    struct pw_optim o = toy_optim(text);
    return toy_step(m, &o, seed, 5, 6, 20, V).grad_norm;
}

/* Compares weights and moments. */
static void assert_same(struct pw_model *a, struct pw_model *b)
{
    static float x[3 * MOST], y[3 * MOST];
    size_t n = pw_model_size(a);

    assert_int_equal(pw_model_size(b), n);
    pw_model_get(a, x, x + n, x + 2 * n);
    pw_model_get(b, y, y + n, y + 2 * n);
    assert_memory_equal(x, y, 3 * n * sizeof *x);
}

static bool norms(const void *arg, int i)
{
    const struct pw_param_layout *lay = arg;

    return pw_param_trains(&lay->params[i], PW_TRAINS_NORMS);
}

/* Each place has its tensor's offset within a tile, places follow each other, and tensors share a tile only
 * if they share one among the parameters. */
static void test_places(void **state)
{
    struct pw_model *m = open_model(*state, "t5");
    struct pw_param_layout *lay = &m->lay;
    size_t end = 0, tile = SIZE_MAX, was = SIZE_MAX, left_out = 0;

    pw_places_set(lay, norms, lay);
    for (int i = 0; i < lay->n; i++) {
        const struct pw_param *p = &lay->params[i];
        assert_int_equal(p->place != PW_ABSENT, norms(lay, i));
        if (p->place == PW_ABSENT)
            continue;
        assert_int_equal(p->place % PW_TILE, p->offset % PW_TILE);
        assert_true(p->place >= end);
        if (tile != SIZE_MAX)
            assert_int_equal(p->place / PW_TILE == tile, p->offset / PW_TILE == was);
        end = p->place + pw_param_count(p);
        tile = (end - 1) / PW_TILE;
        was = (p->offset + pw_param_count(p) - 1) / PW_TILE;
        left_out = p->offset - p->place;
    }
    assert_int_equal(lay->trained, end);
    assert_true(left_out >= 10 * PW_TILE);
    pw_places_set(lay, NULL, NULL);
    for (int i = 0; i < lay->n; i++)
        assert_int_equal(lay->params[i].place, lay->params[i].offset);
    assert_int_equal(lay->trained, lay->size);
    for (int i = 0; i < lay->n; i++) /* as the model was opened */
        lay->params[i].place = PW_ABSENT;
    pw_model_destroy(m);
}

/* Steps of one kind, then of another: the same bits as in a model with moments of all tensors from the start.
 */
static void test_same_bits(void **state)
{
    struct toy *t = *state;

    for (size_t first = 0; first < 4; first++)
        for (size_t then = 0; then < 4; then++) {
            struct pw_model *part = open_model(t, "fire"), *whole = open_model(t, "fire");
            struct pw_err err;
            assert_int_equal(pw_model_reserve(whole, NULL, NULL, &err), PW_OK);
            for (uint64_t i = 0; i < 5; i++) {
                const char *kind = kinds[i < 2 || i == 4 ? first : then];
                double a = step(part, kind, i), b = step(whole, kind, i);
                assert_memory_equal(&a, &b, sizeof a);
            }
            assert_same(part, whole);
            assert_true(first == 0 || then == 0 || part->lay.trained < whole->lay.trained);
            pw_model_destroy(part);
            pw_model_destroy(whole);
        }
}

/* A copy, a model with another encoding, and a model from an image take the same steps. */
static void test_carried(void **state)
{
    struct toy *t = *state;

    for (size_t kind = 1; kind < 4; kind++) {
        struct pw_model *m = open_model(t, "t5"), *copy, *read = toy_model(t, options, "t5", V, 9);
        struct pw_checkpoint_info info = {.optim = toy_optim("")};
        struct pw_checkpoint *c;
        struct pw_err err;
        void *bytes;
        size_t n;
        step(m, kinds[kind], 1);
        step(m, kinds[kind], 2);
        assert_int_equal(pw_model_clone(&copy, m, t->ops, t->be, &err), PW_OK);
        assert_same(m, copy);
        assert_int_equal(pw_checkpoint_image(m, &info, &bytes, &n, &err), PW_OK);
        assert_int_equal(pw_checkpoint_open_bytes(&c, bytes, n, "it", &err), PW_OK);
        assert_int_equal(pw_checkpoint_load(c, read, &err), PW_OK);
        assert_same(m, read);
        assert_int_equal(copy->lay.trained, m->lay.trained);
        assert_int_equal(read->lay.trained, m->lay.trained);
        assert_int_equal(pw_model_kinds(read), pw_model_kinds(m));
        for (int i = 0; i < 2; i++) {
            const char *next = i == 0 ? kinds[kind] : "trains=all";
            step(m, next, 3);
            step(copy, next, 3);
            step(read, next, 3);
            assert_same(m, copy);
            assert_same(m, read);
        }
        struct pw_pe_use_opts pe = toy_pe("learned", pw_model_config(m));
        toy_swap(&m, &pe, 4, false);
        toy_swap(&copy, &pe, 4, false);
        step(m, kinds[kind], 5);
        step(copy, kinds[kind], 5);
        assert_same(m, copy);
        pw_checkpoint_close(c);
        free(bytes);
        pw_model_destroy(m);
        pw_model_destroy(copy);
        pw_model_destroy(read);
    }
}

static void test_kinds(void **state)
{
    struct pw_model *m = open_model(*state, "t5");
    unsigned encoding = pw_trains_kind(PW_TRAINS_ENCODING);

    assert_int_equal(pw_model_kinds(m), 0);
    step(m, "trains=encoding", 1);
    assert_int_equal(pw_model_kinds(m), encoding);
    step(m, "trains=adapter", 1);
    assert_int_equal(pw_model_kinds(m), encoding | pw_trains_kind(PW_TRAINS_ADAPTER));
    step(m, "trains=all", 1);
    assert_true(pw_model_kinds(m) & pw_trains_kind(PW_TRAINS_ALL));
    step(m, "trains=norms", 1);
    assert_int_equal(m->lay.trained, m->lay.size);
    pw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_carried), cmocka_unit_test(test_kinds)};

    return cmocka_run_group_tests(tests, toy_setup, toy_teardown);
}
