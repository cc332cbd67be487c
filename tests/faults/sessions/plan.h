/* plan.h - a case of the workbench harness: the lives of one session, as its seed has them. */
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

void plan_case(struct plan *p, uint64_t seed);
/* As text for a reader: what is typed, after how many milliseconds. */
void plan_print(FILE *f, const struct plan *p);

/* Copies without some lives, or without some keys of a life. False: nothing would be left, or there is
 * nothing to take away. */
bool plan_without_life(struct plan *out, const struct plan *p, int life);
bool plan_without_acts(struct plan *out, const struct plan *p, int life, int from, int n);

#endif
