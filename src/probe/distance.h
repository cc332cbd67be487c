/* distance.h - private to the probe distance: the distance between attention patterns of models (Kazemnejad
 * et al. 2023, section 5.2 and Eq. 2). distance_choose.c selects the pairs, distance.c measures them,
 * distance_report.c builds the finding. Lab thread. */
#ifndef PW_DISTANCE_H
#define PW_DISTANCE_H
#include "probe/divergence.h"
#include "probe/probe.h"

/* Kinds of distance between two layers: the minimum over all pairs of heads, the mean over matched heads, and
 * the mean over heads with equal index (divergence.h). */
enum pw_distance_pairs { PW_PAIRS_ALL, PW_PAIRS_MATCHED, PW_PAIRS_SAME, PW_PAIRS };

/* The probe's options. */
struct pw_distance_opts {
    struct pw_range lengths; /* {0,0}: the trained and test lengths */
    int samples;
    int formula; /* enum pw_divergence */
    int pairs;   /* enum pw_distance_pairs: the kind that the curves show */
    int rows;    /* 0: all rows; 1: rows that predict the answer */
    int against; /* 0: each arm against the first; 1: all pairs of arms */
    bool control;
};

/* Running sums of one point of a curve. */
struct pw_distance_sum {
    double sum, squares;
    int n;
};

/* One curve: all pairs of models of two arms that share an initialisation, or all that don't. */
struct pw_distance_curve {
    int arm, other;
    const char *encoding, *other_encoding;
    bool same;      /* the two models share an initialisation */
    bool fork;      /* the two models were also trained together at first */
    bool floor;     /* one encoding, two initialisations: the floor */
    int head_pairs; /* pairs of heads in a layer, over which the minimum is taken */
    int n_pairs;    /* pairs of models */
};

/* Two models that are compared, and the curve that they belong to. */
struct pw_distance_pair {
    int a, b; /* indices of subjects */
    int curve;
};

/* The probe's state. It owns its arrays. */
struct pw_distances {
    const struct pw_distance_opts *o;
    int L, n_lengths, n_curves, n_pairs;
    int *length; /* [n_lengths] lengths that the task has samples of */
    struct pw_distance_curve *curve;
    struct pw_distance_pair *pair; /* [n_pairs] */
    /* sums [PW_PAIRS,n_curves,n_lengths,L+1]; the last entry of a row is the mean over layers. control
     * [n_curves,n_lengths]: the same mean for the untrained twins, only of the kind that the curves show. */
    struct pw_distance_sum *sums, *control;
    int infinite, layers; /* infinite distances, and all distances of layers; infinite ones enter no sum */
    /* state of the current example */
    int *tokens, cap, T, first;        /* rows first..T-1 count */
    float **maps;                      /* [2 n] attention maps [L,H,T,T]: subjects, then their twins */
    double *D;                         /* [H,H] distances of the heads of two layers */
    double now[PW_PAIRS], now_control; /* sums over the layers done so far */
};

/* The configuration of a subject's model. */
const struct pw_config *pw_distance_config(const struct pw_probe_in *in, int subject);
/* Sets lengths, pairs and curves. *longest: the number of tokens of the longest sequence. Fails if the models
 * can't be compared. */
enum pw_code pw_distance_choose(struct pw_distances *d, const struct pw_probe_in *in, int *longest,
                                struct pw_err *err);
/* The sums of one kind of distance, for a layer 0..L-1 or for the mean over layers (layer = L). */
struct pw_distance_sum *pw_distance_at(const struct pw_distances *d, int pairs, int curve, int length,
                                       int layer);
/* Builds the finding from all sums. */
void pw_distance_report(const struct pw_distances *d, const struct pw_probe_in *in, struct pw_finding *f);

#endif
