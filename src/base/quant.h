/* quant.h - types of the numbers in files of other programs, and their values in single precision.
 *
 * GGUF stores the rows of a matrix in blocks of 32 or 256 numbers with common scales (ggml's formats). The
 * bits of a value depend on the block alone. Any thread may call these functions. */
#ifndef PW_QUANT_H
#define PW_QUANT_H
#include <stdint.h>

enum pw_number_type {
    PW_NUMBER_F32,
    PW_NUMBER_F16,
    PW_NUMBER_BF16,
    PW_NUMBER_Q4_0,
    PW_NUMBER_Q4_1,
    PW_NUMBER_Q8_0,
    PW_NUMBER_Q4_K,
    PW_NUMBER_Q5_K,
    PW_NUMBER_Q6_K,
    PW_NUMBER_TYPES
};

/* A type: its name in GGUF, its number there, and how many bytes a block of so many values has. */
struct pw_number {
    const char *name;
    int gguf, values, bytes;
};
extern const struct pw_number pw_numbers[PW_NUMBER_TYPES];

/* Writes n values to out; n is a multiple of the type's block. data can be unaligned. */
void pw_number_read(enum pw_number_type type, const void *data, int64_t n, float *out);

#endif
