/* ticks.h - round numbers along an axis, and their text. Pure functions. */
#ifndef PW_TICKS_H
#define PW_TICKS_H
#include <stdbool.h>
#include <stddef.h>

#define PW_MAX_TICKS_AXIS 32

/* Returns the smallest step of 1, 2 or 5 times a power of ten with at most `max` ticks on lo..hi. */
double pw_tick_step(double lo, double hi, int max);
/* Writes as many ticks on lo..hi as fit into max (<= PW_MAX_TICKS_AXIS) and returns their number. log: a
 * logarithmic axis, lo > 0. */
int pw_ticks(double *at, int max, double lo, double hi, bool log);
/* "40%", "0.25", "1e-04". */
void pw_tick_text(char *dst, size_t size, double v, bool percent);
/* 1234 -> "1234", 12345 -> "12.3k", 5000000 -> "5M". */
void pw_count(char *dst, size_t size, double n);

#endif
