/* model_int.h - the inside of a model, for src/model and its tests only. */
#ifndef PW_MODEL_INT_H
#define PW_MODEL_INT_H
#include "model/model.h"
#include <pthread.h>

#define PW_ABSENT SIZE_MAX /* offset of a tensor that this configuration doesn't have */

enum { PW_MAX_SLOTS = 8 }; /* in which a step collects its gradient */

/* Where a layer's tensors begin in the flat buffer. The q, k and v weights lie one after the other, so that
 * they are one matrix [3HD,C], and so do their biases. */
struct pw_layer_at {
    size_t norm1, norm1_bias, qkv, qkv_bias, o, o_bias, norm2, norm2_bias, up, up_bias, down, down_bias;
};

/* All tensors in the order of the flat buffer. The encoding's come last: exchanging it moves no other. */
struct pw_layout {
    struct pw_param *params;
    int n;
    size_t size, core; /* floats in all; without the encoding */
    int n_core;        /* tensors likewise */
    struct pw_layer_at *layer;
    size_t embed, norm, norm_bias, head, pe; /* head: the embedding when tied */
};

/* Matrices of a layer as the products see them; the last matrix of the model is the head. */
enum { PW_MAT_QKV, PW_MAT_O, PW_MAT_UP, PW_MAT_DOWN, PW_MATS };

/* A part of a batch that runs forward and backward in one go; its rows, sequences and scored rows are
 * contiguous. */
struct pw_chunk {
    int row, n_rows, seq, n_seqs, scored, n_scored;
    int start;   /* of the chunk's own row numbers: [n_seqs+1] ints into the plan's starts */
    int longest; /* rows of its longest sequence */
};

/* Of what is staged: a batch, and what pads it. */
struct pw_sizes {
    int rows, scored, seqs, longest;
    int positions; /* ids are below it */
};

/* A batch cut into chunks. Slot s is chunks first[s] .. first[s+1]-1, which run in this order, one after the
 * other. */
struct pw_plan {
    struct pw_chunk *chunks;
    struct pw_sizes sizes;
    bool pads; /* as the backend says; not where every tensor is looked at */
    int first[PW_MAX_SLOTS + 1];
    /* Where slot s has come to: chunk next[s], first[s+1] when it is finished, of which part[s] parts are
     * done; the activations of a chunk that was begun lie in worker memory held[s]. */
    int next[PW_MAX_SLOTS], part[PW_MAX_SLOTS], held[PW_MAX_SLOTS];
    bool summed[PW_MAX_SLOTS]; /* it has the gradient of a chunk or more */
    int n_chunks, n_slots, chunk_cap;
    int max_rows, max_scored, max_pos;
    size_t max_save;

    /* The batch, staged: of a step that learns AdamW's rates (struct pw_adamw_seg), then dropout's key [2],
     * the bits of the loss's scale, tokens, pos, rows of added tables that are not by position, targets, rows
     * and starts relative to the chunk. Steps of equal sizes that a device will be told of at once lie one
     * behind the other, `staged` of them so far. */
    int *host, *mem;                                       /* [places][ints] and the backend's own */
    int *dev;                                              /* in mem: of the step that is asked for */
    size_t int_cap;                                        /* of host and mem */
    size_t ints;                                           /* of one step */
    size_t key, scale, tokens, pos, rows, targets, starts; /* offsets of the seven */
    size_t added[PW_PE_ADDS]; /* of the rows of the encoding's added tables; by position: pos */
    int staged;
    int *now; /* in host: of the step that is being staged */

    /* What comes out: one block in the backend's memory for each of these steps, and where its parts lie in
     * any copy of it, in bytes; first sumsq and moved [.,2] (backend.h: reduce, adamw). */
    void *outs, *out;             /* [places][out_bytes], and in it: of the step that is asked for */
    size_t out_bytes, loss, best; /* loss and best: [scored_cap] */
    int scored_cap;
    void *host_out; /* host_alloc: of an evaluation, or of every flight */
};

/* A step that was asked for, and what is needed to tell of it when it is done. */
struct pw_flight {
    int *batch; /* [n_scored] targets, then [n_seqs] rows of each sequence */
    size_t batch_cap;
    int n_scored, n_seqs;
    float lr;
    float *grad; /* host_alloc [size - core]: of the encoding's own parameters */
    bool looked; /* at it */
    uint64_t mark;
};

