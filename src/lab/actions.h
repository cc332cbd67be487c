/* actions.h - the functions that commands call: one action of the lab for each effect of a command. Lab
 * thread.
 *
 * A command (src/command/commands/NAME.c) parses its arguments and calls one or two actions. An action checks
 * everything before it changes anything, so a failing command leaves the lab unchanged; its err says why. All
 * results are events. Everything else in src/lab is private to it, except lab.h for the program that runs the
 * lab, and offer.h and scope.h, which help commands with completion and with arm=K. */
#ifndef PW_ACTIONS_H
#define PW_ACTIONS_H
#include "base/plan.h"
#include "command/command.h"
#include "lab/arm.h"
#include "sessions/fold.h"
#include "tasks/task.h"

struct pw_lab;
struct pw_probe; /* probe/probe.h */
struct pw_watch; /* a repeated probe */

/* ---- facts about the lab, notes */

/* The lab's settings and snapshot as commands read them. Pointers are borrowed until the next
 * action. */
struct pw_lab_facts {
    int current; /* id of the current arm */
    int replica; /* its inspected replica */
    bool own_batches, paused;
    bool records;  /* a session is being recorded */
    bool portable; /* the arithmetic is of class portable */
    const struct pw_taskset *tasks;
    const struct pw_snapshot *record; /* series, evaluations and findings so far */
    const struct pw_commands *help;   /* commands that `help` lists */
};
struct pw_lab_facts pw_lab_facts(const struct pw_lab *lab);

