/* ticks.h - round numbers along an axis, and how they are written. */
#ifndef PW_TICKS_H
#define PW_TICKS_H
#include <stdbool.h>
#include <stddef.h>

#define PW_MAX_TICKS_AXIS 32

/* The smallest of 1, 2 or 5 times a power of ten that puts at most `max` ticks on lo..hi. */
double pw_tick_step(double lo, double hi, int max);
/* Up to max (<= PW_MAX_TICKS_AXIS) ticks on lo..hi, as many as that allows; log: lo > 0. Returns how many. */
int pw_ticks(double *at, int max, double lo, double hi, bool log);
/* "40%", "0.25", "1e-04". */
void pw_tick_text(char *dst, size_t size, double v, bool percent);
/* 1234 -> "1234", 12345 -> "12.3k", 5000000 -> "5M". */
void pw_count(char *dst, size_t size, double n);

#endif
