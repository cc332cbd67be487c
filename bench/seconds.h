/* seconds.h - the clock of the benchmarks. */
#ifndef BENCH_SECONDS_H
#define BENCH_SECONDS_H

double bench_seconds(void); /* monotonic */

#endif