/* Emit a note. */
void pw_lab_note(struct pw_lab *lab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Emit each line of text as a note. */
void pw_lab_note_lines(struct pw_lab *lab, const char *text);
/* Fails if the text of `mark` or `say` is too long for one event. */
enum pw_code pw_lab_check_remark(const struct pw_lab *lab, const struct pw_command *cmd,
                                 const struct pw_args *args, struct pw_err *err);
void pw_lab_mark(struct pw_lab *lab, const char *text); /* emits a remark at the current arm's step */
/* Find a task of the lab by name. what: the command, for messages. */
enum pw_code pw_lab_find_task(const struct pw_lab *lab, const char *what, const char *name, int *task,
                              struct pw_err *err);

/* ---- arms. A change by a command applies to all replicas of an arm. */

struct pw_replica *pw_lab_arm(struct pw_lab *lab, int id); /* its first replica; NULL: no such arm */
struct pw_replica *pw_lab_current(struct pw_lab *lab);     /* its first replica */
struct pw_replica *pw_lab_replica(struct pw_lab *lab, int id, int replica); /* NULL: no such replica */
/* Returns the number of replicas of an arm; 0: no such arm. */
int pw_lab_n_replicas(const struct pw_lab *lab, int id);
/* The inspected replica of an arm: the chosen number, or replica 1 if the arm has fewer. NULL: no such arm.
 */
struct pw_replica *pw_lab_inspected_of(struct pw_lab *lab, int id);
/* Fails with a message such as "no arm 7; there are 1, 2, 3". */
enum pw_code pw_lab_need_arm(struct pw_lab *lab, int id, struct pw_replica **arm, struct pw_err *err);
/* Fails if the arm does not have this replica. Replica 0 means all and never fails. who: the command, for
 * messages. */
enum pw_code pw_lab_need_replica(struct pw_lab *lab, const struct pw_replica *arm, const char *who,
                                 int replica, struct pw_err *err);
/* Returns the name of its preset, or of the theorem that it was constructed from. */
const char *pw_lab_shape(const struct pw_replica *arm);
/* Writes ", adapter=8", or "" without an adapter. */
void pw_lab_adapter_text(char dst[32], const struct pw_replica *arm);
/* Replace all arms by n fresh ones with the current arm's model and `seeds` replicas each. own_batches:
 * replicas of an arm also differ in their training samples. This stays so for these arms and for arms derived
 * from them. */
enum pw_code pw_lab_race(struct pw_lab *lab, char *const *pes, int n, int seeds, bool own_batches,
                         struct pw_err *err);
/* Add a fresh arm with the current arm's model and number of replicas. *id receives its number, the first
 * free one. Fails if all arms are in use. */
enum pw_code pw_lab_add_arm(struct pw_lab *lab, const char *pe, int *id, struct pw_err *err);
/* Copy the current arm to the first free place: weights, moments, step, schedule, and whether it is training.
 * pe: swap its encoding as pw_lab_set_pe does; NULL: keep it. */
enum pw_code pw_lab_fork(struct pw_lab *lab, const char *pe, bool restart, int *id, struct pw_err *err);
/* Drop an arm; fails for the only one. If it was the current arm, the next lower one becomes current, or else
 * the highest. */
enum pw_code pw_lab_drop_arm(struct pw_lab *lab, int id, struct pw_err *err);
/* Make an arm the current one. */
enum pw_code pw_lab_choose_arm(struct pw_lab *lab, int id, struct pw_err *err);
/* Choose the next arm, or with by = -1 the previous one, wrapping around. */
enum pw_code pw_lab_choose_next(struct pw_lab *lab, int by, struct pw_err *err);
/* Emit the digest of a replica's parameters; it is also written to text unless that is NULL. */
void pw_lab_emit_digest(struct pw_lab *lab, const struct pw_replica *arm, char text[33]);

/* ---- settings */

/* Change the task; text: the arguments of `task`. If the vocabulary stays the same, all arms keep their
 * weights. Otherwise every arm is rebuilt with fresh weights. */
enum pw_code pw_lab_set_task(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Rebuild an arm with these model and optimiser settings and fresh weights. preset: the name that they are
 * based on. */
enum pw_code pw_lab_set_model(struct pw_lab *lab, struct pw_replica *arm, const char *preset,
                              const struct pw_config *cfg, const struct pw_optim *optim, struct pw_err *err);
/* Resolve context=fit (0): as many positions as the task's longest sample needs, but at least `least`, the
 * preset's number. */
void pw_lab_fit_context(const struct pw_taskset *set, struct pw_config *cfg, int least);
/* Change the initialisation seed of an arm, or (0) of all arms and of the lab's samples. The arms are rebuilt
 * with fresh weights. */
enum pw_code pw_lab_set_seed(struct pw_lab *lab, uint64_t seed, int arm_or_0, struct pw_err *err);
/* Swap the encoding of an arm in place, as pw_model_swap does: other weights and moments are kept. text: the
 * arguments of `pe`. restart: the learning rate schedule starts again. */
enum pw_code pw_lab_set_pe(struct pw_lab *lab, struct pw_replica *arm, const char *text, bool restart,
                           struct pw_err *err);
/* Run a further command before the one that runs has ended. A session records it as a command of its own, so
 * a re-run, which leaves out the first one if it writes files, has it. */
void pw_lab_then(struct pw_lab *lab, const char *line);
/* Give the formula of an arm a name, by which the arm is shown. Nothing else changes. Fails if the arm has a
 * built-in encoding or if a formula can't have the name. */
enum pw_code pw_lab_name_pe(struct pw_lab *lab, struct pw_replica *arm, const char *name, struct pw_err *err);
/* How the last dimensions of a bias from a file count pairs of positions; AUTO: by its shape. */
enum pw_bias_by { PW_BIAS_BY_AUTO, PW_BIAS_BY_DISTANCE, PW_BIAS_BY_SIGNED, PW_BIAS_BY_PAIR };
/* Append the encoding that an .npz file has for an arm's model, as arguments of `pe`: a formula that reads
 * the file's numbers (model/expr/numbers.h). pe_file.c describes the arrays. Emits notes about the file. */
enum pw_code pw_lab_read_pe(struct pw_lab *lab, const struct pw_replica *arm, const char *path,
                            enum pw_bias_by by, struct pw_str *text, struct pw_err *err);
/* Give an arm the table of biases of a T5 model (pw_t5_table_read): its encoding becomes `pe t5` with this
 * table. stack: the half of the model. layer: -1 if the file must have one table. The number of heads must be
 * the arm's. A causal arm takes of an encoder's table the half for keys before the query. */
enum pw_t5_stack { PW_T5_DECODER, PW_T5_ENCODER };
enum pw_code pw_lab_import_table(struct pw_lab *lab, struct pw_replica *arm, const char *path,
                                 enum pw_t5_stack stack, int layer, struct pw_err *err);
/* Emit notes about an encoding that was chosen by name: the settings that the bare name has here, and
 * pw_lab_warn_of_length's note. */
void pw_lab_note_encoding(struct pw_lab *lab, const struct pw_replica *arm);
/* Emit notes about options that the command's arguments leave out, if the model of another program had other
 * values: the base of rotations, and the trained length. before: the encoding that it had. */
void pw_lab_note_defaults(struct pw_lab *lab, const struct pw_replica *arm,
                          const struct pw_pe_use_opts *before, const struct pw_args *args);
/* Emit what pw_lab_note_encoding says of an encoding that the arm does not have. Changes nothing. */
enum pw_code pw_lab_check_pe(struct pw_lab *lab, const struct pw_replica *arm, const char *text,
                             struct pw_err *err);
/* Emit a note if a causal model has an encoding that needs the sequence length in advance. */
void pw_lab_warn_of_length(struct pw_lab *lab, const struct pw_replica *arm);
/* Tune options of an arm's encoding, such as "base=500 offset=3"; text NULL restores the options that tune.c
 * supports. Weights are kept. An arm with an evaluation is evaluated again. */
enum pw_code pw_lab_tune(struct pw_lab *lab, struct pw_replica *arm, const char *text, struct pw_err *err);
/* Give an arm the parameters of another arm's encoding, which must be the same encoding of the same shape. */
enum pw_code pw_lab_transplant(struct pw_lab *lab, struct pw_replica *arm, int from, struct pw_err *err);
/* Give learned entries that training never read the values of the nearest trained one (model/untrained.h). */
enum pw_code pw_lab_fill_untrained(struct pw_lab *lab, struct pw_replica *arm, struct pw_err *err);
/* Change the optimiser settings of an arm, from the next step on. trains=adapter gives its models a low-rank
 * adapter, unless they have one. Fails if memory does not suffice for that or for a larger batch, or if they
 * have one of another rank. */
enum pw_code pw_lab_set_optim(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_optim *optim,
                              struct pw_err *err);
/* Rebuild an arm, or (0) all arms, with fresh weights and the present settings. */
enum pw_code pw_lab_reset(struct pw_lab *lab, int arm_or_0, struct pw_err *err);
/* Restart an arm with the weights of a proof's construction (model/theorem.h). */
struct pw_construction {
    int T; /* positions that the construction counts */
    /* 0: as many layers as the proof needs; width / heads; a context that shows the effect */
    int layers, head_width, context;
    int width, heads;
    uint64_t seed; /* of the weights that the proof leaves open */
};
enum pw_code pw_lab_construct(struct pw_lab *lab, struct pw_replica *arm, int theorem,
                              const struct pw_construction *of, struct pw_err *err);
/* Replace the current arm by the model in a weights file, with its configuration and optimiser if the file
 * has them, else with those of the arm. The arm then has one replica. If the file was trained on another
 * vocabulary, the lab changes to the task of the file; that is allowed with a single arm only. */
enum pw_code pw_lab_import_weights(struct pw_lab *lab, const char *path, struct pw_err *err);
/* Replace an arm by a model that another program wrote (foreign/foreign.h): its weights, its encoding, and
 * its context, or `context` if that is above 0. The arm then has one replica. If the lab has another
 * vocabulary, its task becomes running text in the model's tokens, or `ids` without a tokenizer, which is
 * allowed with a single arm only. Emits notes about
 * size and encoding. */
enum pw_code pw_lab_import_model(struct pw_lab *lab, struct pw_replica *arm, const char *path, int context,
                                 struct pw_err *err);
/* name: "auto", "cpu", "cuda" or "cuda:N"; mode and precision NULL: the default. */
enum pw_code pw_lab_set_backend(struct pw_lab *lab, const char *name, const char *mode, const char *precision,
                                struct pw_err *err);
/* Use the cpu with this many threads (0: one per processor). */
enum pw_code pw_lab_set_threads(struct pw_lab *lab, int threads, struct pw_err *err);
/* Use other kernels of the cpu: auto, scalar, avx2 or avx512. Fails if the processor does not support them.
 */
enum pw_code pw_lab_set_isa(struct pw_lab *lab, const char *isa, struct pw_err *err);
enum pw_code pw_lab_set_precision(struct pw_lab *lab, const char *precision, struct pw_err *err);
void pw_lab_list_devices(struct pw_lab *lab); /* emits notes */

/* ---- training and scripts */

/* The arguments of `train`: arms, number of steps, and the condition that ends training earlier. */
struct pw_goal {
    int arm;             /* the arm to train; 0: all */
    int64_t n;           /* number of further steps; 0: until the condition is true */
    enum pw_until until; /* the condition */
    double value;
    /* only replicas 1..replica take the last of the n steps; in the others it stays due. 0: all take it */
    int replica;
};
/* Start training towards a goal. Fails if all selected arms have reached it. */
enum pw_code pw_lab_train(struct pw_lab *lab, const struct pw_goal *goal, struct pw_err *err);
bool pw_lab_training(const struct pw_lab *lab);
void pw_lab_set_share(struct pw_lab *lab, enum pw_share share);
void pw_lab_pause(struct pw_lab *lab, bool paused);
void pw_lab_step(struct pw_lab *lab, int64_t n);       /* train n rounds while paused */
void pw_lab_stop(struct pw_lab *lab, const char *why); /* ends training and the job; why "": no note */
/* Drop the commands of the script that have not run yet. */
void pw_lab_drop_script(struct pw_lab *lab);
/* Put the commands of text in front of the rest of the script. */
enum pw_code pw_lab_insert_script(struct pw_lab *lab, const char *text, struct pw_err *err);

/* ---- jobs */

/* Cancel the job of this name, or (NULL) the running one. Returns false if there is none. */
bool pw_lab_cancel(struct pw_lab *lab, const char *name);
/* Start the evaluation of all arms as a job, in place of any present one. lengths {0,0}: the trained and the
 * test lengths of each task. */
enum pw_code pw_lab_eval(struct pw_lab *lab, struct pw_range lengths, int samples, struct pw_err *err);
/* Examples from arm's last evaluation; task -1: any; length 0: the first with a failing sample.
 * pw_lab_failing emits the first n failing examples. */
enum pw_code pw_lab_failing(struct pw_lab *lab, struct pw_replica *arm, int task, int length, int n,
                            struct pw_err *err);
/* Pin one failing example of the current arm; decoding stops at its first wrong token. */
enum pw_code pw_lab_pin_failing(struct pw_lab *lab, int task, int length, int index, struct pw_err *err);
/* Compare arms on their last evaluations; bit id - 1 of `arms` selects arm id. lengths {0,0}: the lengths
 * beyond the task's trained ones. */
void pw_lab_paired(struct pw_lab *lab, unsigned arms, int task, struct pw_range lengths);
/* Mark the heads of a list such as "0.1,1.*" in chosen [L,H]. who: the command, for messages. */
enum pw_code pw_lab_read_heads(const struct pw_replica *arm, const char *who, const char *text,
                               uint8_t *chosen, struct pw_err *err);
/* Ablate heads of one replica, 0: of all. mode is not PW_ABLATE_NONE. samples: size of the probe set for mean
 * and resample. Both functions fail while the job runs. */
enum pw_code pw_lab_ablate(struct pw_lab *lab, struct pw_replica *arm, int replica, const uint8_t *chosen,
                           enum pw_ablation mode, int samples, struct pw_err *err);
/* Restore ablated heads of one replica, 0: of all. chosen NULL: all heads. */
enum pw_code pw_lab_restore(struct pw_lab *lab, struct pw_replica *arm, int replica, const uint8_t *chosen,
                            struct pw_err *err);
/* Start the job of activation patching. layer, head, pos: -1 if not given. from: the corrupt prompt. */
enum pw_code pw_lab_patch(struct pw_lab *lab, struct pw_replica *arm, enum pw_patch_kind kind, int layer,
                          int head, int pos, const char *from, struct pw_err *err);
/* Start the job of a probe. who: the command, for messages; NULL: "probe NAME". args: arms and options.
 * watch: NULL unless the probe is repeated. */
enum pw_code pw_lab_probe(struct pw_lab *lab, const struct pw_probe *probe, const char *who,
                          const struct pw_args *args, const struct pw_watch *watch, struct pw_err *err);
/* Emit a finding of an arm, NULL: of no single arm. Takes ownership of f. */
void pw_lab_emit_finding(struct pw_lab *lab, const struct pw_replica *arm, struct pw_finding *f);
extern const struct pw_opt pw_watch_opts[]; /* arm=, every= of `probe` */
/* Run `probe` with its arguments: measure once. every=N also sets a watch, every=0 ends it. */
enum pw_code pw_watch_probe(struct pw_lab *lab, const struct pw_probe *probe, const struct pw_args *args,
                            struct pw_err *err);
/* End the watches of a probe, or with NULL all; returns their number. */
int pw_watch_end(struct pw_lab *lab, const struct pw_probe *probe);
void pw_watch_list(struct pw_lab *lab); /* emits notes */
/* Write a file of this kind (pw_export_names) at path; args has the options. Some kinds start a job. */
enum pw_code pw_lab_export(struct pw_lab *lab, const char *what, const char *path, const struct pw_args *args,
                           struct pw_err *err);

/* ---- the pinned prompt and its inspection */

/* Pin a prompt, as the user typed it, and begin to decode the current arm's answer. A line path=FILE stands
 * for the text of a file. Fails if the file or the prompt cannot be read, or if it exceeds the context. */
enum pw_code pw_lab_prompt(struct pw_lab *lab, const char *line, struct pw_err *err);
/* Fails with PW_EUSER: the message, followed by an example prompt of the task. */
enum pw_code pw_lab_want_prompt(const struct pw_lab *lab, const char *message, struct pw_err *err);
void pw_lab_set_temperature(struct pw_lab *lab, float temperature); /* of decoding; 0: greedy */
/* Move by a number of tokens. Beyond the end, decoding continues if it had stopped without an end mark. */
enum pw_code pw_lab_go(struct pw_lab *lab, const char *what, int by, struct pw_err *err);
/* Replace the token at a position. In the answer, the tokens after it are decoded again. In the prompt, this
 * pins another prompt, with the task's right answer for it. */
enum pw_code pw_lab_edit(struct pw_lab *lab, int pos, const char *word, struct pw_err *err);
/* Pin a sample of the test split: its number within a task and length. Relative moves, and task "", start
 * from the pinned sample. If none of this task and length is pinned, they start from the longest trained
 * length and number 0. */
enum pw_code pw_lab_sample(struct pw_lab *lab, const char *task, struct pw_move length, struct pw_move index,
                           struct pw_err *err);
/* Emit the attention of the current arm with another replica, layer, head or view. Moves wrap around; a move
 * by 0 keeps the value. A replica (from 1) alone can be chosen even if no prompt is pinned. */
enum pw_code pw_lab_choose_view(struct pw_lab *lab, struct pw_move replica, struct pw_move layer,
                                struct pw_move head, struct pw_move view, struct pw_err *err);
/* Emit this table; further tables of all arms follow the same choice. length -1: keep the length. */
enum pw_code pw_lab_choose_table(struct pw_lab *lab, struct pw_replica *arm, int length, struct pw_move layer,
                                 struct pw_err *err);
/* Emit the attention in an .npz file; it replaces the attention of an earlier file. */
enum pw_code pw_lab_import_attention(struct pw_lab *lab, const char *path, struct pw_err *err);
void pw_lab_forget_attention(struct pw_lab *lab); /* of the imported file */

/* ---- plans of studies (base/plan.h). These functions build no model and change nothing. */

/* Check that the plan can run: its task exists, the model accepts the longest sample, and the encodings fit
 * the model. Memory is not checked. Fails with the first reason. */
enum pw_code pw_lab_plan_fits(const struct pw_plan *plan, struct pw_err *err);

/* The work of a run of a plan's first encoding. */
struct pw_plan_cost {
    double parameters;
    double operations; /* of one step, forward and backward (src/model/flops.c): the mean of 16 batches */
    double bytes;      /* upper estimate of its memory on the lab's backend, with one worker */
    double steps;
};
/* Count it from shapes and samples; the plan must fit. plan_cost.c. */
enum pw_code pw_lab_plan_cost(const struct pw_lab *lab, const struct pw_plan *plan, struct pw_plan_cost *cost,
                              struct pw_err *err);

/* Check that the lab's state matches the plan: task, seed, encodings in order, models, optimisers and
 * replicas. All steps must be done. Each replica must have trained in one unchanged run, and on the same
 * batches as the others, unless plan->loaded. An evaluation after the last step must cover all lengths with
 * the plan's number of samples, and no head may be ablated. The message names the first difference: the lab's
 * value and the plan's. */
enum pw_code pw_lab_plan_held(struct pw_lab *lab, const struct pw_plan *plan, struct pw_err *err);

/* ---- sessions */

/* Request a checkpoint of this moment, which is kept even beyond the storage budget. text: its name in the
 * log. */
enum pw_code pw_session_checkpoint(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Implements `save NAME`. */
enum pw_code pw_session_save(struct pw_lab *lab, const char *name, struct pw_err *err);
/* Implements `open NAME`: restore the newest checkpoint and re-run the events recorded after it. from >= 0:
 * stop at that step of the current arm; what follows is recorded as a new session. On failure nothing
 * changes. */
enum pw_code pw_session_open(struct pw_lab *lab, const char *name, int64_t from, struct pw_err *err);
/* Fill err with "nothing is recorded" and the reason. Returns PW_EUSER. */
enum pw_code pw_session_none(struct pw_lab *lab, const char *what, struct pw_err *err);
/* List the sessions in a folder (NULL: the user's folder) as NOTE events, with the space that each takes on
 * disk. largest: the largest first, instead of the last used. */
enum pw_code pw_session_list(struct pw_lab *lab, const char *folder, bool largest, struct pw_err *err);
/* Delete the session that was typed. Fails if it is open. */
enum pw_code pw_session_delete_typed(struct pw_lab *lab, const char *typed, struct pw_err *err);

#endif
