/* pool.h - a fork-join thread pool: runs n items on a few threads that stay alive between calls.
 *
 * Threads take items from a shared counter, so the thread of an item is not deterministic; a result may
 * depend on the item only. Worker threads run at nice 19, so that drawing never waits for training. */
#ifndef PW_POOL_H
#define PW_POOL_H
#include "base/err.h"

struct pw_pool;

/* Create a pool of `threads` >= 1 threads. The caller of pw_pool_run is one of them, so threads - 1 are
 * started, with all signals blocked. *pool belongs to the caller. Fails with PW_ENOMEM, or with PW_EUSER if
 * the system allows fewer threads. */
enum pw_code pw_pool_create(struct pw_pool **pool, int threads, struct pw_err *err);
void pw_pool_destroy(struct pw_pool *pool); /* NULL is a no-op */

/* Call fn(arg, item, worker) for item = 0..n-1 and return when all calls have returned. worker is in
 * 0..threads-1; 0 is the caller. Only one thread may call this at a time, and fn must not call it. */
void pw_pool_run(struct pw_pool *pool, int n, void (*fn)(void *arg, int item, int worker), void *arg);

/* Return the number of processors that this process may use, at least 1. */
int pw_pool_processors(void);

#endif
