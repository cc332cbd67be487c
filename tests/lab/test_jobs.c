/* test_jobs.c - long commands: they go on beside whatever is typed, and end when somebody says so. */
#include <stdio.h>
#include <string.h>

#include "../unit/ref_session.h"
#include "ref_lab.h"

/* Millions of samples as text: Ctrl-C ends that at once, and nothing is left of the file. */
static void test_data(void **state)
{
    char line[4200], path[4096], name[256];
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "task sort lengths=2..4; train 1");
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "export data %s n=10000000 split=all",
                 scratch_path(state, "d.jsonl", path));
        bench_send(&b, line);
        do { /* until it runs */
            bench_look(&b, 10000);
            assert_false(pw_lab_idle(b.lab));
        } while (b.s->job.state != PW_JOB_RUNNING || b.s->job.done == 0);
        assert_string_equal(b.s->job.name, "data");
        assert_int_equal(b.s->job.total, 30000000);
        assert_int_equal(scratch_count(*state, name), 1);
        bench_send(&b, line);
        while (b.errors <= i)
            bench_look(&b, 10000);
        assert_non_null(strstr(b.error, "d.jsonl is still being made"));
        if (i == 0)
            pw_lab_interrupt(b.lab);
        else
            bench_send(&b, "task sort test=9..10"); /* the samples would be of both */
        bench_until_idle(&b);
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        assert_int_equal(scratch_count(*state, name), 0);
    }
    snprintf(line, sizeof line, "export data %s n=7 split=all", path);
    bench_must(&b, line);
    assert_int_equal(b.s->job.done, 21);
    assert_int_equal(scratch_count(*state, name), 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_data, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
