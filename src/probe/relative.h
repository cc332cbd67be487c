/* relative.h - writes a model of two layers whose second layer scores by any function of the distance. The
 * head of relative.c derives the construction. Lab thread. */
#ifndef PW_RELATIVE_H
#define PW_RELATIVE_H
#include "probe/probe.h"

/* Dimensions of the stream: 1, flag of <bos>, 1/t, waves, content. Dimensions of a head: 1, waves,
 * content. */
enum {
    PW_RELATIVE_WAVES = 3,
    PW_RELATIVE_CONTENT = 4,
    PW_RELATIVE_VOCAB = 16,
    PW_RELATIVE_FIRST = 2 /* the <bos> token */
};

/* The dimensions of the construction. */
struct pw_relative_sizes {
    int T, waves, C, D; /* positions; waves = 2T - 1; width of the stream; width of a head */
};
/* The dimensions of the construction for T positions. */
struct pw_relative_sizes pw_relative_of(int T);
/* Wave m = 0..2T-2 at position t: cosines of frequency 1..T, then sines of frequency 1..T-1, in half turns
 * over T positions. */
double pw_relative_wave(int T, int m, int t);
/* Writes both layers of m, which must have width C, head width D, ffn = T, no norm and no score scale. f [T +
 * 1] is indexed by distance. Its last value lies beyond all distances and only continues the function. */
void pw_relative_write(struct pw_model *m, const struct pw_probe_in *in, const struct pw_relative_sizes *at,
                       const double *f);

#endif