/* What the backward pass needs of a layer. Evaluation keeps one layer and lets all share it. */
struct pw_acts {
    float *n1, *stat1; /* [R,C], [R,2]: the normed input */
    float *qkv;        /* [R,3HD], not rotated: attention does that */
    float *z, *save;   /* [R,HD] the heads' outputs; the attention's own */
    float *mid;        /* [R,C] after the attention's residual */
    float *n2, *stat2;
    float *pre, *hid; /* [R,F] before and after the activation; pre NULL for relu */
};

/* One worker's memory. */
struct pw_work {
    float *mem, *operands; /* which has n1, n2, hid, normed and d_hid */
    int R, N;              /* rows and scored rows that fit */
    size_t save;
    struct pw_acts *acts;                    /* [L] */
    float **x;                               /* [L+1] of [R,C]: the residual stream before layer l */
    float *picked, *normed, *stat, *logits;  /* [N,C] [N,C] [N,2] [N,V] */
    float *d_logits, *d_normed, *d_picked;   /* backward only, from here on */
    float *d, *d_norm, *d_z, *d_qkv, *d_hid; /* [R,C] [R,C] [R,HD] [R,3HD] [R,F] */
};

/* What a gradient slot collects in: backward.c. */
struct pw_slot {
    float *grad; /* [size] order of the parameters */
    float *head; /* [V,C], tied head only */
    float *bias; /* [L] of the bias' shape, learned bias only */
    bool summed; /* by chunks before this one */
};

/* The encoding's tables in the backend's memory, for P positions. */
struct pw_tables {
    int P;
    struct pw_added added;    /* without its rows; the tables may lie in the parameters */
    float *fixed[PW_PE_ADDS]; /* those that don't */
    float *cosine, *sine, *gain;
    struct pw_turn turn; /* by cosine, sine and gain */
    float *bias;         /* [H,2P-1], or dense and then laid out for as many positions as a pass has: */
    int laid;            /* [H,laid,laid]; else P */
    const float *keys;   /* [L,key_rows,D] of the parameters */
    int key_rows, reach;
    int *index; /* [2P-1], learned bias only: row of pe.bias for P-1 + distance */
};

/* What is made of the parameters: packs (backend.h) and tables that are gathered. */
enum pw_stale { PW_STALE_PACKS = 1, PW_STALE_TABLES = 2, PW_STALE_ALL = 3 };

/* What training has met since the encoding was set; host memory. */
struct pw_met {
    int64_t *seqs;          /* [context+1] sequences, by their rows */
    int64_t steps, sampled; /* steps they come from; of these, whose gradients are summed */
    double *grad;           /* [size - core] sums of |gradient|; NULL: nothing is learned */
};

/* Device copies of what inspection wants; any may be NULL. */
struct pw_tap {
    float *content, *score, *probs; /* [L,H,T,T] */
    float *resid;                   /* [L+1,T,C] */
    float *qkv, *z, *mlp;           /* [L,T,3HD] [L,T,HD] [L,T,F], in place of a layer's activations; qkv is
                                     * rotated in the end */
    bool whole;                     /* of struct pw_inspection, like the patches */
    const struct pw_patch *patches;
    int n_patches;
    float *sources; /* of the patches, one after the other */
};

/* A head whose output is replaced: ablate.c. */
struct pw_replaced {
    uint8_t as;   /* 0: it isn't */
    float *table; /* backend [context,D]; NULL: zeros */
};

/* What decoding keeps: keys and values of every layer, of T tokens so far; room for cap. */
struct pw_cache {
    float *mem;                   /* [L][layer] in the backend's own layout */
    size_t layer;                 /* floats */
    const int *pos;               /* [cap] 0, 1, 2, ... in the backend's memory */
    const int *added[PW_PE_ADDS]; /* [cap] rows of the encoding's added tables */
    int cap, T;
};

struct pw_model {
    const struct pw_backend_ops *ops; /* borrowed, like be where that isn't its own */
    struct pw_backend *be, *own;
    struct pw_config cfg;
    struct pw_pe_use_opts pe;
    struct pw_layout lay;
    float *p, *m, *v, *g; /* [size] parameters, moments, gradient, in the backend's memory */
    float *host;          /* [size] */
    double *moved;        /* [lay.n,2] of the last step: backend.h, adamw */
    struct pw_mat *mats;  /* [L*PW_MATS + 1] */
    float *pack;
    uint64_t *sums; /* [2] of a digest, in the backend's memory */
    struct pw_tables tables;
    struct pw_met met;
    int stale;           /* what doesn't belong to the parameters: enum pw_stale */
    uint64_t generation; /* of the parameters and the encoding: decode.c */

