/* held.c - inputs that are kept from training (held=on), and lengths that repeat trained inputs.
 *
 * Samples are drawn with replacement. If a length has few different inputs (four bits: sixteen), validation
 * samples of an endless stream were seen in training. Then pw_task_seen reports it. With held=on, one input
 * in ten, by a hash of its content, is never trained on; these inputs alone serve validation and the
 * evaluation of trained lengths. If too few inputs are left for that, all inputs serve both, and pw_task_seen
 * reports that too. */
#include "tasks/split.h"
#include <math.h>
#include <stdlib.h>

#define SEEN_BELOW  1e5 /* inputs; a usual training run has as many samples */
#define SPLIT_FROM  20  /* inputs; with fewer, the expected held-out tenth is below two */
#define CHECK_BELOW 1e4 /* inputs; with more, one side is empty with probability 10^-450 */
#define CHECKS      1000

/* FNV-1a, with the final mix of MurmurHash3, because two or three bytes hardly change its upper bits. */
bool pw_held_bytes(const unsigned char *bytes, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return (h ^ h >> 33) % 10 == 0;
}

static bool held_item(const struct pw_item *item)
{
    unsigned char bytes[2 * PW_MAX_ITEM];
    for (int i = 0; i < item->n; i++) {
        bytes[2 * i] = (unsigned char)(item->v[i] & 255);
        bytes[2 * i + 1] = (unsigned char)(item->v[i] >> 8 & 255);
    }
    return pw_held_bytes(bytes, 2 * (size_t)item->n);
}

static bool is_trained(const struct pw_task_use *use, int length)
{
    return length >= use->o.common.lengths.lo && length <= use->o.common.lengths.hi;
}

static void draw_any(const struct pw_task_use *use, struct pw_rng *rng, int length,
                     const struct pw_pair *pair, struct pw_item *item)
{
    if (pair != NULL)
        use->task->pairs->draw(&use->o, rng, *pair, item);
    else
        use->task->draw(&use->o, rng, length, item);
}

/* Returns true if the inputs of this length, or pair, split into two parts that are not empty. */
static bool can_split(const struct pw_task_use *use, int length, const struct pw_pair *pair)
{
    struct pw_pair at = pair != NULL ? *pair : (struct pw_pair){length, 0};
    double inputs = use->task->inputs(&use->o, at);
    bool met[2] = {false, false};
    struct pw_rng rng;
    if (inputs < SPLIT_FROM || inputs >= CHECK_BELOW)
        return inputs >= CHECK_BELOW;
    pw_rng_init(&rng, 0, PW_STREAM_VALID, 0);
    for (int i = 0; i < CHECKS && !(met[0] && met[1]); i++) {
        struct pw_item item;
        draw_any(use, &rng, length, pair, &item);
        met[held_item(&item)] = true;
    }
    return met[0] && met[1];
}

/* Lists the numbers of held-out inputs by length: kept has n + 1 offsets, then the numbers. NULL: only
 * counts. Returns the size of kept. */
static int list_kept(const struct pw_task_use *use, int *kept)
{
    struct pw_range r = use->o.common.lengths;
    int n = r.hi - r.lo + 1, at = n + 1;
    for (int i = 0; i < n; i++) {
        int all = use->shared[i] ? 0 : (int)use->task->inputs(&use->o, (struct pw_pair){r.lo + i, 0});
        if (kept != NULL)
            kept[i] = at;
        for (int k = 0; k < all; k++) {
            struct pw_item item;
            use->task->nth(&use->o, r.lo + i, k, &item);
            if (!held_item(&item))
                continue;
            if (kept != NULL)
                kept[at] = k;
            at++;
        }
    }
    if (kept != NULL)
        kept[n] = at;
    return at;
}

enum pw_code pw_held_init(struct pw_task_use *use, struct pw_err *err)
{
    struct pw_range r = use->o.common.lengths;
    if (!use->o.common.held)
        return PW_OK;
    use->shared = calloc((size_t)(r.hi - r.lo + 1), sizeof *use->shared);
    if (use->shared == NULL)
        return pw_fail(err, PW_ENOMEM, "%s: out of memory", use->task->name);
    for (int length = r.lo; length <= r.hi; length++) {
        struct pw_pair pairs[PW_MAX_PAIRS];
        int n = pw_task_pairs_at(use, length, pairs);
        bool split = n > 0 || can_split(use, length, NULL);
        for (int i = 0; i < n && split; i++)
            split = can_split(use, length, &pairs[i]);
        use->shared[length - r.lo] = !split;
    }
    if (use->task->nth == NULL)
        return PW_OK;
    use->kept = malloc((size_t)list_kept(use, NULL) * sizeof *use->kept);
    if (use->kept == NULL) {
        pw_held_fini(use);
        return pw_fail(err, PW_ENOMEM, "%s: out of memory", use->task->name);
    }
    list_kept(use, use->kept);
    return PW_OK;
}

void pw_held_fini(struct pw_task_use *use)
{
    free(use->shared);
    free(use->kept);
    use->shared = NULL;
    use->kept = NULL;
}

/* Returns true if some inputs of this length are held out. */
static bool is_split(const struct pw_task_use *use, int length)
{
    return use->shared != NULL && is_trained(use, length) && !use->shared[length - use->o.common.lengths.lo];
}

bool pw_task_holds_out(const struct pw_task_use *use, const struct pw_item *item)
{
    if (use->task->holds_out != NULL)
        return use->task->holds_out(&use->o, item);
    return is_split(use, item->length) && held_item(item);
}

int pw_held_count(const struct pw_task_use *use, int length)
{
    const int *first = use->kept + (length - use->o.common.lengths.lo);
    return is_split(use, length) ? first[1] - first[0] : (int)pw_task_inputs(use, length);
}

void pw_held_nth(const struct pw_task_use *use, int length, int k, struct pw_item *item)
{
    bool split = is_split(use, length);
    use->task->nth(&use->o, length, split ? use->kept[use->kept[length - use->o.common.lengths.lo] + k] : k,
                   item);
}

void pw_held_draw(const struct pw_task_use *use, struct pw_rng *rng, bool held, int length,
                  const struct pw_pair *pair, struct pw_item *item)
{
    bool split = is_split(use, length);
    do
        draw_any(use, rng, length, pair, item);
    while (split && held_item(item) != held);
}

double pw_task_inputs(const struct pw_task_use *use, int length)
{
    struct pw_pair pairs[PW_MAX_PAIRS];
    int n = pw_task_pairs_at(use, length, pairs);
    double sum = 0;
    if (n == 0)
        return use->task->inputs(&use->o, (struct pw_pair){length, 0});
    for (int i = 0; i < n; i++)
        sum += use->task->inputs(&use->o, pairs[i]);
    return sum;
}

bool pw_task_seen(const struct pw_task_use *use, int length)
{
    if (!is_trained(use, length) || pw_dist_weight(use, length) == 0)
        return false;
    if (use->shared != NULL)
        return use->shared[length - use->o.common.lengths.lo];
    return pw_task_inputs(use, length) < SEEN_BELOW;
}
