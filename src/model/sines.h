/* sines.h - rows of sines and cosines, from which the fixed added encodings are made (Vaswani et al. 2017,
 * section 3.5). Pure functions, for any thread. */
#ifndef PW_SINES_H
#define PW_SINES_H
#include "model/pe.h"

/* The options that these encodings share. */
struct pw_sines {
    float base, amplitude;
    int layout;
};
extern const struct pw_opt pw_sines_opts[];

/* Fills table k of t, [P,W], W even. Row r encodes place = first + r * t->step. Pair i of W/2 is amplitude *
 * (sin, cos) of place * base^(-2i/W). swapped: sines and cosines exchange columns. */
void pw_sines_fill(const struct pw_sines *o, struct pw_pe_tables *t, int k, int W, double first,
                   bool swapped);

/* The resolve hook of struct pw_pe: chooses the default layout for the model. */
void pw_sines_resolve(void *opts, const struct pw_config *cfg);
/* The check hook of struct pw_pe: with `tables` concatenated tables each must have whole pairs of columns. */
enum pw_code pw_sines_check(const char *name, int tables, const struct pw_config *cfg, struct pw_err *err);

#endif
