/* player_kept.c - the maps that the fold had kept at any event.
 *
 * Each entry has the step and the heads' scores. The maps themselves are left out: a snapshot may have kept
 * 64 MB of them, which can't be read within a frame. To see one, the user moves to its event. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/player_int.h"

static bool may_change(enum pw_event_kind kind)
{
    return kind == PW_EV_ATTENTION || kind == PW_EV_PROMPT || kind == PW_EV_ARM || kind == PW_EV_DROP;
}

/* Store a map without its arrays, except the scores. */
static void put(struct pw_shelf *entry, const struct pw_kept_map *map)
{
    struct pw_kept_map m = *map;
    size_t n = (size_t)m.a.layers * m.a.heads * m.a.n_scores;
    m.a.labels = NULL;
    m.a.probs = NULL;
    m.a.gold = NULL;
    m.a.n_gold = 0;
    if (m.a.scores != NULL) {
        m.a.scores = pw_alloc(n, sizeof *m.a.scores);
        memcpy(m.a.scores, map->a.scores, n * sizeof *m.a.scores);
    }
    entry->size = sizeof m;
    pw_shelf_put(entry, map->seq, &m);
}

void pw_past_kept_after(struct pw_past_kept k[PW_MAX_ARMS], const struct pw_snapshot *now,
                        const struct pw_event *e)
{
    uint64_t list[PW_MAX_KEPT];
    for (int i = 0; i < PW_MAX_ARMS && may_change(e->kind); i++) {
        const struct pw_kept *kept = &now->arms[i].kept;
        for (int j = 0; j < kept->n; j++)
            list[j] = kept->map[j].seq;
        if (kept->n > 0 && list[kept->n - 1] == e->seq)
            put(&k[i].list.entry, &kept->map[kept->n - 1]);
        pw_trail_put(&k[i].list, e->seq, list, kept->n);
    }
}

void pw_past_kept_restore(struct pw_past_kept k[PW_MAX_ARMS], struct pw_snapshot *view, uint64_t seq)
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        struct pw_kept *kept = &view->arms[i].kept;
        const uint64_t *list = pw_trail_at(&k[i].list, seq, &kept->n);
        if (kept->n > 0 && k[i].shown == NULL)
            k[i].shown = pw_alloc(PW_MAX_KEPT, sizeof *k[i].shown);
        kept->map = k[i].shown;
        kept->cap = kept->map != NULL ? PW_MAX_KEPT : 0;
        kept->bytes = 0;
        for (int j = 0; j < kept->n; j++) {
            kept->map[j] = *(const struct pw_kept_map *)pw_shelf_last(&k[i].list.entry, list[j]);
            kept->bytes += kept->map[j].bytes;
        }
    }
}

void pw_past_kept_fini(struct pw_past_kept k[PW_MAX_ARMS])
{
    for (int i = 0; i < PW_MAX_ARMS; i++) {
        for (int j = 0; j < k[i].list.entry.n; j++)
            free(((struct pw_kept_map *)pw_shelf_at(&k[i].list.entry, j))->a.scores);
        pw_trail_fini(&k[i].list);
        free(k[i].shown);
    }
}
