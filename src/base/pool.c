/* pool.c - a fork-join pool. A round (one pw_pool_run) is open while its caller works; workers enter and
 * leave it under one mutex.
 *
 * The caller never waits for a worker that has not entered. A worker at nice 19 on a busy machine may wake up
 * long after the items are done. Then it must not delay the caller, and must not take items of the next round
 * by a stale count. So a worker enters (counted in `inside`) only while the round is open. The caller closes
 * the round when no item is left, and waits only for workers inside. Both sides first spin for some
 * microseconds, because the joins of one training step follow each other closely. */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SPINS = 2000 };

struct worker {
    struct pw_pool *pool;
    pthread_t thread;
    int number; /* 1..threads-1 */
};

struct pw_pool {
    int threads;
    int started; /* workers that run */
    pthread_mutex_t lock;
    pthread_cond_t opened, left;
    atomic_uint jobs;  /* number of the round; written under the lock, polled without it */
    atomic_int inside; /* workers inside the open round; written under the lock, polled without it */
    bool open, stop;   /* protected by the lock */

    /* The round. Written under the lock before it opens, constant until it is closed and empty. */
    void (*fn)(void *arg, int item, int worker);
    void *arg;
    int n;
    atomic_int next; /* the next item to take */

    struct worker workers[]; /* [threads - 1] */
};

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_items(struct pw_pool *pool, int worker)
{
    int item;

    while ((item = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->n)
        pool->fn(pool->arg, item, worker);
}

static void *work(void *arg)
{
    struct worker *self = arg;
    struct pw_pool *pool = self->pool;
    unsigned seen = 0;

    /* On Linux a nice value belongs to a thread. A failure only means that training competes with drawing. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
    for (;;) {
        for (int i = 0; i < SPINS && atomic_load_explicit(&pool->jobs, memory_order_relaxed) == seen; i++)
            pause_processor();
        pthread_mutex_lock(&pool->lock);
        while (atomic_load_explicit(&pool->jobs, memory_order_relaxed) == seen && !pool->stop)
            pthread_cond_wait(&pool->opened, &pool->lock);
        seen = atomic_load_explicit(&pool->jobs, memory_order_relaxed);
        bool stop = pool->stop, enter = pool->open && !stop;
        if (enter)
            atomic_fetch_add_explicit(&pool->inside, 1, memory_order_relaxed);
        pthread_mutex_unlock(&pool->lock);
        if (stop)
            return NULL;
        if (!enter)
            continue;
        take_items(pool, self->number);
        pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub_explicit(&pool->inside, 1, memory_order_relaxed) == 1)
            pthread_cond_signal(&pool->left);
        pthread_mutex_unlock(&pool->lock);
    }
}

enum pw_code pw_pool_create(struct pw_pool **out, int threads, struct pw_err *err)
{
    assert(threads >= 1);
    *out = NULL;
    struct pw_pool *pool = calloc(1, sizeof *pool + (size_t)(threads - 1) * sizeof pool->workers[0]);
    if (pool == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for %d threads", threads);
    pool->threads = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->left, NULL);

    /* A thread inherits its creator's signal mask. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    for (int i = 0; i < threads - 1 && failed == 0; i++) {
        struct worker *w = &pool->workers[i];
        w->pool = pool;
        w->number = i + 1;
        failed = pthread_create(&w->thread, NULL, work, w);
        pool->started += failed == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        int got = pool->started + 1;
        pw_pool_destroy(pool);
        return pw_fail(err, PW_EUSER, "threads=%d: the system allows only %d: %s", threads, got,
                       strerror(failed));
    }
    *out = pool;
    return PW_OK;
}

void pw_pool_destroy(struct pw_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    assert(!pool->open);
    pool->stop = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void pw_pool_run(struct pw_pool *pool, int n, void (*fn)(void *arg, int item, int worker), void *arg)
{
    assert(n >= 0 && n <= 1 << 30); /* `next` counts slightly beyond n */
    if (pool->threads == 1 || n <= 1) {
        for (int i = 0; i < n; i++)
            fn(arg, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    assert(!pool->open); /* one caller at a time, and not from an item */
    pool->fn = fn;
    pool->arg = arg;
    pool->n = n;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->open = true;
    atomic_fetch_add_explicit(&pool->jobs, 1, memory_order_relaxed);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);

    take_items(pool, 0);

    for (int i = 0; i < SPINS && atomic_load_explicit(&pool->inside, memory_order_relaxed) > 0; i++)
        pause_processor();
    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (atomic_load_explicit(&pool->inside, memory_order_relaxed) > 0)
        pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

int pw_pool_processors(void)
{
    cpu_set_t set;

    /* The affinity mask has the processors granted by taskset, a cpuset or a batch system. The call fails on
     * machines with more processors than a cpu_set_t has bits. */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}
