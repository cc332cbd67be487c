/* settings.h - changing the models of the lab. Lab thread.
 *
 * An action that changes models first builds the new models outside of lab->replicas, and then puts them in
 * the places of the old ones. All replicas of an arm change together. */
#ifndef PW_SETTINGS_H
#define PW_SETTINGS_H
#include "lab/core/lab_int.h"

/* ---- arms.c */
/* Copy the replicas of an arm with their whole training state, all or none. pe: swap their encoding; NULL:
 * keep it. */
enum pw_code pw_lab_copy_all(struct pw_lab *lab, struct pw_replica *fresh, int *n,
                             const struct pw_replica *arm, const char *pe, bool restart, struct pw_err *err);
/* Put n replicas (whole arms, arm by arm) in their places; the previous models of these arms are freed. */
void pw_lab_put(struct pw_lab *lab, const struct pw_replica *fresh, int n);
/* Like pw_lab_put, after a change that affects all arms: training ends, and arms that are not among the n are
 * dropped. */
void pw_lab_put_only(struct pw_lab *lab, const struct pw_replica *fresh, int n);

/* ---- adapter.c */
/* Give an arm the adapter that these settings ask for, unless it has one. All of its training state stays.
 * Fails if it has one of another rank. */
enum pw_code pw_lab_adapt(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_optim *optim,
                          struct pw_err *err);
/* Settings of steps for a new model: without an adapter they train all parameters. */
void pw_lab_fit_optim(const struct pw_config *cfg, struct pw_optim *optim);

/* ---- arms_set.c */
/* Complete a change of lab->tasks: frees the old set. If the vocabulary changed, the n replicas built for it
 * are put in their places, and other arms are dropped. */
void pw_lab_put_task(struct pw_lab *lab, struct pw_taskset *old, const struct pw_replica *fresh, int n);
/* Restart one arm, of n replicas, with settings of another shape. Adjusts their settings of steps to it. */
enum pw_code pw_lab_reshape(struct pw_lab *lab, struct pw_replica *settings, int n, struct pw_err *err);

/* ---- plan.c */
/* Read the preset of a plan, and its keys of `model` and `optim` for a task. */
enum pw_code pw_lab_plan_model(const struct pw_plan *plan, const struct pw_taskset *set, char preset[16],
                               struct pw_config *cfg, struct pw_optim *optim, struct pw_err *err);

#endif
