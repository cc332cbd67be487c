/* model.h - a Transformer resident on a backend: parameters, moments, one step, evaluation, inspection.
 *
 * Not thread-safe: one thread owns a model (the lab's); inside a step the backend's workers run chunks. No
 * call below allocates after the first call with shapes as large. */
#ifndef PW_MODEL_H
#define PW_MODEL_H
#include "kernels/backend.h"
#include "model/config.h"
#include "model/pe.h"
#include <stdatomic.h>
#include <stdint.h>

struct pw_model;

enum { PW_FLIGHTS = 8 }; /* steps of a model that may be under way on a device at most: flight.c */

/* One tensor of the flat parameter buffer, for lists, checkpoints and digests. */
struct pw_param {
    char name[48];  /* "layers.0.attn.q.weight": params.c */
    size_t offset;  /* floats into the flat buffers */
    int rows, cols; /* [rows,cols]; rows 0: a vector [cols] */
    int layers;     /* > 0: so many of them, one a layer: [layers,rows,cols] */
    float init_std; /* normal; 0: constant init_value */
    float init_value;
    bool decay; /* weight decay applies: matrices only */
    bool pe;    /* belongs to the positional encoding */
    int64_t t;  /* optimiser steps that this tensor has seen */
};

/* Ragged token rows on the host: sequence s owns rows start[s]..start[s+1]-1; tokens are inputs, and row
 * rows[k] must predict targets[k]; rows ascend. pos is the position id of each row (0.. in each sequence). An
 * encoding that goes by the length takes the rows of each sequence. */
struct pw_batch {
    int n_seqs, n_rows, n_scored;
    const int *start;   /* [n_seqs+1] */
    const int *tokens;  /* [n_rows] */
    const int *pos;     /* [n_rows] */
    const int *rows;    /* [n_scored] */
    const int *targets; /* [n_scored] */
};

struct pw_step_result {
    double loss;      /* mean cross entropy of the scored tokens, nats */
    double accuracy;  /* of the scored tokens, teacher-forced argmax */
    double grad_norm; /* before clipping */
    double lr;
};

/* Rows from..to-1 of what a pass computes, replaced by the same rows of another one's (activation patching,
 * Meng et al. 2022): of the residual stream before block `layer` (layer L: after the last block), or of the
 * output z of a head of that block, before W_o. */
struct pw_patch {
    int layer, head;     /* head -1: the stream */
    int from, to;        /* rows */
    const float *source; /* [T,C] or [T,D], host */
};

/* Everything about one forward pass of one sequence of T tokens. Host memory of the caller's, each NULL where
 * not wanted. Masked entries: probs 0, content and score -inf, bias 0. content is scale * q.k before the
 * encoding acts (for rotary: of the unrotated q and k); bias = score - content. */
struct pw_inspection {
    float *content, *bias, *score, *probs; /* [L,H,T,T] */
    float *resid;  /* [L+1,T,C]: [0] the embedding with the added table, [l] after block l */
    float *q, *k;  /* [L,T,H,D] as they enter the dot product: rotated where the encoding rotates, unscaled */
    float *v, *z;  /* [L,T,H,D] values; the heads' outputs, before W_o */
    float *mlp;    /* [L,T,F] the hidden layer after its activation */
    float *logits; /* [T,V] */
    /* In: what this pass does otherwise. */
    bool whole;                     /* heads that are replaced (pw_model_replace_head) work all the same */
    const struct pw_patch *patches; /* [n_patches] put in after what the model computes and replaces */
    int n_patches;
};

/* Parameters drawn from (seed, tensor name); the same name gets the same values whatever the encoding. */
enum pw_code pw_model_create(struct pw_model **m, const struct pw_backend_ops *ops, struct pw_backend *be,
                             const struct pw_config *cfg, const struct pw_pe_use_opts *pe, uint64_t seed,
                             struct pw_err *err);
void pw_model_destroy(struct pw_model *m); /* NULL is a no-op */

/* Bytes that a model of this configuration comes to occupy, known before it is made: parameters, moments,
 * gradients, packed weights, and the activations of `workers` workers, when batches of `batch` sequences of
 * up to T tokens are trained on and evaluated; of batch 0: before its first step. A little more than it will
 * be; not counting what inspection needs. cfg and pe must be checked. SIZE_MAX where there is no memory even
 * for the list of its tensors. */
