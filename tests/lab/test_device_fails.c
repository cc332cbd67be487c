/* test_device_fails.c - tests a device that fails, on the emulated device: it lacks memory, gets numbers that
 * are not finite, or is lost. The lab is as before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_device.h"
#include "tests/emulator/emulator.h"

/* Any allocation of the move and of the first steps may fail. */
static void test_no_memory(void **state)
{
    char want[33];
    int failed = 0;
    (void)state;
    device_remember(want);
    for (int n = 1; n <= 40; n += 3) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, device_tiny);
        bench_must(&b, "pe t5; train 2");
        pw_emu_fail_malloc(n);
        bench_run(&b, "backend cuda mode=ref; train 2");
        pw_emu_fail_malloc(0);
        if (b.errors > 0) {
            failed++;
            if (b.errors != 1 || strstr(b.error, "memory") == NULL)
                fail_msg("allocation %d: %d errors, the last: %s", n, b.errors, b.error);
            bench_must(&b, "train until step=4");
        }
        bench_must(&b, "digest");
        device_must_be(&b, want);
        bench_close(&b);
    }
    assert_in_range(failed, 5, 14);
}

/* A model that does not fit is refused with a proposal that would fit. */
static void test_fits(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    pw_emu_set_memory(64 << 20);
    bench_must_fail(&b, "backend cuda mode=ref; model tiny layers=12 width=128", "on the device; layers=");
    assert_string_equal(b.s->lab.backend, "cuda: emulated, ref fp32");
    bench_must(&b, "optim batch=3; train 1");
    bench_close(&b);
    pw_emu_set_memory(0);
}

/* Returns the batch that the error proposes, which must be within these bounds. */
static int proposed(const struct bench *b, int least, int most)
{
    const char *fits = strstr(b->error, "are free on the device; optim batch=");
    if (b->errors != 1 || fits == NULL)
        fail_msg("%d errors, the last: %s", b->errors, b->error);
    int batch = atoi(strchr(fits, '=') + 1);
    assert_in_range(batch, least, most);
    return batch;
}

/* A batch that exceeds free memory is refused with a proposal that fits, before a step fails. If another
 * process took the memory meanwhile, the step fails with the same proposal. In both cases the arm is as
 * before, and trains. */
static void test_batch_fits(void **state)
{
    static const char *const fails[] = {"optim batch=512", "train 1"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        char want[33], optim[64];
        bench_open(&b, 1, false);
        bench_must(&b, "backend cuda; model tiny; task copy lengths=1..20 test=21..21");
        bench_must(&b, "optim batch=8; train 2; digest");
        device_digest(want, b.digests);
        if (i == 1)
            bench_must(&b, "optim batch=512");
        pw_emu_set_memory(48 << 20);
        bench_run(&b, fails[i]);
        int batch = proposed(&b, 8, 64);
        bench_must(&b, "digest");
        device_must_be(&b, want);
        snprintf(optim, sizeof optim, "optim batch=%d; train 2", batch);
        bench_must(&b, optim);
        bench_close(&b);
        pw_emu_set_memory(0);
    }
}

/* Train with `mib` MiB of memory. Returns whether it fits; otherwise it is refused with a proposal. */
static bool fits(int mib, const char *mode, const char *pe)
{
    struct bench b;
    char script[300];
    snprintf(script, sizeof script,
             "model layers=1 width=8 heads=1 context=90; task copy lengths=20..20 test=21..21; "
             "optim batch=6; pe %s",
             pe);
    bench_open(&b, 1, false);
    bench_must(&b, script);
    pw_emu_set_memory((size_t)mib << 20);
    snprintf(script, sizeof script,
             "backend cuda mode=%s; model layers=1 width=64 heads=16 context=90; train 2; eval samples=2",
             mode);
    bench_run(&b, script);
    bool trained = b.errors == 0;
    if (!trained && strstr(b.error, "would fit") == NULL && strstr(b.error, "does not fit") == NULL)
        fail_msg("%d MiB, %s, %s: %s", mib, mode, pe, b.error);
    bench_close(&b);
    pw_emu_set_memory(0);
    return trained;
}

/* The estimate includes the scratch memory of attention. A model either trains or is refused with a
 * proposal; it could be wrong near the least memory that a model trains in, which is searched for. */
