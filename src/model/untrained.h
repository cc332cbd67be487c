/* untrained.h - learned entries of an encoding that no training batch has read: buckets of long distances,
 * rows of late positions. They still have their initial values, which are noise to the rest of the model.
 *
 * Thread of the model. */
#ifndef PW_MODEL_UNTRAINED_H
#define PW_MODEL_UNTRAINED_H
#include "model/model.h"

/* Returns the encoding's learned values, in which each entry that was never trained has the values of the
 * nearest trained one before it: positions or distances are clamped to those that were seen. *n: number of
 * such entries. The caller frees them; pw_model_put_encoding takes them. NULL: the encoding has no entries by
 * position or distance (*n 0), or training was not counted (*n -1). */
float *pw_model_clamp_untrained(struct pw_model *m, int *n);

#endif
