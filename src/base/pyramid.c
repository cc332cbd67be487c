/* pyramid.c - summaries in blocks. A block of level 1 has FAN points; a block of level l + 1 has FAN blocks
 * of level l, and its node follows the node of the last of them. */
#include "base/pyramid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FAN = 32 };

static const struct pw_summary nothing = {
    .lo = INFINITY, .hi = -INFINITY, .above = INFINITY, .first = NAN, .last = NAN};

/* ---- points */

/* Like sum_points, for points of which some are NaN or infinite. */
static struct pw_summary sum_broken(const float *y, int n)
{
    struct pw_summary s = nothing;
    for (int i = 0; i < n; i++) {
        float v = y[i];
        if (!isfinite(v)) {
            s.broken = true;
            continue;
        }
        if (s.n++ == 0)
            s.first = v;
        s.lo = v < s.lo ? v : s.lo;
        s.hi = v > s.hi ? v : s.hi;
        s.above = v > 0 && v < s.above ? v : s.above;
        s.last = v;
        s.sum += (double)v;
    }
    return s;
}

/* Summarise n >= 1 points. The loop has no branch, because without a pyramid every frame reads all points. */
static struct pw_summary sum_points(const float *y, int n)
{
    struct pw_summary s = nothing;
    float zero = 0; /* remains 0 while all values are finite */
    for (int i = 0; i < n; i++) {
        float v = y[i];
        s.lo = v < s.lo ? v : s.lo;
        s.hi = v > s.hi ? v : s.hi;
        s.above = v > 0 && v < s.above ? v : s.above;
        s.sum += (double)v;
        zero += v - v;
    }
    if (zero != 0)
        return sum_broken(y, n);
    s.first = y[0];
    s.last = y[n - 1];
    s.n = n;
    return s;
}

/* ---- blocks */

static void add_summary(struct pw_summary *s, const struct pw_summary *next)
{
    if (s->n == 0)
        s->first = next->first;
    if (next->n > 0)
        s->last = next->last;
    s->lo = next->lo < s->lo ? next->lo : s->lo;
    s->hi = next->hi > s->hi ? next->hi : s->hi;
    s->above = next->above < s->above ? next->above : s->above;
    s->sum += next->sum;
    s->n += next->n;
    s->broken |= next->broken;
}

/* Number of nodes of n points. */
static int count(int64_t n)
{
    int64_t nodes = 0;
    while ((n /= FAN) > 0)
        nodes += n;
    return (int)nodes;
}

/* Index of the node of block i of a level whose blocks have `size` points. The block's last point completes
 * one node on each level up to this one. */
static int place(int level, int64_t size, int64_t i)
{
    return count((i + 1) * size - 1) + level - 1;
}

/* Summary of block i of a level whose blocks have `size` points. */
static struct pw_summary block(const struct pw_pyramid *p, const float *y, int level, int64_t size, int64_t i)
{
    struct pw_summary s = nothing;
    if (p != NULL && p->node != NULL)
        return p->node[place(level, size, i)];
    if (level == 1)
        return sum_points(y + i * FAN, FAN);
    for (int64_t k = 0; k < FAN; k++) {
        struct pw_summary part = block(p, y, level - 1, size / FAN, i * FAN + k);
        add_summary(&s, &part);
    }
    return s;
}

void pw_pyramid_add(struct pw_pyramid *p, const float *y, int n)
{
    int level = 1, nodes = count(n);
    if (n % FAN != 0)
        return;
    if (nodes > p->cap) {
        p->cap = 2 * nodes;
        p->node = pw_grow(p->node, (size_t)p->cap, sizeof *p->node);
    }
    p->node[place(1, FAN, n / FAN - 1)] = sum_points(y + n - FAN, FAN);
    for (int64_t size = FAN * FAN; n % size == 0; size *= FAN) {
        struct pw_summary s = nothing;
        for (int64_t i = n / size * FAN - FAN; i < n / size * FAN; i++)
            add_summary(&s, &p->node[place(level, size / FAN, i)]);
        p->node[place(++level, size, n / size - 1)] = s;
    }
}

void pw_pyramid_own(struct pw_pyramid *p, int n)
{
    int nodes = count(n);
    struct pw_summary *own = pw_alloc((size_t)nodes, sizeof *own);
    if (nodes > 0)
        memcpy(own, p->node, (size_t)nodes * sizeof *own);
    *p = (struct pw_pyramid){own, nodes};
}

void pw_pyramid_fini(struct pw_pyramid *p)
{
    free(p->node);
    *p = (struct pw_pyramid){0};
}

struct pw_summary pw_pyramid_sum(const struct pw_pyramid *p, const float *y, int from, int end)
{
    struct pw_summary s = nothing;
    while (from < end) { /* take the largest block that starts here, or the points up to the start of one */
        int level = 0, edge = from / FAN * FAN + FAN;
        int64_t size = 1;
        for (; from % (size * FAN) == 0 && end - from >= size * FAN; size *= FAN)
            level++;
        if (level == 0)
            size = (edge < end ? edge : end) - from;
        struct pw_summary part =
            level == 0 ? sum_points(y + from, (int)size) : block(p, y, level, size, from / size);
        add_summary(&s, &part);
        from += (int)size;
    }
    return s;
}