static void test_fits_with_scratch(void **state)
{
    static const char *const modes[] = {"ref", "fast", "fast precision=bf16"};
    static const char *const pes[] = {"cope npos=200", "inkling reach=200", "pope",
                                      "grape_turn",    "stickbreaking",     "path",
                                      "wall",          "selective"};
    int trained = 0;
    (void)state;
    for (int n = 0; n < 12; n++)
        trained += fits(8 + 3 * n, modes[n % 3], "t5"); /* 8 MiB for matrix products alone */
    assert_true(trained > 1 && trained < 11);
    for (size_t k = 0; k < sizeof pes / sizeof *pes; k++) {
        int refused = 2, fitting = 16; /* MiB */
        assert_false(fits(refused, "ref", pes[k]));
        assert_true(fits(fitting, "ref", pes[k]));
        while (fitting - refused > 2) {
            int between = (refused + fitting) / 2;
            *(fits(between, "ref", pes[k]) ? &fitting : &refused) = between;
        }
    }
}

/* The device refuses heads that are too wide for its attention kernel; the model stays as it is. */
static void test_wide_heads(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny layers=1 width=160 heads=1");
    bench_must_fail(&b, "backend cuda mode=ref", "head_width=160: cuda allows 1..128, the cpu any");
    bench_must(&b, "model tiny layers=1 width=128 heads=1; backend cuda mode=ref");
    bench_must_fail(&b, "model width=129", "head_width=129: cuda allows 1..128, the cpu any");
    bench_must(&b, "optim batch=2; train 1");
    bench_close(&b);
}

struct accident {
    char error[512], digest[33], after[33];
};

/* Grows the weights a hundredfold with every step until a loss is not finite, then trains fresh weights. */
static void have(struct accident *x, const char *backend, const char *pe)
{
    struct bench b;
    char line[64];
    bench_open(&b, 1, false);
    bench_must(&b, device_tiny);
    bench_must(&b, backend);
    snprintf(line, sizeof line, "pe %s; train 17", pe);
    bench_must(&b, line);
    bench_must(&b, "optim lr=10 decay=10 warmup=0");
    bench_must_fail(&b, "train 60", "is not finite at step ");
    snprintf(x->error, sizeof x->error, "%s", b.error);
    bench_must(&b, "digest");
    device_digest(x->digest, b.digests);
    bench_must_fail(&b, "train 9", x->error); /* the model is unchanged */
    bench_must(&b, "digest");
    device_must_be(&b, x->digest);
    bench_must(&b, "reset; optim lr=0.001 decay=0.01; train 9; digest");
    device_digest(x->after, b.digests);
    bench_close(&b);
}

/* With steps in flight, a loss that is not finite ends training as it does on the cpu. The frequencies of
 * grape_turn are learned, so they grow, too: the angles become too large for sines. */
static void test_not_finite(void **state)
{
    static const char *const pes[] = {"t5", "grape_turn"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct accident cpu, cuda;
        have(&cpu, "backend cpu", pes[i]);
        pw_emu_set_deferred(true);
        have(&cuda, "backend cuda mode=ref", pes[i]);
        pw_emu_set_deferred(false);
        assert_string_equal(cuda.error, cpu.error);
        assert_string_equal(cuda.digest, cpu.digest);
        assert_string_equal(cuda.after, cpu.after);
    }
}

static void test_lost(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, device_tiny);
    bench_must(&b, "backend cuda mode=ref; train 1");
    pw_emu_fail_launch(20, cudaErrorIllegalAddress);
    bench_must_fail(&b, "train 9",
                    "an illegal memory access was encountered; the device is lost to this process");
    bench_must_fail(&b, "train 1", "lost to this process");
    bench_must_fail(
        &b, "backend cpu",
        "lost to this process; with --backend cpu the session continues from its last checkpoint");
    bench_run(&b, "digest; runs"); /* must not crash */
    bench_close(&b);
    pw_emu_reset();
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
}

/* Whatever is asked of a lost device next, the error says that the device is lost. */
static void test_lost_anywhere(void **state)
{
    static const char *const modes[] = {"ref", "fast"};
    int lost = 0;
    (void)state;
    for (int n = 1; n <= 400; n += 19) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, device_tiny);
        pw_emu_fail_launch(n, cudaErrorIllegalAddress);
        char script[200];
        snprintf(script, sizeof script,
                 "backend cuda mode=%s; race t5,none; train 3; prompt sort 2 1; eval lengths=2..3 samples=2; "
                 "train 2",
                 modes[n % 2]);
        bench_run(&b, script);
        lost += b.errors > 0; /* otherwise the script ended before this launch */
        if (b.errors > 0 && strstr(b.error, "lost") == NULL)
            fail_msg("launch %d: %d errors, the last: %s", n, b.errors, b.error);
        bench_close(&b);
        pw_emu_reset();
        assert_int_equal(cudaDeviceReset(), cudaSuccess);
    }
    assert_true(lost > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_wide_heads),
        cmocka_unit_test(test_batch_fits),    cmocka_unit_test(test_fits_with_scratch),
        cmocka_unit_test(test_fits),          cmocka_unit_test(test_lost),
        cmocka_unit_test(test_lost_anywhere), cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
