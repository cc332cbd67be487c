/* test_host.c - tests the host side of the CUDA backend through its table: memory and copies, marks to wait
 * for, graphs, and sticky errors. Streams run as late as possible, so that a missing wait is detected. */
#include "kernels/backend.h"
#include "tests/emulator/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct device {
    const struct pw_backend_ops *ops;
    struct pw_backend *be;
};

static int open_device(void **state)
{
    static struct device d;
    struct pw_err err;
    int unit;
    pw_emu_set_deferred(true);
    d.ops = pw_backend_find("cuda:0", "ref", NULL, &unit, &err);
    if (d.ops == NULL || d.ops->open(&d.be, unit, &err) != PW_OK)
        fail_msg("%s", err.msg);
    *state = &d;
    return 0;
}

static int close_device(void **state)
{
    struct device *d = *state;
    d->ops->close(d->be);
    pw_emu_reset();
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    return 0;
}

static void must_sync(const struct device *d)
{
    struct pw_err err;
    if (d->ops->sync(d->be, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static void *must_alloc(const struct device *d, size_t bytes)
{
    void *p = d->ops->alloc(d->be, bytes);
    assert_non_null(p);
    return p;
}

/* Byte k of a pattern that differs between blocks of pinned memory. */
static unsigned char written(size_t k, size_t which)
{
    return (unsigned char)(k * 7 + (k >> 16) * 31 + which);
}

/* New memory is zero and aligned. An upload's source may be overwritten at once, also if it is larger than
 * all pinned memory. */
static void test_copies(void **state)
{
    const struct device *d = *state;
    static const size_t sizes[] = {1, 63, 4096, (2 << 20) - 1, (2 << 20) + 1, (9 << 20) + 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        unsigned char *host = malloc(n), *back = malloc(n), *dev = must_alloc(d, n);
        assert_non_null(host);
        assert_non_null(back);
        assert_int_equal((uintptr_t)dev % 64, 0);
        d->ops->download(d->be, back, dev, n);
        must_sync(d);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(back[k], 0);
        for (int again = 0; again < 4; again++) { /* small ones share a block */
            for (size_t k = 0; k < n; k++)
                host[k] = written(k, n + again);
            d->ops->upload(d->be, dev, host, n);
            memset(host, 0xee, n);
        }
        d->ops->download(d->be, back, dev, n);
        must_sync(d);
        for (size_t k = 0; k < n; k++)
            if (back[k] != written(k, n + 3))
                fail_msg("%zu bytes: byte %zu", n, k);
        d->ops->free(d->be, dev);
        free(host);
        free(back);
    }
    d->ops->free(d->be, NULL);
    d->ops->upload(d->be, NULL, NULL, 0);
    d->ops->download(d->be, NULL, NULL, 0);
}

/* A wait completes all work before its mark. Old marks are as good as later ones. */
static void test_marks(void **state)
{
    const struct device *d = *state;
    enum { N = 200 };
    uint64_t mark[N];
    struct pw_err err;
    int *dev = must_alloc(d, N * sizeof *dev), *out = d->ops->host_alloc(d->be, N * sizeof *out);
    assert_non_null(out);
    for (int i = 0; i < N; i++) {
        int value = i + 1;
        assert_int_equal(out[i], 0);
        d->ops->upload(d->be, dev + i, &value, sizeof value);
        d->ops->download(d->be, out + i, dev + i, sizeof value);
        mark[i] = d->ops->mark(d->be);
        assert_true(i == 0 || mark[i] > mark[i - 1]);
    }
    assert_int_equal(d->ops->wait(d->be, mark[150], &err), PW_OK);
    assert_int_equal(out[150], 151);
    assert_int_equal(d->ops->wait(d->be, mark[3], &err), PW_OK); /* the event of this mark has been reused */
    assert_int_equal(out[3], 4);
    assert_int_equal(d->ops->wait(d->be, mark[N - 1], &err), PW_OK);
    assert_int_equal(out[N - 1], N);
    d->ops->host_free(d->be, out);
    d->ops->free(d->be, dev);
}

struct sum {
    const struct device *d;
    float *y, *x;
    int calls;
};

static void add_in_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct sum *s = arg;
    (void)chunk;
    (void)worker;
    s->d->ops->add(c, s->y, s->x, 3);
}

static void add(void *arg)
{
    struct sum *s = arg;
    s->calls++;
    s->d->ops->for_chunks(s->d->be, 2, add_in_chunk, s);
}

static float value_of(const struct sum *s)
{
    float y[3];
    s->d->ops->download(s->d->be, y, s->y, sizeof y);
    must_sync(s->d);
    assert_true(y[0] == y[1] && y[1] == y[2]);
    return y[0];
}

/* Run eagerly, captured, and then launched: the same result each time, with the current contents of
 * memory. */
static void test_replay(void **state)
{
    const struct device *d = *state;
    struct sum s = {.d = d, .y = must_alloc(d, 12), .x = must_alloc(d, 12)};
    float total = 0;
    for (int i = 1; i <= 6; i++) {
        float x[3] = {(float)i, (float)i, (float)i};
        d->ops->upload(d->be, s.x, x, sizeof x);
        d->ops->replay(d->be, "sum", 3, add, &s);
        total += 2 * (float)i;
        assert_true(value_of(&s) == total);
        assert_int_equal(s.calls, i < 2 ? i : 2);
    }
    d->ops->free(d->be, must_alloc(d, 64)); /* a graph may use any freed memory */
    for (int i = 0; i < 3; i++)
        d->ops->replay(d->be, "sum", 3, add, &s);
    assert_int_equal(s.calls, 3);
    assert_true(value_of(&s) == total + 3 * 2 * 6);
    d->ops->replay(d->be, "sun", 3, add, &s);
    d->ops->replay(d->be, "su", 2, add, &s);
    assert_int_equal(s.calls, 5);   /* other keys */
    for (int i = 0; i < 100; i++) { /* more keys than are kept */
        char key[16];
        snprintf(key, sizeof key, "key %d", i);
        d->ops->replay(d->be, key, sizeof key, add, &s);
        d->ops->replay(d->be, key, sizeof key, add, &s);
        d->ops->replay(d->be, key, sizeof key, add, &s);
    }
    assert_int_equal(s.calls, 205);
    d->ops->replay(d->be, "sum", 3, add, &s);
    assert_int_equal(s.calls, 206);
    assert_true(value_of(&s) == total + (3 + 2 + 300 + 1) * 2 * 6);
    d->ops->free(d->be, s.x);
    d->ops->free(d->be, s.y);
}

/* The first error is reported once and later work is skipped. A device that survives continues. */
static void test_survived(void **state)
{
    const struct device *d = *state;
    struct sum s = {.d = d, .y = must_alloc(d, 12), .x = must_alloc(d, 12)};
    float one[3] = {1, 1, 1};
    struct pw_err err;
    d->ops->upload(d->be, s.x, one, sizeof one);
    add(&s);
    pw_emu_fail_malloc(1);
    assert_null(d->ops->alloc(d->be, 64)); /* not sticky: the caller handles it */
    must_sync(d);
    pw_emu_fail_malloc(1);
    d->ops->reduce(d->be, s.y, (double *)s.x, (int *)s.x + 2, s.y, 1, 3, 1 << 20, NULL,
                   0); /* needs scratch */
    add(&s);
    assert_int_equal(d->ops->sync(d->be, &err), PW_ENOMEM);
    assert_string_equal(err.msg, "cuda: scratch: out of memory");
    must_sync(d);
    assert_true(value_of(&s) == 2);
    add(&s);
    assert_true(value_of(&s) == 4);
    d->ops->free(d->be, s.x);
    d->ops->free(d->be, s.y);
}

static void need_scratch(void *arg)
{
    const struct sum *s = arg;
    s->d->ops->reduce(s->d->be, s->y, (double *)s->x, (int *)s->x + 2, s->y, 1, 3, 3, NULL, 0);
}

/* A graph can't be captured after its scratch was freed: the work then runs eagerly. */
static void test_scratch_lost(void **state)
{
    const struct device *d = *state;
    struct sum s = {.d = d, .y = must_alloc(d, 4 << 20), .x = must_alloc(d, 64)};
    struct pw_err err;
    for (int i = 0; i < 3; i++)
        d->ops->replay(d->be, "reduce", 6, need_scratch, &s);
    must_sync(d);
    pw_emu_fail_malloc(1);
    d->ops->reduce(d->be, s.y, (double *)s.x, (int *)s.x + 2, s.y, 1, 1 << 20, 1 << 20, NULL, 0);
    assert_int_equal(d->ops->sync(d->be, &err), PW_ENOMEM);
    for (int i = 0; i < 3; i++) {
        d->ops->replay(d->be, "reduce", 6, need_scratch, &s);
        must_sync(d);
    }
    d->ops->free(d->be, s.x);
    d->ops->free(d->be, s.y);
}

static void test_lost(void **state)
{
    const struct device *d = *state;
    struct sum s = {.d = d, .y = must_alloc(d, 12), .x = must_alloc(d, 12)};
    struct pw_err err;
    float y[3] = {5, 5, 5};
    pw_emu_fail_launch(1, cudaErrorIllegalAddress);
    add(&s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(d->ops->sync(d->be, &err), PW_EDEVICE);
        assert_non_null(strstr(err.msg, "an illegal memory access was encountered; the device is lost"));
        add(&s);
        d->ops->download(d->be, y, s.y, sizeof y);
        assert_true(y[0] == 5);
    }
    assert_int_equal(d->ops->wait(d->be, d->ops->mark(d->be), &err), PW_EDEVICE);
    assert_null(d->ops->alloc(d->be, 64));
    assert_null(d->ops->host_alloc(d->be, 64));
    d->ops->replay(d->be, "sum", 3, add, &s);
    d->ops->free(d->be, s.x);
    d->ops->free(d->be, s.y);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)
    const struct CMUnitTest tests[] = {TEST(test_copies),   TEST(test_marks),        TEST(test_replay),
                                       TEST(test_survived), TEST(test_scratch_lost), TEST(test_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
