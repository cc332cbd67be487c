/* kept.c - the pinned prompt's attention over training, to show how a head forms.
 *
 * Every emitted map is kept until an arm has too many, or all together need too much memory. Then one map is
 * dropped: never the first or the last; of the others the one whose neighbours are closest in the square root
 * of their steps. That scale lies between two extremes. A uniform one would miss a head that forms by step 50
 * of 10000; a logarithmic one would keep almost nothing late. The choice depends on the events only, so a
 * replay keeps the same maps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/fold_int.h"

#define BYTES      ((size_t)64 << 20)          /* of all arms */
#define BYTES_EACH (BYTES / (2 * PW_MAX_ARMS)) /* so that the first and the last map of every arm fit */

static void drop(struct pw_kept *k, int i)
{
    struct pw_event e = {.kind = PW_EV_ATTENTION, .u.attention = k->map[i].a};
    pw_event_clear(&e);
    k->bytes -= k->map[i].bytes;
    memmove(k->map + i, k->map + i + 1, (size_t)(--k->n - i) * sizeof *k->map);
}

void pw_kept_clear(struct pw_kept *k)
{
    while (k->n > 0)
        drop(k, k->n - 1);
    free(k->map);
    *k = (struct pw_kept){0};
}

int pw_most_crowded(const int64_t *step, size_t apart, int n)
{
    const char *first = (const char *)step;
    double least = INFINITY;
    int at = 1;
    for (int i = 1; i + 1 < n; i++) {
        double before = sqrt((double)*(const int64_t *)(const void *)(first + (size_t)(i - 1) * apart));
        double after = sqrt((double)*(const int64_t *)(const void *)(first + (size_t)(i + 1) * apart));
        if (after - before < least) {
            least = after - before;
            at = i;
        }
    }
    return at;
}

/* Drop the map between the first and the last whose neighbours are closest. At least three maps are
 * required. */
static void thin(struct pw_kept *k)
{
    drop(k, pw_most_crowded(&k->map->step, sizeof *k->map, k->n));
}

/* Thin the arm with the most bytes until all maps fit. */
static void make_room(struct pw_snapshot *s)
{
    for (;;) {
        struct pw_kept *most = NULL;
        size_t all = 0;
        for (int i = 0; i < PW_MAX_ARMS; i++) {
            struct pw_kept *k = &s->arms[i].kept;
            all += k->bytes;
            if (k->n > 2 && (most == NULL || k->bytes > most->bytes))
                most = k;
        }
        if (all <= BYTES || most == NULL)
            return;
        thin(most);
    }
}

/* Return the size of a map's copy; 0 if there is no map or it is too large. */
static size_t bytes_of(const struct pw_ev_attention *a)
{
    if (a->probs == NULL || a->labels == NULL || a->T < 1 || a->layers < 1 || a->heads < 1)
        return 0;
    double heads = (double)a->layers * a->heads;
    double bytes = heads * a->T * a->T * sizeof *a->probs + (double)a->T * sizeof *a->labels;
    if (a->gold != NULL && a->n_gold > 0)
        bytes += (double)a->n_gold * sizeof *a->gold;
    if (a->scores != NULL && a->n_scores > 0)
        bytes += heads * a->n_scores * sizeof *a->scores;
    return bytes <= (double)BYTES_EACH ? (size_t)bytes : 0;
}

void pw_kept_add(struct pw_snapshot *s, struct pw_arm_view *arm, int replica, int64_t step,
                 const struct pw_ev_attention *a)
{
    struct pw_kept *k = &arm->kept;
    size_t bytes = bytes_of(a), heads = (size_t)a->layers * a->heads;
    if (bytes == 0 || step < 0)
        return;
    if (k->n > 0 && k->map[0].replica != replica) /* another model: a curve must not join both */
        pw_kept_clear(k);
    while (k->n > 0 && k->map[k->n - 1].step >= step) /* emitted again, or the arm went back */
        drop(k, k->n - 1);
    if (k->n == k->cap) {
        k->cap = k->cap > 0 ? 2 * k->cap : 8;
        k->map = pw_grow(k->map, (size_t)k->cap, sizeof *k->map);
    }
    struct pw_kept_map *m = &k->map[k->n++];
    *m = (struct pw_kept_map){.seq = s->seq, .replica = replica, .step = step, .a = *a, .bytes = bytes};
    m->a.labels = pw_copy(a->labels, (size_t)a->T, sizeof *a->labels);
    m->a.probs = pw_copy(a->probs, heads * a->T * a->T, sizeof *a->probs);
    m->a.score = m->a.content = m->a.bias = m->a.gate = m->a.positions = m->a.terms = NULL;
    m->a.all_scores = NULL;
    m->a.gate_values = NULL;
    m->a.gold =
        a->gold != NULL && a->n_gold > 0 ? pw_copy(a->gold, (size_t)a->n_gold, sizeof *a->gold) : NULL;
    m->a.n_gold = m->a.gold != NULL ? a->n_gold : 0;
    m->a.scores = a->scores != NULL && a->n_scores > 0
                      ? pw_copy(a->scores, heads * (size_t)a->n_scores, sizeof *a->scores)
                      : NULL;
    m->a.n_scores = m->a.scores != NULL ? a->n_scores : 0;
    k->bytes += bytes;
    if (k->n > PW_MAX_KEPT)
        thin(k);
    make_room(s);
}

const struct pw_ev_attention *pw_kept_attention(const struct pw_snapshot *s, int arm, int64_t step,
                                                int64_t *at)
{
    if (arm < 1 || arm > PW_MAX_ARMS)
        return NULL;
    const struct pw_kept *k = &s->arms[arm - 1].kept;
    int i = k->n;
    while (i > 0 && k->map[i - 1].step > step)
        i--;
    if (i == 0 || k->map[i - 1].a.probs == NULL)
        return NULL;
    *at = k->map[i - 1].step;
    return &k->map[i - 1].a;
}
