/* encoding.h - what follows from an encoding's tables: buckets, turns, likeness of rows. */
#ifndef PW_PLOT_ENCODING_H
#define PW_PLOT_ENCODING_H
#include "base/text.h"
#include "sessions/fold.h"

/* "16–18", "113–": the distances of a bucket; "none" where it has none. */
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

/* What the kernel by distance is of this encoding, in words. */
const char *pw_kernel_how(const struct pw_ev_table *t);

/* The largest finite size of n values; never 0. */
float pw_enc_scale(const float *v, size_t n);

#endif
