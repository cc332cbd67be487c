/* batch.h - what bench_train trains on: uniform random tokens, or a task's samples as the laboratory cuts
 * them. */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H
#include "lab/lab_int.h"
#include <stdio.h>

struct bench_batches {
    int n; /* that take turns */
    struct pw_samples *samples;
    int vocab, longest; /* tokens; rows of the longest sequence that there can be */
};

/* n batches of `batch` sequences of a task: the first of its training split. task: as after the command
 * `task`. */
enum pw_code bench_batches_of_task(struct bench_batches *out, const char *task, int batch, int n,
                                   struct pw_err *err);
/* n batches of sequences of `positions` tokens; each row must predict the next token of an unseen longer one.
 */
void bench_batches_random(struct bench_batches *out, int positions, int vocab, int batch, int n);
void bench_batches_fini(struct bench_batches *b);

/* Of a batch, as JSON: [[rows, scored rows] of every sequence]. */
void bench_batch_print(FILE *out, const struct pw_samples *s);

#endif
