/* train.h - training: rounds of steps of all arms, and steps in flight. Lab thread. */
#ifndef PW_TRAIN_H
#define PW_TRAIN_H
#include "lab/core/lab_int.h"

/* ---- train.c */
/* Run the next step, or a part of it until a line is waiting; or measure a slice of acc for `until`. */
void pw_lab_train_step(struct pw_lab *lab);

/* ---- ahead.c */
/* Seed of the training samples of replicas with this number: the lab's seed. With own batches it is the lab's
 * seed + replica - 1, even if the arm's initialisation has its own seed. */
uint64_t pw_lab_batch_seed(const struct pw_lab *lab, int replica);
/* The samples of an arm's step number `step`, counted from 0. */
const struct pw_batch *pw_lab_batch(struct pw_lab *lab, const struct pw_replica *a, int64_t step);
void pw_lab_forget_batches(struct pw_lab *lab); /* the samples have changed */
extern const struct pw_listener pw_batches_listener;
void pw_lab_free_batches(struct pw_lab *lab);
bool pw_lab_always_observed(int64_t step);
/* Run the arm's next step; on a device also start some of the following steps. PW_EYIELD: see
 * pw_model_start. */
enum pw_code pw_lab_step_ahead(struct pw_lab *lab, struct pw_replica *a, struct pw_step_result *r,
                               struct pw_err *err);
struct pw_replica *pw_lab_flying(struct pw_lab *lab); /* an arm with steps in flight; NULL: none */
/* Drain: complete and report all steps in flight. Call it before a model is read. */
void pw_lab_drain(struct pw_lab *lab);
/* pw_lab_end_checks completes the measurements of acc that have begun. Call it before a model changes, so
 * that their progress does not affect the result. Their values count when training continues. */
bool pw_lab_checks(const struct pw_lab *lab); /* is an `until` condition being measured? */
void pw_lab_end_checks(struct pw_lab *lab);

#endif
