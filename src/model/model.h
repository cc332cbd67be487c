/* model.h - a Transformer resident on a backend: parameters, moments, optimiser steps, evaluation,
 * inspection.
 *
 * Letters of shapes: L layers, H heads, C width, D head width, F hidden width of the MLP, V vocabulary, T
 * tokens of a sequence. Arrays are row-major float32 in host memory unless a comment names the backend.
 *
 * Thread: one thread owns a model (the lab's thread); the functions are not thread-safe. Inside a
 * step the backend's workers run chunks of the batch. No function below allocates after its first
 * call with shapes as large. */
#ifndef PW_MODEL_H
#define PW_MODEL_H
#include "kernels/backend.h"
#include "model/config.h"
#include "model/pe.h"
#include <stdatomic.h>
#include <stdint.h>

struct pw_model;

enum { PW_FLIGHTS = 8 }; /* most steps of one model in flight on a device: flight.c */

/* One tensor of the flat parameter buffer, for lists, checkpoints and digests. */
struct pw_param {
    char name[48];  /* "layers.0.attn.q.weight": params.c */
    size_t offset;  /* in floats, into the flat buffers */
    size_t place;   /* likewise of its moments and its gradient; SIZE_MAX: it has none (moments.c) */
    int rows, cols; /* [rows,cols]; rows 0: a vector [cols] */
    int layers;     /* > 0: the tensor is [layers,rows,cols], one matrix per layer */
    float init_std; /* standard deviation of normal initial values; 0: all are init_value */
    float init_value;
    bool decay;   /* AdamW's weight decay applies: matrices only */
    bool pe;      /* belongs to the positional encoding */
    bool adapter; /* belongs to a low-rank adapter: adapter.c */
    int64_t t;    /* optimiser steps that have updated this tensor */
};

/* A batch on the host: the rows of ragged sequences, one sequence after the other. Sequence s owns rows
 * start[s]..start[s+1]-1. Row rows[k] is scored: it must predict targets[k]; rows ascend. pos is the position
 * id of each row and counts from 0 in each sequence; an encoding can replace it (pw_model_ids). An encoding
 * that depends on the sequence length takes that length from start. The caller owns the arrays. */
struct pw_batch {
    int n_seqs, n_rows, n_scored;
    const int *start;   /* [n_seqs+1] */
    const int *tokens;  /* [n_rows] input ids */
    const int *pos;     /* [n_rows] */
    const int *rows;    /* [n_scored] */
    const int *targets; /* [n_scored] */
    /* [n_seqs] keys of the random positions in an optimiser step; NULL: 0 for all, as outside of steps */
    const uint64_t *chance;
    /* [n_rows] place of a row in its sequence, if the encoding has replaced pos; NULL: pos. The model sets
     * it. */
    const int *order;
};

/* The metrics of one step. */
struct pw_step_result {
    double loss;      /* mean cross entropy of the scored tokens, in nats */
    double accuracy;  /* share of scored tokens whose argmax is the target (teacher forcing) */
    double grad_norm; /* global L2 norm before clipping */
    double lr;
};

/* Activation patching (Meng et al. 2022): rows from..to-1 of one tensor of a pass are replaced by the same
 * rows of another pass. The tensor is the residual stream before block `layer` (layer L: after the last
 * block), or the output z of one head of that block, before W_o. */
struct pw_patch {
    int layer, head;     /* head -1: the residual stream */
    int from, to;        /* rows from..to-1 */
    const float *source; /* [T,C] for the stream or [T,D] for a head, host memory */
};

struct pw_map_rows; /* kernels/operands.h */

/* Reads the maps of a pass as they are computed, some rows at a time, so that no map is held. */
struct pw_map_reader {
    /* Before layer l runs: are its rows wanted? On the caller's thread, as `end`. */
    bool (*begin)(void *arg, int layer);
    /* Reads rows of one head. Any worker calls it, the same one for all rows of a head, queries ascending. */
    void (*rows)(void *arg, const struct pw_map_rows *rows);
    /* Does the block of n rows from this query on need its scores and their content? Both are NULL otherwise.
     * content is also NULL if it equals the scores because the encoding does not act on them. */
    bool (*wants)(void *arg, int head, int query, int n);
    /* After layer l, whose rows have all been read: is a later layer wanted? If not, the pass ends, and the
     * tensors of later layers are undefined. */
    bool (*end)(void *arg, int layer);
    void *arg;
};

