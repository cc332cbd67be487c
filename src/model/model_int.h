/* model_int.h - the inside of a model, for src/model and its tests only.
 *
 * Letters of shapes, beside those of model.h: R rows of a chunk, N scored rows, P positions. "Backend" means
 * backend memory, "host" means host memory. The thread that owns the model calls every function, except those
 * with a struct pw_ctx: any worker calls those inside for_chunks. Functions that return enum pw_code fail
 * without memory, and describe the failure in err. */
#ifndef PW_MODEL_INT_H
#define PW_MODEL_INT_H
#include "model/memory.h"
#include "model/plan.h"
#include "model/source.h"

#define PW_ABSENT SIZE_MAX /* offset of a tensor that this configuration does not have */

/* Matrices of a layer as the linear operations see them; and those behind the layers' (pw_end_mat), of which
 * the last two project token embeddings into the stream and the stream into the head (embed_width). */
enum { PW_MAT_QKV, PW_MAT_O, PW_MAT_UP, PW_MAT_DOWN, PW_MATS };
enum { PW_END_HEAD, PW_END_EMBED_IN, PW_END_HEAD_IN };

/* Offsets of one layer's tensors in the flat buffer. The q, k and v weights are contiguous and form one
 * matrix [(H+2K)D,C]; so are their biases. Those of the gate come right before `up`, which then is [2F,C]. */
struct pw_layer_at {
    size_t norm1, norm1_bias, qkv, qkv_bias, o, o_bias, norm2, norm2_bias, up, up_bias, down, down_bias;
    size_t q_norm, k_norm;                         /* [D] gains */
    size_t post1, post1_bias, post2, post2_bias;   /* norms after attention and MLP (pw_config_norm_after) */
    size_t adapter_a[PW_MATS], adapter_b[PW_MATS]; /* [r,in] and [out,r] of each matrix */
};

/* All tensors in the order of the flat buffer. The encoding's tensors come last, so a
 * swap moves no other tensor. Those of adapters come right before them. */
struct pw_param_layout {
    struct pw_param *params;
    int n;
    size_t size, core; /* floats: of all tensors; without the encoding's */
    size_t trained;    /* floats of the buffers of moments and gradient (moments.c) */
    int n_core;        /* number of tensors without the encoding's */
    struct pw_layer_at *layer;
    size_t embed, norm, norm_bias, head, pe; /* head equals embed if the weights are tied */
    size_t embed_norm, embed_norm_bias, embed_in, head_in, head_bias;
};

/* A step in flight, with the host data that its result needs. */
struct pw_flight {
    int *batch; /* [n_scored] targets, [n_seqs] rows per sequence, then the ids of all rows if it makes any */
    size_t batch_cap;
    int n_scored, n_seqs;
    float lr;
    int trains;  /* enum pw_trains */
    float *grad; /* host_alloc [size - core]: gradient of the encoding's parameters */
    bool looked; /* this step's gradient is sampled (seen.c) */
    uint64_t mark;
};

/* What a walk has of R rows, or the gradients; NULL without (walks.c). */
struct pw_walk_acts {
    float *low;               /* [R,rank] between the two matrices; NULL: there is one */
    float *pre, *gate;        /* [R,HD] and [R,H] projections; gate is NULL if there are no factors */
    float *vectors, *factors; /* [R,HD] [R,H] of struct pw_walk */
};

/* Activations of one layer that the backward pass needs. Evaluation lets all layers share one set. */
struct pw_acts {
    float *n1, *stat1; /* [R,C] normed input; [R,2] its statistics */
    float *qkv;        /* [R,3HD] before rotation, which the attention applies */
    /* [R,(H+2K)D] the projection, and [R,H+K] statistics of its norms; NULL: the projection is qkv */
    float *raw, *raw_stat;
    /* [R,pw_gate_columns] projection of an encoding that reads the tokens, and [R,H] its terms
     * (kernels/backend.h); NULL without */
    float *gate, *terms;
    float *slopes; /* [R,2H] of an encoding with slopes; NULL without */
    float *wide;   /* [R,2H,pw_wide_width] q and k that the encoding makes; NULL: none */
    float *flat;   /* polar form, in evaluation: [R,2H,D] their lengths; NULL without */
    struct pw_walk_acts walk;
    float *z, *save; /* [R,HD] outputs of the heads; saved state of the attention */
    float *mid;      /* [R,C] the stream after the attention */
    float *n2, *stat2;
    float *pre, *hid; /* [R,F] before and after the activation; pre is NULL for relu, [R,2F] if gated */
    /* [R,C] inputs of the norms after attention and MLP, and the statistics; NULL without such norms */
    float *post1, *post1_stat, *post2, *post2_stat;
};

