/* distance.h - the attention distance while it is asked for (distance_choose.c), measured (distance.c) and
 * told (distance_tell.c). */
#ifndef PW_DISTANCE_H
#define PW_DISTANCE_H
#include "probe/divergence.h"
#include "probe/probe.h"

enum pw_distance_pairs { PW_PAIRS_ALL, PW_PAIRS_MATCHED, PW_PAIRS_SAME, PW_PAIRS };

struct pw_distance_opts {
    struct pw_range lengths; /* {0,0}: trained and test lengths */
    int samples;
    int formula; /* enum pw_divergence */
    int pairs;   /* enum pw_distance_pairs: what is drawn */
    int rows;    /* 0 all, 1 the answer's */
    int against; /* 0: each other arm against the first, 1: all pairs of arms */
    bool control;
};

/* Over what is told as one curve. */
struct pw_distance_sum {
    double sum, squares;
    int n;
};

/* All pairs of models of two arms that begin alike, or that don't. */
struct pw_distance_curve {
    int arm, other;
    const char *encoding, *other_encoding;
    bool same;      /* one initialisation */
    bool fork;      /* and trained together at first */
    bool floor;     /* one encoding, two initialisations */
    int head_pairs; /* of a layer, among which the least is looked for */
    int n_pairs;    /* of models */
};

struct pw_distance_pair {
    int a, b; /* subjects */
    int curve;
};

struct pw_distances {
    const struct pw_distance_opts *o;
    int L, n_lengths, n_curves, n_pairs;
    int *length; /* [n_lengths] that the task has samples of */
    struct pw_distance_curve *curve;
    struct pw_distance_pair *pair; /* [n_pairs] */
    /* [PW_PAIRS,n_curves,n_lengths,L+1], the last of a row being the mean over layers; and that of the
     * untrained twins, of what is drawn, [n_curves,n_lengths] */
    struct pw_distance_sum *sums, *control;
    int infinite, layers; /* of so many distances in a layer were infinite: they are in no sum */
    /* of the example under way */
    int *tokens, cap, T, first;        /* rows from first on count */
    float **maps;                      /* [n] of the subjects, then [n] of their twins: [L,H,T,T] */
    double *D;                         /* of two layers */
    double now[PW_PAIRS], now_control; /* sums over the layers so far */
};

const struct pw_config *pw_distance_config(const struct pw_probe_in *in, int subject);
/* Sets lengths, pairs and curves; *longest: tokens of the longest sequence. Fails where models can't be
 * compared. */
enum pw_code pw_distance_choose(struct pw_distances *d, const struct pw_probe_in *in, int *longest,
                                struct pw_err *err);
/* The sum of a measure over a layer, or (layer L) of the mean over layers. */
struct pw_distance_sum *pw_distance_at(const struct pw_distances *d, int pairs, int curve, int length,
                                       int layer);
/* The finding of all that was measured. */
void pw_distance_tell(const struct pw_distances *d, const struct pw_probe_in *in, struct pw_finding *f);

#endif
