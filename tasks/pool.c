/* pool.c - a fixed training set (data=N), built like that of the released code of Kazemnejad et al. 2023.
 *
 * Bins (lengths; for addition pairs) get int(1.15 N / bins) samples each, with replacement. This pool is
 * shuffled; its first N samples train and the rest validates. LEGO's bins get as many chains as fill them
 * with each chain asked for all its variables. (This is the released code; the appendix says that 15 % of the
 * training set validate.) With weights from dist=, a bin's share follows the weight of its length.
 *
 * Only the list of validation samples by length is stored. Sample p of the pool is a function of (seed,
 * p); slots of the shuffled pool and places in an epoch are computed permutations (base/rng.h). The pool's
 * shuffle is the same for every seed. Samples within a bin are exchangeable, so it only decides how many
 * of each bin train. `eval` uses the validation samples of a length, rotating through its pairs. With
 * held=on a sample is drawn until it is on its slot's side of the split. LEGO then no longer asks all
 * variables of the same chain. */
#include "tasks/split.h"
#include <stdlib.h>
#include <string.h>

struct bin {
    int length;
    int pair, n_pairs; /* first pair within the length; number of pairs that rotate in it */
    int first, n;      /* samples of the pool */
};

struct pw_data_pool {
    int n, size; /* training samples; all samples */
    int n_bins;
    struct bin *bins;
    uint32_t *valid; /* [size - n] samples of the pool by length, rotating through its pairs */
    int *first;      /* [lengths + 1] start of a length in valid */
};

/* Sort key of a validation sample: turn k of pair p. */
struct place {
    int length, turn, pair;
    uint32_t sample;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->length != y->length)
        return x->length - y->length;
    return x->turn != y->turn ? x->turn - y->turn : x->pair - y->pair;
}

static uint32_t slot_to_sample(const struct pw_data_pool *pool, uint32_t slot)
{
    return pw_rng_shuffled(0, PW_STREAM_EPOCH, UINT64_MAX, (uint32_t)pool->size, slot);
}

/* Returns the bin of a sample, and the index of its pair within the bin's length. */
static const struct bin *bin_of(const struct pw_data_pool *pool, uint32_t sample, int *pair)
{
    int lo = 0, hi = pool->n_bins; /* the last bin that begins here or before, which cannot be empty */
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if ((uint32_t)pool->bins[mid].first <= sample)
            lo = mid;
        else
            hi = mid;
    }
    const struct bin *b = &pool->bins[lo];
    *pair = b->pair + (int)(sample - (uint32_t)b->first) % b->n_pairs;
    return b;
}

/* Lists the bins, without their counts. */
static bool list_bins(const struct pw_task_use *use, struct pw_data_pool *pool)
{
    struct pw_range r = use->o.common.lengths;
    bool together = use->task->pairs != NULL && use->task->pairs->together;
    for (int pass = 0; pass < 2; pass++) {
        pool->n_bins = 0;
        for (int length = r.lo; length <= r.hi; length++) {
            int n = pw_task_pairs_at(use, length, NULL), own = n == 0 || together ? 1 : n;
            for (int i = 0; i < own; i++, pool->n_bins++)
                if (pass == 1)
                    pool->bins[pool->n_bins] =
                        (struct bin){.length = length, .pair = i, .n_pairs = together ? n : 1};
        }
        if (pass == 0)
            pool->bins = calloc((size_t)pool->n_bins, sizeof *pool->bins);
        if (pool->bins == NULL)
            return false;
    }
    return true;
}

/* A bin's relative weight: 1, or its share of its length's weight. */
static double weight_of(const struct pw_task_use *use, const struct bin *bin)
{
    int n = pw_task_pairs_at(use, bin->length, NULL);
    if (use->weights == NULL)
        return 1.0;
    return pw_dist_weight(use, bin->length) / (n > bin->n_pairs ? n : 1);
}

static void fill_bins(const struct pw_task_use *use, struct pw_data_pool *pool)
{
    double sum = 0;
    for (int i = 0; i < pool->n_bins; i++)
        sum += weight_of(use, &pool->bins[i]);
    for (int i = 0; i < pool->n_bins; i++) {
        struct bin *b = &pool->bins[i];
        b->n = (int)(1.15 * pool->n * weight_of(use, b) / sum) / b->n_pairs * b->n_pairs;
        b->first = pool->size;
        pool->size += b->n;
    }
}

/* Sorts the validation slots. */
static bool list_valid(const struct pw_task_use *use, struct pw_data_pool *pool)
{
    struct pw_range r = use->o.common.lengths;
    int n = pool->size - pool->n, most = 1; /* pairs of a length */
    for (int i = 0; i < pool->n_bins; i++) {
        int pairs = pw_task_pairs_at(use, pool->bins[i].length, NULL);
        most = pairs > most ? pairs : most;
    }
    struct place *places = malloc((size_t)n * sizeof *places);
    int *turns = calloc((size_t)(r.hi - r.lo + 1) * (size_t)most, sizeof *turns);
    pool->valid = malloc((size_t)n * sizeof *pool->valid);
    pool->first = calloc((size_t)(r.hi - r.lo + 2), sizeof *pool->first);
    bool there = places != NULL && turns != NULL && pool->valid != NULL && pool->first != NULL;
    for (int i = 0; i < n && there; i++) {
        uint32_t sample = slot_to_sample(pool, (uint32_t)(pool->n + i));
        int pair;
        const struct bin *b = bin_of(pool, sample, &pair);
        places[i] = (struct place){b->length, turns[(b->length - r.lo) * most + pair]++, pair, sample};
        pool->first[b->length - r.lo + 1]++;
    }
    if (there)
        qsort(places, (size_t)n, sizeof *places, by_place);
    for (int i = 0; i < n && there; i++)
        pool->valid[i] = places[i].sample;
    for (int i = 0; i <= r.hi - r.lo && there; i++)
        pool->first[i + 1] += pool->first[i];
    free(places);
    free(turns);
    return there;
}

