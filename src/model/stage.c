/* stage.c - stages a batch: lays it out on the host, copies it to the backend, and makes room for the
 * results.
 *
 * All data that change between steps are one block of memory, with offsets that depend on the sizes alone. So
 * steps of equal sizes can be replayed, and several staged steps are contiguous and copied in one call
 * (flight.c). The padding of a batch (plan.c) is staged here, too. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

enum { HEAD = 4 }; /* ints between the rates and the tokens: key, scale */

/* The number of arrays that are staged beside pos: rows of added tables, and the order. */
static int own_rows(const struct pw_pe *pe)
{
    int n = pe->ids != NULL || pe->rows_by_length != NULL; /* the order */

    for (int k = 0; k < PW_PE_ADDS; k++)
        n += pe->by[k] > PW_PE_BY_POSITION;
    return n;
}

/* Ints of a batch without the rates. starts: at most one per sequence and one per chunk. */
static size_t batch_ints(const struct pw_pe *pe, size_t rows, size_t scored, size_t seqs)
{
    return HEAD + rows * (2 + (size_t)own_rows(pe)) + 2 * scored + 2 * seqs;
}

/* Bytes of a result block before the losses: sumsq and moved. */
static size_t out_head(const struct pw_model *m)
{
    return (2 + 2 * (size_t)m->lay.n) * sizeof(double);
}

/* Ints of the rates, which only training steps have. */
static size_t rates_ints(const struct pw_model *m, const struct pw_batch_plan *plan)
{
    return plan->n_slots > 0 ? (size_t)m->lay.n * sizeof(struct pw_adamw_seg) / sizeof(int) : 0;
}

/* Ints of one step, rounded up so that the next step's rates are aligned to 8 bytes. */
static size_t whole(size_t ints)
{
    return (ints + 3) / 4 * 4;
}

enum pw_code pw_stage_fit(struct pw_model *m, struct pw_batch_plan *plan, struct pw_err *err)
{
    bool train = plan->n_slots > 0, grows = plan->sizes.scored > plan->scored_cap || plan->outs == NULL;
    size_t places = train ? (size_t)pw_model_group(m) : 1, n_scored = (size_t)plan->sizes.scored;
    size_t ints = whole(rates_ints(m, plan) +
                        batch_ints(m->pe.pe, (size_t)plan->sizes.rows, n_scored, (size_t)plan->sizes.seqs));

    plan->ints = ints;
    if (grows && train && m->n_flights > 0) /* their results are still to be copied from these buffers */
        return pw_fail(err, PW_EYIELD, "a batch with more scored tokens must wait for the steps in flight");
    if (places * ints > plan->int_cap) {
        ints += ints / 4;
        assert(plan->staged == 0);
        free(plan->host);
        m->ops->free(m->be, plan->mem);
        plan->host = malloc(places * ints * sizeof *plan->host);
        plan->mem = m->ops->alloc(m->be, places * ints * sizeof *plan->mem);
        plan->int_cap = plan->host != NULL && plan->mem != NULL ? places * ints : 0;
    }
    if (grows) {
        size_t n = (n_scored + n_scored / 4 + 1) / 2 * 2;
        m->ops->free(m->be, plan->outs);
        m->ops->host_free(m->be, plan->host_out);
        plan->loss = out_head(m);
        plan->best = plan->loss + n * sizeof(float);
        plan->out_bytes = plan->best + n * sizeof(int);
        plan->outs = m->ops->alloc(m->be, places * plan->out_bytes);
        plan->host_out =
            m->ops->host_alloc(m->be, (train ? (size_t)pw_model_may_fly(m) : 1) * plan->out_bytes);
        plan->scored_cap = plan->outs != NULL && plan->host_out != NULL ? (int)n : 0;
    }
    if (plan->int_cap < places * plan->ints || plan->scored_cap < plan->sizes.scored || plan->outs == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for a batch of %zu scored tokens", n_scored);
    return PW_OK;
}

/* Lays out and stages the rows of added tables from `at` on; returns the end. A sequence has its own length:
 * padding belongs to no sequence. */
static size_t stage_added(const struct pw_pe *pe, struct pw_batch_plan *plan, const struct pw_batch *b,
                          size_t at)
{
    for (int k = 0; k < PW_PE_ADDS; k++) {
        plan->added[k] = pe->rows_by_length != NULL ? plan->order : plan->pos;
        if (pe->by[k] <= PW_PE_BY_POSITION)
            continue;
        plan->added[k] = at;
        at += (size_t)plan->sizes.rows;
        for (int s = 0; s < b->n_seqs; s++)
            for (int r = b->start[s]; r < b->start[s + 1]; r++)
                plan->now[plan->added[k] + r] =
                    pw_pe_row(pe->by[k], r - b->start[s], b->start[s + 1] - b->start[s]);
    }
    return at;
}

/* Lays out and stages the order at `at`, if the encoding has replaced the ids; returns the end. */
static size_t stage_order(struct pw_batch_plan *plan, const struct pw_batch *b, size_t at)
{
    plan->order = b->order != NULL ? at : plan->pos;
    if (b->order == NULL)
        return at;
    memcpy(plan->now + at, b->order, (size_t)b->n_rows * sizeof(int));
    return at + (size_t)plan->sizes.rows;
}

/* Extends the batch's only chunk by padding. The gradients of padding rows are zeros, but they
 * are summed like others. So padding varies tokens and positions; otherwise one sum would
 * receive all of them in sequence. */
static void pad(const struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b,
                struct pw_chunk *k)
{
    const struct pw_sizes *z = &plan->sizes;
    int *start = plan->now + plan->starts, T = plan->max_pos + 1;

