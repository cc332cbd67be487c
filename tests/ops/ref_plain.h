/* ref_plain.h - names of the plain operations: pw_NAME_ref. */
#ifndef PW_REF_PLAIN_H
#define PW_REF_PLAIN_H
#define PW_ISA ref
#include "kernels/cpu/ops.h"
#include "tests/ops/ref.h"

/* q and k of R rows turn in place, or back; and a copy in which they have, where they do, for the caller to
 * free.
 */
void ref_turn(float *qkv, const struct pw_turn *t, const int *pos, bool back, int H, int D, int R);
float *ref_turned(const float *qkv, const struct pw_attn *a, const int *pos, int R);

#endif
