/* plan.h - a plan: the trainings and evaluations of a study, as plain values.
 *
 * A study writes its script from the plan. The command `check` tests whether the plan can run, and `judge`
 * compares it with the lab's state. All three read the same struct, so a verdict always refers to the numbers
 * that the study asks for. */
#ifndef PW_PLAN_H
#define PW_PLAN_H
#include <stdbool.h>
#include <stdint.h>

/* A plan. The number of training steps is steps= in `optim`, or else that of the preset in `model`. */
struct pw_plan {
    char task[512];  /* arguments of `task` */
    char model[256]; /* arguments of `model`: a preset, then key=value */
    char optim[256]; /* arguments of `optim`, key=value; "": those of the preset */
    char race[512];  /* arguments of `race`, without seeds= */
    uint64_t seed;
    int seeds;   /* replicas of each encoding */
    int samples; /* samples of each length in the final evaluation; 0: no evaluation */
    /* Number of evaluations of a run, at least 1, after equal numbers of steps. The last one follows the last
     * step: it is the final evaluation. */
    int points;
    /* For a study with one model of another initialisation (NoPE* of figure4): index from 1 of this encoding
     * in `race`. Its models begin with the next seed. 0: none. */
    int other;
    /* The weights come from files, so seeds, model settings and steps of the arms are not compared. */
    bool loaded;
};

#endif
