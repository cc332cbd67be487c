/* pattern.h - an attention pattern of one model on the values of another. Private to probes. */
#ifndef PW_PROBE_PATTERN_H
#define PW_PROBE_PATTERN_H
#include "model/model.h"

/* Writes the output of head h before W_o, z [T,D] = P V: P [T,T] is any pattern, and v [T,H,D] the values of
 * all heads of a layer of the model with config c. Any thread. */
void pw_pattern_apply(float *z, const float *P, const float *v, int T, int h, const struct pw_config *c);

#endif
