/* own.h - models of a probe's own: small, freshly drawn, gone when the probe ends. Lab thread. */
#ifndef PW_OWN_H
#define PW_OWN_H
#include "probe/probe.h"

/* A configuration of defaults with these: no dropout, ffn the width, context T. head_width 0: width / heads.
 */
struct pw_config pw_own_config(int layers, int width, int heads, int head_width, int T, int vocab,
                               bool causal);
/* With an encoding, or NULL for none; drawn from the lab's seed + number. */
enum pw_code pw_own_model(struct pw_model **m, const struct pw_probe_in *in, const struct pw_config *cfg,
                          const struct pw_pe_use_opts *pe, uint64_t number, struct pw_err *err);
/* With the encoding of these words ("t5 buckets=8"), which *use is then, and number 1. cfg is completed. */
enum pw_code pw_own_named(struct pw_model **m, const struct pw_probe_in *in, struct pw_config *cfg,
                          const char *pe, struct pw_pe_use_opts *use, struct pw_err *err);
/* One layer without norm, one head as wide as the stream, that looks at everything alike (W_q = 0) and whose
 * values are the embeddings (W_v = 1), iid N(0,1): the document's minimal case, run by the real kernels. */
enum pw_code pw_own_average(struct pw_model **m, const struct pw_probe_in *in, int width, int T, int vocab,
                            struct pw_err *err);
/* The values of the parameter of this name: [rows,cols], a row an output, of the embedding a token. */
void pw_own_get(struct pw_model *m, const char *name, float *values);
void pw_own_put(struct pw_model *m, const char *name, const float *values);

#endif
