/* half.h - convert between float and IEEE half precision (binary16).
 *
 * Attention is recorded and drawn in half precision, and .npz files may hold it. Any thread may call these
 * functions. */
#ifndef PW_HALF_H
#define PW_HALF_H
#include <stddef.h>
#include <stdint.h>

uint16_t pw_half(float x); /* rounds to nearest even; overflow gives infinity */
float pw_from_half(uint16_t h);
void pw_from_halves(float *out, const uint16_t *h, size_t n); /* the same for n numbers */

#endif
