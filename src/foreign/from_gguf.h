/* from_gguf.h - private to src/foreign: what is peculiar to GGUF. Its metadata become the config.json of the
 * same model, so that families read one form. */
#ifndef PW_FROM_GGUF_H
#define PW_FROM_GGUF_H
#include "foreign/reader.h"
#include "foreign/weights.h"

/* Builds the object of a config.json from the metadata; the caller deletes it. Fails if the architecture is
 * none that pewter reads. */
enum pw_code pw_gguf_config(struct pw_weights *w, const char *path, cJSON **out, struct pw_err *err);
/* Takes the factors on rotary frequencies, which llama3 has as the tensor rope_freqs. */
enum pw_code pw_gguf_factors(struct pw_weights *w, struct pw_positions *at, const struct pw_config *cfg,
                             struct pw_err *err);
/* Are rows of q and k in the order of interleaved pairs? */
bool pw_gguf_permutes(const char *model_type);
extern const char *const pw_gguf_ignored[];

#endif
