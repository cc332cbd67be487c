/* own.h - small models that a probe creates for itself. The probe destroys them (pw_model_destroy). Lab
 * thread. Functions that create a model fail if the configuration or the encoding is invalid, or if memory
 * runs out. */
#ifndef PW_OWN_H
#define PW_OWN_H
#include "probe/probe.h"

/* The default configuration with these values, no dropout, ffn = width and context = T. head_width = 0: width
 * / heads. */
struct pw_config pw_own_config(int layers, int width, int heads, int head_width, int T, int vocab,
                               bool causal);
/* Creates a model with an encoding (pe = NULL: none), initialised from the lab's seed + number. */
enum pw_code pw_own_model(struct pw_model **m, const struct pw_probe_in *in, const struct pw_config *cfg,
                          const struct pw_pe_use_opts *pe, uint64_t number, struct pw_err *err);
/* Creates a model with the encoding of this text ("t5 buckets=8"), initialised from the lab's seed + 1. *use
 * receives the parsed encoding. cfg is completed in place. */
enum pw_code pw_own_named(struct pw_model **m, const struct pw_probe_in *in, struct pw_config *cfg,
                          const char *pe, struct pw_pe_use_opts *use, struct pw_err *err);
/* Creates the minimal case of Su 2024 (kexue.fm 10347): one layer without norm, with one head as wide as the
 * stream. Attention is uniform (W_q = 0). Values are the embeddings (W_v = 1), independent N(0,1). The
 * backend's own kernels run it. */
enum pw_code pw_own_average(struct pw_model **m, const struct pw_probe_in *in, int width, int T, int vocab,
                            struct pw_err *err);
/* Read and write all values of the parameter with this name. A weight is [rows,cols] with one row per output;
 * an embedding has one row per token. The name must exist. */
void pw_own_get(struct pw_model *m, const char *name, float *values);
void pw_own_put(struct pw_model *m, const char *name, const float *values);

#endif