size_t pw_model_bytes(const struct pw_backend_ops *ops, const struct pw_config *cfg,
                      const struct pw_pe_use_opts *pe, int batch, int workers, int T);

/* Sequences of the largest batch that a step of m has found room for; 0: there was none. */
int pw_model_largest(const struct pw_model *m);

/* A copy on a backend, which may be m's own: the same bits, moments, step counts and place in the schedule.
 */
enum pw_code pw_model_clone(struct pw_model **out, struct pw_model *m, const struct pw_backend_ops *ops,
                            struct pw_backend *be, struct pw_err *err);

/* A copy with another encoding, where m computes: every other tensor and its moments keep their bits; the new
 * encoding's parameters start fresh (from seed), with zero moments and their own step count. restart: the
 * schedule begins again. */
enum pw_code pw_model_swap(struct pw_model **out, struct pw_model *m, const struct pw_pe_use_opts *pe,
                           uint64_t seed, bool restart, struct pw_err *err);

/* m's encoding gets the parameters that donor's has learned, of the same shape and on the same backend, with
 * zero moments; all else of m stays. */
enum pw_code pw_model_transplant(struct pw_model *m, struct pw_model *donor, struct pw_err *err);

const struct pw_config *pw_model_config(const struct pw_model *m);
const struct pw_pe_use_opts *pw_model_pe(const struct pw_model *m);
const struct pw_param *pw_model_params(const struct pw_model *m, int *n);
/* Of them the encoding's own, the last ones, one behind the other in the flat buffers; n may be 0. */
const struct pw_param *pw_model_pe_params(const struct pw_model *m, int *n);
size_t pw_param_count(const struct pw_param *p); /* its floats: layers * rows * cols */
size_t pw_model_size(const struct pw_model *m);  /* parameters */
int64_t pw_model_step_count(const struct pw_model *m);
/* Another with every change of parameters or encoding, and of every model: what was computed at another one
 * is out of date. */
uint64_t pw_model_generation(const struct pw_model *m);

/* May the same encoding have these options? Not where one changes the shape of its parameters. */
enum pw_code pw_model_may_tune(const struct pw_model *m, const struct pw_pe_use_opts *pe, struct pw_err *err);
/* It has them from now on, and every parameter keeps its bits; asked for this model or one of its shape. */
void pw_model_tune(struct pw_model *m, const struct pw_pe_use_opts *pe);

/* One optimiser step. scored tokens of the whole batch weigh the same. yield (may be NULL) is read between
 * blocks: when true the step stops where it is, PW_EYIELD. The model is as before it then; everything below
 * may be called, and the next call with the same batch goes on, to the same bits as without the break. What
 * changes parameters, encoding or tables abandons such a step, and so must the caller before it comes with
 * another batch. A loss that is not finite changes nothing either and is PW_EUSER ("the loss is not finite at
 * step ..."). */
enum pw_code pw_model_step(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                           const atomic_bool *yield, struct pw_step_result *out, struct pw_err *err);
void pw_model_abandon(struct pw_model *m); /* forgets a step that has yielded; without one a no-op */

/* The two halves of a step. start asks for it; on the host it is computed then, a device goes on by itself.
 * finish waits for the oldest of those that were started and tells of it; a failure (also one that start
 * would have reported) forgets those after it, too. Between the two nothing else may be asked of the model
 * than its configuration, its counts and more steps: at most pw_model_may_fly, which is 1 on the host. start
 * is PW_EYIELD where a batch larger than all before has to wait until those under way are finished. */
enum pw_code pw_model_start(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                            const atomic_bool *yield, struct pw_err *err);
enum pw_code pw_model_finish(struct pw_model *m, struct pw_step_result *out, struct pw_err *err);
int pw_model_flying(const struct pw_model *m); /* steps that were started and not finished */
int pw_model_may_fly(const struct pw_model *m);

/* Floating-point operations of one step on a batch, from shapes alone: flops.c has the formula. */
int64_t pw_model_flops(const struct pw_config *cfg, const struct pw_batch *b);

/* How far the last step moved each block: ||p_after - p_before|| / ||p_before||, both over all tensors of the
 * block. ratio [layers + 3]: the embedding, the layers, final norm and head, the encoding's own parameters;
 * NaN where a block has no parameters, all of them were 0, or there was no step since the model was made. */
void pw_model_updates(const struct pw_model *m, float *ratio);