/* Memory of one worker: activations and gradients of one chunk. */
struct pw_work {
    float *mem, *operands; /* operands holds n1, n2, hid, normed and d_hid */
    int R, N;              /* rows and scored rows that fit */
    size_t save;
    struct pw_acts *acts;                   /* [L] */
    float *embedded, *embedded_stat;        /* [R,C] the embedding before its norm; NULL: it has none */
    float *token, *reduced;                 /* [R,E] [N,E] inputs of embed_in and of the head; NULL: E is C */
    float **x;                              /* [L+1] of [R,C]: the residual stream before layer l */
    float *picked, *normed, *stat, *logits; /* [N,C] [N,C] [N,2] [N,V] */
    float *d_logits, *d_normed, *d_picked;  /* from here on: backward pass only */
    float *d, *d_norm, *d_z, *d_qkv, *d_hid; /* [R,C] [R,C] [R,HD] [R,3HD] [R,F] */
    /* NULL where the configuration has no use for them: [R,(H+2K)D]; [R,2F]; [R,C], of the input of a norm
     * after a branch; [R,C], of norm2's output in a parallel block */
    float *d_raw, *d_pre, *d_post, *d_n2;
    float *d_token, *d_reduced; /* of token and reduced */
    /* [R,H] gradients of the terms, [R,pw_gate_columns] of the projection, [R,C] of its input; NULL without
     */
    float *d_terms, *d_gate, *d_gated;
    float *d_slopes; /* [R,2H]; NULL without slopes */
    float *d_wide;   /* of wide; NULL without it */
    struct pw_walk_acts d_walk;
    float *low_x, *low_dy; /* [R,r] x A^T and dy B; NULL without adapters */
};

/* The accumulators of one gradient slot, on the backend: backward.c. */
struct pw_slot {
    float *grad;                /* [trained]; pw_grad_at finds the tensors */
    float *head;                /* [V,C]; tied head only, if steps change it */
    float *table[PW_PE_TABLES]; /* of a table that pw_table_learned names, pw_table_gradients parts */
    bool summed;                /* earlier chunks have added to it */
};

/* The encoding's tables on the backend, for P positions. */
struct pw_tables {
    int P;
    struct pw_added added;            /* without its rows; the tables can be parameters */
    float *fixed[PW_PE_ADDS];         /* the added tables that are not parameters */
    float *polar_cosine, *polar_sine; /* [P,D]; NULL without the polar form */
    float *planes;                    /* [L,H,2N,D] unit vectors, computed from parameters; NULL: none */
    float *cosine, *sine, *gain;      /* by_layer: one after the other, as in struct pw_pe_tables */
    struct pw_turn *turn;             /* [L] made of cosine, sine and gain; NULL: q and k stay as they are */
    float *bias;                      /* [H,2P-1]; or dense: [H,laid,laid] */
    size_t bias_layer;                /* floats from a layer's bias to the next; 0: shared */
    int laid;                         /* dense: positions that the bias is laid out for; otherwise P */
    float *bank;                      /* [M,reach] of a mix, if the encoding computes it; NULL */
    size_t bank_layer;                /* floats from a layer's bank to the next; 0: shared */
    float *learned;                   /* [H,n] learned numbers of the function of scores; NULL: none */
    size_t learned_layer;             /* floats from those of a layer to the next; 0: shared */
    const float *keys;                /* [L,key_rows,D], part of the parameters */
    int key_rows, reach;
    int *index;             /* [2P-1], bias of gathered entries only: row of pe.bias for P-1 + distance */
    struct pw_score *score; /* [L] function of each finished score; NULL: none */
    struct pw_score *gate;  /* [L] function of which terms are sums; NULL: that of the backend, or no terms */
    /* The encoding's programs on the host, NULL where it has none; and the same on the backend. */
    struct pw_expr_code *code[PW_PE_TABLES], *there[PW_PE_TABLES];
};

/* Data derived from the parameters: packed weights (backend.h), gathered tables, matrices with adapters and
 * their packs. */
