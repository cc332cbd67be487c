/* looks.h - the part of lab_int.h about what somebody looks at: the pinned prompt, its answer, what led to
 * each token, attention, and the encoding's tables. */
#ifndef PW_LOOKS_H
#define PW_LOOKS_H
#include "lab/lab_int.h"

/* ---- arms.c: the replica of the current arm that answers prompts and is inspected */
/* The replica of an arm that is inspected: the chosen one, or the first of an arm that has fewer; NULL if
 * there is no such arm. Of the second its index in lab->arms, there or not. */
struct pw_arm *pw_lab_inspected_of(struct pw_lab *lab, int id);
int pw_lab_inspected_place(const struct pw_lab *lab, int id);
struct pw_arm *pw_lab_inspected(struct pw_lab *lab); /* of the current arm */
/* Chooses the replica of the current arm that answers prompts and is inspected. Emits the arm; the caller
 * refreshes what is shown. There must be so many. */
void pw_lab_choose_replica(struct pw_lab *lab, int replica);

/* ---- answer.c: the pinned prompt and its answer */
enum pw_code pw_lab_prompt(struct pw_lab *lab, const char *text, struct pw_err *err);
/* Pins a sample, of which it makes a copy, as if text had been typed; index: its number among the test
 * samples (-1: it is none), edited: which tokens of the prompt were ([n_prompt], NULL: none). */
enum pw_code pw_lab_pin(struct pw_lab *lab, const struct pw_sample *x, const char *text, int64_t index,
                        const bool *edited, struct pw_err *err);
/* PW_EUSER: the message, and a prompt that the task reads. */
enum pw_code pw_lab_want_prompt(const struct pw_lab *lab, const char *message, struct pw_err *err);
enum pw_code pw_lab_need_pin(const struct pw_lab *lab, const char *what, struct pw_err *err);
enum pw_code pw_lab_answer_again(struct pw_lab *lab, struct pw_err *err); /* if something is pinned */
/* The same by an arm that need not be the current one. */
enum pw_code pw_lab_answer_by(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);
/* The same where somebody watches (and tells the tables again): a model has changed. */
void pw_lab_refresh(struct pw_lab *lab, bool table);
void pw_lab_set_temperature(struct pw_lab *lab, float temperature); /* of decoding; 0: greedy */
/* Tokens, those of the prompt among them, at which an answer to x is given up, if the model takes so many. */
int pw_lab_answer_limit(const struct pw_lab *lab, const struct pw_sample *x);
struct pw_arm *pw_lab_answerer(struct pw_lab *lab); /* the replica whose answer it is; NULL: it has gone */
bool pw_lab_answering(const struct pw_lab *lab);
void pw_lab_answer_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_answer_all(struct pw_lab *lab);
/* Is the answer what the weights that decoded it say now? */
bool pw_lab_answer_stands(struct pw_lab *lab);
/* Decodes what is pinned as it was decoded, and tells nothing. Where that gives other tokens than those that
 * are there, these stay, and the answer doesn't stand. */
void pw_lab_answer_quietly(struct pw_lab *lab);
/* Until it is taken back another replica of the current arm is inspected and has answered the pinned prompt,
 * of which nothing is emitted. own: what was there. Fails where it can't be decoded; then nothing is lent. */
struct pw_lent {
    struct pw_pin pin;
    int replica;
};
enum pw_code pw_lab_lend(struct pw_lab *lab, struct pw_lent *own, int replica, struct pw_err *err);
void pw_lab_take_back(struct pw_lab *lab, const struct pw_lent *own);
void pw_lab_unpin(struct pw_lab *lab);
void pw_pin_fini(struct pw_pin *pin);
/* A token as the screen shows it; the same for n of them. The caller frees. */
void pw_lab_label(const struct pw_lab *lab, int token, char out[PW_LABEL]);
char (*pw_lab_labels(const struct pw_lab *lab, const int *tokens, int n))[PW_LABEL];
/* Logits [V] as probabilities at a temperature. */
void pw_lab_softmax(float *p, const float *logits, int V, double temperature);
/* The indices of the `most` largest of v [n], largest first, of equal ones the lower first; how many. */
int pw_lab_top(int *ids, int most, const float *v, int n);
float pw_lab_entropy(const float *p, int n); /* of probabilities [n], in bits */

