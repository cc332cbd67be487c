/* variance.h - the mean squares while they are measured (variance.c) and told (variance_tell.c). */
#ifndef PW_VARIANCE_H
#define PW_VARIANCE_H
#include "probe/probe.h"

enum {
    PW_VARIANCE_WIDTH = 64,
    PW_VARIANCE_KEYS = 64,
    PW_VARIANCE_AVERAGES = 512, /* sequences of the document's case */
};

enum pw_variance_of { PW_MS_OUTPUT, PW_MS_STREAM, PW_MS_SHARE, PW_MS_LINE, PW_MS };

/* A model over its sequences: sums. */
struct pw_variance_side {
    double *ms;             /* [PW_MS,L,T] */
    double *weights;        /* [L,H,T] R_n */
    double *mean, *squares; /* [L,H,D] and [L,H] of the values */
};

struct pw_variance {
    /* The document's case: sums over its sequences, the last one the line of tokens that repeat. */
    struct pw_model *average;
    double distinct[PW_VARIANCE_KEYS], repeated[PW_VARIANCE_KEYS], repeats[PW_VARIANCE_KEYS];
    float *own;  /* [PW_VARIANCE_KEYS,PW_VARIANCE_WIDTH] of one sequence */
    int *choice; /* tokens, shuffled more and more */
    /* The arm and its untrained twin. */
    struct pw_variance_side side[2];
    int T, *tokens, *first;       /* [T] of a sequence, and where each token occurs first */
    double *sums;                 /* [T] weights of a row by token */
    float *resid, *v, *z, *probs; /* of a pass: model.h */
    float *W, *bias;              /* of a layer's output */
};

/* The finding of all that was measured; fills the lines. */
void pw_variance_tell(struct pw_variance *s, const struct pw_probe_in *in, int samples, struct pw_finding *f);

#endif
