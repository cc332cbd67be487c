/* decode.h - decoding token by token, with the keys and values of earlier tokens in a cache.
 *
 * The logits have the bits of pw_model_inspect for the last row of the whole sequence, whether tokens come
 * singly or in groups. A decoder detects a change of its model (a step, a swap of the encoding, new weights);
 * the next call then runs the whole sequence again. Without the causal mask nothing can be cached, and every
 * call runs the whole sequence.
 *
 * Thread: the owner of the model owns its decoders. Destroy them before the model. */
#ifndef PW_DECODE_H
#define PW_DECODE_H
#include "model/model.h"

struct pw_decoder;

/* Creates a decoder for sequences of up to `longest` tokens, 1 to the model's context. Fails without memory;
 * *d is then NULL. */
enum pw_code pw_decoder_create(struct pw_decoder **d, struct pw_model *m, int longest, struct pw_err *err);
void pw_decoder_destroy(struct pw_decoder *d); /* NULL is a no-op */

/* Appends n >= 1 tokens and writes the logits [V] after the last of them. A sequence that becomes too long is
 * PW_EUSER. On failure the sequence is unchanged. */
enum pw_code pw_decoder_feed(struct pw_decoder *d, const int *tokens, int n, float *logits,
                             struct pw_err *err);

#define PW_MAX_DECODERS 64 /* in one call of pw_decoder_feed_all */
/* Does the same for n_d different decoders of one model, each on a worker. tokens[i] [n[i]] go to d[i];
 * logits [n_d,V]. The bits are those of separate calls. */
enum pw_code pw_decoder_feed_all(struct pw_decoder *const *d, int n_d, const int *const *tokens, const int *n,
                                 float *logits, struct pw_err *err);

int pw_decoder_length(const struct pw_decoder *d);
/* Drops all but the first n tokens, n <= length. */
void pw_decoder_rewind(struct pw_decoder *d, int n);

#endif
