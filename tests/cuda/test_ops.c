/* test_ops.c - tests every operation of the CUDA backend through its tables. ref has the bits of the plain
 * oracle, fast the values of double precision. Neither depends on the order of threads and blocks.
 *
 * The plug-in is the one in $PEWTER_BACKEND_DIR: the emulator's, or the real one on a machine with a device.
 * The real one can't control the order of threads. */
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 12, FEW = 3, ORDERS = 3 };

static const struct pw_backend_ops *const *tables(void)
{
    struct pw_err err;
    char path[1024];
    const struct pw_backend_plugin *p = pw_backend_plugin_of("cuda", path, sizeof path, &err);
    if (p == NULL)
        fail_msg("%s", err.msg);
    return p->tables;
}

static struct pw_backend *open_table(const struct pw_backend_ops *ops)
{
    struct pw_err err;
    struct pw_backend *be;
    if (ops->open(&be, 0, &err))
        fail_msg("%s", err.msg);
    return be;
}

static void name_of(const struct pw_backend_ops *ops, int order, char name[64])
{
    static const char *const orders[ORDERS] = {"forward", "reverse", "shuffled"};
    snprintf(name, 64, "cuda %s %s, %s", ops->mode, ops->precision, orders[order]);
}

static const struct ref_case *const lists[] = {ref_cases, ref_scan_cases};

static void same_bits(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc,
                      int order)
{
    char name[64];
    name_of(ops, order, name);
    pw_emu_set_order((enum pw_emu_order)order, 5);
    for (; rc->name != NULL; rc++)
        for (uint64_t seed = 1; seed <= (order == 0 ? SEEDS : FEW); seed++)
            ref_expect_bits(name, rc, ops, be, seed);
}

static void test_ref_has_the_bits(void **state)
{
    int found = 0;
    (void)state;
    for (const struct pw_backend_ops *const *t = tables(); *t != NULL; t++) {
        if (!(*t)->portable)
            continue;
        struct pw_backend *be = open_table(*t);
        for (int order = 0; order < ORDERS; order++)
            for (int k = 0; k < 2; k++)
                same_bits(*t, be, lists[k], order);
        pw_emu_reset();
        (*t)->close(be);
        found++;
    }
    assert_true(found > 0);
}

/* The oracle with operands rounded as in this precision. Accumulation is in float, in any order. */
static const struct pw_backend_ops *oracle(const char *precision)
{
    if (strcmp(precision, "bf16") == 0)
        return ref_rounded(8);
    return strcmp(precision, "tf32") == 0 ? ref_rounded(11) : &ref_double;
}

static bool attends(const struct ref_case *rc)
{
    return strncmp(rc->name, "attention", strlen("attention")) == 0;
}

/* The factor by which a case's tolerance exceeds that of float32. In bf16, attention rounds all operands of
 * products, and sums of gradients by distance add hundreds of such errors; test_attention.c is stricter. */
static double times(const struct pw_backend_ops *ops, const struct ref_case *rc)
{
    if (strcmp(ops->precision, "tf32") == 0 && strcmp(rc->name, "linear") == 0)
        return 1000.0; /* a device may truncate where the oracle rounds */
    return strcmp(ops->precision, "bf16") == 0 && attends(rc) ? 5000.0 : 2.0;
}

/* Calls check for every case of every fast table; after the first table only for cases that depend on the
 * precision. */
static void each_fast(void (*check)(const struct pw_backend_ops *ops, struct pw_backend *be,
                                    const struct ref_case *rc))
{
    bool first = true;
    for (const struct pw_backend_ops *const *t = tables(); *t != NULL; t++) {
        if ((*t)->portable)
            continue;
        struct pw_backend *be = open_table(*t);
        for (int k = 0; k < 2; k++)
            for (const struct ref_case *rc = lists[k]; rc->name != NULL; rc++)
                if (first || strcmp(rc->name, "linear") == 0 || attends(rc))
                    check(*t, be, rc);
        (*t)->close(be);
        first = false;
    }
    assert_false(first);
}

static void values(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        ref_expect_values(ops->precision, rc, ops, be, oracle(ops->precision), seed, times(ops, rc));
}

static void test_fast_has_the_values(void **state)
{
    (void)state;
    each_fast(values);
}

static void own_bits(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc)
{
    for (uint64_t seed = 1; seed <= FEW; seed++) {
        struct ref_out first, again;
        ref_run(rc, ops, be, seed, &first);
        for (int order = 1; order < ORDERS; order++) {
            char name[64];
            name_of(ops, order, name);
            pw_emu_set_order((enum pw_emu_order)order, seed);
            ref_run(rc, ops, be, seed, &again);
            ref_same_bits(name, rc, seed, &again, &first);
            free(again.data);
        }
        pw_emu_reset();
        free(first.data);
    }
}

static void test_fast_has_its_own_bits(void **state)
{
    (void)state;
    each_fast(own_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ref_has_the_bits),
        cmocka_unit_test(test_fast_has_the_values),
        cmocka_unit_test(test_fast_has_its_own_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