enum pw_stale { PW_STALE_PACKS = 1, PW_STALE_TABLES = 2, PW_STALE_MERGED = 4, PW_STALE_ALL = 7 };

/* Counts of what was seen in training since the encoding was set, on the host. */
struct pw_seen_counts {
    int64_t *seqs;          /* [context+1] number of sequences by length in rows */
    int64_t *ids;           /* [2,context] rows by id, pairs by distance; NULL: the encoding makes no ids */
    int64_t steps, sampled; /* steps counted; steps with a sampled gradient */
    double *grad;           /* [size - core] sums of |gradient|; NULL: no learned parameters */
};

/* Where an inspection writes tensors, on the backend; any pointer can be NULL. */
struct pw_tap {
    float *content, *score, *probs; /* [L,H,T,T]; with one_layer [H,T,T] */
    bool one_layer;
    /* On the host: each, wants and arg of the rows of maps of the layer that runs next; each NULL: not
     * wanted. content: rows also have the scores without the encoding. */
    struct pw_maps rows;
    bool content_rows;
    float *resid; /* [L+1,T,C] */
    /* [L,T,3HD] [L,T,HD] [L,T,F], in place of a layer's activations; qkv is rotated at the end. */
    float *qkv, *z, *mlp;
    float *terms;                       /* [L,T,H], likewise */
    float *walk;                        /* [L,T,pw_model_walk_columns], likewise */
    float *row_resid, *row_z, *row_mlp; /* on the host: [L+1,C] [L,HD] [L,F] of row `row` */
    int row;
    bool whole; /* as in struct pw_inspection, like the patches */
    const struct pw_patch *patches;
    int n_patches;
    float *sources; /* sources of the patches, one after the other */
};

/* A head whose output is replaced: ablate.c. */
struct pw_replaced {
    uint8_t as;   /* the caller's label; 0: not replaced */
    float *table; /* [context,D] on the backend; NULL: zeros */
};

/* The cache of a decoder: keys and values of every layer for the first T tokens; room for cap. */
struct pw_cache {
    float *mem;    /* [L][layer] in the backend's own layout */
    size_t layer;  /* floats per layer */
    float *terms;  /* [L][cap,H] terms of the rows so far; NULL: the encoding has none */
    float *slopes; /* [L][cap,2H] slopes of the rows so far; NULL: the encoding has none */
    float *lost;   /* [L] sums of votes, with room for lost_rows rows; NULL: none */
    int lost_rows;
    float *walk;      /* [L] of each layer [cap,HD] projections, vectors, [cap,H] factors; NULL: no walk */
    const int *order; /* [cap] 0, 1, 2, ... on the backend */
    const int *pos;   /* [cap] position ids: order, or those of the encoding */
    const int *added[PW_PE_ADDS]; /* [cap] rows of the encoding's added tables */
    int cap, T;
};

/* A model. It owns all memory except ops and a borrowed be. */
struct pw_model {
    const struct pw_backend_ops *ops; /* borrowed; be is borrowed unless it equals own */
    struct pw_backend *be, *own;
    struct pw_config cfg;
    struct pw_pe_use_opts pe;
    struct pw_param_layout lay;
    /* On the backend: [size] parameters (if packed, only vectors); [trained] moments, gradient (moments.c) */
    float *p, *m, *v, *g;
    float *host;         /* [size] scratch */
    double *moved;       /* [lay.n,2] of the last step: backend.h, adamw; 0 of tensors that it left out */
    struct pw_mat *mats; /* [pw_mats], and room for the embedding: packed.c */
    float *pack, *back;  /* of all mats; back: pw_model_reserve */
    /* The matrices are in their packs alone, and p has no memory for them: packed.c. */
    bool packed;
    size_t pack_floats;       /* if packed: used of pack */
    struct pw_packs *reserve; /* pack and p are address space of pages.h; NULL: the backend's memory */
    float *merged;      /* matrices with their adapters, of some layers: adapter.c; NULL without adapters */
    struct pw_mat *low; /* [L*PW_MATS,2] A and B of each matrix, with packs for both directions */
    float *low_pack;    /* of all low */
    uint64_t *sums;     /* [2] of a digest, on the backend */
    struct pw_tables tables;
    struct pw_seen_counts met;
    int stale;                      /* enum pw_stale: derived data that is out of date */
    uint64_t generation;            /* changes with parameters or encoding: decode.c */
    struct pw_source_files *source; /* files of the parameters; NULL: none has their values */

