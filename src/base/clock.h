/* clock.h - the two clocks: what is waited for and measured goes by the first, what is told by the second. */
#ifndef PW_CLOCK_H
#define PW_CLOCK_H
#include <stdint.h>

double pw_now(void);      /* seconds of CLOCK_MONOTONIC */
int64_t pw_wall_ns(void); /* since 1970 */

#endif
