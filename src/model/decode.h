/* decode.h - a sequence that grows token by token, with the keys and values of its past kept.
 *
 * The logits have the bits that pw_model_inspect gives for the last row of the whole sequence, whether the
 * tokens come one at a time or all at once. That stays so when the model changes under a decoder (a step, a
 * swap of the encoding, new weights): it notices, and the next call runs the whole sequence anew. A model
 * without the causal mask has no past that could be kept; there every call runs the whole sequence.
 *
 * The thread that owns the model owns its decoders; they end before it does. */
#ifndef PW_DECODE_H
#define PW_DECODE_H
#include "model/model.h"

struct pw_decoder;

/* For sequences of up to `longest` tokens, 1 to the model's context. */
enum pw_code pw_decoder_create(struct pw_decoder **d, struct pw_model *m, int longest, struct pw_err *err);
void pw_decoder_destroy(struct pw_decoder *d); /* NULL is a no-op */

/* Appends n >= 1 tokens and gives the logits [V] after the last of them. On failure the sequence is as it
 * was. */
enum pw_code pw_decoder_feed(struct pw_decoder *d, const int *tokens, int n, float *logits,
                             struct pw_err *err);

#define PW_MAX_DECODERS 64
/* The same for n_d sequences of one model side by side, each on a worker: tokens[i] [n[i]] go to d[i], no
 * decoder stands twice; logits [n_d,V]. Their bits are those of each one alone. */
enum pw_code pw_decoder_feed_all(struct pw_decoder *const *d, int n_d, const int *const *tokens, const int *n,
                                 float *logits, struct pw_err *err);

int pw_decoder_length(const struct pw_decoder *d);
/* Forgets all but the first n tokens, n <= length. */
void pw_decoder_rewind(struct pw_decoder *d, int n);

#endif
