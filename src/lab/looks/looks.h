/* looks.h - inspection: the pinned prompt, its answer, the inspected token,
 * attention, and the encoding's tables. Lab thread. */
#ifndef PW_LOOKS_H
#define PW_LOOKS_H
#include "lab/core/lab_int.h"

struct pw_head_input; /* probe/heads.h */

/* Number of tokens beyond the right answer after which decoding gives up waiting for an end mark. A
 * scratchpad gets half of its tokens more, because a longer scratchpad can give the same answer. */
#define PW_BEYOND 8
/* Tokens by which a typed piece of running text is continued. */
#define PW_CONTINUED 48

/* ---- labels.c, pin.c, answer.c: the pinned prompt and its answer */
/* Pin a copy of a sample as if text had been typed. index: its number among the test samples, -1: none.
 * edited [n_prompt]: which tokens of the prompt were edited, NULL: none. */
enum pw_code pw_lab_pin(struct pw_lab *lab, const struct pw_sample *x, const char *text, int64_t index,
                        const bool *edited, struct pw_err *err);
enum pw_code pw_lab_need_pin(const struct pw_lab *lab, const char *what, struct pw_err *err);
enum pw_code pw_lab_answer_again(struct pw_lab *lab, struct pw_err *err); /* a no-op if nothing is pinned */
/* Like pw_lab_answer_again, by an arm that need not be the current one. */
enum pw_code pw_lab_answer_by(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err);
/* Like pw_lab_answer_again if there is a viewer, after a model has changed; table: emit the tables again. */
void pw_lab_refresh(struct pw_lab *lab, bool table);
/* Number of tokens, prompt included, at which decoding of an answer to x is given up. The model's context may
 * end it earlier. */
int pw_lab_answer_limit(const struct pw_lab *lab, const struct pw_sample *x);
struct pw_replica *pw_lab_answerer(struct pw_lab *lab); /* the replica that answers; NULL: it was dropped */
bool pw_lab_answering(const struct pw_lab *lab);
void pw_lab_answer_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_answer_all(struct pw_lab *lab);   /* the rest of the answer */
/* Like pw_lab_answer_again, to the answer's end, for a command, which fails with the decoding. */
enum pw_code pw_lab_answer_now(struct pw_lab *lab, struct pw_err *err);
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
extern const struct pw_listener pw_answer_listener;
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
bool pw_pin_fits(const struct pw_pin *pin, const struct pw_replica *arm);
/* Is the answer complete, and decoded by the current arm's present weights at the present temperature? A
 * command must not depend on any other answer, because that depends on when the screen was refreshed. */
bool pw_lab_answered(const struct pw_lab *lab);
/* Decode the answer again unless pw_lab_answered. */
enum pw_code pw_lab_need_answer(struct pw_lab *lab, const char *what, struct pw_err *err);
int pw_lab_cursor(const struct pw_pin *pin); /* the inspected position */

/* ---- look.c: the data that produced the inspected token */
enum pw_code pw_lab_inspect(struct pw_lab *lab, const struct pw_replica *arm, int pos, struct pw_event **e,
                            struct pw_err *err);
/* Emit the attention, and the inspection of the token at the cursor, in one pass if possible. */
enum pw_code pw_lab_emit_looks(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err);
enum pw_code pw_lab_emit_inspection(struct pw_lab *lab, const struct pw_replica *arm, struct pw_err *err);

/* ---- attention.c: the pinned prompt head by head */
/* Number of inspected tokens of the pinned sequence: all. Exception: without the causal mask, and if the
 * answer is one token, only those that it was computed from. With the answer appended, the maps would belong
 * to another pass. */
int pw_lab_shown(const struct pw_lab *lab, const struct pw_replica *arm);
void pw_lab_forget_heads(struct pw_lab *lab); /* frees what an attention is computed from more quickly */
/* asked: by a command. row: NULL, or a row of tensors that the same pass computes (one_row). */
enum pw_code pw_lab_emit_attention(struct pw_lab *lab, const struct pw_replica *arm, bool asked,
                                   struct pw_inspection *row, struct pw_err *err);