    for (int s = b->n_seqs; s < z->seqs; s++) {
        int left = z->rows - start[s];
        start[s + 1] = start[s] + (left < z->longest ? left : z->longest);
    }
    for (int r = b->n_rows; r < z->rows; r++) {
        int at = (r - b->n_rows) % z->longest % T; /* sequences without gaps, see above */
        plan->now[plan->tokens + r] = r % m->cfg.vocab;
        plan->now[plan->pos + r] = plan->now[plan->order + r] = at;
        for (int i = 0; i < PW_PE_ADDS; i++)
            if (plan->added[i] != plan->pos && plan->added[i] != plan->order)
                plan->now[plan->added[i] + r] = pw_pe_row(m->pe.pe->by[i], at, T);
    }
    for (int n = b->n_scored; n < z->scored; n++)
        plan->now[plan->rows + n] = plan->now[plan->targets + n] = -1;
    *k =
        (struct pw_chunk){.n_rows = z->rows, .n_seqs = z->seqs, .n_scored = z->scored, .longest = z->longest};
}

/* Fills the staging area for chunk k and updates the maxima. */
static void stage_chunk(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b,
                        struct pw_chunk *k)
{
    int *start = plan->now + plan->starts + k->start, *rows = plan->now + plan->rows + k->scored;
    size_t save;

    for (int i = 0; i <= k->n_seqs; i++)
        start[i] = b->start[k->seq + i] - k->row;
    for (int i = 0; i < k->n_seqs; i++)
        k->longest = start[i + 1] - start[i] > k->longest ? start[i + 1] - start[i] : k->longest;
    for (int i = 0; i < k->n_scored; i++)
        rows[i] = b->rows[k->scored + i] - k->row;
    if (plan->pads)
        pad(m, plan, b, k);
    /* On the host, attention needs none if no backward pass follows. */
    save = plan->n_slots == 0 && m->ops->host ? 0 : pw_model_save_floats(m, start, k->n_seqs);
    if (k->n_rows > plan->max_rows)
        plan->max_rows = k->n_rows;
    if (k->n_scored > plan->max_scored)
        plan->max_scored = k->n_scored;
    if (save > plan->max_save)
        plan->max_save = save;
}

void pw_stage(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b, const uint32_t *key)
{
    size_t rows = (size_t)plan->sizes.rows, scored = (size_t)plan->sizes.scored;
    float scale = 1 / (float)b->n_scored;

    plan->now = plan->host + (size_t)plan->staged * plan->ints;
    plan->key = rates_ints(m, plan);
    plan->scale = plan->key + 2;
    plan->tokens = plan->key + HEAD;
    plan->pos = plan->tokens + rows;
    size_t at = stage_order(plan, b, plan->pos + rows);
    plan->targets = stage_added(m->pe.pe, plan, b, at);
    plan->rows = plan->targets + scored;
    plan->starts = plan->rows + scored;
    if (key != NULL)
        memcpy(plan->now + plan->key, key, 2 * sizeof(int));
    memcpy(plan->now + plan->scale, &scale, sizeof scale);
    memcpy(plan->now + plan->tokens, b->tokens, (size_t)b->n_rows * sizeof(int));
    memcpy(plan->now + plan->pos, b->pos, (size_t)b->n_rows * sizeof(int));
    if (b->n_scored > 0)
        memcpy(plan->now + plan->targets, b->targets, (size_t)b->n_scored * sizeof(int));
    plan->max_rows = plan->max_scored = 0;
    plan->max_save = 0;
    for (int k = 0; k < plan->n_chunks; k++)
        stage_chunk(m, plan, b, &plan->chunks[k]);
}

void pw_stage_upload(struct pw_model *m, struct pw_batch_plan *plan, int from, int n)
{
    m->ops->upload(m->be, plan->mem, plan->host + (size_t)from * plan->ints,
                   (size_t)n * plan->ints * sizeof(int));
    pw_stage_turn_to(plan, 0);
}

void pw_stage_turn_to(struct pw_batch_plan *plan, int i)
{
    plan->dev = plan->mem + (size_t)i * plan->ints;
    plan->out = (char *)plan->outs + (size_t)i * plan->out_bytes;
}

size_t pw_stage_bytes(const struct pw_pe *pe, int n_seqs, int n_rows, int places)
{
    size_t rows = (size_t)n_rows, ints = batch_ints(pe, rows, rows, (size_t)n_seqs) + 2 * rows;

    return 2 * (size_t)places * ints / 4 * 5 * sizeof(int);
}

void pw_stage_fini(struct pw_model *m, struct pw_batch_plan *plan)
{
    free(plan->host);
    m->ops->free(m->be, plan->mem);
    m->ops->free(m->be, plan->outs);
    m->ops->host_free(m->be, plan->host_out);
}