    float *slots;     /* [n_slots][stride]: pw_slot_at */
    size_t slots_cap; /* floats */
    size_t stride;
    int workers;
    struct pw_work *train, *eval;        /* [workers] */
    struct pw_plan step_plan, eval_plan; /* of the training step; of evaluation and inspection */
    int largest;                         /* batch of a step so far: sequences */
    bool under_way; /* a step has begun and yielded: step_plan and the slots are what it has come to */
    struct pw_flight flights[PW_FLIGHTS];
    int first_flight, n_flights;  /* the oldest, and how many there are, round and round */
    struct pw_adamw rule;         /* of those that are staged */
    uint64_t form;                /* of what a pass does, of all models: pw_model_formed */
    struct pw_replaced *replaced; /* [L,H]; NULL: every head works */
    float *tap, *tap_host;        /* inspection: backend and host */
    size_t tap_cap, tap_host_cap;
    int *iota;    /* [context] 0, 1, 2, ... */
    size_t tiles; /* of all tensors: backend.h, adamw */
    int *spoilt;  /* [1] in the backend's memory: backend.h, reduce */

    int64_t steps, schedule; /* optimiser steps taken; of them since the schedule began */
    uint64_t seed;           /* of dropout's masks */
    int chunk_rows;          /* 0: as many as stay in the cache; tests set it */
};

static inline float *pw_at(float *base, size_t offset)
{
    return offset == PW_ABSENT ? NULL : base + offset;
}

/* ---- model.c */
/* The code of what failed, err filled; but a device that an error sticks to hands out no memory either, and
 * then it is that error. With steps under way it is told with them. */
enum pw_code pw_model_reason(struct pw_model *m, enum pw_code code, struct pw_err *err);
/* As pw_model_create, with no first values. */
enum pw_code pw_model_make(struct pw_model **out, const struct pw_backend_ops *ops, struct pw_backend *be,
                           const struct pw_config *cfg, const struct pw_pe_use_opts *pe, struct pw_err *err);
/* First values of the tensors from number `first` on; uses m->host. */
void pw_model_draw(struct pw_model *m, int first, uint64_t seed);
void pw_model_changed(struct pw_model *m); /* its parameters or its encoding are others than before */
/* A pass does something else than before: it has another encoding, heads are replaced or restored. */
void pw_model_formed(struct pw_model *m);

/* ---- params.c */
enum pw_code pw_layout_init(struct pw_layout *lay, const struct pw_config *cfg,
                            const struct pw_pe_use_opts *pe, struct pw_err *err);
void pw_layout_fini(struct pw_layout *lay);
/* Draws n entries of tensor p, from `first` (even) on, into out [n]. */
void pw_param_init(const struct pw_param *p, float *out, uint64_t seed, size_t first, size_t n);
/* Its shape as files have it, which ends with a 0; returns its length. */
int pw_param_dims(const struct pw_param *p, int64_t dims[4]);
/* order[i] is the index of the i-th tensor in name order; the caller's (free). */
int *pw_param_order(const struct pw_param *p, int n);

/* ---- plan.c */
/* Cuts the batch and stages it, on the host, behind what is staged. slots: gradient slots, 0 for evaluation,
 * where every chunk stands alone; key: of dropout, NULL without. */
enum pw_code pw_plan_make(struct pw_model *m, struct pw_plan *plan, const struct pw_batch *b, int slots,
                          const uint32_t *key, struct pw_err *err);
void pw_plan_fini(struct pw_model *m, struct pw_plan *plan);
/* Whether the batch will have the sizes of the last one: then it may be staged behind it. */
bool pw_plan_alike(const struct pw_model *m, const struct pw_plan *plan, const struct pw_batch *b);
void pw_plan_rewind(struct pw_plan *plan); /* nothing of its chunks is done */
/* Rows of a chunk when all of n_seqs sequences have T. */
int pw_plan_rows(const struct pw_model *m, int T, int n_seqs, bool train);
/* The chunk's sequences, in the backend's memory. */
struct pw_seqs pw_chunk_seqs(const struct pw_plan *plan, const struct pw_chunk *k);

