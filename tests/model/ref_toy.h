/* ref_toy.h - small models and random batches for the tests of src/model. Everything fails the test on
 * failure. */
#ifndef PW_REF_TOY_H
#define PW_REF_TOY_H
#include "model/model.h"

/* The cpu backend with a number of threads; toy_close closes it. */
struct toy {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
};

struct toy toy_open(int threads);
void toy_close(struct toy *t);
/* For groups of tests: *state is a struct toy of two threads. */
int toy_setup(void **state);
int toy_teardown(void **state);

/* options: "layers=2 width=12 ..." over the defaults; pe: "t5 buckets=8". */
struct pw_config toy_config(const char *options, int vocab);
struct pw_pe_use_opts toy_pe(const char *pe, const struct pw_config *cfg);
struct pw_model *toy_model(struct toy *t, const char *options, const char *pe, int vocab, uint64_t seed);
/* pw_model_swap, and the old model goes. */
void toy_swap(struct pw_model **m, const struct pw_pe_use_opts *pe, uint64_t seed, bool restart);
/* Every parameter moved by a random amount, so that no gain is 1 and no bias 0. */
void toy_shake(struct pw_model *m, uint64_t seed);
/* The defaults of pw_optim_opts, then options over them. */
struct pw_optim toy_optim(const char *options);

/* got and want [pw_model_size]: by how much a tensor of got is off, as a part of the length of want's; of the
 * worst one, whose name is told. Tensors of less than a hundredth of the whole length count as that: of some,
 * as the bias of keys, only roundings are left. */
double toy_gradient_off(const struct pw_model *m, const float *got, const float *want, const char **name);

/* n_seqs random sequences of random lengths in shortest..longest; about two thirds of the rows are scored. */
struct pw_batch *toy_batch(uint64_t seed, int n_seqs, int shortest, int longest, int vocab);
void toy_batch_free(struct pw_batch *b);

#endif
