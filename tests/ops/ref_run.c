/* ref_run.c - runs a case on a table: its arrays, its outputs, and the comparison with a reference. */
#include "tests/ops/ref_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GUARD = 160, SENTINEL = 0x5d }; /* GUARD: bytes after every output, more than two registers */

uint64_t ref_next(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * 0x2545F4914F6CDD1DULL;
}

static float normal(uint64_t *s)
{
    float sum = -2.0f;
    for (int i = 0; i < 4; i++)
        sum += (float)(ref_next(s) >> 40) * 0x1p-24f;
    return sum * 1.7320508f;
}

static void *room(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(p);
    return p;
}

float *ref_random(uint64_t *s, size_t n, float scale)
{
    float *p = room(n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = scale * normal(s);
    return p;
}

int ref_pick(uint64_t *s, const int *list, size_t n)
{
    return list[ref_next(s) % n];
}

int ref_pick_rows(uint64_t *s)
{
    return PICK(s, 0, 1, 2, 3, 5, 13, 14, 15, 20, 29, 64, 113, 120);
}

int ref_pick_width(uint64_t *s)
{
    return PICK(s, 1, 2, 8, 10, 13, 16, 17, 31, 32, 33, 48, 64, 100);
}

static size_t bytes_of(const struct ref_array *a)
{
    static const size_t sizes[] = {sizeof(float), sizeof(int), sizeof(double), 1, sizeof(int)};
    return a->n * sizes[a->kind];
}

/* Moves contents [n] into the table's memory and frees them. Host memory keeps its exact length, so that ASan
 * detects overruns. */
static void *give(struct ref_call *r, enum ref_kind kind, size_t n, void *contents, bool guarded, bool kept)
{
    struct ref_array a = {.kind = kind, .n = n, .guarded = guarded, .kept = kept};
    size_t shift = kind == REF_FLOATS || kind == REF_INTS ? r->shift : 0;
    size_t bytes = bytes_of(&a), behind = guarded ? GUARD : 0;
    char *whole = room(shift + bytes + behind);
    assert_true(r->n_arrays < (int)(sizeof r->arrays / sizeof *r->arrays));
    memset(whole, SENTINEL, shift + bytes + behind);
    if (bytes > 0)
        memcpy(whole + shift, contents, bytes);
    a.base = whole;
    if (!r->ops->host) {
        a.base = r->ops->alloc(r->be, shift + bytes + behind + 1);
        assert_non_null(a.base);
        r->ops->upload(r->be, a.base, whole, shift + bytes + behind);
        free(whole);
    }
    free(contents);
    a.at = (char *)a.base + shift;
    r->arrays[r->n_arrays++] = a;
    return a.at;
}

float *ref_input(struct ref_call *r, size_t n, float scale)
{
    return give(r, REF_FLOATS, n, ref_random(&r->s, n, scale), false, false);
}

int *ref_ids(struct ref_call *r, int n, int lowest, int limit)
{
    int *p = room((size_t)n * sizeof *p);
    for (int i = 0; i < n; i++)
        p[i] = lowest + (int)(ref_next(&r->s) % (uint64_t)(limit - lowest));
    return give(r, REF_INTS, (size_t)n, p, false, false);
}

void *ref_copy(struct ref_call *r, const void *from, size_t bytes)
{
    void *p = room(bytes);
    if (bytes > 0)
        memcpy(p, from, bytes);
    return give(r, REF_BYTES, bytes, p, false, false);
}

float *ref_output(struct ref_call *r, size_t n)
{
    return give(r, REF_FLOATS, n, ref_random(&r->s, n, 1.0f), true, true);
}

void *ref_output_of(struct ref_call *r, enum ref_kind kind, size_t n, const void *old)
{
    struct ref_array a = {.kind = kind, .n = n};
    unsigned char *p = room(bytes_of(&a));
    for (size_t i = 0; i < bytes_of(&a); i++)
        p[i] = old != NULL ? ((const unsigned char *)old)[i] : (unsigned char)ref_next(&r->s);
    return give(r, kind, n, p, true, true);
}

float *ref_own(struct ref_call *r, size_t n)
{
    uint64_t s = 1; /* separate from the inputs' seed, so that inputs don't depend on n */
    size_t shift = r->shift;
    r->shift = 0;
    float *p = give(r, REF_FLOATS, n, ref_random(&s, n, 1.0f), true, false);
    r->shift = shift;
    return p;
}

void ref_chunk(struct ref_call *r, void (*fn)(struct pw_ctx *c, int chunk, int worker, void *arg), void *arg)
{
    if (r->be != NULL)
        r->ops->for_chunks(r->be, 1, fn, arg);
    else
        fn(NULL, 0, 0, arg);
}

static void append(struct ref_out *out, const struct ref_array *a, const char *contents)
{
    if (out->n + a->n > out->cap) {
        out->cap = 2 * (out->n + a->n);
        out->data = realloc(out->data, out->cap * sizeof *out->data);
        assert_non_null(out->data);
    }
    for (size_t i = 0; i < a->n; i++) {
        double *to = &out->data[out->n++];
        float f;
        int k;
        switch (a->kind) {
        case REF_FLOATS:
            memcpy(&f, contents + i * sizeof f, sizeof f);
            *to = (double)f;
            break;
        case REF_INTS:
        case REF_HALVES:
            memcpy(&k, contents + i * sizeof k, sizeof k);
            *to = k;
            break;
        case REF_DOUBLES: memcpy(to, contents + i * sizeof *to, sizeof *to); break;
        case REF_BYTES: *to = contents[i]; break;
        }
    }
}

/* Fetches the outputs, checks their sentinels, and frees everything. */
static void finish(struct ref_call *r, struct ref_out *out)
{
    struct pw_err err;
    for (int i = 0; i < r->n_arrays; i++) {
        struct ref_array *a = &r->arrays[i];
        size_t bytes = bytes_of(a);
        if (a->guarded) {
            unsigned char *p = room(bytes + GUARD);
            if (r->ops->host) {
                memcpy(p, a->at, bytes + GUARD);
            } else {
                r->ops->download(r->be, p, a->at, bytes + GUARD);
                if (r->ops->sync(r->be, &err))
                    fail_msg("%s", err.msg);
            }
            for (size_t k = bytes; k < bytes + GUARD; k++)
                if (p[k] != SENTINEL)
                    fail_msg("wrote byte %zu beyond an output of %zu", k - bytes, bytes);
            if (a->kept)
                append(out, a, (const char *)p);
            free(p);
        }
        if (r->ops->host)
            free(a->base);
        else
            r->ops->free(r->be, a->base);
    }
}

struct job {
    const struct ref_case *rc;
    struct ref_call *r;
};

static void run_in_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct job *j = arg;
    (void)chunk;
    (void)worker;
    j->r->c = c;
    j->rc->run(j->r);
}

