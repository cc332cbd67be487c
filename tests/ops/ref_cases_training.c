/* ref_cases_training.c - cases of the end of a training step: the loss and the optimiser. */
#include "tests/ops/ref_cases.h"

#include <math.h>
#include <stdlib.h>

/* The case includes ties, which select the lowest id. */
void ref_case_loss(struct ref_call *r)
{
    bool wide = ref_next(&r->s) % 16 == 0;
    int N = wide ? 2 : ref_pick_rows(&r->s), V = wide ? 50000 : PICK(&r->s, 1, 2, 13, 16, 17, 40, 128);
    size_t n = (size_t)N * (size_t)V;
    float *x = ref_random(&r->s, n, 4.0f), scale = 1.0f / 37.0f;
    if (V > 2 && N > 0)
        x[V - 1] = x[V / 2] = 20.0f;
    const float *logits = ref_copy(r, x, n * sizeof *x), *factor = ref_copy(r, &scale, sizeof scale);
    int *targets = ref_ids(r, N, -1, V);
    int *best = ref_output_of(r, REF_INTS, (size_t)N, NULL),
        *same = ref_output_of(r, REF_INTS, (size_t)N, NULL);
    float *loss = ref_output(r, (size_t)N), *bare = ref_output(r, (size_t)N), *d = ref_output(r, n);
    float *p = ref_output(r, n), *q = ref_output(r, n);
    free(x);
    r->ops->cross_entropy(r->c, loss, best, d, logits, targets, factor, N, V);
    r->ops->cross_entropy(r->c, bare, same, NULL, logits, targets, factor, N, V);
    r->ops->softmax(r->c, p, logits, 0.7f, N, V);
    r->ops->softmax(r->c, q, logits, 1.0f, N, V);
}

enum { SEGS = 60 };

/* Creates adjacent segments, some with a gap, and returns the number of floats that they span. Moments and
 * gradient have the same gaps or none. A single segment may be large: more tiles than any implementation adds
 * at a time. */
static size_t segments(uint64_t *s, struct pw_adamw_seg *segs, int n, size_t *n_tiles)
{
    size_t at = 0, dense = 0;
    bool gaps = n == 1 || ref_next(s) % 2;
    *n_tiles = 0;
    for (int i = 0; i < n; i++) {
        int size = n == 1   ? PICK(s, 34 * PW_TILE + 5, 4097)
                   : n == 4 ? PICK(s, 1, 17, 4095, 4096, 4097, 5000)
                            : PICK(s, 1, 16, 17, 64, 100, 768);
        at = (at + 15) / 16 * 16 + (ref_next(s) % 8 == 0);
        segs[i] = (struct pw_adamw_seg){.offset = at,
                                        .n = (size_t)size,
                                        .place = gaps ? at : dense,
                                        .tile = *n_tiles,
                                        .lr = 3e-3f,
                                        .c2 = 1.2f};
        segs[i].decay = ref_next(s) % 2 ? 0.1f : 0.0f;
        segs[i].c1 = ref_next(s) % 2 ? 1.5f : 10.0f;
        *n_tiles += (size_t)(size + PW_TILE - 1) / PW_TILE;
        at += (size_t)size;
        dense += (size_t)size;
    }
    return at;
}

void ref_case_optimiser(struct ref_call *r)
{
    struct pw_adamw_seg segs[SEGS];
    int n_segs = PICK(&r->s, 1, 4, 4, SEGS), slots = PICK(&r->s, 1, 2, n_segs == 1 ? 2 : 8);
    size_t n_tiles, n = segments(&r->s, segs, n_segs, &n_tiles), stride = n + (size_t)PICK(&r->s, 0, 16);
    struct pw_adamw h = {0.9f, 0.95f, 1e-8f, ref_next(&r->s) % 2 ? 1.0f : 0.0f};
    float *square = ref_random(&r->s, n, 1.0f);
    float losses[3] = {1.0f, ref_next(&r->s) % 4 == 0 ? INFINITY : 2.0f, 3.0f};
    int clean = 0, before = ref_next(&r->s) % 8 == 0;
    for (size_t i = 0; i < n; i++)
        square[i] = square[i] * square[i];
    float *slot = slots == 1 ? ref_output(r, stride) : ref_input(r, (size_t)slots * stride, 1.0f);
    float *g = ref_output(r, n);
    float *p = ref_output(r, n), *m = ref_output(r, n), *v = ref_output_of(r, REF_FLOATS, n, square);
    const float *loss = ref_copy(r, losses, sizeof losses);
    double none = -1.0, *sumsq = ref_output_of(r, REF_DOUBLES, 1, &none);
    double *of_all = ref_output_of(r, REF_DOUBLES, 1, &none);
    int *spoilt = ref_output_of(r, REF_INTS, 1, &before), *not_yet = ref_output_of(r, REF_INTS, 1, &clean);
    double *moved = ref_output_of(r, REF_DOUBLES, 2 * (size_t)n_segs, NULL);
    free(square);
    r->ops->reduce(r->be, g, sumsq, not_yet, slot, slots, stride, n, loss, 1);
    r->ops->reduce(r->be, slots == 1 ? slot : g, of_all, spoilt, slot, slots, stride, n, loss, 3);
    r->ops->adamw(r->be, p, m, v, g, of_all, ref_copy(r, segs, (size_t)n_segs * sizeof *segs), n_segs,
                  n_tiles, &h, moved);
}

/* Sometimes more than one worker's share. The operation must add to sums that are already there. */
void ref_case_digest(struct ref_call *r)
{
    size_t n = (size_t)PICK(&r->s, 0, 1, 31, 257, 5000, 33000, 70001);
    uint64_t before[2] = {ref_next(&r->s), ref_next(&r->s)}, first = ref_next(&r->s) >> 20;
    const float *x = ref_input(r, n, 1.0f);
    uint64_t *sums = ref_output_of(r, REF_HALVES, 4, before);
    r->ops->digest(r->be, sums, x, n, first);
}
