/* sines.h - rows of sines and cosines: what the fixed encodings that are added to the embedding are made of.
 */
#ifndef PW_SINES_H
#define PW_SINES_H
#include "model/pe.h"

/* The options of all of them. */
struct pw_sines {
    float base, amplitude;
    int layout;
};
extern const struct pw_opt pw_sines_opts[];

/* Table k of t, [P,W]: row r = the encoding of place first + r * t->step in W entries, W even: pair i of W/2
 * is amplitude * sin and cos of place * base^(-2i/W). swapped: the cosines stand where the sines do, and
 * these where they do. */
void pw_sines_fill(const struct pw_sines *o, struct pw_pe_tables *t, int k, int W, double first,
                   bool swapped);

/* For struct pw_pe's resolve: the layout of such a model. */
void pw_sines_resolve(void *opts, const struct pw_config *cfg);
/* For its check: in a width of several such tables side by side each has whole pairs. */
enum pw_code pw_sines_check(const char *name, int tables, const struct pw_config *cfg, struct pw_err *err);

#endif
