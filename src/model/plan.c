/* plan.c - cuts a batch into chunks, and pads its sizes on backends where shapes should repeat.
 *
 * A chunk holds as many sequences as keep its activations in a core's second-level cache. A step then reads
 * weights from memory once per chunk and never activations; large models get longer chunks. The cut cannot
 * change a bit: every sum over rows continues from one chunk to the next (kernels/backend.h). So it can
 * depend on the cache, the batch and the number of workers.
 *
 * A device has no such cache and runs a batch as one chunk, but every new shape costs it a new captured
 * graph. If the backend asks for it (pads), sizes are rounded up to one of eight values per power of two.
 * Rows are padded by sequences without loss, scored rows by rows that do not exist. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_int.h"

enum {
    MANY_WEIGHTS = 512 * 1024, /* parameters */
    MANY_ROWS = 256,
    LEAST_PAD = 32,
};

/* Returns the floats of activations per row, without the attention's saved state. */
static size_t row_floats(const struct pw_model *m, bool train)
{
    const struct pw_config *cfg = &m->cfg;
    size_t C = (size_t)cfg->width, HD = (size_t)cfg->heads * cfg->head_width, F = (size_t)cfg->ffn;
    size_t hidden = cfg->gated ? 3 * F : cfg->act == 0 ? F : 2 * F, layer = 4 * C + 4 * HD + hidden + 4;
    size_t raw = pw_rearranges(cfg) ? (size_t)pw_qkv_rows(cfg) : 0,
           post = pw_config_norm_after(cfg) ? 2 * C : 0;

    layer += raw + post;
    if (!train)
        return layer + (size_t)cfg->embed_width;
    return cfg->layers * layer + 2 * C + 4 * HD + F + raw + post + (cfg->gated ? 2 * F : 0) +
           2 * ((size_t)cfg->adapter + (size_t)cfg->embed_width);
}

static size_t seq_floats(const struct pw_model *m, const struct pw_batch *b, int seq, bool train)
{
    int T = b->start[seq + 1] - b->start[seq];
    size_t save = pw_model_save_floats(m, (const int[]){0, T}, 1);

    return (size_t)T * row_floats(m, train) + save * (size_t)(train ? m->cfg.layers : 1);
}

/* Returns the rows that a chunk may have even if it overflows the cache. Weights and their gradients are read
 * once per chunk; with many weights that costs more than the activations. */
static int rows_anyway(const struct pw_model *m)
{
    return m->lay.size >= MANY_WEIGHTS ? MANY_ROWS : 0;
}

/* Most bytes of activations per chunk. */
static size_t chunk_bytes(const struct pw_model *m)
{
    return m->ops->chunk_bytes != NULL ? m->ops->chunk_bytes() : SIZE_MAX;
}

/* Most rows of a batch per chunk: independent chunks (evaluation) should be enough for all workers. */
static int share(const struct pw_model *m, int n_rows, bool train)
{
    return train || m->ops->chunk_bytes == NULL ? n_rows : n_rows / (2 * m->workers) + 1;
}

int pw_plan_rows(const struct pw_model *m, int T, int n_seqs, bool train)
{
    struct pw_batch one = {.n_seqs = 1, .start = (const int[]){0, T}};
    size_t fit = chunk_bytes(m) / sizeof(float) / seq_floats(m, &one, 0, train);
    int slots = train ? pw_model_slots(m, n_seqs) : 1, of_slot = (n_seqs + slots - 1) / slots;
    int shared = share(m, n_seqs * T, train) / T, most = of_slot < shared ? of_slot : shared;

    if (fit * (size_t)T < (size_t)rows_anyway(m))
        fit = (size_t)(rows_anyway(m) / T);
    fit = fit > (size_t)most ? (size_t)most : fit;
    return fit < 1 ? T : (int)fit * T;
}

/* Returns an eighth of the largest power of two up to n, at least LEAST_PAD. */
static int grain(int n)
{
    int power = 1;

    while (power <= n / 2)
        power *= 2;
    return power / 8 > LEAST_PAD ? power / 8 : LEAST_PAD;
}

static int rounded(int n, int to)
{
    return (n + to - 1) / to * to;
}

/* Returns a bound above the positions of a batch, at least `least`. With rows by length, its ids are no
 * positions. */
static int positions_of(const struct pw_model *m, const struct pw_batch *b, int least)
{
    return pw_ids_bound(m->first != NULL && b->order != NULL ? b->order : b->pos, b->n_rows, least);
}

/* Everything depends on the rounded sizes alone, also the number of sequences. The padding sequences hold up
 * to one grain of rows together and are often empty. */
static struct pw_sizes sizes_of(const struct pw_model *m, const struct pw_batch_plan *plan,
                                const struct pw_batch *b)
{
    struct pw_sizes z = {.rows = b->n_rows, .scored = b->n_scored, .seqs = b->n_seqs};

    for (int s = 0; s < b->n_seqs; s++)
        z.longest = b->start[s + 1] - b->start[s] > z.longest ? b->start[s + 1] - b->start[s] : z.longest;
    z.positions = positions_of(m, b, z.longest);
    if (!plan->pads)
        return z;
    z.longest = rounded(z.longest, LEAST_PAD);
    z.positions = rounded(z.positions, LEAST_PAD);
    z.positions = z.positions < m->cfg.context ? z.positions : m->cfg.context;
    z.rows = rounded(z.rows, grain(z.rows));
    z.scored = rounded(z.scored, grain(z.scored));
    z.seqs += rounded(grain(z.rows), z.longest) / z.longest;
    return z;
}

