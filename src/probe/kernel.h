/* kernel.h - attention score as a function of distance: the encoding's own part, and the whole score. Lab
 * thread. */
#ifndef PW_KERNEL_H
#define PW_KERNEL_H
#include "model/model.h"

/* The request and the arrays for the result, of one layer. Distances are 0..N-1, with the key before the
 * query. The caller owns the arrays. */
struct pw_kernel {
    int layer, N;
    float *kernel; /* [H,N] the encoding's part; defined in kernel.c */
    float *score;  /* [H,N] mean score over the samples' pairs; NaN: no pair at this distance */
    /* [H,pairs,2] for a rotation: kernel = scale * (sum of c cos + s sin + the part that is not rotated);
     * NULL: not wanted */
    float *parts;
};

/* Returns true if the encoding has a part that can be separated from the content in this layer of such a
 * model. Otherwise pw_kernel_measure sets kernel to 0. */
bool pw_kernel_has(const struct pw_config *cfg, const struct pw_pe *pe, int layer);
/* The bias of head h at distance d, from tables of at least N positions. For a bias by both positions: its
 * mean over those of the first N queries that see a key at this distance; -inf: none does. */
float pw_kernel_bias(const struct pw_pe_tables *t, int N, int h, int d);
/* Fills the arrays of k from the sequences in samples. Targets of the batch are ignored. Parameters of the
 * model stay unchanged. Fails if out of memory, or if a forward pass fails. */
enum pw_code pw_kernel_measure(const struct pw_kernel *k, struct pw_model *m, const struct pw_batch *samples,
                               struct pw_err *err);

#endif
