/* test_checked.c - the check build runs every operation of every table: no race, no access out of bounds, no
 * read of uninitialised memory. Tests also that it detects races: without any single barrier it must find
 * one. So no barrier is superfluous, and the cases reach every barrier. */
#include "tests/emulator/emulator.h"
#include "tests/ops/ref.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEEDS = 3, SITES = 256 };

/* One operation of one table on random shapes, and the barriers that it reaches. */
struct trial {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
    const struct ref_case *rc;
    uint64_t seed;
    bool comes_to[SITES];
};

static struct trial *trials;
static int n_trials;

static void run(const struct trial *t)
{
    struct ref_out out;
    ref_run(t->rc, t->ops, t->be, t->seed, &out);
    free(out.data);
}

static void try(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc,
                uint64_t seed)
{
    uint64_t before[SITES] = {0};
    for (int i = 0; i < pw_emu_sites(); i++)
        before[i] = pw_emu_site_passed(i);
    trials = realloc(trials, (size_t)(n_trials + 1) * sizeof *trials);
    assert_non_null(trials);
    struct trial *t = &trials[n_trials++];
    *t = (struct trial){.ops = ops, .be = be, .rc = rc, .seed = seed};
    run(t);
    for (int i = 0; i < pw_emu_sites(); i++)
        t->comes_to[i] = pw_emu_site_passed(i) != before[i];
}

static const struct pw_backend_ops *const *tables(void)
{
    struct pw_err err;
    char path[1024];
    const struct pw_backend_plugin *p = pw_backend_plugin_of("cuda", path, sizeof path, &err);
    if (p == NULL)
        fail_msg("%s", err.msg);
    return p->tables;
}

static void expect_clean(const struct pw_backend_ops *ops, struct pw_backend *be, const struct ref_case *rc,
                         uint64_t seed)
{
    try(ops, be, rc, seed);
    if (pw_emu_findings() > 0)
        fail_msg("%s in %s, %s, seed %lu: %s", ops->mode, ops->precision, rc->name, (unsigned long)seed,
                 pw_emu_finding(0));
}

/* Tables share most kernels, so each has shapes of its own. */
static void test_clean(void **state)
{
    uint64_t seed = 1;
    (void)state;
    pw_emu_reset();
    pw_emu_collect(true);
    for (const struct pw_backend_ops *const *t = tables(); *t != NULL; t++, seed += SEEDS) {
        struct pw_backend *be;
        struct pw_err err;
        if ((*t)->open(&be, 0, &err))
            fail_msg("%s", err.msg);
        for (int k = 0; k < 2; k++)
            for (const struct ref_case *rc = k == 0 ? ref_cases : ref_scan_cases; rc->name != NULL; rc++)
                for (uint64_t s = seed; s < seed + SEEDS; s++)
                    expect_clean(*t, be, rc, s);
    }
    assert_true(n_trials > 0);
}

/* Whether a race is found without this barrier. */
static bool missed(int site)
{
    pw_emu_leave_out(site);
    for (int i = 0; i < n_trials && pw_emu_findings() == 0; i++)
        if (trials[i].comes_to[site])
            run(&trials[i]);
    bool race = strncmp(pw_emu_finding(0), "race: ", 6) == 0;
    pw_emu_leave_out(-1);
    pw_emu_clear();
    return race;
}

/* __syncthreads_or and similar calls are needed for their results. */
static void test_every_barrier_is_needed(void **state)
{
    (void)state;
    for (int site = 0; site < pw_emu_sites(); site++)
        if (strstr(pw_emu_site_name(site), "__syncthreads_") == NULL && !missed(site))
            fail_msg("%s: without it no race is found: it is superfluous, or no case shows that it isn't",
                     pw_emu_site_name(site));
}

static bool come_to(const char *file, int line)
{
    char name[200];
    size_t n = (size_t)snprintf(name, sizeof name, "%s:%d ", file, line);
    for (int site = 0; site < pw_emu_sites(); site++)
        if (strncmp(pw_emu_site_name(site), name, n) == 0)
            return true;
    return false;
}

static int barriers_in(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[400];
    int number = 0, n = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        number++;
        char *comment = strstr(line, "/*");
        if (comment != NULL)
            *comment = '\0';
        if (line[strspn(line, " ")] == '*') /* inside a comment */
            continue;
        if (strstr(line, "__syncthreads") == NULL && strstr(line, "__syncwarp") == NULL)
            continue;
        n++;
        if (!come_to(strrchr(path, '/') + 1, number))
            fail_msg("%s:%d: no case comes to this barrier", path, number);
    }
    fclose(f);
    return n;
}

static void test_every_barrier_is_reached(void **state)
{
    static const char *const patterns[] = {PEWTER_SOURCE_DIR "/kernels/cuda/*.cu",
                                           PEWTER_SOURCE_DIR "/kernels/cuda/*.h"};
    int n = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        glob_t files;
        assert_int_equal(glob(patterns[i], 0, NULL, &files), 0);
        for (size_t k = 0; k < files.gl_pathc; k++)
            n += barriers_in(files.gl_pathv[k]);
        globfree(&files);
    }
    assert_true(n > 0);
}

static int finish(void **state)
{
    (void)state;
    for (int i = 0; i < n_trials; i++)
        if (i + 1 == n_trials || trials[i + 1].be != trials[i].be)
            trials[i].ops->close(trials[i].be);
    free(trials);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_every_barrier_is_needed),
        cmocka_unit_test(test_every_barrier_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
