/* ref_attend.h - random calls of attention, in the host's memory for the references of tests/ops and in the
 * device's for the launchers. */
#ifndef PW_REF_ATTEND_H
#define PW_REF_ATTEND_H
#include "kernels/cuda/launch.h"
#include "tests/ops/ref.h"

enum { ATTEND_TABLE = 80 }; /* P: position ids are below it */

/* What is drawn at random where it is not given. */
struct attend_shape {
    int heads, width; /* H, D */
    int lengths[4];   /* of the sequences, ends with 0 */
    bool causal, bias;
    enum {
        ATTEND_ORDERED,
        ATTEND_GAPS,
        ATTEND_ANY
    } ids;      /* of positions: by one; ascending; any, also twice */
    float rate; /* of dropout; 0: none */
};
struct attend_shape attend_draw(uint64_t seed);

/* One side of a call: inputs, and outputs with old contents. */
struct attend_side {
    float *qkv, *bias, *dz, *z, *probs, *scores, *dqkv, *d_bias;
    int *pos, *start;
    uint32_t *key;
    struct pw_dropout drop;
    struct pw_attn a;
    struct pw_seqs seqs;
};

struct attend {
    struct attend_side host, device;
    size_t n_qkv, n_z, n_maps, n_bias; /* floats; n_maps: of all heads of all sequences */
};
void attend_init(struct attend *k, const struct attend_shape *shape, uint64_t seed);
void attend_fini(struct attend *k);

/* An array of the device. Those that come from attend_device are freed by attend_fini; behind each stands
 * what attend_download looks for: fails the test if it was written over. */
void *attend_device(const void *from, size_t bytes); /* from NULL: not initialised */
void attend_download(void *to, const void *device, size_t bytes);

/* Fails the test where bits, or values by more than tolerance * (1 + |want|), differ. */
void attend_expect_bits(const char *what, uint64_t seed, const float *want, const float *device, size_t n);
void attend_expect_near(const char *what, uint64_t seed, const float *want, const float *device, size_t n,
                        double tolerance);

/* The call that a launcher's test makes: fails the test unless it succeeds. */
#define ATTEND(call) assert_int_equal((call), cudaSuccess)

#endif
