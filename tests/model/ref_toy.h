/* ref_toy.h - small models and random batches for the tests of src/model. A failure in any function fails the
 * test. */
#ifndef PW_REF_TOY_H
#define PW_REF_TOY_H
#include "model/model.h"

/* The CPU backend with a given number of threads. toy_close closes it. */
struct toy {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
};

struct toy toy_open(int threads);
void toy_close(struct toy *t);
/* cmocka fixtures of a group: *state is a struct toy with two threads. */
int toy_setup(void **state);
int toy_teardown(void **state);

/* options: "layers=2 width=12 ...", overrides of the defaults. pe: text of an encoding, "t5 buckets=8". The
 * caller destroys the model. */
struct pw_config toy_config(const char *options, int vocab);
void toy_set(struct pw_config *cfg, const char *options); /* the same, unchecked */
struct pw_pe_use_opts toy_pe(const char *pe, const struct pw_config *cfg);
struct pw_model *toy_model(struct toy *t, const char *options, const char *pe, int vocab, uint64_t seed);
/* Replaces *m by pw_model_swap and destroys the old model. */
void toy_swap(struct pw_model **m, const struct pw_pe_use_opts *pe, uint64_t seed, bool restart);
/* Adds random noise to every parameter, so that no gain is 1 and no bias is 0. */
void toy_shake(struct pw_model *m, uint64_t seed);
/* The defaults of pw_optim_opts with the overrides in `options`. */
struct pw_optim toy_optim(const char *options);

/* Compares the gradients got and want [pw_model_size]. Returns the largest error of a tensor, relative to the
 * norm of want's tensor, and that tensor's *name. A tensor with less than a hundredth of the whole norm
 * counts with that hundredth: some gradients, such as the key bias, are rounding errors only. */
double toy_gradient_off(const struct pw_model *m, const float *got, const float *want, const char **name);

/* A batch of n_seqs random sequences with random lengths in shortest..longest. About two thirds of the rows
 * are scored. Free it with toy_batch_free. */
struct pw_batch *toy_batch(uint64_t seed, int n_seqs, int shortest, int longest, int vocab);
void toy_batch_free(struct pw_batch *b);
/* Takes one step on such a batch. */
struct pw_step_result toy_step(struct pw_model *m, const struct pw_optim *o, uint64_t seed, int n_seqs,
                               int shortest, int longest, int vocab);

/* Fails unless found is within tolerance of expected. what, i: an array and the index, for the message. */
void toy_near(double found, double expected, double tolerance, const char *what, int i);

#endif
