/* looks.h - the part of lab_int.h about inspection: the pinned prompt, its answer, the inspected token,
 * attention, and the encoding's tables. Lab thread. */
#ifndef PW_LOOKS_H
#define PW_LOOKS_H
#include "lab/lab_int.h"

/* ---- arms.c: the replica of the current arm that answers prompts and is inspected */
/* The inspected replica of an arm: the chosen number, or replica 1 if the arm has fewer. NULL: no such arm.
 * pw_lab_inspected_place returns its index in lab->arms, whether or not it exists. */
struct pw_arm *pw_lab_inspected_of(struct pw_lab *lab, int id);
int pw_lab_inspected_place(const struct pw_lab *lab, int id);
struct pw_arm *pw_lab_inspected(struct pw_lab *lab); /* of the current arm */
/* Choose the replica of the current arm that answers prompts and is inspected. Emits the arm; the caller
 * refreshes the rest. The replica must exist. */
void pw_lab_choose_replica(struct pw_lab *lab, int replica);

/* ---- answer.c: the pinned prompt and its answer */
enum pw_code pw_lab_prompt(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Pin a copy of a sample as if text had been typed. index: its number among the test samples, -1: none.
 * edited [n_prompt]: which tokens of the prompt were edited, NULL: none. */
enum pw_code pw_lab_pin(struct pw_lab *lab, const struct pw_sample *x, const char *text, int64_t index,
                        const bool *edited, struct pw_err *err);
/* Fails with PW_EUSER: the message, followed by an example prompt of the task. */
enum pw_code pw_lab_want_prompt(const struct pw_lab *lab, const char *message, struct pw_err *err);
enum pw_code pw_lab_need_pin(const struct pw_lab *lab, const char *what, struct pw_err *err);
enum pw_code pw_lab_answer_again(struct pw_lab *lab, struct pw_err *err); /* a no-op if nothing is pinned */
/* Like pw_lab_answer_again, by an arm that need not be the current one. */
enum pw_code pw_lab_answer_by(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);
/* Like pw_lab_answer_again if there is a viewer, after a model has changed; table: emit the tables again. */
void pw_lab_refresh(struct pw_lab *lab, bool table);
void pw_lab_set_temperature(struct pw_lab *lab, float temperature); /* of decoding; 0: greedy */
/* Number of tokens, prompt included, at which decoding of an answer to x is given up. The model's context may
 * end it earlier. */
int pw_lab_answer_limit(const struct pw_lab *lab, const struct pw_sample *x);
struct pw_arm *pw_lab_answerer(struct pw_lab *lab); /* the replica that answers; NULL: it was dropped */
bool pw_lab_answering(const struct pw_lab *lab);
void pw_lab_answer_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_answer_all(struct pw_lab *lab);
void pw_lab_drop_answer(struct pw_lab *lab); /* one that is being decoded; it is not valid then */
/* Are the answer's tokens those that the present weights of its model produce? */
bool pw_lab_answer_stands(struct pw_lab *lab);
/* Decode the pinned prompt again under the same settings without emitting events. If the tokens differ, the
 * old ones are kept and the answer is not valid. */
void pw_lab_answer_quietly(struct pw_lab *lab);
/* Lend: until pw_lab_take_back, another replica of the current arm is inspected and has answered the pinned
 * prompt. No event of this is emitted. own: the saved state. If decoding fails, nothing is lent. */
struct pw_lent {
    struct pw_pin pin;
    int replica;
};
enum pw_code pw_lab_lend(struct pw_lab *lab, struct pw_lent *own, int replica, struct pw_err *err);
void pw_lab_take_back(struct pw_lab *lab, const struct pw_lent *own);
void pw_lab_unpin(struct pw_lab *lab);
void pw_pin_fini(struct pw_pin *pin);
/* The label of a token on the screen; labels of n tokens. The caller frees. */
void pw_lab_label(const struct pw_lab *lab, int token, char out[PW_LABEL]);
char (*pw_lab_labels(const struct pw_lab *lab, const int *tokens, int n))[PW_LABEL];
/* Convert logits [V] to probabilities at a temperature. */
void pw_lab_softmax(float *p, const float *logits, int V, double temperature);
/* Find the `most` largest of v [n], largest first; ties: lower index first. Returns the number of ids. */
int pw_lab_top(int *ids, int most, const float *v, int n);
float pw_lab_entropy(const float *p, int n); /* in bits, of probabilities p [n] */

/* ---- step.c: moving through the answer. what: the command, for messages */
/* Does the model accept the pinned prompt and one more token? */
bool pw_pin_fits(const struct pw_pin *pin, const struct pw_arm *arm);
/* Is the answer complete, and decoded by the current arm's present weights at the present temperature? A
 * command must not depend on any other answer, because that depends on when the screen was refreshed. */
bool pw_lab_answered(const struct pw_lab *lab);
/* Decode the answer again unless pw_lab_answered. */
enum pw_code pw_lab_need_answer(struct pw_lab *lab, const char *what, struct pw_err *err);
int pw_lab_cursor(const struct pw_pin *pin); /* the inspected position */
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

/* ---- look.c: the data that produced the inspected token */
enum pw_code pw_lab_look_at(struct pw_lab *lab, const struct pw_arm *arm, int pos, struct pw_event **e,
                            struct pw_err *err);
enum pw_code pw_lab_tell_look(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);

/* ---- attention.c: the pinned prompt head by head */
/* Number of inspected tokens of the pinned sequence: all. Exception: without the causal mask, and if the
 * answer is one token, only those that it was computed from. With the answer appended, the maps would belong
 * to another pass. */
int pw_lab_shown(const struct pw_lab *lab, const struct pw_arm *arm);
enum pw_code pw_lab_tell_attention(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);
/* Compute the probe's scores of every head of probs [layers,heads,T,T], and reserve room for `more` further
 * scores of each head. */
void pw_lab_score_heads(struct pw_ev_attention *a, const float *probs, const struct pw_head_input *in,
                        int more);
/* Emit the attention of the current arm with another replica, layer, head or view. Moves wrap around; a move
 * by 0 keeps the value. A replica (from 1) alone can be chosen even if no prompt is pinned. */
enum pw_code pw_lab_look(struct pw_lab *lab, struct pw_move replica, struct pw_move layer,
                         struct pw_move head, struct pw_move view, struct pw_err *err);

/* ---- table_dense.c: the rows of some queries of a bias that depends on both positions, and its components
 */
void pw_lab_tell_dense(const struct pw_arm *arm, const struct pw_pe_tables *t, struct pw_ev_table *x);

/* ---- table.c */
/* The shown table, limited to the lengths and layers that the arm has. */
struct pw_table_look pw_lab_table_look(const struct pw_lab *lab, const struct pw_arm *arm);
/* asked: measure the kernel even if one sample takes long. */
enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_arm *arm, struct pw_table_look look, bool asked,
                          struct pw_event **e, struct pw_err *err);
/* Emit this table; further tables of all arms follow the same choice. length -1: keep the length. */
enum pw_code pw_lab_look_at_table(struct pw_lab *lab, struct pw_arm *arm, int length, struct pw_move layer,
                                  struct pw_err *err);
/* Emit the tables that changed since they were last emitted. told: of arms whose table was emitted before;
 * demanded: of these arms (bit id; bit 0: the current arm). */
void pw_lab_refresh_tables(struct pw_lab *lab, bool told, unsigned demanded);
/* of the current arm and, round-robin, of one other arm whose table was emitted before */
void pw_lab_tell_tables(struct pw_lab *lab);

#endif
