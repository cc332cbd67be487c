/* test_slice.c - tests short scheduler slices for the drawing thread: which settings change, and which must
 * not. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/slice.h"

/* The slice of the calling thread in ns, or 0 if the kernel doesn't report it. */
static uint64_t slice(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } a = {0};

    return syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) == 0 ? a.runtime : 0;
}

static void *child(void *out)
{
    *(uint64_t *)out = slice();
    return NULL;
}

static void short_and_alone(void **state)
{
    (void)state;
    int policy = sched_getscheduler(0), nice = getpriority(PRIO_PROCESS, 0);
    uint64_t before = slice(), of_child = 0;
    pthread_t thread;

    pw_slice_short();
    assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, policy);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), nice);
    assert_int_equal(pthread_create(&thread, NULL, child, &of_child), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(of_child, before);
    if (before == 0)
        skip(); /* a kernel before 6.12 */
    assert_int_equal(slice(), 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_and_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
