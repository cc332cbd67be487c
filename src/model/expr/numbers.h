/* numbers.h - arrays of numbers that formulas read by name: data_3f9a1b2c4d5e6f70[h, d].
 *
 * A name is a hash of shape and values, so it means the same array in every session. Arrays come from files
 * (the command `pe file=`) and from the checkpoints of models that use them, which hold a copy
 * (model/checkpoint.h). They are constant and are kept until the process ends, as descriptors of formulas
 * are, so a formula can point to them. Any thread may call these functions. */
#ifndef PW_NUMBERS_H
#define PW_NUMBERS_H
#include "model/pe.h"

#define PW_NUMBERS_PREFIX "data_"

enum {
    PW_NUMBERS_DIMS = 4,
    PW_NUMBERS_MOST = 1 << 24, /* most numbers of an array, and of all arrays together */
};

struct pw_numbers {
    char name[24]; /* the prefix and 16 hexadecimal digits */
    int n_dims, dims[PW_NUMBERS_DIMS];
    size_t n;
    const float *v; /* [n] row-major */
    const struct pw_numbers *next;
};

/* Keeps a copy of v with the shape dims, or finds an equal array. Fails if an array is too large or empty, or
 * if there is no memory. */
enum pw_code pw_numbers_keep(const struct pw_numbers **out, const float *v, const int *dims, int n_dims,
                             struct pw_err *err);
/* Returns the array with this name, of `length` bytes; NULL: it was not read yet. */
const struct pw_numbers *pw_numbers_find(const char *name, int length);
/* Is the word written like such a name? */
bool pw_numbers_names(const char *word, int length);

enum { PW_PE_NUMBERS = 8 }; /* most arrays of a formula */
/* Lists the arrays that an encoding reads; returns their number. */
int pw_pe_numbers(const struct pw_pe_use_opts *use, const struct pw_numbers *out[PW_PE_NUMBERS]);

#endif