/* The tensors of one forward pass over one sequence of T tokens. The caller owns the arrays, in host memory;
 * a NULL array is not computed. Masked entries are 0 in probs and bias, -inf in content and score. content is
 * scale * q.k before the encoding acts (with rotary: of the unrotated q and k); bias = score - content, -inf
 * if the encoding's mask hides the key. */
struct pw_inspection {
    float *content, *bias, *score, *probs; /* [L,H,T,T] */
    float *resid;                          /* [L+1,T,C]: [0] embedding plus added table, [l] after block l */
    float *q, *k; /* [L,T,H,D] as they enter q.k: rotated if the encoding rotates, unscaled */
    float *v, *z; /* [L,T,H,D] values; outputs of the heads, before W_o */
    float *mlp;   /* [L,T,F] hidden layer after its activation */
    /* [L,T,H] terms of the rows (struct pw_attn): row t less row j is what the encoding adds to the score of
     * query t and key j. An encoding without terms leaves it as it is. With `each` or a reader, layer l is
     * complete when that layer's maps are. */
    float *terms;
    /* [L,T,pw_model_walk_columns] factors of a walk's reflections, one for each head, or its gates, one for
     * each entry of a head; likewise. */
    float *walk;
    float *logits; /* [T,V]; with last_logits [V] */
    /* Inputs, set by the caller: how this pass differs from a plain one. */
    bool last_logits; /* of the last row alone, with the same bits: a long sequence has many rows */
    bool one_row;     /* resid [L+1,C], z [L,H,D], mlp [L,F] and logits [V] are of row `row` alone */
    int row;
    const struct pw_map_reader *reader; /* NULL: none. With it content, bias, score and probs are NULL */
    bool whole;                         /* ignore pw_model_replace_head: every head computes its own output */
    /* Not NULL: content, bias, score and probs are [H,T,T] and hold layer l while each(arg, l) runs. It runs
     * for one layer after the other, on the caller's thread, and must not use the model. It returns false if
     * no later layer is wanted; the pass then ends, and tensors of later layers are undefined. */
    bool (*each)(void *arg, int layer);
    void *arg;
    const struct pw_patch *patches; /* [n_patches], applied after replaced heads */
    int n_patches;
};

/* Creates a model with drawn parameters. A parameter depends only on (seed, tensor name), so tensors of the
 * same name are equal under every encoding. The model borrows ops and be; on a device it opens a stream of
 * its own. pw_model_destroy frees it. Fails without memory, or if cfg, the encoding and the backend do not
 * fit together; then *m is NULL. */
enum pw_code pw_model_create(struct pw_model **m, const struct pw_backend_ops *ops, struct pw_backend *be,
                             const struct pw_config *cfg, const struct pw_pe_use_opts *pe, uint64_t seed,
                             struct pw_err *err);
/* The same with undefined parameters, because they are loaded next (pw_checkpoint_load). */
enum pw_code pw_model_create_blank(struct pw_model **m, const struct pw_backend_ops *ops,
                                   struct pw_backend *be, const struct pw_config *cfg,
                                   const struct pw_pe_use_opts *pe, uint64_t seed, struct pw_err *err);
/* Writes the values of tensor p to out [pw_param_count(p)], or leaves *filled false: then it is drawn. */
typedef enum pw_code pw_model_fill(void *arg, const struct pw_param *p, float *out, bool *filled,
                                   struct pw_err *err);
/* The same with values from fill, which is called for one tensor after the other. Beside the model, only
 * memory for the largest tensor is taken.
 *
 * Where pw_model_one_copy is true, such a model has each weight once in memory until a step or another change
 * of a matrix, and its clones on that backend share them. Steps that change vectors alone add a second copy
 * for the backward pass. A matrix has 16 bits a weight if bf16 or half precision has all its values. No bit
 * of a result depends on this. */
enum pw_code pw_model_create_from(struct pw_model **m, const struct pw_backend_ops *ops,
                                  struct pw_backend *be, const struct pw_config *cfg,
                                  const struct pw_pe_use_opts *pe, uint64_t seed, pw_model_fill *fill,
                                  void *arg, struct pw_err *err);
/* Can models on this backend have each weight once? */
bool pw_model_one_copy(const struct pw_backend_ops *ops);
/* Returns the bytes of such a model's weights; 0: m has them in float, and packed. */
size_t pw_model_one_copy_bytes(const struct pw_model *m);
/* Lists the tensors that a model of this checked configuration has. The caller frees *list. */
enum pw_code pw_model_list(struct pw_param **list, int *n, const struct pw_config *cfg,
                           const struct pw_pe_use_opts *pe, struct pw_err *err);
void pw_model_destroy(struct pw_model *m); /* NULL is a no-op */