/* ---- step.c: going through the answer; what names the command, for messages */
/* Does the model take the pinned prompt, and a token more? */
bool pw_pin_fits(const struct pw_pin *pin, const struct pw_arm *arm);
/* Is the answer complete, and that of the current arm's weights at the temperature that is set? What a
 * command does must not depend on an answer that isn't: which one is there depends on when the screen was
 * refreshed. */
bool pw_lab_answered(const struct pw_lab *lab);
/* Decodes the answer again where it isn't. */
enum pw_code pw_lab_need_answer(struct pw_lab *lab, const char *what, struct pw_err *err);
int pw_lab_cursor(const struct pw_pin *pin); /* the position that is looked at */
/* by tokens, forwards or backwards; forwards beyond the end where decoding had stopped without an end mark.
 */
enum pw_code pw_lab_go(struct pw_lab *lab, const char *what, int by, struct pw_err *err);
/* Another token at a position of the answer: what follows it is decoded anew. In the prompt: another prompt,
 * with the right answer that its task has for it. */
enum pw_code pw_lab_edit(struct pw_lab *lab, int pos, const char *word, struct pw_err *err);
/* Pins a sample of the test split: its number among those of a length of a task. Moves, and task "", go from
 * the sample that is pinned already; where none of this task and length is, from the longest trained length
 * and to number 0. */
enum pw_code pw_lab_sample(struct pw_lab *lab, const char *task, struct pw_move length, struct pw_move index,
                           struct pw_err *err);

/* ---- look.c: what led to the token that is looked at */
enum pw_code pw_lab_look_at(struct pw_lab *lab, const struct pw_arm *arm, int pos, struct pw_event **e,
                            struct pw_err *err);
enum pw_code pw_lab_tell_look(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);

/* ---- attention.c: the pinned prompt head by head */
/* Tokens of the pinned sequence that are looked at: all of it. Without the causal mask, where the answer is
 * one token, those that it was answered from: with it behind them the maps would be another pass's. */
int pw_lab_shown(const struct pw_lab *lab, const struct pw_arm *arm);
enum pw_code pw_lab_tell_attention(struct pw_lab *lab, const struct pw_arm *arm, struct pw_err *err);
/* The probe's scores of every head of probs [layers,heads,T,T], with room for `more` behind each head's. */
void pw_lab_score_heads(struct pw_ev_attention *a, const float *probs, const struct pw_head_input *in,
                        int more);
/* Emits the attention of the current arm with another replica, layer, head or view; moves go round the end,
 * and by 0 it is as it was. A replica (from 1) alone is chosen also where no prompt is pinned. */
enum pw_code pw_lab_look(struct pw_lab *lab, struct pw_move replica, struct pw_move layer,
                         struct pw_move head, struct pw_move view, struct pw_err *err);

/* ---- table_dense.c: of a bias by both positions that of some queries, and what it is made of */
void pw_lab_tell_dense(const struct pw_arm *arm, const struct pw_pe_tables *t, struct pw_ev_table *x);

/* ---- table.c */
/* What is looked at, as far as the arm has that much. */
struct pw_table_look pw_lab_table_look(const struct pw_lab *lab, const struct pw_arm *arm);
/* asked: the kernel is measured however long one sample takes. */
enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_arm *arm, struct pw_table_look look, bool asked,
                          struct pw_event **e, struct pw_err *err);
/* Tells it, and from now on all tables like this; length -1: as it was looked at so far. */
enum pw_code pw_lab_look_at_table(struct pw_lab *lab, struct pw_arm *arm, int length, struct pw_move layer,
                                  struct pw_err *err);
/* Emits the tables that are others than those emitted last: of arms that had one (told), and of demanded ones
 * (bit id; bit 0: the current arm). */
void pw_lab_refresh_tables(struct pw_lab *lab, bool told, unsigned demanded);
void pw_lab_tell_tables(struct pw_lab *lab); /* the current arm's, and in turn one that was told before */

#endif
