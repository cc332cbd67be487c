/* test_course.c - tests the learned parameters over training: which points the fold keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ref_fold.h"

/* The table of a formula with n numbers; the first is the step. */
static void put_learned(struct pw_snapshot *s, int arm, int replica, int64_t step, int n)
{
    struct pw_event *e = pw_event_new(PW_EV_TABLE);
    e->arm = arm, e->replica = replica, e->step = step, e->seq = s->seq + 1;
    e->u.table = (struct pw_ev_table){.length = 4, .heads = 1, .n_params = n > 0, .n_learned = n};
    e->u.table.params = pw_alloc(1, sizeof *e->u.table.params);
    *e->u.table.params = (struct pw_table_param){"a", n, 1, 1, 0, -1, 0};
    e->u.table.learned = n > 0 ? pw_alloc((size_t)n, sizeof(float)) : NULL;
    for (int i = 0; i < n; i++)
        e->u.table.learned[i] = (float)step + (float)i;
    fold_and_free(s, e);
}

static const struct pw_course *course_of(const struct pw_snapshot *s)
{
    return &s->arms[0].course;
}

static void a_point_for_each_table(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    put_arm(s, 1, true, true, 0, 0);
    put_learned(s, 1, 1, 0, 0); /* an encoding without parameters */
    assert_int_equal(course_of(s)->n, 0);
    for (int step = 0; step <= 50; step += 10)
        put_learned(s, 1, 1, step, 3);
    assert_int_equal(course_of(s)->n, 6);
    assert_int_equal(course_of(s)->values, 3);
    assert_int_equal(course_of(s)->point[4].step, 40);
    assert_true(course_of(s)->point[4].v[2] == 42);
    put_learned(s, 1, 1, 50, 3); /* emitted again */
    assert_int_equal(course_of(s)->n, 6);
    put_learned(s, 1, 1, 20, 3); /* the arm went back */
    assert_int_equal(course_of(s)->n, 3);
    assert_int_equal(course_of(s)->point[2].step, 20);
    pw_snapshot_free(s);
}

static void it_ends_with_its_encoding(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    put_arm(s, 1, true, true, 0, 0);
    put_learned(s, 1, 1, 10, 3);
    put_arm(s, 1, true, false, 10, 0); /* emitted again */
    assert_int_equal(course_of(s)->n, 1);
    put_arm(s, 1, true, false, 10, 1); /* a swap */
    assert_int_equal(course_of(s)->n, 0);
    put_learned(s, 1, 1, 10, 3);
    put_learned(s, 1, 1, 20, 2); /* other parameters */
    assert_int_equal(course_of(s)->n, 1);
    put_learned(s, 1, 2, 30, 2); /* another replica */
    assert_int_equal(course_of(s)->n, 1);
    assert_int_equal(course_of(s)->replica, 2);
    put_arm(s, 1, true, true, 0, 1);
    assert_int_equal(course_of(s)->n, 0);
    pw_snapshot_free(s);
}

/* First and last points stay; the others become sparser with the square root of the step. */
static void a_long_course_is_thinned(void **state)
{
    struct pw_snapshot *s = pw_snapshot_new();
    (void)state;
    put_arm(s, 1, true, true, 0, 0);
    for (int step = 1; step <= 10000; step++)
        put_learned(s, 1, 1, step, 1);
    const struct pw_course *c = course_of(s);
    assert_int_equal(c->n, PW_MAX_COURSE);
    assert_int_equal(c->point[0].step, 1);
    assert_int_equal(c->point[c->n - 1].step, 10000);
    assert_true(c->point[8].step < 200);
    for (int i = 1; i < c->n; i++)
        assert_true(c->point[i].step > c->point[i - 1].step && c->point[i].step - c->point[i - 1].step < 600);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_for_each_table),
        cmocka_unit_test(it_ends_with_its_encoding),
        cmocka_unit_test(a_long_course_is_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
