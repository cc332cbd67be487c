/* encoding.h - what follows from an encoding's tables: buckets, turns, likeness of rows. */
#ifndef PW_PLOT_ENCODING_H
#define PW_PLOT_ENCODING_H
#include "base/text.h"
#include "sessions/fold.h"

/* "16–18", "113–", of later keys "-18–-16": the distances of a bucket; "none" where it has none. */
void pw_bucket_range(const struct pw_ev_table *t, int b, char text[32]);
/* "never trained: buckets 29–31" */
void pw_bucket_untrained(const struct pw_ev_table *t, struct pw_str *out);

/* Of a rotated pair: positions a turn, and the share of a turn within the trained distances. */
double pw_rotary_wavelength(const struct pw_ev_table *t, int pair);
double pw_rotary_coverage(const struct pw_ev_table *t, int pair);
/* The mean cosine over the pairs at distance d, and |sum of e^(i d theta)| / pairs: no vectors of that length
 * can be more alike (Su et al. 2021, 3.4.3). */
double pw_rotary_cosine(const struct pw_ev_table *t, int d);
double pw_rotary_bound(const struct pw_ev_table *t, int d);

/* Of the rows added at two positions; NaN where one is zero. */
double pw_rows_cosine(const struct pw_ev_table *t, int a, int b);

/* "3", "8–", "–-8": the distances that read row r of the relative keys. */
void pw_key_range(const struct pw_ev_table *t, int r, char text[32]);
double pw_key_norm(const struct pw_ev_table *t, int r);

/* FIRE. L, queries before which are measured by it; NaN: this isn't FIRE. */
double pw_fire_threshold(const struct pw_ev_table *t);
/* How far distance d is from a query at this position, as a fraction: what its network is asked for. */
double pw_fire_fraction(const struct pw_ev_table *t, int query, int d);
/* By what the query's distances are measured: its own position, or L. */
double pw_fire_measure(const struct pw_ev_table *t, int query);
/* "c 0.1, L 8 = |1 x 8|" */
void pw_fire_text(const struct pw_ev_table *t, struct pw_str *out);
/* " of the query at 31", where the table's bias by distance isn't that of all queries. */
void pw_bias_query_text(const struct pw_ev_table *t, struct pw_str *out);
/* "[32,1]", "[8]" */
void pw_tensor_shape(const struct pw_table_tensor *x, char text[32]);

/* What the kernel by distance is of this encoding, in words. */
const char *pw_kernel_how(const struct pw_ev_table *t);

/* Two encodings: what a does to the scores by distance, less what b does; of each head from its value at
 * distance 0 on, because a constant on all of a query's scores is nothing to the softmax. */
struct pw_enc_pair {
    const struct pw_ev_table *a, *b;
    int heads, length; /* that both have */
    bool kernels;      /* of both their kernels are compared; else the scores that they were seen with */
    float *from, *to, *minus;  /* [heads,length] a's, b's, and a - b; NULL: not measured */
    struct pw_ev_table common; /* of these shapes, and a's training: for who draws values by distance */
};
void pw_enc_pair_init(struct pw_enc_pair *p, const struct pw_ev_table *a, const struct pw_ev_table *b);
void pw_enc_pair_fini(struct pw_enc_pair *p);
/* Of encodings of one family, how their own numbers differ. */
void pw_enc_pair_parameters(const struct pw_enc_pair *p, struct pw_str *out);

/* The largest finite size of n values; never 0. */
float pw_enc_scale(const float *v, size_t n);

#endif