void ref_run(const struct ref_case *rc, const struct pw_backend_ops *ops, struct pw_backend *be,
             uint64_t seed, struct ref_out *out)
{
    struct ref_call r = {.ops = ops, .be = be, .s = seed * 0x9E3779B97F4A7C15ULL + 1};
    struct job job = {rc, &r};
    *out = (struct ref_out){0};
    if (rc->has != NULL && !rc->has(ops))
        return;
    r.shift = ref_next(&r.s) % 4 == 0 ? sizeof(float) : 0;
    if (rc->whole)
        rc->run(&r);
    else
        ref_chunk(&r, run_in_chunk, &job);
    finish(&r, out);
}

void ref_same_bits(const char *what, const struct ref_case *rc, uint64_t seed, const struct ref_out *a,
                   const struct ref_out *want)
{
    assert_int_equal(a->n, want->n);
    for (size_t i = 0; i < a->n; i++)
        if (memcmp(a->data + i, want->data + i, sizeof *a->data) != 0 &&
            !(isnan(a->data[i]) && isnan(want->data[i])))
            fail_msg("%s on %s, seed %d: output %zu of %zu is %a, should be %a", rc->name, what, (int)seed, i,
                     a->n, a->data[i], want->data[i]);
}

void ref_expect_bits(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                     struct pw_backend *be, uint64_t seed)
{
    struct ref_out a, b;
    if (rc->has != NULL && !rc->has(ops))
        return;
    ref_run(rc, ops, be, seed, &a);
    ref_run(rc, &ref_plain, NULL, seed, &b);
    ref_same_bits(what, rc, seed, &a, &b);
    free(a.data);
    free(b.data);
}

double ref_expect_values(const char *what, const struct ref_case *rc, const struct pw_backend_ops *ops,
                         struct pw_backend *be, const struct pw_backend_ops *oracle, uint64_t seed,
                         double times)
{
    struct ref_out a, b;
    double worst = 0.0;
    if (rc->has != NULL && !rc->has(ops))
        return 0.0;
    ref_run(rc, ops, be, seed, &a);
    ref_run(rc, oracle, NULL, seed, &b);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        double got = a.data[i], want = b.data[i];
        if (got == want || (isnan(got) && isnan(want)))
            continue; /* infinite values, too */
        double e = fabs(got - want) / (1.0 + fabs(want));
        if (!(e <= times * rc->tolerance)) /* also fails on NaN */
            fail_msg("%s on %s, seed %d: output %zu of %zu is %.9g, should be %.9g", rc->name, what,
                     (int)seed, i, a.n, got, want);
        worst = e > worst ? e : worst;
    }
    free(a.data);
    free(b.data);
    return worst;
}