/* Can pw_lab_emit_attention compute a row of the pass that pw_lab_inspect needs for position pos? */
bool pw_lab_has_row(const struct pw_lab *lab, const struct pw_replica *arm, int pos);

/* ---- attention_maps.c: the maps and scores of all heads */
/* Name the scores of a, make room for those of every head, and compute their values by chance. An arm's heads
 * have the position's part as well, a file's (source) have not. */
void pw_lab_name_scores(struct pw_ev_attention *a, const struct pw_head_input *in);
/* Compute the scores of one head from its map [T,T]; the position's part becomes NaN. */
void pw_lab_score_head(struct pw_ev_attention *a, int layer, int head, const float *probs,
                       const struct pw_head_input *in);
/* Does the encoding act on the scores, so that the heads' parts are shares of the whole score? */
bool pw_lab_acts_on_scores(const struct pw_ev_attention *a);
/* Compute position's share of what distinguishes keys, from the content map and n position maps [T,T]; score
 * is -inf at hidden keys. NaN: nothing distinguishes them. */
float pw_lab_position_part(const float *content, const float *position, int n, const float *score, int T);
/* The `every` of struct pw_head_input for T tokens. */
int pw_lab_every(int T);
/* Run the model over tokens [a->T] and fill in a's maps and scores; a names the head and the view, and has
 * its sizes and what the encoding does. known: an attention of the same pass, maybe with another head and
 * view, which saves the work of other layers; NULL: none. score [T,T]: receives the scores of the inspected
 * head; NULL: not wanted. in: other tensors of the pass that the caller wants; without one_row, those of
 * layers above a's can be undefined. Fails without memory. */
enum pw_code pw_lab_look_at_heads(const struct pw_lab *lab, const struct pw_replica *arm, const int *tokens,
                                  struct pw_ev_attention *a, const struct pw_ev_attention *known,
                                  const struct pw_head_input *input, float *score, struct pw_inspection *in,
                                  struct pw_err *err);

/* ---- table_learned.c: the learned parameters of an encoding with arithmetic of its own */
struct pw_learned {
    const struct pw_param *p; /* its tensors, contiguous, the last ones of the model */
    int n;
    size_t at, size;     /* offset of the first tensor in the flat buffer; number of floats of all tensors */
    float *value, *grad; /* [size] grad: mean |gradient| over n_grad steps */
    int64_t n_grad;
};
/* Copies values and gradients from the model; fini frees them. */
void pw_learned_read(struct pw_learned *own, const struct pw_replica *arm);
void pw_learned_fini(struct pw_learned *own);
/* Fills in the learned parameters of a formula. */
void pw_lab_emit_learned(const struct pw_replica *arm, struct pw_ev_table *x);

/* ---- table_dense.c: the rows of some queries of a bias that depends on both positions, and its components
 */
void pw_lab_emit_dense(const struct pw_replica *arm, const struct pw_pe_tables *t, struct pw_ev_table *x);

/* ---- table.c */
/* The shown table, limited to the lengths and layers that the arm has. */
struct pw_table_choice pw_lab_table_choice(const struct pw_lab *lab, const struct pw_replica *arm);
/* asked: measure the kernel even if one sample takes long. */
enum pw_code pw_lab_table(struct pw_lab *lab, struct pw_replica *arm, struct pw_table_choice look, bool asked,
                          struct pw_event **e, struct pw_err *err);
/* Emit the tables that changed since they were last emitted. told: of arms whose table was emitted before;
 * demanded: of these arms (bit id; bit 0: the current arm). */
void pw_lab_refresh_tables(struct pw_lab *lab, bool told, unsigned demanded);
/* of the current arm and, round-robin, of one other arm whose table was emitted before */
void pw_lab_emit_tables(struct pw_lab *lab);

#endif
