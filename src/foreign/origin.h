/* origin.h - private to src/foreign: what a file says about positions, kept with the model (pw_model_origin)
 * so that `probe audit` can compare it with what runs. It is a JSON object:
 *
 *   format          "config.json" or "gguf"
 *   settings        of config.json the values as they are, without lists and objects that say nothing about
 *                   positions; of GGUF the numbers and texts of the metadata under their own keys
 *   factors         GGUF's tensor rope_freqs, if there is one
 *   long_factor     GGUF's tensor rope_factors_long, if there is one; and so short_factor
 *   config          of GGUF the metadata as a config.json (from_gguf.h)
 *   rows            [head_width] the row of a head in the file for each row in pewter, if the loader moved
 *                   rows of q and k
 *   table_from      first row of the file's table of positions that the loader took, if it is not 0
 *   inverse_layers  true: the loader divided q of layer l by l + 1
 *
 * The model is written with `config` when its file is gone. Nothing else in the object is computed by readers
 * of configs, and the audit reads nothing of `config`. */
#ifndef PW_ORIGIN_H
#define PW_ORIGIN_H
#include "foreign/map.h"
#include "foreign/reader.h"

/* Begins the object: format, settings and factors. The caller deletes it. */
cJSON *pw_origin_begin(struct pw_weights *w, const cJSON *config);
/* Returns the whole text for a model with heads of width D. The caller frees it (cJSON_free).
 * NULL: it would have more than 64 KiB. */
char *pw_origin_text(const cJSON *begun, const struct pw_placing *m, int D);

#endif