/* ---- stage.c */
/* Room for what the plan's sizes ask for; and the batch into it, behind what is staged. */
enum pw_code pw_stage_fit(struct pw_model *m, struct pw_plan *plan, struct pw_err *err);
void pw_stage(struct pw_model *m, struct pw_plan *plan, const struct pw_batch *b, const uint32_t *key);
/* Staged steps from .. from+n-1 go to places 0 .. n-1 of the backend's memory; and what is asked for from now
 * on is of place i. */
void pw_stage_upload(struct pw_model *m, struct pw_plan *plan, int from, int n);
void pw_stage_turn_to(struct pw_plan *plan, int i);
void pw_stage_fini(struct pw_model *m, struct pw_plan *plan);
/* What so many such batches take, on the backend and on the host. */
size_t pw_stage_bytes(const struct pw_pe *pe, int n_seqs, int n_rows, int places);
/* The rates in a copy of what is staged. */
static inline struct pw_adamw_seg *pw_stage_rates(int *staged)
{
    return (struct pw_adamw_seg *)(void *)staged;
}
/* The parts of what comes out, in a copy of it. */
static inline double *pw_out_sumsq(void *out)
{
    return out;
}
static inline double *pw_out_moved(void *out)
{
    return pw_out_sumsq(out) + 1;
}
static inline float *pw_out_loss(void *out, size_t loss)
{
    return (float *)((char *)out + loss);
}
static inline int *pw_out_best(void *out, size_t best)
{
    return (int *)((char *)out + best);
}

/* ---- work.c */
/* Makes the workers' memory large enough for the plan of a step or of an evaluation. */
enum pw_code pw_work_fit(struct pw_model *m, bool train, struct pw_err *err);
/* One of them for so many rows, scored rows and floats of attn_save; and its end. */
enum pw_code pw_work_grow(struct pw_model *m, struct pw_work *w, bool train, int R, int N, size_t save,
                          struct pw_err *err);
void pw_work_free(struct pw_model *m, struct pw_work *w);
size_t pw_work_bytes(const struct pw_model *m, bool train, int R, int N, size_t save); /* that it takes */
void pw_work_fini(struct pw_model *m, struct pw_work **works);

/* ---- tables.c */
/* Where among the encoding's parameters the row for position 0 of its learned table k lies. */
size_t pw_learned_at(const struct pw_model *m, int k);
/* Entries of a head's bias, or of its gradient, for so many positions; whether it is learned. */
size_t pw_bias_of_head(const struct pw_model *m, int positions);
bool pw_bias_learned(const struct pw_model *m);
/* A dense bias is to be for so many positions, at most those of the tables: made anew if it isn't. */
void pw_tables_lay(struct pw_model *m, int positions);
/* Tables for at least P positions; after a rebuild all is stale, and a step under way is abandoned. */
enum pw_code pw_tables_fit(struct pw_model *m, int P, struct pw_err *err);
void pw_tables_fini(struct pw_model *m);

/* ---- met.c */
bool pw_met_init(struct pw_model *m); /* false: no memory; fini all the same */
/* The shape in which the sums of gradients are kept in a file: that of the encoding's tensor, or of several
 * tensors all their floats in one row, dims ending with 0. Returns how many dimensions; 0: there are no such
 * sums. */
int pw_met_dims(const struct pw_model *m, int64_t dims[4]);
void pw_met_fini(struct pw_model *m);
void pw_met_copy(struct pw_model *to, const struct pw_model *from); /* of the same configuration */
/* As it stands in a file: steps [2] (and of these, whose gradients are summed), seqs [context+1], grad.
 * Refused (false) where the counts are negative or so large that pairs couldn't be counted. */
bool pw_met_set(struct pw_model *m, const int64_t *steps, const int64_t *seqs, const double *grad);
/* Is the gradient of the step after the next `ahead` ones to be looked at? */
bool pw_met_looks(const struct pw_model *m, int ahead);
/* A step was taken, with sequences of so many rows; grad [size - core] where it was looked at. */
void pw_met_step(struct pw_model *m, const int *rows, int n_seqs, const float *grad);

/* ---- forward.c */
/* What packing and gathering make of the parameters, anew if they have changed; a dense bias for so many
 * positions. */
