/* buckets.c - properties of the buckets in an encoding's table: their side of the query, their ends, and the
 * pairs seen in training. */
#include <limits.h>

#include "sessions/fold.h"

/* Number of buckets for keys that are not after the query. Events may come from a file, so `later` is
 * checked. */
static int before(const struct pw_ev_table *t)
{
    return t->later < t->n_buckets ? t->n_buckets - t->later : 0;
}

bool pw_bucket_later(const struct pw_ev_table *t, int bucket)
{
    return bucket >= before(t);
}

int pw_bucket_end(const struct pw_ev_table *t, int bucket)
{
    return bucket + 1 == before(t) ? INT_MAX : t->bucket_from[bucket + 1];
}

int pw_bucket_of(const struct pw_ev_table *t, int distance)
{
    if (distance >= 0)
        return distance < t->length ? t->bucket[distance] : -1;
    for (int b = before(t); t->bucket_from != NULL && b < t->n_buckets; b++)
        if (-distance >= t->bucket_from[b] && -distance < pw_bucket_end(t, b))
            return b;
    return -1;
}

/* Pairs of distance d on one side of the query: without the causal mask half of them, except for distance
 * 0. */
static int64_t met_on_side(const struct pw_ev_table *t, int d)
{
    return t->later > 0 && d > 0 ? t->met[d] / 2 : t->met[d];
}

int64_t pw_bucket_seen(const struct pw_ev_table *t, int bucket)
{
    bool later = pw_bucket_later(t, bucket), ranges = t->bucket_from != NULL;
    int64_t sum = 0;
    if (t->met == NULL || t->bucket == NULL || (later && !ranges))
        return -1;
    int from = ranges ? t->bucket_from[bucket] : 0, end = ranges ? pw_bucket_end(t, bucket) : 0;
    if (end > from && end > t->length && t->trained >= t->length)
        return from > t->trained ? 0 : -1;
    for (int d = later ? from : 0; d < t->length && (!later || d < end); d++) {
        int64_t n = later || t->bucket[d] == bucket ? met_on_side(t, d) : 0;
        if (n > 0) /* saturates at INT64_MAX */
            sum += n < INT64_MAX - sum ? n : INT64_MAX - sum;
    }
    if (sum == 0 && end > from && from <= t->trained && t->trained > 0)
        return -1;
    return sum;
}
