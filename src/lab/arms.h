/* arms.h - the part of lab_int.h about arms: their models, their settings, the device that computes them and
 * the memory that they take. Lab thread. */
#ifndef PW_ARMS_H
#define PW_ARMS_H
#include "lab/lab_int.h"

/* ---- arms.c: the models of the lab */
struct pw_arm *pw_lab_arm(struct pw_lab *lab, int id); /* its first replica; NULL: no such arm */
struct pw_arm *pw_lab_current(struct pw_lab *lab);     /* its first replica */
struct pw_arm *pw_lab_replicate(struct pw_lab *lab, int id, int replicate); /* NULL: no such replica */
int pw_lab_n_arms(const struct pw_lab *lab);
int pw_lab_replicates(const struct pw_lab *lab, int id);
/* Fails with a message such as "no arm 7; there are 1, 2, 3". */
enum pw_code pw_lab_need_arm(struct pw_lab *lab, int id, struct pw_arm **arm, struct pw_err *err);
/* Fails if the arm does not have this replica. Replica 0 means all and never fails. who: the command, for
 * messages. */
enum pw_code pw_lab_need_replica(struct pw_lab *lab, const struct pw_arm *arm, const char *who, int replica,
                                 struct pw_err *err);
/* its preset, or the theorem that it was constructed from */
const char *pw_lab_shape(const struct pw_arm *arm);
/* Replace all arms by n fresh ones with the current arm's model and `seeds` replicas each. own_batches:
 * replicas of an arm also differ in their training samples. This stays so for these arms and for arms derived
 * from them. */
enum pw_code pw_lab_race(struct pw_lab *lab, char *const *pes, int n, int seeds, bool own_batches,
                         struct pw_err *err);
/* The arm has as many replicas as the current arm. */
enum pw_code pw_lab_add_arm(struct pw_lab *lab, const char *pe, int *id, struct pw_err *err);
/* Copy the current arm to the first free place: weights, moments, step, schedule, and whether it is training.
 * pe: swap its encoding as pw_lab_set_pe does; NULL: keep it. */
enum pw_code pw_lab_fork(struct pw_lab *lab, const char *pe, bool restart, int *id, struct pw_err *err);
enum pw_code pw_lab_drop_arm(struct pw_lab *lab, int id, struct pw_err *err);
enum pw_code pw_lab_choose_arm(struct pw_lab *lab, int id, struct pw_err *err);
/* Choose the next arm, or with by = -1 the previous one, wrapping around. */
enum pw_code pw_lab_choose_next(struct pw_lab *lab, int by, struct pw_err *err);
void pw_lab_tell_all(struct pw_lab *lab, bool restarted);

/* An action that changes models first builds the new models outside of lab->arms, and then puts them in the
 * places of the old ones. */

/* Copy the replicas of an arm (0: of all arms), arm by arm, to out [PW_MAX_PLACES]. Returns their number. */
int pw_lab_collect(const struct pw_lab *lab, int id_or_0, struct pw_arm *out);
/* Build a fresh model with these settings. */
enum pw_code pw_lab_build_arm(struct pw_lab *lab, struct pw_arm *fresh, const struct pw_arm *settings,
                              struct pw_err *err);
/* Build n of them: all or none. */
enum pw_code pw_lab_build_all(struct pw_lab *lab, struct pw_arm *fresh, const struct pw_arm *settings, int n,
                              struct pw_err *err);
/* Copy the replicas of an arm with their whole training state, all or none. pe: swap their encoding; NULL:
 * keep it. */
enum pw_code pw_lab_copy_all(struct pw_lab *lab, struct pw_arm *fresh, int *n, const struct pw_arm *arm,
                             const char *pe, bool restart, struct pw_err *err);
/* Put n replicas (whole arms, arm by arm) in their places; the previous models of these arms are freed. */
void pw_lab_put(struct pw_lab *lab, const struct pw_arm *fresh, int n);
/* Like pw_lab_put, after a change that affects all arms: training ends, and arms that are not among the n are
 * dropped. */
void pw_lab_put_only(struct pw_lab *lab, const struct pw_arm *fresh, int n);

