/* scale.h - one text for two sizes of a study. A statement may begin with the scale to which it belongs:
 *
 *   race none,t5,alibi
 *   toy: task sort; toy: optim steps=800
 *   paper: task sort(alphabet=50,lengths=2..8); paper: model paper
 *
 * Statements without a scale belong to both. Any thread. */
#ifndef PW_STUDY_SCALE_H
#define PW_STUDY_SCALE_H
#include "base/err.h"
#include "base/text.h"

extern const char *const pw_study_scales[]; /* "toy", "paper", NULL; the first one is the default */

/* Append the text at a scale: without the statements of the other scale and without scales. Comments stay,
 * except behind a statement that is left out. Fails with PW_EUSER for a misspelt scale, here or in the text,
 * and for a quote that is not closed. */
enum pw_code pw_study_scale(struct pw_str *out, const char *text, const char *scale, struct pw_err *err);

#endif
