/* from_gguf.h - private to src/foreign: what is peculiar to GGUF. Its metadata become the config.json of the
 * same model, so that families read one form. */
#ifndef PW_FROM_GGUF_H
#define PW_FROM_GGUF_H
#include "foreign/reader.h"
#include "foreign/weights.h"

/* rope_type of a config from GGUF with the tensor rope_freqs: each frequency is divided by a factor. No
 * config.json has it. */
#define PW_ROPE_OF_GGUF "rope_freqs"

/* Builds the object of a config.json from the metadata; the caller deletes it. Fails if the architecture is
 * none that pewter reads. */
enum pw_code pw_gguf_config(struct pw_weights *w, const char *path, cJSON **out, struct pw_err *err);
/* Adds the numbers of a vector of factors as a list; nothing without the tensor. */
enum pw_code pw_gguf_factors(cJSON *to, const char *key, struct pw_weights *w, const char *name,
                             struct pw_err *err);
/* Are rows of q and k in the order of interleaved pairs? */
bool pw_gguf_permutes(const char *model_type);
extern const char *const pw_gguf_ignored[];

#endif
