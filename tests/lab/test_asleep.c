/* test_asleep.c - tests that a line may arrive at any moment while the lab falls asleep. The line must run,
 * and its sender must not wait for ever.
 *
 * Between two checks of its queue the lab holds no lock, and a line could be missed. That moment lasts some
 * nanoseconds, so the linker's --wrap delays the lab's thread before it takes a lock. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "ref_lab.h"

#define LINES   4000
#define WAIT_MS 20000

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);

static pthread_t reader;
static _Thread_local unsigned locks;

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!pthread_equal(pthread_self(), reader) && ++locks % 7 == 0)
        bench_doze(0.02);
    return __real_pthread_mutex_lock(m);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void test_lines(enum pw_send how)
{
    struct bench b;
    struct pw_rng rng;
    reader = pthread_self();
    bench_open(&b, 1, false);
    pw_rng_init(&rng, 2, PW_STREAM_TEST, 0);
    for (int i = 0; i < LINES; i++) {
        pw_lab_send(b.lab, "say x", how);
        bench_doze(0.3 * pw_rng_unit(&rng));
        bench_look(&b, 0);
    }
    double end = now_ms() + WAIT_MS;
    while (!pw_lab_idle(b.lab) && now_ms() < end) {
        int notes = b.notes;
        bench_look(&b, 100);
        end = b.notes > notes ? now_ms() + WAIT_MS : end; /* progress restarts the time limit */
    }
    assert_true(pw_lab_idle(b.lab));
    assert_int_equal(b.notes, LINES);
    bench_close(&b);
}

static void test_typed(void **state)
{
    (void)state;
    test_lines(PW_SEND_NOW);
}

static void test_script(void **state)
{
    (void)state;
    test_lines(PW_SEND_SCRIPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typed),
        cmocka_unit_test(test_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
