/* rng.h - counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
 * as 1, 2, 3").
 *
 * A number is a function of (seed, stream, index, position), and no generator has a state that persists. So a
 * position in the data is two integers, a prompt can't shift training, and CPU and GPU draw the same values.
 * Any thread may call these functions; one struct pw_rng belongs to one thread at a time. */
#ifndef PW_RNG_H
#define PW_RNG_H
#include <stdint.h>

/* Streams: each use of random numbers has its own. The numbers are part of the data and never change. */
enum pw_stream {
    PW_STREAM_INIT = 1, /* parameters; index = hash of the tensor's name */
    PW_STREAM_TRAIN,    /* training samples; index = sample number */
    PW_STREAM_VALID,    /* validation samples of trained lengths */
    PW_STREAM_TEST,     /* samples of a length curve; index = length << 32 | sample */
    PW_STREAM_PROMPT,   /* sampling at the prompt */
    PW_STREAM_DROPOUT,  /* keys of dropout masks; index = optimiser step */
    PW_STREAM_POOL,     /* samples of a fixed set; index = task << 32 | number */
    PW_STREAM_EPOCH,    /* order of a fixed set; index = task << 48 | epoch */
    PW_STREAM_SHARES,   /* order of the tasks in a mixture of fixed sets; index = round */
    PW_STREAM_ABLATE,   /* sequence whose output replaces a head's; index = head << 32 | position */
    PW_STREAM_PROBE,    /* random choices of probes; index = use << 32 | sequence */
    PW_STREAM_NTH,      /* order of a length's numbered inputs in evaluation; index = task << 32 | length */
    PW_STREAM_CHANCE,   /* keys of the draws of a sequence's positions; index = sample number */
    PW_STREAM_POSITION, /* these draws; seed = the key, index = number of the draw in its formula */
};

/* A generator: the key, the counter of the next block, and the current block. */
struct pw_rng {
    uint32_t key[2], ctr[4], out[4];
    int used; /* entries of `out` that were used */
};

/* Compute one block of four 32-bit numbers (10 rounds). Known answers are in tests/unit/test_rng.c. */
void pw_philox(uint32_t out[4], const uint32_t ctr[4], const uint32_t key[2]);

/* Start the sequence of (seed, stream, index) at its first number; the other functions take its next
 * numbers. */
void pw_rng_init(struct pw_rng *r, uint64_t seed, enum pw_stream stream, uint64_t index);
void pw_rng_skip(struct pw_rng *r, uint32_t blocks); /* skips 4 * blocks numbers; r must be fresh */
uint32_t pw_rng_u32(struct pw_rng *r);
uint64_t pw_rng_u64(struct pw_rng *r);               /* two numbers, the first one high */
uint32_t pw_rng_below(struct pw_rng *r, uint32_t n); /* uniform in 0..n-1 without bias; n > 0 */
/* Step i < n of a Fisher-Yates shuffle: exchange rest[i] with one of rest[i..n-1], all with the same
 * probability, and return the new rest[i]. */
int pw_rng_deal(struct pw_rng *r, int *rest, int n, int i);
double pw_rng_unit(struct pw_rng *r); /* uniform in [0, 1), 32 bits */
/* N(0, 1) by Box-Muller, with the functions of maths.h */
double pw_rng_normal(struct pw_rng *r);

/* Return the image of k under a pseudo-random permutation of 0..n-1, with k < n <= 2^31. There is one
 * permutation for every (seed, stream, index), computed without a table. A stream that is used here serves
 * nothing else. */
uint32_t pw_rng_shuffled(uint64_t seed, enum pw_stream stream, uint64_t index, uint32_t n, uint32_t k);

#endif