/* Returns an upper estimate, in bytes, of the memory that a model of this configuration occupies. It counts
 * parameters, moments and gradients of the tensors that steps of these kinds change, packed weights and the
 * activations of `workers` workers. The activations are those of training and evaluation on batches of
 * `batch` sequences of up to T tokens; batch 0 means before the first step: without moments and gradients.
 * kinds: the sum of pw_trains_kind. weight_bytes: of the weights of a model that has each weight once
 * (pw_model_create_from) until a step changes a matrix; 0: another model. Memory for inspection is not
 * counted. cfg and pe must have been checked. Returns SIZE_MAX if the list of tensors itself cannot be
 * allocated. */
size_t pw_model_bytes(const struct pw_backend_ops *ops, const struct pw_config *cfg,
                      const struct pw_pe_use_opts *pe, unsigned kinds, int weight_bytes, int batch,
                      int workers, int T);
static inline unsigned pw_trains_kind(int trains)
{
    return 1u << trains;
}
/* Returns the kinds of steps for which m has moments and gradients; 0 before the first step. */
unsigned pw_model_kinds(const struct pw_model *m);

/* The same for a model that has each weight once, in weight_bytes (2 or 4) for those of matrices; while it is
 * created. On other backends it is pw_model_bytes before the first step. */
size_t pw_model_one_copy_need(const struct pw_backend_ops *ops, const struct pw_config *cfg,
                              const struct pw_pe_use_opts *pe, int weight_bytes);

/* Returns the number of sequences in the largest batch that a step of m has
 * allocated for; 0 before any step. */
int pw_model_largest(const struct pw_model *m);

/* Copies m to a backend, which can be m's own. The copy has the same parameters and moments bit for bit, the
 * same step counts, replaced heads and place in the schedule. On failure *out is NULL. */
enum pw_code pw_model_clone(struct pw_model **out, struct pw_model *m, const struct pw_backend_ops *ops,
                            struct pw_backend *be, struct pw_err *err);

/* Copies m on its own backend with another encoding. All other tensors and their moments keep their bits. The
 * parameters of the new encoding are drawn from seed, with zero moments and step counts of 0. restart: the
 * learning rate schedule starts again at step 1. On failure *out is NULL; m is unchanged in any case. */
enum pw_code pw_model_swap(struct pw_model **out, struct pw_model *m, const struct pw_pe_use_opts *pe,
                           uint64_t seed, bool restart, struct pw_err *err);

/* Copies m on its own backend with a low-rank adapter of this rank, which m must not have. All of m keeps its
 * bits, and the function of the model its values, because B is 0. On failure *out is NULL; m is unchanged in
 * any case. */
enum pw_code pw_model_adapt(struct pw_model **out, struct pw_model *m, int rank, struct pw_err *err);

/* Copies the encoding's parameters from donor to m and zeroes their moments; the rest of m is unchanged. Both
 * must have the same shape and be on the same backend. m must have no step in flight. */
enum pw_code pw_model_transplant(struct pw_model *m, struct pw_model *donor, struct pw_err *err);
/* The same with values from the host, one for each of the encoding's parameters. */
enum pw_code pw_model_put_encoding(struct pw_model *m, const float *values, struct pw_err *err);

/* The origin of a model that was read from another program's file: what the file says about positions, as the
 * JSON text that src/foreign/origin.h defines. Clones, swaps of the encoding and checkpoints keep it. set
 * copies the text; NULL: the model was drawn by pewter, as every new model is. */
void pw_model_set_origin(struct pw_model *m, const char *text);
const char *pw_model_origin(const struct pw_model *m); /* the model owns it */

/* The model owns the results of the following functions, until pw_model_destroy. */
const struct pw_config *pw_model_config(const struct pw_model *m);
const struct pw_pe_use_opts *pw_model_pe(const struct pw_model *m);
const struct pw_param *pw_model_params(const struct pw_model *m, int *n);
/* Returns the tensors of the encoding. They are the last tensors and are contiguous in the
 * flat buffers; *n can be 0. */
const struct pw_param *pw_model_pe_params(const struct pw_model *m, int *n);
size_t pw_param_count(const struct pw_param *p); /* number of floats: layers * rows * cols */
size_t pw_model_size(const struct pw_model *m);  /* number of parameters */
int64_t pw_model_step_count(const struct pw_model *m);
/* Returns a number that changes with every change of parameters or encoding and is unique over all models. A
 * result computed under another generation is out of date. */
uint64_t pw_model_generation(const struct pw_model *m);

