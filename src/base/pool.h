/* pool.h - fork and join: run n items on a few threads that stay alive between calls.
 *
 * Items are taken from a shared counter, so which thread runs an item is chance; results must
 * depend on the item alone. Workers run at nice 19, so that drawing never waits for training. */
#ifndef PW_POOL_H
#define PW_POOL_H
#include "base/err.h"

struct pw_pool;

/* threads >= 1 counts the caller, who works too: threads - 1 are started, all signals blocked. */
enum pw_code pw_pool_create(struct pw_pool **pool, int threads, struct pw_err *err);
void pw_pool_destroy(struct pw_pool *pool); /* NULL is a no-op */

/* Calls fn(arg, item, worker) for item = 0..n-1, worker in 0..threads-1 (0 is the caller), and returns
 * when all are done. One caller at a time; fn must not call back into the pool. */
void pw_pool_run(struct pw_pool *pool, int n, void (*fn)(void *arg, int item, int worker), void *arg);

/* Processors that this process may use. */
int pw_pool_processors(void);

#endif
