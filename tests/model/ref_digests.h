/* ref_digests.h - golden digests: the expected 128 bits of small models after some training steps.
 *
 * It doesn't use cmocka. bench/bits.c can therefore compare the same digests on machines that have only a
 * compiler: other optimisation levels, compilers and processors. */
#ifndef PW_REF_DIGESTS_H
#define PW_REF_DIGESTS_H
#include <stdint.h>
#include <stdio.h>

struct ref_digest {
    const char *pe;     /* text of the encoding: "t5 buckets=8" */
    const char *config; /* overrides of the defaults of pw_config_opts */
    uint64_t want[2];
};

/* The last entry has pe = NULL. */
extern const struct ref_digest ref_digests[];

/* Trains every model, or every third with every = 3, on every instruction set that this processor supports,
 * with 1, 2, 3 or 8 threads. Prints each mismatch to out. Returns the number of mismatches. */
int ref_digests_compare(FILE *out, int every);

#endif
