/* arms.h - which arms and replicas there are, building their models, the device that computes them and the
 * memory that they take. Lab thread. */
#ifndef PW_ARMS_H
#define PW_ARMS_H
#include "lab/core/lab_int.h"

/* ---- list.c */
/* index of a replica in lab->replicas, whether or not it exists */
int pw_lab_place_of(int id, int replica);
/* index in lab->replicas of the inspected replica of an arm */
int pw_lab_inspected_place(const struct pw_lab *lab, int id);
struct pw_replica *pw_lab_inspected(struct pw_lab *lab); /* of the current arm */
int pw_lab_n_arms(const struct pw_lab *lab);
/* Copy the replicas of an arm (0: of all arms), arm by arm, to out [PW_MAX_PLACES]. Returns their number. */
int pw_lab_collect(const struct pw_lab *lab, int id_or_0, struct pw_replica *out);
/* Record what altered an arm and its replicas. Before the first step it counts as the arm's setting, not as
 * an alteration. */
void pw_lab_alter(struct pw_lab *lab, int id, enum pw_altered how);

/* ---- heads.c */
bool pw_lab_heads_off(const struct pw_replica *arm); /* is any head of this replica ablated? */
/* Check that a model from a file replaces heads only in modes that this program supports. */
enum pw_code pw_lab_check_heads(const struct pw_replica *arm, const char *what, struct pw_err *err);
void pw_lab_emit_heads(struct pw_lab *lab, const struct pw_replica *arm);

/* ---- tell.c: emit the events that describe the lab: LAB, ARM, STATE */
void pw_lab_emit_lab(struct pw_lab *lab);
void pw_lab_emit_arm(struct pw_lab *lab, const struct pw_replica *arm, bool restarted);
void pw_lab_emit_state(struct pw_lab *lab);
void pw_lab_emit_all(struct pw_lab *lab, bool restarted);

/* Describe an arm's origin for its checkpoint. task: text of pw_taskset_print. */
struct pw_checkpoint_info pw_lab_describe(const struct pw_lab *lab, const struct pw_replica *arm, char *task);

/* ---- build.c */
/* Set what the task says about tokens: their number and classes, and the first words of prompts. */
void pw_lab_fit_words(const struct pw_lab *lab, struct pw_config *cfg);
/* Build a fresh model with these settings. */
enum pw_code pw_lab_build_replica(struct pw_lab *lab, struct pw_replica *fresh,
                                  const struct pw_replica *settings, struct pw_err *err);
/* Build one whose weights are undefined, because they are loaded next: drawing 135 million normal numbers
 * would take seconds. */
enum pw_code pw_lab_build_blank(struct pw_lab *lab, struct pw_replica *fresh,
                                const struct pw_replica *settings, struct pw_err *err);
/* Build one with the weights of an open model of another program; own_pe: as in pw_foreign_model. */
struct pw_foreign; /* foreign/foreign.h */
enum pw_code pw_lab_build_foreign(struct pw_lab *lab, struct pw_replica *fresh,
                                  const struct pw_replica *settings, struct pw_foreign *f, bool own_pe,
                                  struct pw_err *err);
/* Build n of them: all or none. */
enum pw_code pw_lab_build_all(struct pw_lab *lab, struct pw_replica *fresh, const struct pw_replica *settings,
                              int n, struct pw_err *err);
/* Does the longest training or test sample of the lab fit into the model? Prompts and evaluation check their
 * own lengths, but training data must fit before anything is built. for_task: the task is new, not the
 * model. */
enum pw_code pw_lab_check_context(const struct pw_taskset *set, const struct pw_config *cfg, bool for_task,
                                  struct pw_err *err);
bool pw_lab_same_words(const struct pw_vocab *v, const struct pw_checkpoint_info *info);
/* Does every prompt of the task begin with the same token, which the proof uses as <bos>? Models without a
 * proof always pass. */
enum pw_code pw_lab_check_bos(const struct pw_lab *lab, const struct pw_config *cfg, struct pw_err *err);

/* ---- positions.c */
/* Append "positions: addition 0, 3 2, + 1, ..." for the pinned prompt or an example, as an evaluation has
 * them; nothing if the encoding does not read them from tokens or chance. */
void pw_lab_show_positions(const struct pw_lab *lab, const struct pw_pe_use_opts *pe,
                           const struct pw_config *cfg, struct pw_str *out);

/* ---- device.c: the device that computes */
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

/* ---- memory.c */
/* Bytes that the system can allocate, less a reserve; SIZE_MAX if unknown. */
size_t pw_lab_memory(void);
/* Would n more models of these settings fit into the memory of a backend (the system's or a device's)? The
 * message says what would fit. */
enum pw_code pw_lab_check_memory(const struct pw_lab *lab, const struct pw_backend_ops *ops,
                                 struct pw_backend *be, const struct pw_replica *settings, int n,
                                 struct pw_err *err);
/* Would the steps of these n replicas fit into memory, with their new settings or with samples of up to
 * `tokens` tokens? They must be all replicas of the lab. Memory that their models hold already is not
 * counted. The message names the largest batch of arm id (0: of all arms) that would fit. A model from a file
 * that neither trained nor is in training nor is arm id counts as one that is looked at. */
enum pw_code pw_lab_check_steps(const struct pw_lab *lab, const struct pw_replica *settings, int n, int id,
                                int tokens, struct pw_err *err);
/* Would the first steps fit of those models from files that are in training now? places [PW_MAX_PLACES]: all
 * replicas of the lab. */
enum pw_code pw_lab_check_first_steps(const struct pw_lab *lab, const struct pw_replica *places,
                                      struct pw_err *err);
/* Emit a note for every model from a file whose next step takes memory for weights. */
void pw_lab_note_first_steps(struct pw_lab *lab);
/* After a step of arm failed with err: if a device ran out of memory, extend the message by what would fit.
 */
void pw_lab_suggest_fit(const struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err);

/* Allocate room for the inspection of T tokens: four maps of each of so many heads, and `more` floats. NULL
 * fills err, also if the system would overcommit memory. The caller frees. */
float *pw_lab_maps(size_t heads, int T, size_t more, struct pw_err *err);

#endif
