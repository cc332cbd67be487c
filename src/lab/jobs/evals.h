/* evals.h - evaluation: teacher-forced passes, decoding, failing examples and
 * paired comparison of arms. Lab thread. */
#ifndef PW_EVALS_H
#define PW_EVALS_H
#include "lab/core/lab_int.h"

struct pw_decoding; /* eval_decode.c */

/* ---- eval.c */
/* Add arm to the live evaluation, or start one; a no-op while a requested evaluation is in progress. */
void pw_lab_eval_live(struct pw_lab *lab, struct pw_replica *arm);
extern const struct pw_listener pw_eval_listener;
/* Return a hash that identifies the evaluation samples that the lab draws: `draw` of struct pw_ev_eval. */
uint64_t pw_lab_draw(const struct pw_lab *lab);
/* Return the first place at which choices [n] differ from the right tokens, whose last is the end mark; -1:
 * none. *kind is set to the kind of error. */
int pw_eval_first_error(const int *choices, const int *right, int n, enum pw_error *kind);
/* Add a sample's choices [n] to its row, and its outcome to the row's words (NULL: outcomes are not kept). */
void pw_eval_count(struct pw_eval_row *row, uint64_t *outcomes, const int *choices, const int *right, int n);
/* Return how many validation samples an evaluation of up to n samples uses: fewer than n if the fixed sets
 * are small. */
int pw_lab_valid_samples(const struct pw_lab *lab, int n);
/* Run one slice of an evaluation of arm on n in-range validation samples; whole: run all of it. The
 * evaluation is complete when row->samples is n. */
enum pw_code pw_lab_valid_slice(struct pw_lab *lab, struct pw_replica *arm, int n, struct pw_eval_row *row,
                                bool whole, struct pw_err *err);

/* ---- eval_loss.c: evaluation of running text */
/* Sums of the losses of a replica's rows. */
struct pw_losses {
    int n_rows;
    double *rows; /* [n_rows] nats of all tokens of a row */
    int n;
    double *places; /* [n] by position, of the rows that have them */
    int n_sampled;
    float *sampled; /* [n_sampled] mean of each sample */
};
/* Lay out the sums of n rows and set the rows' members. most: samples of a row. trained: the longest trained
 * length. */
void pw_losses_begin(struct pw_losses *l, struct pw_eval_row *rows, int n, int most, int trained);
/* Add the sequences in s, whose losses are loss [s->b.n_scored] and whose choices are best, to rows[at]. */
void pw_losses_add(struct pw_losses *l, struct pw_eval_row *rows, int at, const struct pw_samples *s,
                   const int *best, const float *loss);
/* Copy the means to an event with copies of the rows, and clear the sums. */
void pw_losses_end(struct pw_losses *l, struct pw_ev_eval *out);
void pw_losses_fini(struct pw_losses *l);

/* ---- eval_rows.c */
/* Evaluation by length. A slice evaluates one row (replica, task, length), so that commands are served
 * between rows. */
struct pw_eval_plan {
    /* small evaluation for the screen during training; false: started by a command */
    bool live;
    int samples;                 /* per length */
    int n, place[PW_MAX_PLACES]; /* places of the replicas, arm by arm */
    int at;                      /* index into place */
    double took;                 /* seconds so far */
    int n_rows, row;             /* rows per replica; the next row */
    struct pw_eval_row *rows;    /* [n_rows] counts of the rows finished so far */
    int n_pairs;
    struct pw_eval_pair *pairs; /* [n_pairs] of the same rows */
    int n_words;
    uint64_t *outcomes;           /* [n_words] of the same rows */
    struct pw_losses losses;      /* running text only */
    struct pw_decoding *decoding; /* decoding of the row's next samples; NULL: none */
};

/* Add one row per task and length. lengths {0,0}: the trained and the test lengths of each task. Fails if
 * there is none, or if a model of an arm can't have them. */
enum pw_code pw_eval_plan_rows(struct pw_lab *lab, struct pw_eval_plan *p, struct pw_range lengths,
                               struct pw_err *err);

/* ---- eval_decode.c: decode the answers of some samples if teacher-forced choices do not decide which
 * answers are right */
/* Must answers of arm to this task be decoded to be judged? */
bool pw_lab_decodes(const struct pw_lab *lab, const struct pw_replica *arm, int task);
/* Begin to decode the samples in s, all of one task. choices [s->b.n_scored] are their teacher-forced
 * choices; the call takes ownership of them on success and on failure. */
enum pw_code pw_decoding_begin(struct pw_decoding **d, struct pw_lab *lab, const struct pw_replica *arm,
                               const struct pw_samples *s, int task, int *choices, struct pw_err *err);
/* Have all answers ended? */
bool pw_decoding_over(const struct pw_decoding *d);
/* Decode one more token for some of the samples. */
enum pw_code pw_decoding_go_on(struct pw_decoding *d, struct pw_err *err);
/* Result for sample i, after decoding has ended: right answer [n_right], teacher-forced choices [n_right],
 * the decoded tokens, whether they are right, and the sample's length as a pair. */
struct pw_decoded {
    int n_right;
    const int *right, *choices, *said;
    bool well;
    struct pw_pair pair;
};
bool pw_decoding_at(const struct pw_decoding *d, int i, struct pw_decoded *out); /* false: no sample i */
void pw_decoding_end(struct pw_decoding *d);                                     /* NULL is a no-op */

#endif