    float *slots;     /* [n_slots][stride]: pw_slot_at */
    size_t slots_cap; /* in floats */
    size_t stride;
    int workers;
    struct pw_work *train, *eval;              /* [workers] */
    struct pw_batch_plan step_plan, eval_plan; /* for training steps; for evaluation and inspection */
    int largest;                               /* sequences of the largest batch of any step so far */
    bool under_way; /* a step has begun but not finished; step_plan and slots hold its progress */
    struct pw_flight flights[PW_FLIGHTS];
    int first_flight, n_flights;  /* ring buffer: index of the oldest, number in flight */
    struct pw_mat *gates;         /* [L] the projections of an encoding with terms; NULL: none */
    float *gate_pack;             /* of all gates, for both directions */
    struct pw_mat *walks;         /* [L,3] the projections of a walk; NULL: none */
    float *walk_pack;             /* of all of them, for both directions */
    struct pw_adamw rule;         /* of the staged steps */
    int trains;                   /* enum pw_trains: of the staged steps, or of the running one */
    uint64_t form;                /* identifies the operations of a pass, over all models: pw_model_formed */
    struct pw_replaced *replaced; /* [L,H]; NULL: no head is replaced */
    float *tap, *tap_host;        /* inspection: on the backend, on the host */
    size_t tap_cap, tap_host_cap;
    int *iota; /* [context] 0, 1, 2, ..., on the host */
    int *ids;  /* [ids_cap] position ids of the last batch, if the encoding makes them, or rows by length */
    struct pw_pe_sequence *sequences; /* [sequences_cap] scratch for them */
    int ids_cap, sequences_cap;
    int *first; /* [context+1] rows_by_length of the encoding; NULL: it has none */
    /* Of the staged steps: segments, which are the tensors that they change, and their tiles (backend.h,
     * adamw). */
    int segs;
    size_t tiles;
    int *spoilt; /* [1] on the backend: backend.h, reduce */

    int64_t steps, schedule; /* optimiser steps taken; of these, since the schedule began */
    uint64_t seed;           /* of dropout's masks */
    char *origin;            /* pw_model_set_origin; NULL: none */
    int chunk_rows;          /* rows per chunk, set by tests; 0: as many as fit the cache */
};

/* Returns true if the projection differs from the q, k and v that attention reads. */
static inline bool pw_rearranges(const struct pw_config *cfg)
{
    return cfg->qk_norm != 0 || pw_config_kv_heads(cfg) != cfg->heads;
}

/* Return the rows of the joint matrix of q, k and v, and of that of gate and up. */
static inline int pw_qkv_rows(const struct pw_config *cfg)
{
    return (cfg->heads + 2 * pw_config_kv_heads(cfg)) * cfg->head_width;
}
static inline int pw_up_rows(const struct pw_config *cfg)
{
    return cfg->gated ? 2 * cfg->ffn : cfg->ffn;
}

/* Returns the shape of matrix k < PW_MATS of a layer. */
struct pw_shape {
    int out, in;
};
static inline struct pw_shape pw_mat_shape(const struct pw_config *cfg, int k)
{
    int C = cfg->width, HD = cfg->heads * cfg->head_width;

    switch (k) {
    case PW_MAT_QKV: return (struct pw_shape){pw_qkv_rows(cfg), C};
    case PW_MAT_O: return (struct pw_shape){C, HD};
    case PW_MAT_UP: return (struct pw_shape){pw_up_rows(cfg), C};
    default: return (struct pw_shape){C, cfg->ffn};
    }
}

/* Returns the number of matrices, without the embedding. */
static inline int pw_mats(const struct pw_config *cfg)
{
    return cfg->layers * PW_MATS + (cfg->embed_width > 0 ? 3 : 1);
}

/* Returns a matrix behind those of the layers. */
static inline struct pw_mat *pw_end_mat(const struct pw_model *m, int k)
{
    return &m->mats[m->cfg.layers * PW_MATS + k];
}

/* Returns the offset of matrix k < PW_MATS of a layer. */
static inline size_t pw_mat_at(const struct pw_layer_at *at, int k)
{
    return k == PW_MAT_QKV ? at->qkv : k == PW_MAT_O ? at->o : k == PW_MAT_UP ? at->up : at->down;
}

static inline float *pw_at(float *base, size_t offset)
{
    return offset == PW_ABSENT ? NULL : base + offset;
}

