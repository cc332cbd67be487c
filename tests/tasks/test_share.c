/* test_share.c - compares the stated share of each trained length with drawn samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tasks/task.h"

enum { SAMPLES = 12000 };

static void shares_are_those_of_samples(const char *text)
{
    struct pw_taskset set;
    struct pw_err err;
    int tokens[4 * PW_MAX_ITEM], seen[64] = {0};
    double sum = 0;
    if (pw_taskset_init(&set, text, &err))
        fail_msg("%s: %s", text, err.msg);
    struct pw_range r = pw_task_train(&set.use[0]);
    for (int i = 0; i < SAMPLES; i++) {
        struct pw_sample x = {.tokens = tokens, .cap = 4 * PW_MAX_ITEM};
        pw_taskset_sample(&set, 3, PW_SPLIT_TRAIN, (uint64_t)i, 0, 0, &x);
        seen[x.length]++;
    }
    for (int length = r.lo; length <= r.hi; length++) {
        double share = pw_task_share(&set.use[0], length), got = (double)seen[length] / SAMPLES;
        if (fabs(share - got) > 0.015)
            fail_msg("%s: length %d: %g of training, %g of the samples", text, length, share, got);
        sum += share;
    }
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(pw_task_share(&set.use[0], r.hi + 1) == 0 && pw_task_share(&set.use[0], r.lo - 1) == 0);
    pw_taskset_fini(&set);
}

static void of_every_kind_of_set(void **state)
{
    (void)state;
    shares_are_those_of_samples("sort lengths=2..8");
    shares_are_those_of_samples("copy lengths=2..8 dist=geometric");
    shares_are_those_of_samples("addition lengths=1..4 dist=pairs");
    shares_are_those_of_samples("addition lengths=1..4 data=6000"); /* bins are pairs */
    shares_are_those_of_samples("sort lengths=2..6 data=6000 dist=geometric");
    shares_are_those_of_samples("parity lengths=2..8 held=on");
}

static void of_lines_of_one_s_own(void **state)
{
    char path[] = "/tmp/pewter-share-XXXXXX", text[128];
    (void)state;
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    for (int i = 0; i < 600; i++) /* twice as many lines of two words as of three, and some of four */
        fprintf(f, "a%d%s\tb\n", i, i % 7 < 4 ? " x" : i % 7 < 6 ? " x y" : " x y z");
    fclose(f);
    snprintf(text, sizeof text, "file path=%s", path);
    shares_are_those_of_samples(text);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_kind_of_set),
        cmocka_unit_test(of_lines_of_one_s_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
