/* test_pool.c - tests the thread pool: every item runs once, all threads work, and the properties of its
 * threads. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "base/pool.h"

enum { MAX_ITEMS = 1000, MAX_THREADS = 7 };

struct tally {
    int threads;
    atomic_int runs[MAX_ITEMS];
    int by_worker[MAX_THREADS]; /* not atomic: one thread at a time has a worker's number (TSan checks) */
};

static void count(void *arg, int item, int worker)
{
    struct tally *t = arg;

    if (worker < 0 || worker >= t->threads || item < 0 || item >= MAX_ITEMS)
        abort();
    atomic_fetch_add(&t->runs[item], 1);
    t->by_worker[worker]++;
}

static void every_item_once(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 2, 3, 8, 100, MAX_ITEMS};

    for (int threads = 1; threads <= MAX_THREADS; threads += 2) {
        struct pw_pool *pool;
        assert_int_equal(pw_pool_create(&pool, threads, NULL), PW_OK);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct tally t = {.threads = threads};
            int total = 0;
            pw_pool_run(pool, sizes[i], count, &t);
            for (int item = 0; item < MAX_ITEMS; item++)
                assert_int_equal(t.runs[item], item < sizes[i]);
            for (int w = 0; w < threads; w++)
                total += t.by_worker[w];
            assert_int_equal(total, sizes[i]);
        }
        pw_pool_destroy(pool);
    }
}

struct square {
    long out[64];
};

static void store_square(void *arg, int item, int worker)
{
    struct square *s = arg;

    (void)worker;
    s->out[item] += (long)item * item; /* not atomic: an item runs on one thread, and joins order the jobs */
}

/* Many short jobs in a row. A late worker must not run an item of the next job twice. Each job must see the
 * writes of the job before. */
static void jobs_follow_each_other(void **state)
{
    (void)state;
    enum { JOBS = 3000 };
    struct pw_pool *pool;
    struct square s = {{0}};

    assert_int_equal(pw_pool_create(&pool, 4, NULL), PW_OK);
    for (int job = 0; job < JOBS; job++)
        pw_pool_run(pool, 2 + job % 63, store_square, &s);
    pw_pool_destroy(pool);
    for (long item = 0; item < 64; item++) {
        long runs = 0;
        for (int job = 0; job < JOBS; job++)
            runs += item < 2 + job % 63;
        assert_int_equal(s.out[item], runs * item * item);
    }
}

/* Observations of the threads, while all of them are inside a job. */
struct roll {
    int threads;
    atomic_int present;
    atomic_int nice[MAX_THREADS], unblocked[MAX_THREADS], runs[MAX_THREADS];
};

static void answer(void *arg, int item, int worker)
{
    struct roll *r = arg;
    sigset_t mask;
    int unblocked = 0;

    (void)item;
    /* No item ends before every thread has one, so each thread gets exactly one. */
    atomic_fetch_add(&r->present, 1);
    while (atomic_load(&r->present) < r->threads)
        sched_yield();
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int s = 1; s < 32; s++) /* all signals but those that can't be blocked */
        unblocked += s != SIGKILL && s != SIGSTOP && !sigismember(&mask, s);
    atomic_store(&r->nice[worker], getpriority(PRIO_PROCESS, (id_t)gettid()));
    atomic_store(&r->unblocked[worker], unblocked);
    atomic_fetch_add(&r->runs[worker], 1);
}

static void all_threads_work(void **state)
{
    (void)state;
    struct roll r = {.threads = 3};
    struct pw_pool *pool;
    sigset_t before, after;
    int nice_before = getpriority(PRIO_PROCESS, 0);

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_int_equal(pw_pool_create(&pool, 3, NULL), PW_OK);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    pw_pool_run(pool, 3, answer, &r);
    pw_pool_destroy(pool);
    for (int w = 0; w < 3; w++) {
        assert_int_equal(r.runs[w], 1);
        if (w > 0) {
            assert_int_equal(r.nice[w], 19);
            assert_int_equal(r.unblocked[w], 0);
        }
    }
    assert_int_equal(r.nice[0], nice_before); /* the caller is unchanged */
    for (int s = 1; s < 32; s++)
        assert_int_equal(sigismember(&before, s), sigismember(&after, s));
}

static void in_line(void *arg, int item, int worker)
{
    int *order = arg;

    assert_int_equal(item, order[0]);
    assert_int_equal(worker, 0);
    order[0]++;
}

static void one_thread_runs_in_order(void **state)
{
    (void)state;
    struct pw_pool *pool;
    int next = 0;

    assert_int_equal(pw_pool_create(&pool, 1, NULL), PW_OK);
    pw_pool_run(pool, 50, in_line, &next);
    assert_int_equal(next, 50);
    pw_pool_destroy(pool);
    pw_pool_destroy(NULL);
}

static void idle_pools_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct pw_pool *pool;
        assert_int_equal(pw_pool_create(&pool, 1 + i % 5, NULL), PW_OK);
        pw_pool_destroy(pool);
    }
}

/* Threads that the system refuses: their stacks exceed any address space. */
static void refused_threads_are_reported(void **state)
{
    (void)state;
    pthread_attr_t attr;
    size_t stack;
    struct pw_pool *pool = (struct pw_pool *)&attr; /* must become NULL */
    struct pw_err err = {0};

    assert_int_equal(pthread_getattr_default_np(&attr), 0);
    pthread_attr_getstacksize(&attr, &stack);
    pthread_attr_setstacksize(&attr, (size_t)1 << 50);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    enum pw_code code = pw_pool_create(&pool, 3, &err);
    pthread_attr_setstacksize(&attr, stack);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    pthread_attr_destroy(&attr);
    assert_int_equal(code, PW_EUSER);
    assert_null(pool);
    assert_memory_equal(err.msg, "threads=3: the system allows only 1: ", 37);
}

static void processors(void **state)
{
    (void)state;
    cpu_set_t all, one;
    int first = 0;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        skip(); /* more processors than a cpu_set_t holds */
    assert_int_equal(pw_pool_processors(), CPU_COUNT(&all));
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    int restricted = pw_pool_processors();
    sched_setaffinity(0, sizeof all, &all);
    assert_int_equal(restricted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once),
        cmocka_unit_test(jobs_follow_each_other),
        cmocka_unit_test(all_threads_work),
        cmocka_unit_test(one_thread_runs_in_order),
        cmocka_unit_test(idle_pools_come_and_go),
        cmocka_unit_test(refused_threads_are_reported),
        cmocka_unit_test(processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
