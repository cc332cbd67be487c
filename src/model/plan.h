/* plan.h - a batch cut into chunks, and its copies on host and backend: plan.c, stage.c. A part of
 * model_int.h, whose conventions hold here. */
#ifndef PW_PLAN_H
#define PW_PLAN_H
#include "model/model.h"
#include "model/pe.h"

enum { PW_MAX_SLOTS = 8 }; /* most gradient slots of a step */

/* A part of a batch that runs forward and backward as a unit. Its rows, sequences and scored rows are
 * contiguous in the batch. */
struct pw_chunk {
    int row, n_rows, seq, n_seqs, scored, n_scored;
    int start;   /* offset into the plan's starts: [n_seqs+1] row numbers relative to the chunk */
    int longest; /* rows of its longest sequence */
};

/* Sizes of a staged batch, padding included. */
struct pw_sizes {
    int rows, scored, seqs, longest;
    int positions; /* position ids are below this */
};

/* A batch cut into chunks. Slot s owns chunks first[s] .. first[s+1]-1 and runs them in
 * this order, one at a time. */
struct pw_batch_plan {
    struct pw_chunk *chunks;
    struct pw_sizes sizes;
    bool pads; /* pad sizes if the backend asks for it; false for inspection */
    int first[PW_MAX_SLOTS + 1];
    /* Progress of slot s: chunk next[s] (first[s+1] when finished), of which part[s] parts are done. held[s]
     * is the worker memory with the activations of a chunk in progress. */
    int next[PW_MAX_SLOTS], part[PW_MAX_SLOTS], held[PW_MAX_SLOTS];
    bool summed[PW_MAX_SLOTS]; /* the slot has the gradient of at least one chunk */
    int n_chunks, n_slots, chunk_cap;
    int max_rows, max_scored, max_pos;
    size_t max_save;

    /* The staged batch. A training step begins with AdamW's rates (struct pw_adamw_seg); evaluation has none.
     * Then follow dropout's key [2], the bits of the loss scale, tokens, pos, the order if it differs from
     * pos, and the rows of added tables that are not chosen by position. The targets, scored rows and starts
     * come last; rows and starts are relative to the chunk. Up to `places` steps of equal sizes are
     * contiguous, so that one call can submit them; `staged` counts them. */
    int *host, *mem; /* [places][ints], on the host and on the backend */
    int *dev;        /* in mem: the step being submitted */
    size_t int_cap;  /* ints in host and in mem */
    size_t ints;     /* of one step */
    size_t key, scale, tokens, pos, rows, targets, starts; /* offsets of the seven parts */
    size_t added[PW_PE_ADDS]; /* offset of the rows of each added table; by position: pos */
    size_t order; /* offset of each row's place in its sequence; pos, unless the encoding makes ids */
    int staged;
    int *now; /* in host: the step being staged */

    /* The results: one block on the backend per staged step. loss and best are byte offsets into any copy of
     * a block; sumsq and moved [.,2] come first (backend.h: reduce, adamw). */
    void *outs, *out;             /* [places][out_bytes]; out: the block of the step being submitted */
    size_t out_bytes, loss, best; /* loss and best: [scored_cap] */
    int scored_cap;
    void *host_out; /* host_alloc: results of an evaluation, or of every step in flight */
};

/* ---- plan.c */
/* Cuts the batch into chunks and stages it on the host behind the steps already staged. slots: gradient
 * slots; 0 for evaluation, where chunks are independent. key: dropout's key [2], NULL without. A sequence
 * longer than the context is PW_EUSER. */
enum pw_code pw_plan_make(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b, int slots,
                          const uint32_t *key, struct pw_err *err);
void pw_plan_fini(struct pw_model *m, struct pw_batch_plan *plan);
/* Returns true if the batch, with the encoding's ids, has the sizes of the last one; only then can it be
 * staged behind it. */
bool pw_plan_alike(const struct pw_model *m, const struct pw_batch_plan *plan, const struct pw_batch *b);
void pw_plan_rewind(struct pw_batch_plan *plan); /* resets the progress of all slots */
/* Returns the rows of a chunk if n_seqs sequences have T rows each. */
int pw_plan_rows(const struct pw_model *m, int T, int n_seqs, bool train);
/* Returns the chunk's sequences, with starts on the backend. */
struct pw_seqs pw_chunk_seqs(const struct pw_batch_plan *plan, const struct pw_chunk *k);

/* ---- stage.c */
/* pw_stage_fit makes room for the plan's sizes; it returns PW_EYIELD if the results would have to be
 * reallocated while steps are in flight. pw_stage writes the batch behind the steps already staged. */
enum pw_code pw_stage_fit(struct pw_model *m, struct pw_batch_plan *plan, struct pw_err *err);
void pw_stage(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b, const uint32_t *key);
/* pw_stage_upload copies staged steps from .. from+n-1 to places 0 .. n-1 on the backend and selects place 0.
 * pw_stage_turn_to selects place i for the operations that follow. */
void pw_stage_upload(struct pw_model *m, struct pw_batch_plan *plan, int from, int n);
void pw_stage_turn_to(struct pw_batch_plan *plan, int i);
void pw_stage_fini(struct pw_model *m, struct pw_batch_plan *plan);
/* Returns the bytes of `places` such batches, on backend and host together. */
size_t pw_stage_bytes(const struct pw_pe *pe, int n_seqs, int n_rows, int places);
/* AdamW's rates in a copy of a staged step. */
static inline struct pw_adamw_seg *pw_stage_rates(int *staged)
{
    return (struct pw_adamw_seg *)(void *)staged;
}
/* The parts of a result block, in any copy of it. */
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

#endif
