/* plan.h - a plan: what a study trains and evaluates, as plain values.
 *
 * A study writes its script from the plan. The command `check` tests whether the plan can run, and `judge`
 * compares it with the lab's state. All three read the same struct, so a verdict always refers to the numbers
 * that the study asks for. */
#ifndef PW_PLAN_H
#define PW_PLAN_H
#include <stdbool.h>
#include <stdint.h>

struct pw_plan {
    char task[512];  /* arguments of `task` */
    char model[256]; /* arguments of `model`: a preset, then key=value */
    char optim[256]; /* arguments of `optim`, key=value; "": those of the preset */
    char race[512];  /* arguments of `race`, without seeds= */
    uint64_t seed;
    int seeds;   /* replicas of each encoding */
    int samples; /* samples of each length in the final evaluation; 0: no evaluation */
    /* Number of evaluations at equal distances in steps, at least 1. The last one is the final evaluation. */
    int points;
    /* Index from 1 of the encoding of `race` whose initialisation uses the next seed; 0: none. */
    int other;
    bool loaded; /* weights are loaded from files; seeds, models and steps are not compared */
};

#endif
