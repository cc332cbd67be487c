/* test_checked.c - the check build looks at every operation of every table: no race, nothing out of bounds or
 * uninitialised. And it would have noticed: with any one barrier left out it finds a race, or superfluous.txt
 * gives the reason why not. */
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CLEAN = 3, SEEDS = 6, SITES = 256 }; /* random shapes of each operation */

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

static void run(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc,
                uint64_t seed)
{
    struct ref_out out;
    ref_run(rc, ops, be, seed, &out);
    free(out.data);
}

static void test_clean(void **state)
{
    (void)state;
    pw_emu_reset();
    pw_emu_collect(true);
    for (const struct pw_backend_ops *const *t = tables(); *t != NULL; t++) {
        struct pw_backend *be = open_table(*t);
        for (const struct ref_case *rc = ref_cases; rc->name != NULL; rc++)
            for (uint64_t seed = 1; seed <= CLEAN; seed++) {
                run(*t, be, rc, seed);
                if (pw_emu_findings() > 0)
                    fail_msg("%s in %s, %s, seed %lu: %s", (*t)->mode, (*t)->precision, rc->name,
                             (unsigned long)seed, pw_emu_finding(0));
            }
        (*t)->close(be);
    }
}

/* ---- barriers */

/* One operation of one table on one shape, and the barriers that it comes to. */
struct trial {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    const struct ref_case *rc;
    uint64_t seed;
    bool passes[SITES];
};

static struct trial *trials;
static int n_trials;

static void try(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc,
                uint64_t seed)
{
    uint64_t before[SITES] = {0};
    for (int i = 0; i < pw_emu_sites(); i++)
        before[i] = pw_emu_site_passed(i);
    trials = realloc(trials, (size_t)(n_trials + 1) * sizeof *trials);
    struct trial *t = &trials[n_trials++];
    *t = (struct trial){ops, be, rc, seed, {false}};
    run(ops, be, rc, seed);
    for (int i = 0; i < pw_emu_sites(); i++)
        t->passes[i] = pw_emu_site_passed(i) != before[i];
}

/* Whether it is missed: by a race that is found without it. */
static bool missed(int site)
{
    pw_emu_leave_out(site);
    for (int i = 0; i < n_trials && pw_emu_findings() == 0; i++)
        if (trials[i].passes[site])
            run(trials[i].ops, trials[i].be, trials[i].rc, trials[i].seed);
    bool found = strncmp(pw_emu_finding(0), "race: ", 6) == 0;
    pw_emu_leave_out(-1);
    pw_emu_clear();
    return found;
}

static void test_barriers(void **state)
{
    (void)state;
    for (const struct pw_backend_ops *const *t = tables(); *t != NULL; t++) {
        struct pw_backend *be = open_table(*t);
        for (const struct ref_case *rc = ref_cases; rc->name != NULL; rc++)
            for (uint64_t seed = 1; seed <= SEEDS; seed++)
                try(*t, be, rc, seed);
    }
    for (int site = 0; site < pw_emu_sites(); site++)
        printf("%s %s\n", pw_emu_site_name(site), missed(site) ? "missed" : "NOT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
