/* ref_probe.h - runs a probe without a lab, on small models and random sequences. A failure in setup fails
 * the test. */
#ifndef PW_REF_PROBE_H
#define PW_REF_PROBE_H
#include "probe/probe.h"

enum { REF_VOCAB = 12, REF_FIRST = 2 /* the token that starts every sequence */ };

/* Creates a model with an encoding. config: overrides of width=32 heads=4 context=64 and of the defaults. The
 * caller destroys the model. */
struct pw_model *ref_probe_model(const char *config, const char *pe, uint64_t seed);

/* Runs probe `name` to its end on n models. opts: "key=value key=value". controls: untrained twins; NULL:
 * none. Returns the probe's error.
 *
 * A sequence of length l is the first token, l random tokens, a separator and the l tokens again: T = 2 l + 2
 * without the end mark. Its first l + 2 tokens are the prompt. Trained lengths are 2..6, test lengths 7..12.
 * The pinned prompt is sequence 0 of length 6. */
enum pw_code ref_probe_run(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
                           struct pw_model **controls, int n, struct pw_err *err);
/* Like ref_probe_run, but a failure of the probe fails the test. */
void ref_probe(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
               struct pw_model **controls, int n);

/* Return the block whose title, or the claim whose text, starts with this string. Fail the test if there is
 * none. The finding owns the result. */
const struct pw_block *ref_block(const struct pw_finding *f, const char *title);
const struct pw_claim *ref_claim(const struct pw_finding *f, const char *claim);

#endif
