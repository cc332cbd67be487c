/* plan.h - a measurement's plan (base/plan.h) beside the lab: can it run, and is it what the lab holds?
 *
 * Lab thread only. Both build no model and change nothing. */
#ifndef PW_LAB_PLAN_H
#define PW_LAB_PLAN_H
#include "base/err.h"
#include "base/plan.h"

struct pw_lab;

/* Can the plan run: is its task one, does the model take its longest sample, and do the encodings take the
 * model? Memory isn't asked about. */
enum pw_code pw_lab_plan_fits(const struct pw_plan *plan, struct pw_err *err);

/* Does the lab hold what the plan asks for: task, seed, encodings in their order, models, optimisers,
 * replicas, all steps, and an evaluation after the last of them at all lengths with so many samples, every
 * head working? The message names the first difference: what the lab has, and what the plan asks. */
enum pw_code pw_lab_plan_held(struct pw_lab *lab, const struct pw_plan *plan, struct pw_err *err);

#endif