void pw_model_refresh(struct pw_model *m, int positions);
/* What an encoding with arithmetic of its own has before it, for so many positions. */
struct pw_pe_pass pw_model_pass(const struct pw_model *m, struct pw_ctx *c, int positions);
/* The norm's epsilon, and the parts of an attention and the activation as the backend wants them. */
float pw_norm_eps(const struct pw_config *cfg);
struct pw_attn pw_model_attn(const struct pw_model *m, int layer);
enum pw_act pw_model_act(const struct pw_model *m);
/* Dropout at one site of a chunk of the training step: row0 is its first row in the batch. NULL at rate 0. */
enum { PW_DROP_EMBED, PW_DROP_FINAL, PW_DROP_PROBS, PW_DROP_ATTN, PW_DROP_HIDDEN, PW_DROP_MLP };
const struct pw_dropout *pw_model_drop(const struct pw_model *m, struct pw_dropout *d, int layer, int site,
                                       int row0);
/* One chunk of the plan up to the logits of its scored rows (none: up to the last block). tap may be NULL. It
 * is every block in turn, the first of them with the embedding, and the head. */
void pw_forward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_plan *plan,
                      const struct pw_chunk *k, int l);
void pw_forward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_plan *plan,
                     const struct pw_chunk *k);
void pw_forward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_plan *plan,
                const struct pw_chunk *k, const struct pw_tap *tap);
/* R tokens (ids in the backend's memory) after the cached ones, which they join: logits of the last. */
void pw_forward_cached(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_cache *cache,
                       const int *ids, int R);

/* ---- ablate.c */
/* Puts what replaces heads of layer l into z [R,HD], or with gradient zeros into its gradient. */
void pw_replaced_put(const struct pw_model *m, struct pw_ctx *c, float *z, int l, const int *pos, int R,
                     bool gradient);
enum pw_code pw_replaced_copy(struct pw_model *to, struct pw_model *from, struct pw_err *err);
/* m takes what pw_replaced_make made in place of all of its own (NULL: every head works). */
void pw_replaced_take(struct pw_model *m, struct pw_replaced *list);
void pw_replaced_fini(struct pw_model *m);

/* ---- step.c */
/* Gradient slots of a batch. */
int pw_model_slots(const struct pw_model *m, int n_seqs);
/* Whether the backend never has more than one: then m->g is the slot's beginning, once there is a slot. */
bool pw_model_one_slot(const struct pw_model *m);
/* Steps that a device is told of at once, where as many are alike. */
int pw_model_group(const struct pw_model *m);
/* Plans the next step and makes room for it; it is staged and m->under_way then. */
enum pw_code pw_step_begin(struct pw_model *m, const struct pw_batch *b, struct pw_err *err);
/* Leaves the gradient of the batch in m->g, its sum of squares and the losses in the plan's out; false: it
 * yielded. */
bool pw_step_gradient(struct pw_model *m, const atomic_bool *yield);
/* Mean of loss [n] and accuracy of best [n]. */
double pw_mean_loss(const float *loss, const int *best, const int *targets, int n, double *accuracy);

/* ---- flight.c */
void pw_flights_fini(struct pw_model *m);

/* ---- turns.c: any worker */
struct pw_turns {
    pthread_mutex_t lock;
    struct pw_plan *plan;
    int workers;
    bool taken[PW_MAX_SLOTS];
};
void pw_turns_init(struct pw_turns *t, struct pw_plan *plan, int workers);
void pw_turns_fini(struct pw_turns *t);
/* Gives back slot own (-1: none), of which this worker has run the next chunk, and takes the one to go on
 * with; -1: there is none for this worker. */
int pw_turns_next(struct pw_turns *t, int own);

/* ---- backward.c */
/* Floats of a slot, and where slot s of m->slots lies. */
size_t pw_slot_floats(const struct pw_model *m);
struct pw_slot pw_slot_at(const struct pw_model *m, int s);
/* Before a slot's first chunk and after its last one. Between them its chunks must run in order. */
void pw_slot_begin(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot);
void pw_slot_end(struct pw_model *m, struct pw_ctx *c, const struct pw_slot *slot);
/* After the forward pass of the same chunk of the step's plan, with w->d_logits set, the head and then every
 * block from the last to the first: adds their gradients to the slot. */
void pw_backward_head(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                      const struct pw_slot *slot);
void pw_backward_block(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_chunk *k,
                       const struct pw_slot *slot, int l);

#endif
