/* choose.h - random choices of plans and lines. rng: generator state, advanced. */
#ifndef PW_TESTS_CHOOSE_H
#define PW_TESTS_CHOOSE_H
#include "../../unit/ref_codec.h"

/* Returns one of 0..n-1. */
static inline int below(uint64_t *rng, int n)
{
    return (int)(codec_next(rng) % (uint64_t)n);
}

#define COUNT(array)    ((int)(sizeof(array) / sizeof *(array)))
#define ONE(rng, array) ((array)[below(rng, COUNT(array))])

#endif
