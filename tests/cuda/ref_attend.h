/* ref_attend.h - random calls of attention: in host memory for the references of tests/ops, and in device
 * memory for the launchers. */
#ifndef PW_REF_ATTEND_H
#define PW_REF_ATTEND_H
#include "kernels/cuda/launch.h"
#include "tests/cuda/ref_device.h"
#include "tests/ops/ref.h"

enum { ATTEND_TABLE = 80 }; /* P: upper bound of position ids */

enum attend_ids { ATTEND_ORDERED, ATTEND_GAPS, ATTEND_ANY }; /* consecutive; ascending; any, also twice */

/* The shape of a call: given by a test, or drawn by attend_draw. */
struct attend_shape {
    int heads, width; /* H, D */
    int lengths[4];   /* of the sequences, ends with 0 */
    bool causal, bias;
    bool dense; /* dense bias */
    enum attend_ids ids;
    float rate;  /* dropout rate; 0: none */
    size_t skew; /* of device arrays, see ref_device.h */
    bool bf16;   /* inputs are exact in bf16 */
    int slack;   /* added to the reported length of the longest sequence */
    int reach;   /* of relative keys; 0: none */
    int pairs;   /* rotated pairs of a head, without relative keys; 0: no rotation */
    bool half;   /* pairs are across halves, not neighbours */
    bool gain;   /* query gain, without relative keys */
};
/* Draws a shape. */
struct attend_shape attend_draw(uint64_t seed);

/* One side of a call: inputs, and outputs with old contents. */
struct attend_side {
    float *qkv, *bias, *keys, *cosine, *sine, *gain, *dz, *z, *probs, *scores, *dqkv, *d_bias, *d_keys;
    int *pos, *start; /* pos: NULL if it isn't needed */
    uint32_t *key;
    struct pw_dropout drop;
    struct pw_turn turn;
    struct pw_attn a;
    struct pw_seqs seqs;
};

struct attend {
    struct attend_side host, device;
    size_t n_qkv, n_z, n_maps, n_bias, n_keys, n_angles; /* in floats; n_maps: all heads of all sequences */
};
/* Draws the inputs and old outputs of a call, and copies them to the device. */
void attend_init(struct attend *k, const struct attend_shape *shape, uint64_t seed);
void attend_fini(struct attend *k);

#endif
