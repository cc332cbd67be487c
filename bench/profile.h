/* profile.h - a table of backend operations that wraps another table and times every call.
 *
 * The model reaches the backend only through its table of operations. Passing it this table therefore
 * profiles a step without a change to the model. A call costs two clock readings, about 50 ns, so speed is
 * measured without the profile. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H
#include "kernels/backend.h"
#include <stdio.h>

/* Returns the profiling table. There is one profile per process. `real` is borrowed and must outlive all
 * calls. */
const struct pw_backend_ops *bench_profile(const struct pw_backend_ops *real);

void bench_profile_reset(void);

/* Prints one JSON object with the operations that were called: {"linear_fwd": {"calls": n, "ms": t, "chunk":
 * true}, ...}. chunk true: the operation runs on one worker, and ms is the sum over workers. chunk false: ms
 * is wall time. */
void bench_profile_print(FILE *out);

#endif
