/* direct.h - private to attribution.c and lens.c: the path from the residual stream to a logit in double
 * precision. Weights are read on the host, one matrix after the other; norms are frozen, that is, linear with
 * the statistics of one row. Letters of shapes are those of model.h. */
#ifndef PW_DIRECT_H
#define PW_DIRECT_H
#include "model/model_int.h"

/* Matrices that are not among the parameters, because a model has them in packs alone (packed.c) or with
 * adapters (adapter.c), are copied when they are needed. A copy stays until the next one of its kind. */
enum {
    PW_DIRECT_BRANCH, /* a matrix that writes to the stream, or rows of it */
    PW_DIRECT_EMBED,
    PW_DIRECT_HEAD,
    PW_DIRECT_EMBED_IN,
    PW_DIRECT_HEAD_IN,
    PW_DIRECT_KINDS
};

struct pw_direct {
    struct pw_model *m;
    const float *p; /* the parameters on the host; of a packed model only the vectors, without adapters */
    struct {
        float *copy; /* [room] */
        size_t room, at, n;
    } of[PW_DIRECT_KINDS];
};

/* pw_direct_close frees the copies. The opening fails with the device. */
enum pw_code pw_direct_open(struct pw_direct *w, struct pw_model *m, struct pw_err *err);
void pw_direct_close(struct pw_direct *w);
/* Returns n parameters from offset on, valid until the next call for this kind. */
const float *pw_direct_read(struct pw_direct *w, int kind, size_t offset, size_t n);
/* Returns row v [E] of the head, valid until the next call. */
const float *pw_direct_head_row(struct pw_direct *w, int v);

/* A norm with the statistics of one row: x becomes gain * (x - mean of x). gain [C] also has 1/sigma, or
 * 1/rms, and a factor. */
struct pw_frozen {
    double *gain;
    bool center;
};

/* Fills f for row x [C] of a norm of this kind (enum pw_norm), with gains at offset `at`. f->gain is the
 * caller's. */
void pw_freeze(const struct pw_direct *w, struct pw_frozen *f, int kind, size_t at, const double *x,
               double factor);
/* Applies f to x [C] in place. */
void pw_frozen_apply(const struct pw_frozen *f, double *x, int C);
/* y [C] += factor * the vector at offset `at`, if there is one. */
void pw_direct_add(const struct pw_direct *w, double *y, size_t at, double factor);
/* Freezes the norm before the head, with logit_scale, at row x [C] of the stream. */
void pw_direct_freeze_last(const struct pw_direct *w, struct pw_frozen *f, const float *x);
/* Projects x [C], which the norm before the head returned, to what the head reads [E], in place; x has room
 * for both. */
void pw_direct_reduce(struct pw_direct *w, double *x);
/* Sets the first E numbers of out, which has room for C and for E, to row x [C] of the stream as the head
 * reads it: through f, with the norm's bias, projected. */
void pw_direct_head_input(struct pw_direct *w, const struct pw_frozen *f, double *out, const float *x);
/* Returns the logit of token v from the head's input x [E], before the cap. */
double pw_direct_logit(struct pw_direct *w, const double *x, int v);
/* Returns a logit after the cap. */
double pw_direct_capped(const struct pw_model *m, double logit);

#endif
