/* ref_digests.h - golden digests: small models, trained for some steps, and the 128 bits that must come out.
 *
 * Without cmocka, so that bench/bits.c can compare the same digests where only a compiler is at hand: another
 * optimisation level, another compiler, another processor. */
#ifndef PW_REF_DIGESTS_H
#define PW_REF_DIGESTS_H
#include <stdint.h>
#include <stdio.h>

struct ref_digest {
    const char *pe;     /* "t5 buckets=8" */
    const char *config; /* over the defaults of pw_config_opts */
    uint64_t want[2];
};

/* Ends with pe NULL. */
extern const struct ref_digest ref_digests[];

/* Trains every one on every instruction set that this processor runs, with 1, 2, 3 or 8 threads; writes what
 * it finds to out. Returns how many differ. */
int ref_digests_compare(FILE *out);

#endif
