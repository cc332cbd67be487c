/* variance.h - private to the probe variance: mean squares of attention output by position. variance.c
 * measures them; variance_report.c builds the finding. Lab thread. */
#ifndef PW_VARIANCE_H
#define PW_VARIANCE_H
#include "probe/probe.h"

enum {
    PW_VARIANCE_WIDTH = 64,
    PW_VARIANCE_KEYS = 64,
    PW_VARIANCE_AVERAGES = 512, /* sequences for the uniform head of Su 2024 (kexue.fm 10347) */
};

/* Mean squares: the output of attention, the stream after it, the share of the output that passes the norm,
 * and the predicted line. */
enum pw_variance_of { PW_MS_OUTPUT, PW_MS_STREAM, PW_MS_SHARE, PW_MS_LINE, PW_MS };

/* Sums over the sequences of one model. */
struct pw_variance_side {
    double *ms;             /* [PW_MS,L,T] */
    double *weights;        /* [L,H,T] R_n: sums of squared attention weights */
    double *mean, *squares; /* [L,H,D] and [L,H] of the value vectors */
};

/* The probe's state. It owns its arrays and `average`. */
struct pw_variance {
    /* The uniform head of Su 2024: sums over its sequences. repeats is the prediction for tokens that
     * repeat. */
    struct pw_model *average;
    double distinct[PW_VARIANCE_KEYS], repeated[PW_VARIANCE_KEYS], repeats[PW_VARIANCE_KEYS];
    float *own;  /* [PW_VARIANCE_KEYS,PW_VARIANCE_WIDTH] output of one sequence */
    int *choice; /* token ids, shuffled further for each sequence */
    /* The arm and its untrained twin. */
    struct pw_variance_side side[2];
    int T, *tokens, *first;       /* [T] tokens of a sequence, and the first occurrence of each token */
    double *sums;                 /* [T] attention weights of a row, summed by token */
    float *resid, *v, *z, *probs; /* inspection buffers of one pass (model.h) */
    float *W, *bias;              /* output weights and bias of a layer's attention */
};

/* Builds the finding from all sums. Also computes the predicted lines, so it changes s. */
void pw_variance_report(struct pw_variance *s, const struct pw_probe_in *in, int samples,
                        struct pw_finding *f);

#endif