/* Checks that the encoding can take these options in place, that is, without changing the shape of its
 * parameters. pe must name m's encoding. */
enum pw_code pw_model_may_tune(const struct pw_model *m, const struct pw_pe_use_opts *pe, struct pw_err *err);
/* Sets the options; every parameter keeps its bits. Call pw_model_may_tune before, on this model or on one of
 * the same shape. A step that has yielded is abandoned. */
void pw_model_tune(struct pw_model *m, const struct pw_pe_use_opts *pe);
/* Gives the model's formula another name: pe differs from its encoding in nothing else. */
void pw_model_name(struct pw_model *m, const struct pw_pe_use_opts *pe);

/* Runs one optimiser step; all scored tokens of the batch have the same weight. The workers read *yield
 * between blocks (NULL: never). If it is true the step stops and returns PW_EYIELD; the model is then as
 * before the step and every function below can be called. The next call with the same batch continues the
 * step and gives the bits of an uninterrupted step. A change of parameters, encoding or tables abandons a
 * step that has yielded, and the caller must abandon it before it passes another batch. A loss that is not
 * finite changes nothing and returns PW_EUSER ("the loss is not finite at step ..."). */
enum pw_code pw_model_step(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                           const atomic_bool *yield, struct pw_step_result *out, struct pw_err *err);
void pw_model_abandon(struct pw_model *m); /* drops a step that has yielded; otherwise a no-op */

/* The two halves of a step. pw_model_start submits it: the host computes it before the call returns, a device
 * runs it asynchronously. pw_model_finish waits for the oldest step in flight and returns its result. A
 * failure, also one that start would have reported, drops all later steps. While steps are in flight only the
 * configuration, the counts and further steps can be asked for. At most pw_model_may_fly steps can be in
 * flight; on the host that is 1. start returns PW_EYIELD if a batch with more scored tokens than any before
 * must wait until no step is in flight. */
enum pw_code pw_model_start(struct pw_model *m, const struct pw_optim *o, const struct pw_batch *b,
                            const atomic_bool *yield, struct pw_err *err);
enum pw_code pw_model_finish(struct pw_model *m, struct pw_step_result *out, struct pw_err *err);
int pw_model_flying(const struct pw_model *m); /* steps in flight: started and not finished */
int pw_model_may_fly(const struct pw_model *m);

/* Returns the floating-point operations of one step on a batch, computed from shapes alone; flops.c has the
 * formula (Kaplan et al. 2020). */
int64_t pw_model_flops(const struct pw_config *cfg, const struct pw_pe *pe, const struct pw_batch *b);

/* Writes how far the last step moved each block, as ||p_after - p_before|| / ||p_before|| over all tensors of
 * the block that the step may change (struct pw_optim, trains). ratio [layers + 3]: embedding, each layer,
 * final norm and head, the encoding's parameters. The ratio is NaN if a block has no parameters or was all
 * zeros, or if the model has taken no step. */
void pw_model_updates(const struct pw_model *m, float *ratio);

/* Writes which distances and positions were seen in training since the model was made, its
 * encoding was set or its weights were loaded. pairs [context] counts query-key pairs at each
 * distance, in both directions without the causal mask or if the encoding makes ids; rows [context] counts
 * rows at each position. Returns the number of steps counted. */
int64_t pw_model_seen(const struct pw_model *m, int64_t *pairs, int64_t *rows);
/* Writes the mean absolute gradient of each entry of the encoding's parameters, before clipping. mean [size
 * of those parameters] averages over every tenth of these steps, the first included. Returns the number of
 * steps averaged; if it is 0, mean is unchanged. */
int64_t pw_model_pe_gradient(const struct pw_model *m, float *mean);

/* Runs the forward pass. best [n_scored] is the argmax at each scored row; loss [n_scored] is its cross
 * entropy in nats (NULL: not wanted). No step can be in flight. */
enum pw_code pw_model_eval(struct pw_model *m, const struct pw_batch *b, int *best, float *loss,
                           struct pw_err *err);

/* Returns the numbers of a row in struct pw_inspection's walk; 0: the encoding has no walk. */
int pw_model_walk_columns(const struct pw_model *m);

/* Runs the forward pass over one sequence and keeps the tensors that out asks for. The bits are those of
 * training and evaluation. Fails if T exceeds the context or memory is short. */
enum pw_code pw_model_inspect(struct pw_model *m, const int *tokens, int T, const struct pw_inspection *out,
                              struct pw_err *err);

/* Writes the position ids [T] of a sequence outside of training: 0, 1, 2, ... unless the encoding reads them
 * from tokens or from chance. tokens can go on behind T; an id depends on the first T only. */