/* ---- model.c */
/* Turns PW_ENOMEM into the error of the device if the device has failed: a failed device also refuses
 * memory. Other codes pass unchanged, and so does PW_ENOMEM while steps are in flight;
 * pw_model_finish then reports the device. */
enum pw_code pw_model_reason(struct pw_model *m, enum pw_code code, struct pw_err *err);
/* Like pw_model_create, but leaves the parameters undefined. packed: the model is one of packed.c if the
 * backend allows it; pw_model_fill_all must follow. */
enum pw_code pw_model_make(struct pw_model **out, const struct pw_backend_ops *ops, struct pw_backend *be,
                           const struct pw_config *cfg, const struct pw_pe_use_opts *pe, bool packed,
                           struct pw_err *err);
/* Sets the first tensors of a new model to the values that fill writes, one after the other. */
enum pw_code pw_model_fill_all(struct pw_model *m, int tensors, pw_model_fill *fill, void *arg,
                               struct pw_err *err);
/* Draws the initial values of all tensors from index `first` on; may overwrite m->host. */
void pw_model_draw(struct pw_model *m, int first, uint64_t seed);
void pw_model_changed(struct pw_model *m); /* call after a change of parameters or encoding */
/* Call after the operations of a pass have changed: another encoding, heads replaced or restored. */
void pw_model_formed(struct pw_model *m);

/* ---- source.c: call after a step, or after it was dropped */
void pw_source_step(struct pw_model *m, enum pw_trains trains);

/* ---- params.c */
/* Lists the tensors of a configuration with their offsets; pw_layout_fini frees the list. */
enum pw_code pw_layout_init(struct pw_param_layout *lay, const struct pw_config *cfg,
                            const struct pw_pe_use_opts *pe, struct pw_err *err);
void pw_layout_fini(struct pw_param_layout *lay);
/* Returns true if steps of this kind change the tensor. */
bool pw_param_trains(const struct pw_param *p, enum pw_trains trains);
/* Writes the initial values of entries first .. first+n-1 of tensor p to out [n]; first must be even. */
void pw_param_init(const struct pw_param *p, float *out, uint64_t seed, size_t first, size_t n);
/* Writes the tensor's shape as files store it, terminated by a 0; returns the number of dimensions. */
int pw_param_dims(const struct pw_param *p, int64_t dims[4]);
/* Returns order [n]: order[i] is the index of the i-th tensor by name. The caller frees it. */
int *pw_param_order(const struct pw_param *p, int n);

/* ---- ids.c */
/* Sets *out to the batch with the position ids of the encoding, which m keeps until the next call. A batch
 * that has them already is copied. */
enum pw_code pw_ids_batch(struct pw_model *m, struct pw_batch *out, const struct pw_batch *b, bool train,
                          struct pw_err *err);
/* Call after the encoding changed: sets m->first. */
void pw_ids_form(struct pw_model *m);
/* Returns the rows of cosine, sine and gain for sequences of up to P tokens. */
int pw_ids_rows(const struct pw_model *m, int P);
/* Writes the rows of a sequence of T tokens; m->first must be set. */
void pw_ids_by_length(const struct pw_model *m, int T, int *ids);
/* Returns a bound above n ids, at least `least`. */
int pw_ids_bound(const int *ids, int n, int least);
void pw_ids_fini(struct pw_model *m);

/* ---- work.c */
/* Makes the workers' memory large enough for the plan of a step, or of an evaluation. */
enum pw_code pw_work_fit(struct pw_model *m, bool train, struct pw_err *err);
/* pw_work_grow makes one worker's memory large enough for R rows, N scored rows and save floats of attn_save;
 * pw_work_free frees it. pw_work_bytes returns the bytes that such a worker needs. */
enum pw_code pw_work_grow(struct pw_model *m, struct pw_work *w, bool train, int R, int N, size_t save,
                          struct pw_err *err);
void pw_work_free(struct pw_model *m, struct pw_work *w);
size_t pw_work_bytes(const struct pw_model *m, bool train, int R, int N, size_t save);
void pw_work_fini(struct pw_model *m, struct pw_work **works);

/* ---- tables.c */
/* Returns the offset, within the encoding's parameters, of the row for position 0 of learned table k. */
size_t pw_learned_at(const struct pw_model *m, int k);
/* Returns the entries of one head's bias for so many positions. */
size_t pw_bias_of_head(const struct pw_model *m, int positions);
/* Sets the number of positions that a dense bias is laid out for, at most P; the bias
 * becomes stale if it changes. */
