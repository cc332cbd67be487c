/* test_suite.c - the paper's tasks as studies run them: every entry takes one step, at toy and at paper settings; an
 * entry that can't run is named before anything trains; and `judge` refuses what the study doesn't ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"
#include "reproduce/study.h"
#include "reproduce/suite.h"
#include "tasks/task.h"

/* ---- the table */

/* The longest distance between a query and a key of a training sequence: its last token is no input. */
static int longest_distance(const char *task)
{
    struct pw_taskset set;
    struct pw_err err;
    int most = 0;
    if (pw_taskset_init(&set, task, &err) != PW_OK)
        fail_msg("%s: %s", task, err.msg);
    struct pw_range train = pw_task_train(&set.use[0]);
    for (int length = train.lo; length <= train.hi; length++) {
        int n = pw_task_has(&set.use[0], length) ? pw_taskset_tokens_at(&set, 0, length) : 0;
        most = n > most ? n : most;
    }
    pw_taskset_fini(&set);
    return most - 2;
}

static void test_distances(void **state)
{
    int wrong = 0;
    (void)state;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++) {
        int toy = longest_distance(t->toy), paper = longest_distance(t->paper);
        if (toy != t->toy_far || paper != t->paper_far)
            print_error("%s: %d, %d; the table says %d, %d\n", t->name, toy, paper, t->toy_far, t->paper_far), wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
