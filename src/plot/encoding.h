/* encoding.h - numbers and texts derived from an encoding's tables (struct pw_ev_table): buckets, rotations,
 * similarity of rows. Pure functions; texts are appended to out or written to text[32]. */
#ifndef PW_PLOT_ENCODING_H
#define PW_PLOT_ENCODING_H
#include "base/text.h"
#include "plot/matrix.h"
#include "sessions/fold.h"

/* The views of a table: the pages of the pane and of the figures, in this order. */
enum pw_encoding_view {
    PW_ENCODING_SLOPES,      /* ALiBi's ramps */
    PW_ENCODING_BIAS,        /* any other bias by distance */
    PW_ENCODING_BUCKETS,     /* the learned bias of each bucket and head */
    PW_ENCODING_MATRIX,      /* the bucket of each query and key */
    PW_ENCODING_FREQUENCIES, /* the rotation of each pair of dimensions */
    PW_ENCODING_DECAY,       /* the cosine between a vector and its rotated copy */
    PW_ENCODING_PARAMS,      /* the learned parameters of a formula */
    PW_ENCODING_ROWS,        /* rows added to the embeddings */
    PW_ENCODING_COSINE,      /* the cosine of two such rows */
    PW_ENCODING_KEYS,        /* relative keys */
    PW_ENCODING_QUERIES,     /* a bias that depends on the query */
    PW_ENCODING_KERNEL,      /* the score by distance */
    PW_ENCODING_DIFFERENCE,  /* two encodings: struct pw_enc_pair */
};

/* Returns an arm's table; NULL: there is none, or it is empty. Length and heads are at least 1. */
const struct pw_ev_table *pw_table_drawn(const struct pw_snapshot *s, int arm);
/* Returns true if the table contains a view, except PW_ENCODING_DIFFERENCE. It depends on the table's
 * contents, not on the encoding's name: a new encoding that fills the same arrays has the same views. */
bool pw_table_has(const struct pw_ev_table *t, enum pw_encoding_view view);
/* Returns the values [heads,length] by distance of SLOPES, BIAS or KERNEL (the mean scores if the encoding
 * has no kernel); NULL: the table does not have this view. */
const float *pw_table_by_distance(const struct pw_ev_table *t, enum pw_encoding_view view);

/* BUCKETS, MATRIX, FREQUENCIES, ROWS, COSINE or KEYS as a matrix; `of` must outlive it. Rows and columns are:
 * bucket and head; query and key; pair and distance; position and dimension; two positions; row and
 * dimension. */
struct pw_table_cells {
    const struct pw_ev_table *t;
    enum pw_encoding_view view;
    int every; /* every n-th position or distance is a row or column */
};
struct pw_matrix pw_table_matrix(const struct pw_table_cells *of);

/* Writes the distances of a bucket: "16–18", "113–", for later keys "-18–-16"; "none" for an empty bucket. */
void pw_bucket_range(const struct pw_ev_table *t, int b, char text[32]);
/* Appends "never trained: buckets 29–31", or that no bucket is untrained. */
void pw_bucket_untrained(const struct pw_ev_table *t, struct pw_str *out);

/* For a rotated pair: positions per turn, and the fraction of a turn within the
 * trained distances, at most 1. */
double pw_rotary_wavelength(const struct pw_ev_table *t, int pair);
double pw_rotary_coverage(const struct pw_ev_table *t, int pair);
/* The mean cosine over the pairs at distance d, and |sum of e^(i d theta)| / pairs. The latter bounds the
 * similarity of vectors of unit length (Su et al. 2021, section 3.4.3). */
double pw_rotary_cosine(const struct pw_ev_table *t, int d);
double pw_rotary_bound(const struct pw_ev_table *t, int d);
/* Fills cosine and bound [most] of the distances from 0 on and returns their number. *least receives the
 * smallest cosine, at most 0. */
int pw_rotary_decay(const struct pw_ev_table *t, int most, float *cosine, float *bound, double *least);

/* Cosine of the rows added at two positions; NaN if a row is zero. */
double pw_rows_cosine(const struct pw_ev_table *t, int a, int b);

/* Writes the distances that read row r of the relative keys: "3", "8–", "–-8". */
void pw_key_range(const struct pw_ev_table *t, int r, char text[32]);
/* Returns the L2 norm of row r of the relative keys. */
double pw_key_norm(const struct pw_ev_table *t, int r);

/* FIRE (Li et al. 2023): the threshold L; queries before it are measured by L. NaN:
 * the encoding is not FIRE. */
double pw_fire_threshold(const struct pw_ev_table *t);
/* The input of FIRE's network for a query at this position and distance d, a fraction. */
double pw_fire_fraction(const struct pw_ev_table *t, int query, int d);
/* The position by which FIRE measures the query's distances: its own, or L. */
double pw_fire_measure(const struct pw_ev_table *t, int query);
/* Appends "c 0.1, L 8 = |1 x 8|". */
void pw_fire_text(const struct pw_ev_table *t, struct pw_str *out);
/* Appends " of the query at 31" if the table's bias by distance holds for one query only. */
void pw_bias_query_text(const struct pw_ev_table *t, struct pw_str *out);
/* Writes the shape of a parameter: "[32,1]", "[8]". */
void pw_tensor_shape(const struct pw_table_tensor *x, char text[32]);

/* ---- encoding_params.c: learned parameters of a formula */
/* Returns the parameter that has this part. */
const struct pw_table_param *pw_param_of(const struct pw_ev_table *t, int part);
/* Writes the layer and head of a part: "L1 h2", "h2", "L1"; "" if all share it. */
void pw_param_part_text(const struct pw_table_param *p, int part, char text[32]);
/* Appends "per head, layer", "shared", and ", table of 32". */
void pw_param_scope_text(const struct pw_table_param *p, struct pw_str *out);
/* Returns the entries of a part, [size]; NULL: a number, or the table was too large to be emitted. */
const float *pw_param_entries(const struct pw_ev_table *t, int part);
/* Returns the gradients of these entries, [size], or NULL. */
const float *pw_param_entry_grads(const struct pw_ev_table *t, int part);
/* Writes the values of a part over training and returns their number. 0: the course is of other parameters.
 */
int pw_param_course(const struct pw_arm_view *a, int part, int64_t step[PW_MAX_COURSE],
                    float v[PW_MAX_COURSE]);

/* Describes how the kernel by distance was obtained for this encoding. */
const char *pw_kernel_how(const struct pw_ev_table *t);

/* Two encodings compared: the effect of a on the scores by distance, minus the effect of b. Each head's
 * values are relative to distance 0, because softmax ignores a constant on all scores of a query. */
struct pw_enc_pair {
    const struct pw_ev_table *a, *b;
    int heads, length;         /* the smaller of both */
    bool kernels;              /* both kernels are compared; otherwise the mean scores */
    float *from, *to, *minus;  /* [heads,length]: of a, of b, and a - b; NULL: not measured */
    struct pw_ev_table common; /* these shapes and a's trained length, to draw values by distance */
};
/* Compares a and b, which must outlive p; pw_enc_pair_fini frees the arrays of p. */
void pw_enc_pair_init(struct pw_enc_pair *p, const struct pw_ev_table *a, const struct pw_ev_table *b);
void pw_enc_pair_fini(struct pw_enc_pair *p);
/* Appends how the parameters of a and b differ, if they are of one family. */
void pw_enc_pair_parameters(const struct pw_enc_pair *p, struct pw_str *out);

/* Returns the largest finite absolute value of n values; never 0. */
float pw_enc_scale(const float *v, size_t n);

#endif
