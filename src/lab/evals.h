/* evals.h - the part of lab_int.h about evaluation: by teacher-forced passes and by decoding, what failed in
 * it, and which arm is ahead. */
#ifndef PW_EVALS_H
#define PW_EVALS_H
#include "lab/lab_int.h"

/* ---- eval.c */
enum pw_code pw_lab_eval(struct pw_lab *lab, struct pw_range lengths, int samples, struct pw_err *err);
/* The same of one arm, at all lengths, with as many samples as its last one; without one nothing. */
void pw_lab_eval_again(struct pw_lab *lab, const struct pw_arm *arm);
void pw_lab_eval_live(struct pw_lab *lab, struct pw_arm *arm);
void pw_lab_eval_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_eval_cancel(struct pw_lab *lab);
/* Stands for the evaluation samples that the lab draws: struct pw_ev_eval's draw. */
uint64_t pw_lab_draw(const struct pw_lab *lab);
/* The first place at which choices [n] differ from the right tokens, the end mark being the last; -1: none.
 * kind: how. */
int pw_eval_first_error(const int *choices, const int *right, int n, enum pw_error *kind);
/* Adds a sample's choices [n] to its row, and its outcome to the row's words (NULL: nobody asks). */
void pw_eval_count(struct pw_eval_row *row, uint64_t *outcomes, const int *choices, const int *right, int n);
/* Lets go of what is being decoded, of models that go; it begins anew with those that take their places. */
void pw_lab_eval_let_go(struct pw_lab *lab);
/* How many validation samples stand for up to n: fewer of small fixed sets. */
int pw_lab_valid_samples(const struct pw_lab *lab, int n);
/* A slice of arm's in-range answers to n validation samples, or all of them; row->samples is n when they are
 * there. */
enum pw_code pw_lab_valid_slice(struct pw_lab *lab, struct pw_arm *arm, int n, struct pw_eval_row *row,
                                bool whole, struct pw_err *err);

/* ---- eval_decode.c: answers of some samples, decoded where teacher-forced choices don't tell which are
 * right */
bool pw_lab_decodes(const struct pw_lab *lab, const struct pw_arm *arm, int task);
/* Of the samples in s, of one task; choices [s->b.n_scored] are their teacher-forced ones, taken. */
enum pw_code pw_decoding_begin(struct pw_decoding **d, struct pw_lab *lab, const struct pw_arm *arm,
                               const struct pw_samples *s, int task, int *choices, struct pw_err *err);
bool pw_decoding_over(const struct pw_decoding *d);
/* A token more for some of them. */
enum pw_code pw_decoding_go_on(struct pw_decoding *d, struct pw_err *err);
/* Sample i, when it is over: its right answer [n_right], its choices [n_right], what decoding says, whether
 * that is right, and its length as a pair. */
struct pw_decoded {
    int n_right;
    const int *right, *choices, *said;
    bool well;
    struct pw_pair pair;
};
bool pw_decoding_at(const struct pw_decoding *d, int i,
                    struct pw_decoded *out); /* false: there are no more */
void pw_decoding_end(struct pw_decoding *d); /* NULL is a no-op */

/* ---- failing.c: examples of arm's last evaluation; task -1: any; length 0: the first at which one failed */
/* Tells the first n. */
enum pw_code pw_lab_failing(struct pw_lab *lab, struct pw_arm *arm, int task, int length, int n,
                            struct pw_err *err);
/* Pins one sample of the current arm's; decoding stops at its first wrong token. */
enum pw_code pw_lab_pin_failing(struct pw_lab *lab, int task, int length, int index, struct pw_err *err);

/* ---- paired.c */
/* Compares the arms whose bit (id - 1) is in `arms` on their last evaluations; lengths {0,0}: those beyond
 * the task's trained ones. */
void pw_lab_paired(struct pw_lab *lab, unsigned arms, int task, struct pw_range lengths);

#endif
