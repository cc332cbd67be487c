/* profile.h - a table of backend operations that times every call of another one.
 *
 * The model knows the backend only by its table of functions, so to see where a step's time goes nothing in
 * it has to change: it is given this table. Two clock readings a call, some 50 ns; speed itself is measured
 * without. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H
#include "kernels/backend.h"
#include <stdio.h>

/* One profile a process; `real` is borrowed and must stay. */
const struct pw_backend_ops *bench_profile(const struct pw_backend_ops *real);

void bench_profile_reset(void);

/* A JSON object by operation: {"linear_fwd": {"calls": n, "ms": t, "chunk": true}, ...}, only what was
 * called. chunk: runs on one worker, and ms is the sum over workers; else it is wall time. */
void bench_profile_print(FILE *out);

#endif
