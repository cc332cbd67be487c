/* relative.h - a model of two layers whose second one scores by any function of the distance (relative.c says
 * how). Lab thread. */
#ifndef PW_RELATIVE_H
#define PW_RELATIVE_H
#include "probe/probe.h"

/* Dimensions of the stream: 1, the flag of <bos>, 1/t, the waves, content. Of a head: 1, the waves, content.
 */
enum {
    PW_RELATIVE_WAVES = 3,
    PW_RELATIVE_CONTENT = 4,
    PW_RELATIVE_VOCAB = 16,
    PW_RELATIVE_FIRST = 2 /* <bos> */
};

struct pw_relative {
    int T, waves, C, D; /* positions; 2T - 1; the stream; a head */
};
struct pw_relative pw_relative_of(int T);
/* Wave m = 0..2T-2 at position t: cosines of frequency 1..T, then sines of 1..T-1, in half turns over T. */
double pw_relative_wave(int T, int m, int t);
/* Writes both layers of a model with C, D, ffn = T, without norm and scale: f [T + 1] by distance, the last
 * value only continues it. */
void pw_relative_write(struct pw_model *m, const struct pw_probe_in *in, const struct pw_relative *at,
                       const double *f);

#endif
