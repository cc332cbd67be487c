/* formula_text.h - the formula of an arm's encoding as a file for other programs. */
#ifndef PW_FORMULA_TEXT_H
#define PW_FORMULA_TEXT_H
#include "model/pe.h"

enum pw_formula_language { PW_FORMULA_TORCH, PW_FORMULA_LATEX, PW_FORMULA_PLAIN };

/* An encoding of a model. values: the encoding's learned parameters, one after the other as in the model;
 * NULL if there are none. */
struct pw_formula_use {
    const struct pw_pe_use_opts *use;
    const struct pw_config *cfg;
    int layer;   /* the value of l, and the layer of parameters per layer */
    int trained; /* the value of L */
    const float *values;
    const char *title; /* of the file, if the formula has no name; NULL: "expr" */
};

/* Appends the file. Fails with PW_EUSER if the encoding is no formula, if there is no such layer, or if the
 * language cannot express the formula; nothing is appended then. who: the command, for messages. Pure. */
enum pw_code pw_formula_write(const struct pw_formula_use *f, enum pw_formula_language language,
                              const char *who, struct pw_str *out, struct pw_err *err);
/* Appends the formula of an encoding's text (pw_pe_print) on one line, with the values of its options as
 * their defaults. Appends nothing if the encoding is built in. Any thread. */
void pw_formula_current(const char *pe, struct pw_str *out);

#endif
