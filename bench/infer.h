/* infer.h - what the workbench asks of a model besides training, timed: decoding, and looking into it. */
#ifndef BENCH_INFER_H
#define BENCH_INFER_H
#include "model/model.h"

/* Each measures once on a sequence of T of these tokens and returns milliseconds.
 * decode: of a token, with the cache, the sequence taken one token at a time from the first on.
 * inspect: of a forward pass of T tokens of which everything is kept (struct pw_inspection). */
enum pw_code bench_decode(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err);
enum pw_code bench_inspect(struct pw_model *m, const int *tokens, int T, double *ms, struct pw_err *err);

#endif