void pw_model_ids(const struct pw_model *m, const int *tokens, int T, int *ids);

/* Writes the rows that the encoding adds to the embeddings of a sequence, *out [T,C], which the caller frees.
 * The encoding must have such rows. Fails like pw_model_tables; *out is then NULL. */
enum pw_code pw_model_added(struct pw_model *m, const int *tokens, int T, float **out, struct pw_err *err);

/* Splits the content scores of one head into four terms (Ke et al. 2021, Eq. 6). x [T,C] is the stream before
 * the layer; p [T,C] is the part of x that comes from the position, so the content is x - p. terms [4,T,T]:
 * content-content, content-position, position-content, position-position, query first. They add up to
 * `content`; masked entries are 0. */
enum pw_code pw_model_terms(struct pw_model *m, float *terms, const float *x, const float *p, int T,
                            int layer, int head, struct pw_err *err);

/* Replaces the output z of head h of layer l, before W_o, by row p of table [context,D] (host) at position p;
 * NULL replaces it by zeros. The replacement acts in every forward and backward pass until it is restored; no
 * gradient flows through it. as: a label of the caller's choice, not 0, kept with the replacement. A swap of
 * the encoding, a clone and a checkpoint image keep it; other checkpoints do not. A step that has yielded is
 * abandoned. On failure the model is unchanged. */
enum pw_code pw_model_replace_head(struct pw_model *m, int l, int h, uint8_t as, const float *table,
                                   struct pw_err *err);
void pw_model_restore_head(struct pw_model *m, int l, int h);
/* Returns the label of the replacement; 0: the head is not replaced. */
uint8_t pw_model_replaced(const struct pw_model *m, int l, int h);

/* Replaces several heads in two phases: make allocates and can fail; join or free cannot. So all of several
 * models change, or none. as [L,H]: labels (0: that head stays as it is). at [L,H]: index into tables
 * [.,context,D], -1 for zeros. *out is NULL if as has no label, and on failure; join then changes nothing. */
struct pw_replaced;
enum pw_code pw_replaced_make(struct pw_replaced **out, struct pw_model *m, const int64_t *as,
                              const int64_t *at, const float *tables, struct pw_err *err);
void pw_replaced_join(struct pw_model *m, struct pw_replaced *made); /* takes ownership of made */
void pw_replaced_free(struct pw_model *m, struct pw_replaced *made); /* NULL is a no-op */

/* Computes the gradient of the batch's mean loss, for tests. grad [size] is in the order of
 * pw_model_params. */
enum pw_code pw_model_gradient(struct pw_model *m, const struct pw_batch *b, float *grad, double *loss,
                               struct pw_err *err);

/* pw_model_get and pw_model_put copy the flat buffers [size] to and from the host; a NULL buffer is left out.
 * Moments of tensors that no step has changed are zeros; put leaves them out unless pw_model_reserve has made
 * room. It also marks packed weights and gathered tables as stale. pw_model_read copies n parameters from
 * offset on (in floats) to the host. */
void pw_model_get(struct pw_model *m, float *params, float *adam_m, float *adam_v);
void pw_model_read(struct pw_model *m, float *out, size_t offset, size_t n);
void pw_model_put(struct pw_model *m, const float *params, const float *adam_m, const float *adam_v);
/* The same as pw_model_read of the numbers that act: a matrix W with an adapter reads as W + B A. The range
 * lies in one tensor. */
void pw_model_read_acting(struct pw_model *m, float *out, size_t offset, size_t n);

/* Computes a 128-bit digest of all parameters, tensors in name order, each row-major. */
void pw_model_digest(struct pw_model *m, uint64_t out[2]);

/* Returns how many choices a library has made for the model's backend so far (struct pw_backend_ops, choice).
 * *digest covers their lines in any order; both are 0 without choices. */
int pw_model_choices(const struct pw_model *m, uint64_t *digest);
/* Writes line i < pw_model_choices; returns false beyond. */
bool pw_model_choice(const struct pw_model *m, int i, char *line, size_t size);

/* Writes the encoding's tables as the model uses them now for P positions, learned ones included. Arrays that
 * the encoding does not use are NULL; out->added is the sum for a sequence of length P. The caller frees out
 * with pw_pe_tables_free. Fails if P exceeds the context or the learned rows, or without memory. */
enum pw_code pw_model_tables(struct pw_model *m, int P, struct pw_pe_tables *out, struct pw_err *err);
void pw_pe_tables_free(struct pw_pe_tables *t);

#endif
