/* half.h - IEEE half precision, in which attention is recorded and drawn, and which files of arrays may have.
 */
#ifndef PW_HALF_H
#define PW_HALF_H
#include <stdint.h>

uint16_t pw_half(float x); /* nearest even; overflow to infinity */
float pw_from_half(uint16_t h);

#endif
