/* ref_attend.h - random calls of attention, in the host's memory for the references of tests/ops and in the
 * device's for the launchers. */
#ifndef PW_REF_ATTEND_H
#define PW_REF_ATTEND_H
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/ops/ref.h"

enum { ATTEND_TABLE = 80 }; /* P: position ids are below it */

enum attend_ids { ATTEND_ORDERED, ATTEND_GAPS, ATTEND_ANY }; /* by one; ascending; any, also twice */

/* What is drawn at random where it is not given. */
struct attend_shape {
    int heads, width; /* H, D */
    int lengths[4];   /* of the sequences, ends with 0 */
    bool causal, bias;
    bool dense; /* the bias */
    enum attend_ids ids;
    float rate;  /* of dropout; 0: none */
    size_t skew; /* of arrays on the device: ref_device.h */
    bool bf16;   /* inputs are numbers of bf16 */
    int slack;   /* by which the longest sequence is told to be longer */
    int reach;   /* of relative keys; 0: none */
    int pairs;   /* of a head that turn, where there are no relative keys; 0: nothing turns */
    bool half;   /* pairing */
    bool gain;   /* of queries, where there are no relative keys */
};
struct attend_shape attend_draw(uint64_t seed);

/* One side of a call: inputs, and outputs with old contents. */
struct attend_side {
    float *qkv, *bias, *keys, *cosine, *sine, *gain, *dz, *z, *probs, *scores, *dqkv, *d_bias, *d_keys;
    int *pos, *start; /* pos NULL where nothing needs it */
    uint32_t *key;
    struct pw_dropout drop;
    struct pw_turn turn;
    struct pw_attn a;
    struct pw_seqs seqs;
};

struct attend {
    struct attend_side host, device;
    size_t n_qkv, n_z, n_maps, n_bias, n_keys, n_angles; /* floats; n_maps: of all heads of all sequences */
};
void attend_init(struct attend *k, const struct attend_shape *shape, uint64_t seed);
void attend_fini(struct attend *k);

#endif
