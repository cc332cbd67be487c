/* draw.h - what probes draw: sequences of random tokens, normal numbers; and for how many positions.
 *
 * Where the content is random nothing but position can be told apart by place, so a probe of position never
 * looks at a task's own sequences. The first token is the one that prompts begin with: NoPE's position starts
 * from there (Kazemnejad et al. 2023, Theorem 1). Lab thread. */
#ifndef PW_DRAW_H
#define PW_DRAW_H
#include "base/rng.h"
#include "probe/probe.h"

/* Sequence `index`: the first word, then tokens that are all alike likely, without padding and end mark. */
void pw_draw_tokens(int *tokens, int T, const struct pw_probe_in *in, uint64_t index);
/* Random numbers of the probes, sequence `index` of use `use` (any small number; 0 is pw_draw_tokens'). */
void pw_draw_init(struct pw_rng *rng, const struct pw_probe_in *in, int use, uint64_t index);
double pw_draw_normal(struct pw_rng *rng); /* N(0,1), the same bits everywhere, unlike pw_rng_normal */
void pw_draw_shuffle(struct pw_rng *rng, int *x, int n);

/* Tokens of the longest sequence that the model has been trained on; before its first step, of the longest
 * trained length of the task. */
int pw_draw_trained(const struct pw_probe_in *in, const struct pw_probe_subject *s);
/* *T = asked tokens, or with 0 as many as `otherwise`, at least 4; fails where the model can't take them. */
enum pw_code pw_draw_length(int *T, const struct pw_probing_at *p, const struct pw_probe_subject *s,
                            int asked, int otherwise, struct pw_err *err);

#endif
