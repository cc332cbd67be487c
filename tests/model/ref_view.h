/* ref_view.h - the tensors and settings of a model of ref_model.h, and its encoding's formulas in double
 * precision. Part of ref_model.c. */
#ifndef PW_REF_VIEW_H
#define PW_REF_VIEW_H
#include "ref_model.h"

/* Pointers to all tensors, found once per pass: finite differences take thousands of passes. */
struct ref_layer {
    int number;
    const double *norm1, *norm1_bias, *q, *q_bias, *k, *k_bias, *v, *v_bias, *o, *o_bias;
    const double *norm2, *norm2_bias, *up, *up_bias, *down, *down_bias;
    const double *gate, *gate_bias, *q_norm, *k_norm, *post1, *post1_bias, *post2, *post2_bias;
    double *adapted[4]; /* matrices with adapters, or NULL */
};

struct ref_view {
    const struct ref_model *whole;
    const struct pw_config *cfg;
    const double *embed, *head, *norm, *norm_bias, *pe, *embed_norm, *embed_norm_bias, *head_bias;
    const double *embed_in, *head_in; /* of embed_width; NULL */
    bool capped;                      /* a formula whose scores go through ref_capped */
    /* The formula of test_gradient.c whose score has learned parameters [L,H] and [1]; NULL. */
    const double *bend, *tilt;
    /* The formula of test_gradient.c whose embed, angle, gain and scale have learned parameters, beside a
     * gate -exp(g / 2); NULL. */
    const double *wave, *turn, *grow, *sharp;
    const double *mix, *bank; /* of all layers; NULL: no mix */
    /* The formula of test_gradient.c whose bank is made of a learned table [L,3,4]; NULL. */
    const double *curve;
    int mixes, reach;
    double alpha, floor;
    const double *contexts; /* [L,D,npos] of contextual positions */
    int npos;
    bool stick;                        /* stick-breaking weights */
    const double *gate, *gate_bias;    /* of all layers; NULL: no terms */
    const double *omega, *of_q, *of_k; /* slopes of all layers; NULL: none */
    double steeper;                    /* factor on slopes that 'tune' set */
    const double *phase;               /* [L,H,D] of the polar form; NULL: none */
    double from, step;                 /* position of id 0, and from one id to the next */
    struct ref_layer layer[8];
    char name[24]; /* of the encoding */
    double base, amplitude;
    int split, dims, half, buckets, distance, logn;
    struct {
        const double *c, *factor, *in, *in_bias, *out, *out_bias;
        int hidden, threshold;
    } fire;
    double rate; /* dropout rate */
    const uint32_t *key;
    const struct ref_fixed *fixed;
};

/* Finds the tensors of a model. ref_model.c frees the matrices with adapters. */
struct ref_view ref_look(const struct ref_model *r);
/* Does the encoding have this name? */
int ref_is(const struct ref_view *r, const char *name);

/* ---- ref_encoding.c. Positions are those of query and key. */
/* Entry c of the added row at pos of a sequence of length l. */
double ref_added(const struct ref_view *r, int pos, int l, int c);
/* Rotates a query or key x [D]. */
void ref_rotate(const struct ref_view *r, double *x, int layer, int pos);
double ref_bias(const struct ref_view *r, int layer, int h, int query, int key);
/* The functions of scores that test_gradient.c has. */
double ref_capped(double s, int distance);
double ref_bent(const struct ref_view *r, double s, int l, int h, int distance);
/* Entry d of the relative key of layer l at a distance. */
double ref_relative(const struct ref_view *r, int l, int distance, int d);
/* The slope that head h makes of x [D], its query or key, with directions u [L,H,D]. */
double ref_slope_of(const struct ref_view *r, const double *u, const double *x, int l, int h);
/* Replaces p [i+1], exp(score - top), by stick-breaking weights; returns their sum. */
double ref_stick(double *p, int i, double top);
/* Adds the part of contextual positions to the scores p [i+1] of the query q [D]; returns the largest. */
double ref_contextual(const struct ref_view *r, double *p, const double *q, int l, int i);
/* Subtracts from the scores p [i+1] the sums of votes, lost [i+1], and writes those of the next query to
 * next. votes: p are the scores of head 0. Returns the largest. */
double ref_select_keys(double *p, const double *lost, double *next, bool votes, int i);
/* The product of two vectors in a plane, which have the polar coordinates of entry d of q and k. */
double ref_polar(const struct ref_view *r, double q, double k, int l, int h, int d, int query, int key);
/* Function m of a mix, in layer l at distance d. */
double ref_mix_of(const struct ref_view *r, int l, int m, int d);
/* The part of a token in the sums of its head. */
double ref_gate_of(const struct ref_view *r, int l, int h, double g);

#endif
