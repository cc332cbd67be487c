/* shelf.c - histories of values, and of lists, by the event that set them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sessions/player_int.h"

void pw_shelf_put(struct pw_shelf *s, uint64_t seq, const void *value)
{
    if (s->n == s->cap) {
        s->cap = s->cap > 0 ? 2 * s->cap : 16;
        s->seq = pw_grow(s->seq, (size_t)s->cap, sizeof *s->seq);
        s->value = pw_grow(s->value, (size_t)s->cap, s->size);
    }
    s->seq[s->n] = seq;
    memcpy(pw_shelf_at(s, s->n++), value, s->size);
}

int pw_shelf_upto(const struct pw_shelf *s, uint64_t seq)
{
    return pw_upto(s->seq, s->n, seq);
}

void *pw_shelf_at(const struct pw_shelf *s, int i)
{
    return s->value + (size_t)i * s->size;
}

void *pw_shelf_last(const struct pw_shelf *s, uint64_t seq)
{
    int n = pw_shelf_upto(s, seq);
    return n > 0 ? pw_shelf_at(s, n - 1) : NULL;
}

void pw_shelf_fini(struct pw_shelf *s)
{
    free(s->seq);
    free(s->value);
    *s = (struct pw_shelf){.size = s->size};
}

int pw_upto(const uint64_t *seq, int n, uint64_t limit)
{
    int from = 0;
    while (from < n) {
        int mid = from + (n - from) / 2;
        if (seq[mid] <= limit)
            from = mid + 1;
        else
            n = mid;
    }
    return from;
}

/* ---- lists */

/* Are the last n entries of the trail the first n of the list? */
static bool ends_with(const struct pw_trail *t, const uint64_t *list, size_t n)
{
    return n <= t->n && (n == 0 || memcmp(t->seq + (t->n - n), list, n * sizeof *list) == 0);
}

void pw_trail_put(struct pw_trail *t, uint64_t seq, const uint64_t *list, int n)
{
    int before;
    const uint64_t *last = pw_trail_at(t, seq, &before);
    if (before == n && (n == 0 || memcmp(last, list, (size_t)n * sizeof *list) == 0))
        return;
    /* A list that grew has all entries except its newest already in the trail; a list that lost its front has
     * all of them. */
    size_t had = n > 0 && ends_with(t, list, (size_t)n - 1) ? (size_t)n - 1 : 0;
    if (ends_with(t, list, (size_t)n))
        had = (size_t)n;
    struct pw_trail_list now = {t->n - had, n};
    size_t more = (size_t)n - had;
    if (t->n + more > t->cap) {
        t->cap = 2 * (t->n + more);
        t->seq = pw_grow(t->seq, t->cap, sizeof *t->seq);
    }
    if (more > 0)
        memcpy(t->seq + t->n, list + had, more * sizeof *list);
    t->n += more;
    t->lists.size = sizeof now;
    pw_shelf_put(&t->lists, seq, &now);
}

const uint64_t *pw_trail_at(const struct pw_trail *t, uint64_t seq, int *n)
{
    const struct pw_trail_list *list = pw_shelf_last(&t->lists, seq);
    *n = list != NULL ? list->n : 0;
    return *n > 0 ? t->seq + list->from : NULL;
}

void pw_trail_fini(struct pw_trail *t)
{
    free(t->seq);
    pw_shelf_fini(&t->lists);
    pw_shelf_fini(&t->entry);
    *t = (struct pw_trail){0};
}
