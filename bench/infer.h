/* infer.h - timings of model work other than training: decoding, and inspection. */
#ifndef BENCH_INFER_H
#define BENCH_INFER_H
#include "model/model.h"

/* Each function measures one sequence of T tokens and writes a time in milliseconds. Fails if the model's
 * operation fails.
 *
 * bench_decode: the mean time of one token, decoded with the cache from the start of the sequence.
 * bench_inspect: the time of one forward pass that keeps every value of struct pw_inspection. */
enum pw_code bench_decode(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err);
enum pw_code bench_inspect(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err);

#endif