/* ---- arms_set.c: settings of arms; all replicas of an arm change together */
enum pw_code pw_lab_set_task(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Complete a change of lab->tasks: frees the old set. If the vocabulary changed, the n replicas built for it
 * are put in their places, and other arms are dropped. */
void pw_lab_put_task(struct pw_lab *lab, struct pw_taskset *old, const struct pw_arm *fresh, int n);
enum pw_code pw_lab_set_model(struct pw_lab *lab, struct pw_arm *arm, const char *preset,
                              const struct pw_config *cfg, const struct pw_optim *optim, struct pw_err *err);
/* Restart one arm, of n replicas, with settings of another shape. */
enum pw_code pw_lab_reshape(struct pw_lab *lab, const struct pw_arm *settings, int n, struct pw_err *err);
enum pw_code pw_lab_set_seed(struct pw_lab *lab, uint64_t seed, int arm_or_0, struct pw_err *err);
/* Record what altered an arm and its replicas. Before the first step it counts as the arm's setting, not as
 * an alteration. */
void pw_lab_alter(struct pw_lab *lab, int id, enum pw_altered how);
/* Tune options of an arm's encoding, such as "base=500 offset=3"; text NULL restores the options that tune.c
 * supports. Weights are kept. An arm with an evaluation is evaluated again. */
enum pw_code pw_lab_tune(struct pw_lab *lab, struct pw_arm *arm, const char *text, struct pw_err *err);
/* Give an arm the parameters of another arm's encoding, which must be the same encoding of the same shape. */
enum pw_code pw_lab_transplant(struct pw_lab *lab, struct pw_arm *arm, int from, struct pw_err *err);
enum pw_code pw_lab_set_pe(struct pw_lab *lab, struct pw_arm *arm, const char *text, bool restart,
                           struct pw_err *err);
/* Emit notes about an encoding that was chosen by name: the settings that the bare name has here, and
 * pw_lab_warn_of_length's note. */
void pw_lab_note_encoding(struct pw_lab *lab, const struct pw_arm *arm);
/* Emit a note if a causal model has an encoding that needs the sequence length in advance. */
void pw_lab_warn_of_length(struct pw_lab *lab, const struct pw_arm *arm);
/* Takes effect at the next step. Fails if memory does not suffice for a larger batch. */
enum pw_code pw_lab_set_optim(struct pw_lab *lab, const struct pw_arm *arm, const struct pw_optim *optim,
                              struct pw_err *err);
enum pw_code pw_lab_reset(struct pw_lab *lab, int arm_or_0, struct pw_err *err);
/* Does the longest training or test sample of the lab fit into the model? Prompts and evaluation check their
 * own lengths, but training data must fit before anything is built. for_task: the task is new, not the
 * model. */
enum pw_code pw_lab_check_context(const struct pw_taskset *set, const struct pw_config *cfg, bool for_task,
                                  struct pw_err *err);
/* Resolve context=fit (0): as many positions as the task's longest sample needs, but at least `least`, the
 * preset's number. */
void pw_lab_fit_context(const struct pw_taskset *set, struct pw_config *cfg, int least);

/* ---- construct.c: an arm that starts with the weights of a proof's construction (model/theorem.h) */
struct pw_construction {
    int T; /* positions that the construction counts */
    /* 0: as many layers as the proof needs; width / heads; a context that shows the effect */
    int layers, head_width, context;
    int width, heads;
    uint64_t seed; /* of the weights that the proof leaves open */
};
/* Does every prompt of the task begin with the same token, which the proof uses as <bos>? Models without a
 * proof always pass. */
enum pw_code pw_lab_check_bos(const struct pw_lab *lab, const struct pw_config *cfg, struct pw_err *err);
enum pw_code pw_lab_construct(struct pw_lab *lab, struct pw_arm *arm, int theorem,
                              const struct pw_construction *of, struct pw_err *err);

/* ---- backend.c: the device that computes. All models move with all their bits, or none does. */
/* name: "auto", "cpu", "cuda" or "cuda:N"; mode and precision NULL: the default. */
enum pw_code pw_lab_set_backend(struct pw_lab *lab, const char *name, const char *mode, const char *precision,
                                struct pw_err *err);
/* Use the cpu with this many threads (0: one per processor). */
enum pw_code pw_lab_set_threads(struct pw_lab *lab, int threads, struct pw_err *err);
/* Use other kernels of the cpu: auto, scalar, avx2 or avx512. Fails if the processor does not support them.
 */
enum pw_code pw_lab_set_isa(struct pw_lab *lab, const char *isa, struct pw_err *err);
enum pw_code pw_lab_set_precision(struct pw_lab *lab, const char *precision, struct pw_err *err);
/* The arithmetic that decides the bits: "fp32" of class portable on any backend; of class machine "bf16", or
 * "cuda-tf32" in cuda's mode fast. */
void pw_lab_arithmetic(char dst[16], const struct pw_backend_ops *ops);
/* Open a backend with this arithmetic in addition to the lab's own. unit: the argument that it was opened
 * with. */
enum pw_code pw_lab_open_arithmetic(const struct pw_lab *lab, const char *arithmetic,
                                    const struct pw_backend_ops **ops, struct pw_backend **be, int *unit,
                                    struct pw_err *err);
/* Describe the device for the session: "cuda: NVIDIA H200, fast tf32, class machine; CUDA 13.0, driver 13.0,
 * ..." */
void pw_lab_place(const struct pw_lab *lab, char *dst, size_t size);
void pw_lab_list_devices(struct pw_lab *lab); /* emits notes */

/* ---- memory.c */
/* Bytes that the system can allocate, less a reserve; SIZE_MAX if unknown. */
size_t pw_lab_memory(void);
/* Would n more models of these settings fit into the memory of a backend (the system's or a device's)? The
 * message says what would fit. */
enum pw_code pw_lab_check_memory(const struct pw_lab *lab, const struct pw_backend_ops *ops,
                                 struct pw_backend *be, const struct pw_arm *settings, int n,
                                 struct pw_err *err);
/* Would the steps of these n replicas fit into memory, with their new settings or with samples of up to
 * `tokens` tokens? They must be all replicas of the lab. Memory that their models hold already is not
 * counted. The message names the largest batch of arm id (0: of all arms) that would fit. On failure the
 * batches in settings are overwritten. */
enum pw_code pw_lab_check_steps(const struct pw_lab *lab, struct pw_arm *settings, int n, int id, int tokens,
                                struct pw_err *err);
/* After a step of arm failed with err: if a device ran out of memory, extend the message by what would fit.
 */
void pw_lab_say_what_fits(const struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);

/* Allocate room for the inspection of T tokens: four maps of every head, and `more` floats. NULL fills err,
 * also if the system would overcommit memory. The caller frees. */
float *pw_lab_maps(const struct pw_config *cfg, int T, size_t more, struct pw_err *err);

#endif
