/* plan.h - a case of the workbench harness: the lives of one session. They follow from the seed. */
#ifndef PW_TESTS_PLAN_H
#define PW_TESTS_PLAN_H
#include <stdint.h>
#include <stdio.h>

#include "life.h"

enum { PLAN_LIVES = 5 };

struct plan {
    int n;
    struct life life[PLAN_LIVES];
};

/* Draws the plan of a seed. */
void plan_case(struct plan *p, uint64_t seed);
/* Prints the plan as text: the keys and their delays in milliseconds. */
void plan_print(FILE *f, const struct plan *p);

/* Copy a plan without one life, or without some keys of a life. Return false if no plan would be left, or the
 * range is out of bounds. */
bool plan_without_life(struct plan *out, const struct plan *p, int life);
bool plan_without_acts(struct plan *out, const struct plan *p, int life, int from, int n);

#endif