void pw_tables_lay(struct pw_model *m, int positions);
/* Builds tables for at least P positions. After a rebuild all derived data is stale and a step that has
 * yielded is abandoned. PW_EUSER if an offset leaves too few learned rows. */
enum pw_code pw_tables_fit(struct pw_model *m, int P, struct pw_err *err);
/* Returns for how many positions tables are built if P are needed; it may exceed the context. */
int pw_tables_room(const struct pw_model *m, int P);
void pw_tables_fini(struct pw_model *m);

/* ---- learned.c */
/* Does the backend gather or compute the table from learned parameters? Rows and keys that are parameters
 * themselves don't count. A bank that the encoding computes counts even if nothing in it is learned. */
bool pw_table_learned(const struct pw_model *m, enum pw_pe_table which);
/* Returns the floats of a layer's part of a learned table for so many positions. */
size_t pw_table_floats(const struct pw_model *m, enum pw_pe_table which, int positions);
/* The number of parts of its gradient: one for each layer that reads it. */
int pw_table_gradients(const struct pw_model *m, enum pw_pe_table which);
/* Makes the encoding's programs and sends them to the backend; frees them. */
enum pw_code pw_tables_send_codes(struct pw_model *m, struct pw_err *err);
void pw_tables_free_codes(struct pw_model *m);
/* Computes the learned tables from the parameters. */
void pw_tables_compute(struct pw_model *m);
/* Adds to grad, the gradient of the encoding's parameters, from those of the tables, which it overwrites. The
 * gradient of the bias is for `positions`, those of other tables are for all of the tables. */
void pw_tables_differentiate(struct pw_model *m, struct pw_ctx *c, float *grad,
                             float *const table[PW_PE_TABLES], int positions);
/* Copies the learned tables to host tables for t->P positions. */
void pw_tables_fetch(struct pw_model *m, struct pw_pe_tables *t);

/* ---- inspect.c */
/* Returns false if the encoding does not act on scores; content then equals scores, and the bias is 0. */
bool pw_model_acts_on_scores(const struct pw_model *m);

/* ---- inspect_device.c */
/* Like pw_model_inspect with a reader or one_row, on a backend whose memory is not the host's: from whole
 * maps of a layer, and whole tensors. */
enum pw_code pw_inspect_on_device(struct pw_model *m, const int *tokens, int T,
                                  const struct pw_inspection *out, struct pw_err *err);

/* ---- seen.c */
bool pw_seen_init(struct pw_model *m); /* false: out of memory; call pw_seen_fini in any case */
/* Writes the shape of the gradient sums in a file: the shape of the encoding's tensor, or [n] for several
 * tensors. dims ends with 0. Returns the number of dimensions; 0: there are no sums. */
int pw_seen_dims(const struct pw_model *m, int64_t dims[4]);
void pw_seen_fini(struct pw_model *m);
void pw_seen_copy(struct pw_model *to, const struct pw_model *from); /* both of the same configuration */
/* Sets the counts from a file: steps [2] (steps, sampled steps), seqs [context+1], ids [2,context] of an
 * encoding that makes ids, grad. Returns false if counts are negative or so large that pair counts would
 * overflow. */
bool pw_seen_set(struct pw_model *m, const int64_t *steps, const int64_t *seqs, const int64_t *ids,
                 const double *grad);
/* Returns true if the gradient is to be sampled in the step that follows the next `ahead` steps. */
bool pw_seen_samples_gradient(const struct pw_model *m, int ahead);
/* Counts one step on sequences of these rows, behind which stand the ids that the encoding made; grad [size -
 * core] if the step was sampled, otherwise NULL. */
void pw_seen_step(struct pw_model *m, const int *rows, int n_seqs, const float *grad);

/* ---- attn.c */
/* Return the attention of a layer, and its heads, in the backend's terms. */
struct pw_attn pw_model_attn(const struct pw_model *m, int layer);
struct pw_heads pw_model_heads(const struct pw_model *m, int layer);
/* Returns the number of floats that attention saves for the backward pass of sequences with these starts. */
size_t pw_model_save_floats(const struct pw_model *m, const int *start, int n_seqs);