/* What training has met since the model was made, its encoding was set or its weights were loaded, each
 * [context]: the pairs of a query and a key at every distance (either way without the causal mask), and the
 * rows at every position. Returns the steps that it took. */
int64_t pw_model_met(const struct pw_model *m, int64_t *pairs, int64_t *rows);
/* The mean size of the gradient that each entry of the encoding's own parameter (pe.h) received, before
 * clipping, over every tenth of these steps, the first included. Returns how many that were; 0: mean is left
 * alone. */
int64_t pw_model_pe_gradient(const struct pw_model *m, float *mean);

/* Forward only. best[k]: argmax at scored row k; loss[k] its cross entropy (NULL if not wanted). */
enum pw_code pw_model_eval(struct pw_model *m, const struct pw_batch *b, int *best, float *loss,
                           struct pw_err *err);

/* Forward of one sequence with everything kept. The same bits as in training and evaluation. */
enum pw_code pw_model_inspect(struct pw_model *m, const int *tokens, int T, const struct pw_inspection *out,
                              struct pw_err *err);

/* The content scores of a head in four terms, by the stream before its layer as x = (x - p) + p, where p is
 * what the position brings to it: x and p [T,C]. terms [4,T,T]: query's content with key's content, content
 * with position, position with content, position with position; they add up to `content`. Masked: 0. */
enum pw_code pw_model_terms(struct pw_model *m, float *terms, const float *x, const float *p, int T,
                            int layer, int head, struct pw_err *err);

/* From now on the output z of head h of layer l, before W_o, is row p of table [context,D] (host) at position
 * p, or zeros where table is NULL: in every pass, forward and backward (no gradient comes through it), until
 * it is restored. as: the caller's own word for it, not 0, which lives with it. Other encodings keep it,
 * clones have it, checkpoints don't. A step under way is abandoned. On failure the model is as before. */
enum pw_code pw_model_replace_head(struct pw_model *m, int l, int h, uint8_t as, const float *table,
                                   struct pw_err *err);
void pw_model_restore_head(struct pw_model *m, int l, int h);
uint8_t pw_model_replaced(const struct pw_model *m, int l, int h); /* as; 0: the head works */

/* The same of several heads at once, made first and then put in place or freed: so of several models all
 * change, or none. as, at: each [L,H], what the caller calls it (0: that head stays as it is), and which of
 * the tables [.,context,D] that is (-1: zeros). */
struct pw_replaced;
enum pw_code pw_replaced_make(struct pw_replaced **out, struct pw_model *m, const int64_t *as,
                              const int64_t *at, const float *tables, struct pw_err *err);
void pw_replaced_join(struct pw_model *m, struct pw_replaced *made); /* takes it */
void pw_replaced_free(struct pw_model *m, struct pw_replaced *made); /* NULL is a no-op */

/* Gradients of the batch's mean loss, for tests: grad [size], order of pw_model_params. */
enum pw_code pw_model_gradient(struct pw_model *m, const struct pw_batch *b, float *grad, double *loss,
                               struct pw_err *err);

/* Host copies of the flat buffers (any may be NULL); set marks them for packing. */
void pw_model_get(struct pw_model *m, float *params, float *adam_m, float *adam_v);
void pw_model_read(struct pw_model *m, float *out, size_t offset, size_t n); /* n parameters alone */
void pw_model_put(struct pw_model *m, const float *params, const float *adam_m, const float *adam_v);

/* 128-bit digest of all parameters: tensors in name order, row-major. */
void pw_model_digest(struct pw_model *m, uint64_t out[2]);

/* What a library has chosen for the model's backend so far (struct pw_backend_ops, choice): how many lines,
 * and a digest of them that doesn't depend on their order; 0 and 0 where nothing is chosen. */
int pw_model_choices(const struct pw_model *m, uint64_t *digest);
/* Line i < pw_model_choices; false beyond. */
bool pw_model_choice(const struct pw_model *m, int i, char *line, size_t size);

/* The encoding's tables as the model uses them now, learned ones included, for P positions. Each array NULL
 * where the encoding does not use it; added is what a sequence of P gets. The caller frees with
 * pw_pe_tables_free. */
enum pw_code pw_model_tables(struct pw_model *m, int P, struct pw_pe_tables *out, struct pw_err *err);
void pw_pe_tables_free(struct pw_pe_tables *t);

/* Positions for which tables exist now grow on demand up to the configuration's context. */

#endif
