/* kernel.h - the score of a query and a key by their distance: what the encoding puts into it, and the whole.
 */
#ifndef PW_KERNEL_H
#define PW_KERNEL_H
#include "model/model.h"

/* Of one layer, distances 0..N-1, the key before the query. The caller's arrays. */
struct pw_kernel {
    int layer, N;
    float *kernel; /* [H,N] the encoding's part: kernel.c says what that is */
    float *score;  /* [H,N] mean score over the samples' pairs; NaN where none had the distance */
    float *parts;  /* [H,pairs,2] with a rotation: kernel = scale * (sum of c cos + s sin + what is not
                      rotated);  NULL: not wanted */
};

/* Has the encoding a part of its own that can be told from the content in this layer? Else kernel is 0. */
bool pw_kernel_has(const struct pw_pe *pe, int layer);
/* A head's bias at a distance, of tables of at least N positions: by both positions it is the mean over the
 * queries among the first N that have a key so far before them. */
float pw_kernel_bias(const struct pw_pe_tables *t, int N, int h, int d);
/* samples: sequences of tokens; what they are scored on doesn't matter. Parameters stay as they are. */
enum pw_code pw_kernel_measure(const struct pw_kernel *k, struct pw_model *m, const struct pw_batch *samples,
                               struct pw_err *err);

#endif