/* ---- forward.c */
/* Rebuilds packed weights and gathered tables if they are stale, with a dense bias for so many positions. */
void pw_model_refresh(struct pw_model *m, int positions);
/* Return the norm's epsilon, and the activation in the backend's terms. */
float pw_norm_eps(const struct pw_config *cfg);
enum pw_act pw_model_act(const struct pw_model *m);
/* Sets *d for dropout at one site of a chunk of the training step and returns d; NULL at rate 0. row0 is the
 * chunk's first row in the batch. */
enum { PW_DROP_EMBED, PW_DROP_FINAL, PW_DROP_PROBS, PW_DROP_ATTN, PW_DROP_HIDDEN, PW_DROP_MLP };
const struct pw_dropout *pw_model_drop(const struct pw_model *m, struct pw_dropout *d, int layer, int site,
                                       int row0);
/* The forward pass of one chunk of the plan: every block in order, the first with the embedding, then the
 * head. pw_forward_head computes the logits of the scored rows; without any it does nothing. pw_forward runs
 * them all. tap can be NULL. pw_forward_score is the head on scored rows from .. from + n - 1 alone. */
void pw_forward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                      const struct pw_batch_plan *plan, const struct pw_chunk *k, const struct pw_tap *tap,
                      int l);
void pw_forward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                     const struct pw_batch_plan *plan, const struct pw_chunk *k, const struct pw_tap *tap);
void pw_forward_score(struct pw_model *m, struct pw_ctx *c, struct pw_work *w,
                      const struct pw_batch_plan *plan, const struct pw_chunk *k, int from, int n);
void pw_forward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_batch_plan *plan,
                const struct pw_chunk *k, const struct pw_tap *tap);
/* Runs R tokens (ids on the backend) behind the cached ones and appends them to the cache; w->logits [V] are
 * those of the last token. */
void pw_forward_cached(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_cache *cache,
                       const int *ids, int R);

/* ---- ablate.c */
/* Writes the replaced heads of layer l into z [R,HD]; with gradient, writes zeros into the gradient of z. */
void pw_replaced_put(const struct pw_model *m, struct pw_ctx *c, float *z, int l, const int *pos, int R,
                     bool gradient);
/* Copies all replaced heads of a model of the same configuration. */
enum pw_code pw_replaced_copy(struct pw_model *to, struct pw_model *from, struct pw_err *err);
/* Replaces all of m's replaced heads by list, which m then owns (NULL: no head is replaced). */
void pw_replaced_take(struct pw_model *m, struct pw_replaced *list);
void pw_replaced_fini(struct pw_model *m);

/* ---- step.c */
/* Returns the number of gradient slots of a batch. */
int pw_model_slots(const struct pw_model *m, int n_seqs);
/* Returns true if the backend never uses more than one slot; m->g is then the start of the slots. */
bool pw_model_one_slot(const struct pw_model *m);
/* Returns how many equal steps are submitted to a device in one call. */
int pw_model_group(const struct pw_model *m);
/* Plans and stages the next step and makes room for it; m->under_way is then true. */
enum pw_code pw_step_begin(struct pw_model *m, const struct pw_batch *b, struct pw_err *err);
/* Computes the gradient of the batch into m->g, its sum of squares and the losses into the plan's out.
 * Returns false if the step yielded. */
bool pw_step_gradient(struct pw_model *m, const atomic_bool *yield);
/* Sets the kind of the steps that follow; launches staged ones of another kind, and abandons one that has
 * yielded. */
void pw_model_trains(struct pw_model *m, enum pw_trains trains);
/* Returns the mean of loss [n], and the accuracy of best [n]. */
double pw_mean_loss(const float *loss, const int *best, const int *targets, int n, double *accuracy);

/* ---- flight.c */
void pw_flights_fini(struct pw_model *m);

/* ---- backward.c */
/* Return the floats of a slot, and the parts of slot s within m->slots. */
size_t pw_slot_floats(const struct pw_model *m);
struct pw_slot pw_slot_at(const struct pw_model *m, int s);
/* Call before a slot's first chunk and after its last. The slot's chunks must run in
 * order between the two calls. */
void pw_slot_begin(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot);
void pw_slot_end(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot);
/* Add the gradients of a chunk to the slot: first the head, then every block from the last to the first. The
 * forward pass of the same chunk must have run, with w->d_logits set. */
void pw_backward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                      const struct pw_slot *slot);
void pw_backward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                       const struct pw_slot *slot, int l);

#endif
