/* ref_probe.h - a probe run without a laboratory: models of its own, sequences drawn at random. */
#ifndef PW_REF_PROBE_H
#define PW_REF_PROBE_H
#include "probe/probe.h"

enum { REF_VOCAB = 12, REF_FIRST = 2 /* the token that every sequence begins with */ };

/* A model of these options (over width=32 heads=4 context=64 and the defaults) and encoding. */
struct pw_model *ref_probe_model(const char *config, const char *pe, uint64_t seed);

/* Runs probe `name` with options "key=value key=value" on n models (control: untrained twins; NULL: none) to
 * its end. Sequences of length l are the first token, l drawn ones, a separator and the l again: T = 2 l + 2
 * without the end mark, the first l + 2 of them the prompt; lengths 2..6, test 7..12. Where the probe takes
 * the pinned prompt, it is sequence 0 of length 6. */
enum pw_code ref_probe_run(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
                           struct pw_model **controls, int n, struct pw_err *err);
/* The same, and it must succeed. */
void ref_probe(struct pw_finding *f, const char *name, const char *opts, struct pw_model **models,
               struct pw_model **controls, int n);

/* The block, or claim, whose title, or text, begins with these words; fails the test if there is none. */
const struct pw_block *ref_block(const struct pw_finding *f, const char *title);
const struct pw_claim *ref_claim(const struct pw_finding *f, const char *claim);

#endif
