/* train.h - training: rounds of steps of all arms, and steps in flight. Lab thread. */
#ifndef PW_TRAIN_H
#define PW_TRAIN_H
#include "lab/core/lab_int.h"

/* ---- train.c */
/* Run the next step, or the part of it that fits before a line arrives. If an `until` condition on acc is
 * being measured, run a slice of that measurement instead. */
void pw_lab_train_step(struct pw_lab *lab);

/* ---- ahead.c */
/* Seed of the training samples of replicas with this number: the lab's seed. With own batches it is the lab's
 * seed + replica - 1, even if the arm's initialisation has its own seed. */
uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replica);
/* Return the batch of a replica's step number `step`, from 0. The lab owns it, and a later call may overwrite
 * it. If the batch is not prepared yet, steps that have yielded are abandoned. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_replica *a, int64_t step);
/* Drop the prepared batches, because the samples have changed. */
void pw_lab_forget_batches(struct pw_lab *lab);
extern const struct pw_listener pw_batches_listener;
void pw_lab_free_batches(struct pw_lab *lab);
/* Is this one of the steps 1, 2, 3, 4, 6, 8, 12, 16, ...? The inspected replica is shown after each of them,
 * because heads form in early steps. */
bool pw_lab_always_observed(int64_t step);
/* Run the arm's next step; on a device also start some of the following steps. PW_EYIELD: see
 * pw_model_start. */
enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_replica *a, struct pw_step_result *r,
                               struct pw_err *err);
struct pw_replica *pw_lab_flying(struct pw_lab *lab); /* an arm with steps in flight; NULL: none */
/* Drain: complete and report all steps in flight. Call it before a model is read. */
void pw_lab_drain(struct pw_lab *lab);
bool pw_lab_checks(const struct pw_lab *lab); /* is an `until` condition being measured? */
/* Complete the measurements of acc that have begun. Call it before a model changes, so that their progress
 * does not affect the result. Their values count when training continues. */
void pw_lab_end_checks(struct pw_lab *lab);

#endif
