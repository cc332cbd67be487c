/* peak.c - measures the peak arithmetic of this machine: chains of fused multiply-adds in registers; for
 * bf16, products in the tiles of the matrix unit.
 *
 * usage: peak THREADS [fp32|bf16]
 *
 * Prints billions of operations per second (a multiply-add counts as two), the best of many short rounds.
 * Training can't be faster than this; bench.py reports its speed as a share of it.
 *
 * Compiled with -ffp-contract=fast, so that acc * x + y on vectors is one instruction if the machine has
 * one. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { MAX_THREADS = 256, ROUNDS = 60, ITERATIONS = 2000000 };

/* ACCS independent chains of vectors: enough to hide the latency of two units (about 4 cycles each), and few
 * enough for the registers. x < 1 keeps the values finite and normal. */
#define DEFINE_SPIN(name, bytes, ACCS, attributes)                                                           \
    typedef float name##_vec __attribute__((vector_size(bytes)));                                            \
    attributes static float name(void)                                                                       \
    {                                                                                                        \
        name##_vec acc[ACCS], x, y;                                                                          \
        for (size_t i = 0; i < (bytes) / sizeof(float); i++)                                                 \
            x[i] = 0.5f + (float)i / 64.0f, y[i] = 1.0f;                                                     \
        for (int k = 0; k < ACCS; k++)                                                                       \
            acc[k] = x * (float)k;                                                                           \
        for (int i = 0; i < ITERATIONS; i++) {                                                               \
            _Pragma("GCC unroll 16") for (int k = 0; k < ACCS; k++) acc[k] = acc[k] * x + y;                 \
        }                                                                                                    \
        for (int k = 1; k < ACCS; k++)                                                                       \
            acc[0] += acc[k];                                                                                \
        return acc[0][0];                                                                                    \
    }

#ifdef __x86_64__
DEFINE_SPIN(spin_avx512, 64, 12, __attribute__((target("avx512f"))))
DEFINE_SPIN(spin_avx2, 32, 12, __attribute__((target("avx2,fma"))))
#endif
DEFINE_SPIN(spin_plain, 16, 12, )

#ifdef __x86_64__
/* Four sums of 16 x 16, each over 32 products at a time: enough to hide the unit's latency. */
__attribute__((target("amx-tile,amx-bf16"))) static float spin_amx(void)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = {1, 0, {0}, {64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16}};
    float sums[16 * 16];

    _tile_loadconfig(&shape);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int i = 0; i < ITERATIONS / 16; i++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, sums, 64);
    _tile_release();
    return sums[0];
}
#endif

struct kernel {
    const char *name;
    float (*spin)(void);
    double operations; /* per call */
};

static struct kernel pick(bool bf16)
{
#ifdef __x86_64__
    /* ARCH_REQ_XCOMP_PERM: a process must request the use of the tiles */
    if (bf16 && syscall(SYS_arch_prctl, 0x1023, 18) == 0)
        return (struct kernel){"amx", spin_amx, 2.0 * 4 * 16 * 16 * 32 * (ITERATIONS / 16)};
#endif
    if (bf16)
        return (struct kernel){NULL, NULL, 0};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return (struct kernel){"avx512f", spin_avx512, 2.0 * 12 * 16 * ITERATIONS};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct kernel){"avx2", spin_avx2, 2.0 * 12 * 8 * ITERATIONS};
#endif
    return (struct kernel){"plain", spin_plain, 2.0 * 12 * 4 * ITERATIONS};
}

static struct kernel kernel;
static volatile float sink; /* keeps the compiler from removing the result */

static void *work(void *arg)
{
    (void)arg;
    sink = kernel.spin();
    return NULL;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_THREADS];
    int n = argc == 2 || argc == 3 ? atoi(argv[1]) : 0;
    bool bf16 = argc == 3 && strcmp(argv[2], "bf16") == 0;
    double best = 0;

    if (n < 1 || n > MAX_THREADS || (argc == 3 && !bf16 && strcmp(argv[2], "fp32") != 0)) {
        fprintf(stderr, "usage: peak THREADS (1..%d) [fp32|bf16]\n", MAX_THREADS);
        return 2;
    }
    kernel = pick(bf16);
    if (kernel.spin == NULL) {
        fprintf(stderr, "peak: no bf16 matrix units (AMX) here\n");
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double begin = seconds();
        int started = 1;
        while (started < n && pthread_create(&thread[started], NULL, work, NULL) == 0)
            started++;
        work(NULL);
        for (int i = 1; i < started; i++)
            pthread_join(thread[i], NULL);
        double rate = started * kernel.operations / (seconds() - begin) * 1e-9;
        best = rate > best ? rate : best;
    }
    printf("{\"kernel\": \"%s\", \"gflops\": %.1f}\n", kernel.name, best);
    return 0;
}
