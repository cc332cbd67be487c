/* draw.h - random input of probes: token sequences, normal numbers, permutations; and the number of positions
 * to measure.
 *
 * Probes of position use random tokens, never the task's sequences: with random content, only position can
 * distinguish places. The first token is the one that starts prompts, because NoPE derives position from it
 * (Kazemnejad et al. 2023, Theorem 1). Lab thread. */
#ifndef PW_DRAW_H
#define PW_DRAW_H
#include "base/rng.h"
#include "probe/probe.h"

/* Writes sequence `index` to tokens [T]: the first word of prompts, then uniformly random tokens without
 * padding and end mark. */
void pw_draw_tokens(int *tokens, int T, const struct pw_probe_in *in, uint64_t index);
/* Starts the random numbers for sequence `index` of purpose `use`. use: any small number that identifies the
 * purpose; 0 belongs to pw_draw_tokens. */
void pw_draw_init(struct pw_rng *rng, const struct pw_probe_in *in, int use, uint64_t index);
double pw_draw_normal(struct pw_rng *rng); /* N(0,1); same bits on every machine, unlike pw_rng_normal */
/* Permutes x [n] randomly. */
void pw_draw_shuffle(struct pw_rng *rng, int *x, int n);

/* The number of tokens of the longest sequence that the model was trained on. Before the first step: that of
 * the task's longest trained length, or the context if no such sample fits. */
int pw_draw_trained(const struct pw_probe_in *in, const struct pw_probe_subject *s);
/* Sets *T to `asked` tokens, or to `otherwise` if asked is 0. `otherwise` is cut to the context. Fails if
 * `asked` is beyond the model's context, or if *T is below 4. */
enum pw_code pw_draw_length(int *T, const struct pw_probing_at *p, const struct pw_probe_subject *s,
                            int asked, int otherwise, struct pw_err *err);

#endif
