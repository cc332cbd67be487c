/* clock.h - the program's two clocks. Waiting and measuring use the monotonic clock; the dates of events and
 * sessions use wall time.
 *
 * Any thread may call these functions; they cannot fail. */
#ifndef PW_CLOCK_H
#define PW_CLOCK_H
#include <stdint.h>

double pw_now(void);      /* seconds, CLOCK_MONOTONIC */
int64_t pw_wall_ns(void); /* nanoseconds since 1970 (UTC) */

#endif