/* Appends a chunk of sequences seq.. below end, as many as fit. */
static void cut(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *b, int seq, int end,
                int *scored, bool train)
{
    struct pw_chunk *k = &plan->chunks[plan->n_chunks];
    int most = share(m, b->n_rows, train);
    size_t floats = 0;

    *k =
        (struct pw_chunk){.row = b->start[seq], .seq = seq, .scored = *scored, .start = seq + plan->n_chunks};
    for (; seq < end; seq++) {
        size_t more = seq_floats(m, b, seq, train);
        int rows = b->start[seq + 1] - b->start[seq];
        int then = k->n_rows + rows;
        bool over = (floats + more) * sizeof(float) > chunk_bytes(m) && then > rows_anyway(m);
        bool full = m->chunk_rows > 0 ? then > m->chunk_rows : over || then > most;
        if (k->n_seqs > 0 && full)
            break;
        floats += more;
        k->n_rows += rows;
        k->n_seqs++;
    }
    while (*scored < b->n_scored && b->rows[*scored] < k->row + k->n_rows)
        ++*scored;
    k->n_scored = *scored - k->scored;
    plan->n_chunks++;
}

static enum pw_code fit_chunks(struct pw_batch_plan *plan, int n_chunks, struct pw_err *err)
{
    if (n_chunks > plan->chunk_cap) {
        void *more = realloc(plan->chunks, (size_t)n_chunks * sizeof *plan->chunks);
        if (more == NULL)
            return pw_fail(err, PW_ENOMEM, "out of memory for a batch of %d sequences", n_chunks);
        plan->chunks = more;
        plan->chunk_cap = n_chunks;
    }
    return PW_OK;
}

/* The caller guarantees a valid batch (asserted); only its length depends on the user. */
static enum pw_code check(const struct pw_model *m, const struct pw_batch *b, int *max_pos,
                          struct pw_err *err)
{
    int longest = 0;

    assert(b->n_seqs >= 1 && b->start[0] == 0 && b->start[b->n_seqs] == b->n_rows);
    for (int s = 0; s < b->n_seqs; s++) {
        assert(b->start[s] < b->start[s + 1]);
        longest = b->start[s + 1] - b->start[s] > longest ? b->start[s + 1] - b->start[s] : longest;
    }
    for (int r = 0; r < b->n_rows; r++)
        assert(b->tokens[r] >= 0 && b->tokens[r] < m->cfg.vocab && b->pos[r] >= 0);
    *max_pos = positions_of(m, b, longest) - 1;
    for (int i = 0; i < b->n_scored; i++) {
        assert(b->rows[i] >= (i > 0 ? b->rows[i - 1] + 1 : 0) && b->rows[i] < b->n_rows);
        assert(b->targets[i] >= 0 && b->targets[i] < m->cfg.vocab);
    }
    if (*max_pos >= m->cfg.context)
        return pw_fail(err, PW_EUSER, "a sequence of %d tokens: the model has context=%d", *max_pos + 1,
                       m->cfg.context);
    return PW_OK;
}

bool pw_plan_alike(const struct pw_model *m, const struct pw_batch_plan *plan, const struct pw_batch *b)
{
    struct pw_sizes z = sizes_of(m, plan, b);

    return memcmp(&z, &plan->sizes, sizeof z) == 0;
}

enum pw_code pw_plan_make(struct pw_model *m, struct pw_batch_plan *plan, const struct pw_batch *given,
                          int slots, const uint32_t *key, struct pw_err *err)
{
    int done = 0;
    struct pw_batch own;
    const struct pw_batch *b = &own;
    enum pw_code code = pw_ids_batch(m, &own, given, slots > 0, err);
    if (code == PW_OK)
        code = check(m, b, &plan->max_pos, err);
    if (code != PW_OK)
        return code;

    plan->sizes = sizes_of(m, plan, b);
    plan->n_slots = slots;
    if ((code = fit_chunks(plan, b->n_seqs, err)) || (code = pw_stage_fit(m, plan, err)))
        return code;
    plan->n_chunks = 0;
    for (int s = 0; s < (slots > 0 ? slots : 1); s++) {
        int end = slots > 0 ? (int)((long)(s + 1) * b->n_seqs / slots) : b->n_seqs;
        int seq = slots > 0 ? (int)((long)s * b->n_seqs / slots) : 0;
        plan->first[s] = plan->n_chunks;
        for (; seq < end; seq += plan->chunks[plan->n_chunks - 1].n_seqs)
            cut(m, plan, b, seq, end, &done, slots > 0);
    }
    plan->first[slots] = plan->n_chunks;
    pw_plan_rewind(plan);
    pw_stage(m, plan, b, key);
    return PW_OK;
}

void pw_plan_rewind(struct pw_batch_plan *plan)
{
    for (int s = 0; s < plan->n_slots; s++) {
        plan->next[s] = plan->first[s];
        plan->part[s] = 0;
        plan->summed[s] = false;
    }
}

void pw_plan_fini(struct pw_model *m, struct pw_batch_plan *plan)
{
    free(plan->chunks);
    pw_stage_fini(m, plan);
    *plan = (struct pw_batch_plan){0};
}

struct pw_seqs pw_chunk_seqs(const struct pw_batch_plan *plan, const struct pw_chunk *k)
{
    return (struct pw_seqs){.n = k->n_seqs,
                            .start = plan->dev + plan->starts + k->start,
                            .rows = k->n_rows,
                            .longest = k->longest};
}