static enum pw_code check(const struct pw_task_use *use, struct pw_err *err)
{
    const struct pw_data_pool *pool = use->pool;
    struct pw_range r = use->o.common.lengths;
    for (int i = 0; i <= r.hi - r.lo; i++)
        if (pw_dist_weight(use, r.lo + i) > 0 && pool->first[i + 1] == pool->first[i])
            return pw_fail(err, PW_EUSER,
                           "%s: data=%d is too small: of %d samples in %d bins none is left to validate "
                           "length %d; use more",
                           use->task->name, pool->n, pool->size, pool->n_bins, r.lo + i);
    return PW_OK;
}

enum pw_code pw_pool_init(struct pw_task_use *use, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (use->o.common.data == 0)
        return PW_OK;
    if (use->task->nth != NULL)
        return pw_fail(
            err, PW_EUSER,
            "%s: data=%d: its inputs are a fixed set already; use held=on to keep some from training",
            use->task->name, use->o.common.data);
    struct pw_data_pool *pool = use->pool = calloc(1, sizeof *pool);
    bool there = pool != NULL;
    if (there) {
        pool->n = use->o.common.data;
        there = list_bins(use, pool);
    }
    if (there) {
        fill_bins(use, pool);
        if (pool->size <= pool->n)
            code = pw_fail(
                err, PW_EUSER,
                "%s: data=%d is too small for %d bins, which have %d samples in all, training and validation",
                use->task->name, pool->n, pool->n_bins, pool->size);
        else
            there = list_valid(use, pool);
    }
    if (!there)
        code = pw_fail(err, PW_ENOMEM, "%s: out of memory for data=%d", use->task->name, use->o.common.data);
    if (code == PW_OK)
        code = check(use, err);
    if (code != PW_OK)
        pw_pool_fini(use);
    return code;
}

void pw_pool_fini(struct pw_task_use *use)
{
    if (use->pool == NULL)
        return;
    free(use->pool->bins);
    free(use->pool->valid);
    free(use->pool->first);
    free(use->pool);
    use->pool = NULL;
}

int pw_data_pool_size(const struct pw_data_pool *pool, enum pw_split split)
{
    return split == PW_SPLIT_TRAIN ? pool->n : pool->size - pool->n;
}

double pw_pool_share(const struct pw_task_use *use, int length)
{
    const struct pw_data_pool *pool = use->pool;
    int n = 0;
    for (int i = 0; i < pool->n_bins; i++)
        n += pool->bins[i].length == length ? pool->bins[i].n : 0;
    return (double)n / pool->size;
}

int pw_pool_size_at(const struct pw_task_use *use, int length)
{
    const int *first = &use->pool->first[length - use->o.common.lengths.lo];
    return first[1] - first[0];
}

/* The random stream does not depend on the pair within a bin, so a LEGO chain stays the
 * same for all its questions. */
static void draw_sample(const struct pw_task_use *use, uint64_t seed, bool held, uint32_t sample, int task,
                        struct pw_item *item)
{
    int pair;
    const struct bin *b = bin_of(use->pool, sample, &pair);
    struct pw_pair pairs[PW_MAX_PAIRS];
    struct pw_rng rng;
    bool single = pw_task_pairs_at(use, b->length, pairs) == 0;
    pw_rng_init(&rng, seed, PW_STREAM_POOL, (uint64_t)task << 32 | (sample - (uint32_t)(pair - b->pair)));
    pw_held_draw(use, &rng, held, b->length, single ? NULL : &pairs[pair], item);
}

void pw_data_pool_draw(const struct pw_task_use *use, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, struct pw_item *item)
{
    const struct pw_data_pool *pool = use->pool;
    uint32_t n = (uint32_t)pw_data_pool_size(pool, split), slot = (uint32_t)(index % n);
    if (split == PW_SPLIT_TRAIN)
        slot = pw_rng_shuffled(seed, PW_STREAM_EPOCH, (uint64_t)task << 48 | index / n, n, slot);
    else
        slot += (uint32_t)pool->n;
    draw_sample(use, seed, split != PW_SPLIT_TRAIN, slot_to_sample(pool, slot), task, item);
}

void pw_pool_draw_at(const struct pw_task_use *use, uint64_t seed, int length, uint64_t k, int task,
                     struct pw_item *item)
{
    uint64_t n = (uint64_t)pw_pool_size_at(use, length);
    const uint32_t *valid = use->pool->valid + use->pool->first[length - use->o.common.lengths.lo];
    draw_sample(use, seed, true, valid[k % n], task, item);
}
