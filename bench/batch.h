/* batch.h - the training batches of bench_train: uniform random tokens, or samples of a task batched as in
 * the lab. bench_batches_fini frees them. */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H
#include "lab/core/lab_int.h"
#include <stdio.h>

/* The batches of a benchmark. It owns them. */
struct bench_batches {
    int n; /* number of batches; training steps cycle through them */
    struct pw_samples *samples;
    int vocab, longest; /* number of tokens; rows of the longest possible sequence */
};

/* Fills n batches, each with `batch` sequences of a task, from the start of its training split. task: the
 * arguments of the command `task`. Fails if the task text is invalid. */
enum pw_code bench_batches_of_task(struct bench_batches *out, const char *task, int batch, int n,
                                   struct pw_err *err);
/* Fills n batches, each with `batch` sequences of `positions` random tokens. Every row is scored; its target
 * is the next token, and the last target lies one token beyond the sequence. */
void bench_batches_random(struct bench_batches *out, int positions, int vocab, int batch, int n);
void bench_batches_fini(struct bench_batches *b);

/* Prints the shape of a batch as JSON: [[rows, scored rows] of every sequence]. */
void bench_batch_print(FILE *out, const struct pw_samples *s);

#endif
