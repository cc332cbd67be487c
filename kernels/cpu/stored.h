/* stored.h - elements of 16 bits in packs (enum pw_stored), and reading a matrix from its pack.
 *
 * All memory is the caller's; the functions cannot fail. */
#ifndef PW_CPU_STORED_H
#define PW_CPU_STORED_H
#include "kernels/cpu/ops.h"
#include <stdint.h>

/* dst [n] = src [n], exactly; n is a multiple of 16. stored is a form of 16 bits. */
void PW_OP(widen)(float *dst, const uint16_t *src, enum pw_stored stored, int n);
/* The other direction. Every value has an exact form of that kind. n is a multiple of 16. */
void PW_OP(narrow)(uint16_t *dst, const float *src, enum pw_stored stored, int n);

/* c [n] = a [K] times a panel [K,32] of 16 bits, with n <= 32: chains from +0. */
void PW_OP(row_times)(float *c, const float *a, const uint16_t *panel, enum pw_stored stored, int K, int n);

#endif
