/* ref_device.c - arrays on the device, compared with the host's. */
#include "tests/cuda/ref_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GUARD = 40, MOST = 64 };
#define SENTINEL 0x1.234568p+60f

static struct array {
    float *base, *p; /* on the device */
    size_t n;
} arrays[MOST];
static int n_arrays;

float *device_floats(const float *from, size_t n, size_t skew)
{
    float guard[GUARD];
    assert_true(n_arrays < MOST);
    struct array *a = &arrays[n_arrays];
    DEVICE(cudaMalloc((void **)&a->base, (skew + n + GUARD) * sizeof *a->base));
    n_arrays++;
    a->p = a->base + skew;
    a->n = n;
    for (int i = 0; i < GUARD; i++)
        guard[i] = SENTINEL;
    DEVICE(cudaMemcpy(a->p + n, guard, sizeof guard, cudaMemcpyHostToDevice));
    if (from != NULL && n > 0)
        DEVICE(cudaMemcpy(a->p, from, n * sizeof *from, cudaMemcpyHostToDevice));
    return a->p;
}

static const struct array *find(const float *p)
{
    for (int i = 0; i < n_arrays; i++)
        if (arrays[i].p == p)
            return &arrays[i];
    fail_msg("no array of this test's");
    return NULL;
}

void device_read(float *to, const float *array)
{
    const struct array *a = find(array);
    float guard[GUARD];
    DEVICE(cudaDeviceSynchronize());
    if (a->n > 0)
        DEVICE(cudaMemcpy(to, a->p, a->n * sizeof *to, cudaMemcpyDeviceToHost));
    DEVICE(cudaMemcpy(guard, a->p + a->n, sizeof guard, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != SENTINEL)
            fail_msg("wrote %d floats beyond an array of %zu", i + 1, a->n);
}

void device_free(void)
{
    while (n_arrays > 0)
        DEVICE(cudaFree(arrays[--n_arrays].base));
}

static float *fetch(const float *array, size_t *n)
{
    *n = find(array)->n;
    float *got = malloc((*n + 1) * sizeof *got);
    assert_non_null(got);
    device_read(got, array);
    return got;
}

void device_expect_bits(const char *what, unsigned long seed, const float *want, const float *array)
{
    size_t n;
    float *got = fetch(array, &n);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
            fail_msg("%s, seed %lu: number %zu of %zu is %a, should be %a", what, seed, i, n, (double)got[i],
                     (double)want[i]);
    free(got);
}

void device_expect_near(const char *what, unsigned long seed, const float *want, const float *array,
                        double tolerance)
{
    size_t n;
    float *got = fetch(array, &n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1.0 + fabs((double)want[i]))))
            fail_msg("%s, seed %lu: number %zu of %zu is %.9g, should be %.9g", what, seed, i, n,
                     (double)got[i], (double)want[i]);
    free(got);
}
