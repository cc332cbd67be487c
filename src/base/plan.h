/* plan.h - what a measurement trains and evaluates, as plain values.
 *
 * A study of a paper writes its script from a plan, the command `check` asks whether the plan can run, and
 * `judge` compares the plan with what the lab holds: all three read the same record, so a verdict can't be
 * about other numbers than the study asks for. */
#ifndef PW_PLAN_H
#define PW_PLAN_H
#include <stdbool.h>
#include <stdint.h>

struct pw_plan {
    char task[512];  /* arguments of `task` */
    char model[256]; /* of `model`: a preset, then key=value */
    char optim[256]; /* of `optim`, key=value; "": the preset's */
    char race[512];  /* of `race`, without seeds= */
    uint64_t seed;
    int seeds;   /* of each encoding */
    int samples; /* of each length, of the evaluation at the end; 0: there is none */
    int points;  /* evaluations while training, at equal numbers of steps, the one at the end among them; 1 or
                    more */
    int other;   /* the encoding of `race`, from 1, whose initialisation has the next seed; 0: none */
    bool loaded; /* weights come from files: seeds, models and steps are what they are */
};

#endif
