/* plan.h - compare the plan of a study (base/plan.h) with the lab: can the plan run, and does the lab's state
 * match it?
 *
 * Lab thread only. Both functions build no model and change nothing. */
#ifndef PW_LAB_PLAN_H
#define PW_LAB_PLAN_H
#include "base/err.h"
#include "base/plan.h"

struct pw_lab;

/* Check that the plan can run: its task exists, the model accepts the longest sample, and the encodings fit
 * the model. Memory is not checked. Fails with the first reason. */
enum pw_code pw_lab_plan_fits(const struct pw_plan *plan, struct pw_err *err);

/* Check that the lab's state matches the plan: task, seed, encodings in order, models, optimisers and
 * replicas. All steps must be done. An evaluation after the last step must cover all lengths with the plan's
 * number of samples, and no head may be ablated. The message names the first difference: the lab's value and
 * the plan's. */
enum pw_code pw_lab_plan_held(struct pw_lab *lab, const struct pw_plan *plan, struct pw_err *err);

#endif
