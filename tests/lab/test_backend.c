/* test_backend.c - tests `backend` through the lab's commands, on the emulated device. Models move with
 * their bits. If the device fails, the lab is as before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_lab.h"
#include "tests/emulator/emulator.h"

static const char tiny[] = "model layers=1 width=16 heads=2; optim batch=3";

static void must_fail(struct bench *b, const char *script, const char *with)
{
    bench_run(b, script);
    if (b->errors != 1 || strstr(b->error, with) == NULL)
        fail_msg("%s: %d errors, the last: %s", script, b->errors, b->error);
}

/* Copies the digest that the last `digest` printed. */
static void digest_of(char digest[33], const char *digests)
{
    const char *at = strstr(digests, "digest ");
    assert_non_null(at);
    snprintf(digest, 33, "%.32s", at + strlen("digest "));
}

static void must_be(const struct bench *b, const char *digest)
{
    char got[33];
    digest_of(got, b->digests);
    assert_string_equal(got, digest);
}

/* Stores the digest of t5 after four steps on the cpu. */
static void remember(char digest[33])
{
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "pe t5; train 4; digest");
    digest_of(digest, b.digests);
    bench_close(&b);
}

static void test_moves(void **state)
{
    char want[33];
    struct bench b;
    (void)state;
    remember(want);
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "pe t5; train 2; backend cuda mode=ref");
    assert_string_equal(b.s->lab.backend, "cuda: emulated, ref fp32");
    bench_must(&b, "train 1; prompt sort 3 1 2; backend cpu");
    assert_non_null(strstr(b.s->lab.backend, "cpu: 1 thread, "));
    bench_must(&b, "train 1; digest");
    must_be(&b, want);
    bench_must(&b, "backend cuda; digest");
    must_be(&b, want); /* weights keep their bits in any arithmetic */
    assert_non_null(strstr(b.digests, "  class machine"));
    assert_null(strstr(b.digests, "plans"));
    assert_string_equal(b.s->lab.backend, "cuda: emulated, fast tf32, class machine, cuBLASLt 13.0.0");
    bench_close(&b);
}

/* Run a script on the cpu and, with deferred streams, on the device in mode ref; keep what `digest` printed.
 */
static void run_on_both(const char *script, char digests[2][4096])
{
    static const char *const backends[] = {"backend cpu", "backend cuda mode=ref"};
    pw_emu_set_deferred(true);
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, tiny);
        bench_must(&b, backends[i]);
        bench_must(&b, script);
        snprintf(digests[i], sizeof digests[i], "%s", b.digests);
        bench_close(&b);
    }
    pw_emu_set_deferred(false);
}

/* Encodings that read the tokens have the bits of the cpu: the gates of fox, and training. */
static void test_reads_tokens(void **state)
{
    static float values[2][64];
    char digests[2][4096], digest[2][33];
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "pe fox; train 2");
    for (int i = 0; i < 2; i++) {
        bench_must(&b, "prompt sort 3 1 2; inspect layer=0 head=1");
        const struct pw_ev_attention *a = &b.s->attention;
        assert_true(a->gates && a->heads * a->T <= 64);
        memcpy(values[i], a->gate_values, (size_t)(a->heads * a->T) * sizeof **values);
        bench_must(&b, "backend cuda mode=ref");
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    bench_close(&b);
    run_on_both("pe stickbreaking; train 2; pe cope npos=4; train 2; pe inkling reach=3; train 2; pe pope; "
                "train 2; pe grape_turn; train 2; pe path; train 2; pe wall; train 2; pe selective; train 2; "
                "prompt sort 3 1 2; "
                "train 1; digest",
                digests);
    for (int i = 0; i < 2; i++)
        digest_of(digest[i], digests[i]);
    assert_string_equal(digest[0], digest[1]);
}

/* Learned tables of an encoding are transplanted between arms on the device as on the cpu. */
static void test_transplants(void **state)
{
    char digests[2][4096], digest[2][33];
    (void)state;
    run_on_both("race t5,t5; seed 9 arm=2; train 3; transplant 2 arm=1; train 2; digest", digests);
    for (int i = 0; i < 2; i++)
        digest_of(digest[i], digests[i]);
    assert_string_equal(digest[0], digest[1]);
}

/* Bits of mode fast depend on the plans that the library chose for each shape. Only runs with the same
 * shapes record the same choices. */
static void test_choices(void **state)
{
    char of[3][128];
    static const char *const scripts[] = {"train 2; digest", "train 2; digest",
                                          "optim batch=64; train 2; digest"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, tiny);
        bench_must(&b, "backend cuda");
        bench_must(&b, scripts[i]);
        const char *plans = strstr(b.digests, "  class machine, ");
        assert_non_null(plans);
        assert_true(atoi(plans + strlen("  class machine, ")) >= 10);
        snprintf(of[i], sizeof of[i], "%s", plans);
        bench_close(&b);
    }
    assert_string_equal(of[0], of[1]);
    assert_string_not_equal(of[0], of[2]);
}

/* With own batches, steps in flight have different samples for each replica, and replicas share memory
 * round-robin. Steps run in groups of four, one by one, and in order of operations instead of round-robin. */
static void test_own_batches(void **state)
{
    char digests[2][4096];
    (void)state;
    run_on_both("seed 7; race none,t5 seeds=3 batches=own; train 11; set share flops; train 2; digest",
                digests);
    for (int i = 0; i < 6; i++)
        assert_true(same_line(digest_line(digests[0], i), digest_line(digests[1], i)));
}

/* The same in mode fast: batches are padded, and steps of equal shape run in groups of four. Each replica
 * must equal the model that its seed alone trains. */
static void test_own_batches_in_groups(void **state)
{
    struct bench b;
    char script[128], digest[33], all[4096];
    (void)state;
    pw_emu_set_deferred(true);
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "backend cuda; seed 7; race t5 seeds=3 batches=own; train 43; digest");
    snprintf(all, sizeof all, "%s", b.digests);
    for (int k = 0; k < 3; k++) {
        snprintf(script, sizeof script, "seed %d; race t5; train 43; digest", 7 + k);
        bench_must(&b, script);
        digest_of(digest, b.digests);
        if (strstr(digest_line(all, k), digest) == NULL)
            fail_msg("replica %d is not seed %d", k + 1, 7 + k);
    }
    bench_close(&b);
    pw_emu_set_deferred(false);
}

/* A timed evaluation starts when the first arm has steps in flight and the second has none. Rounds must
 * keep their order. */
static void test_lands_in_order(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, true);
    bench_must(&b, tiny);
    bench_must(&b, "race none,t5; backend cuda mode=ref; train 51");
    bench_doze(700);
    bench_must(&b, "train 10");
    assert_string_equal(b.order, "12121212121212121212");
    bench_close(&b);
}

/* Each refusal emits one error, and training continues with unchanged bits. */
static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"backend cuda:1", "there is no device 1"},
        {"backend gpu", "no backend 'gpu'"},
        {"backend cpu mode=ref", "the cpu has no modes"},
        {"backend cuda mode=ref precision=bf16", "cuda has no mode ref in bf16; there are fast in tf32"},
        {"set precision tf32", "the cpu has fp32 and bf16"},
    };
    char want[33];
    struct bench b;
    (void)state;
    remember(want);
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "pe t5; train 2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        must_fail(&b, cases[i][0], cases[i][1]);
    pw_emu_set_device(NULL, 6, 1);
    must_fail(&b, "backend cuda", "its compute capability is 6.1, this needs 7.5");
    pw_emu_set_device(NULL, 7, 5);
    must_fail(&b, "backend cuda precision=bf16", "begins with compute capability 8.0");
    pw_emu_set_device(NULL, 8, 6);
    pw_emu_fail_launch(1, cudaErrorNoKernelImageForDevice);
    must_fail(&b, "backend cuda", "has no code for compute capability 8.6: build it with -DPEWTER_CUDA_ARCH");
    pw_emu_reset();
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    pw_emu_set_devices(0, cudaErrorNoDevice);
    must_fail(&b, "backend cuda", "there is no NVIDIA device");
    pw_emu_set_devices(1, cudaSuccess);
    setenv("PEWTER_BACKEND_DIR", "/nowhere", 1);
    must_fail(&b, "backend cuda", "no plug-in libpewter_cuda.so in /nowhere");
    setenv("PEWTER_BACKEND_DIR", getenv("PLUGIN_DIR"), 1);
    bench_must(&b, "train 2; digest");
    must_be(&b, want);
    bench_close(&b);
}

/* Any allocation of the move and of the first steps may fail. */
static void test_no_memory(void **state)
{
    char want[33];
    int failed = 0;
    (void)state;
    remember(want);
    for (int n = 1; n <= 40; n += 3) {
        struct bench b;
        bench_open(&b, 1, false);
        bench_must(&b, tiny);
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
        must_be(&b, want);
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
    must_fail(&b, "backend cuda mode=ref; model tiny layers=12 width=128", "on the device; layers=");
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
        digest_of(want, b.digests);
        if (i == 1)
            bench_must(&b, "optim batch=512");
        pw_emu_set_memory(48 << 20);
        bench_run(&b, fails[i]);
        int batch = proposed(&b, 8, 64);
        bench_must(&b, "digest");
        must_be(&b, want);
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
    must_fail(&b, "backend cuda mode=ref", "head_width=160: cuda allows 1..128, the cpu any");
    bench_must(&b, "model tiny layers=1 width=128 heads=1; backend cuda mode=ref");
    must_fail(&b, "model width=129", "head_width=129: cuda allows 1..128, the cpu any");
    bench_must(&b, "optim batch=2; train 1");
    bench_close(&b);
}

/* Probes of proofs give the same numbers on the device. */
static void test_proofs(void **state)
{
    static const char *const names[] = {"theorem1", "theorem2"};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "construct theorem2 T=6; probe theorem1; probe theorem2");
    struct pw_event *cpu[2];
    for (int i = 0; i < 2; i++)
        cpu[i] = finding_copied(&pw_finding_of(b.s, names[i], "1")->f);
    bench_must(&b, "backend cuda mode=ref; probe theorem1; probe theorem2");
    for (int i = 0; i < 2; i++) {
        const struct pw_finding *f = &pw_finding_of(b.s, names[i], "1")->f;
        assert_int_equal(pw_finding_verdict(f), PW_CLAIM_REPRODUCED);
        assert_int_equal(f->n_values, cpu[i]->u.finding.n_values);
        assert_memory_equal(f->values, cpu[i]->u.finding.values, (size_t)f->n_values * sizeof *f->values);
        pw_event_free(cpu[i]);
    }
    bench_close(&b);
}

struct accident {
    char error[512], digest[33], after[33];
};

/* Grows the weights a hundredfold with every step until a loss is not finite, then trains fresh weights. */
static void have(struct accident *x, const char *backend)
{
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, backend);
    bench_must(&b, "pe t5; train 17; optim lr=10 decay=10 warmup=0");
    must_fail(&b, "train 60", "is not finite at step ");
    snprintf(x->error, sizeof x->error, "%s", b.error);
    bench_must(&b, "digest");
    digest_of(x->digest, b.digests);
    must_fail(&b, "train 9", x->error); /* the model is unchanged */
    bench_must(&b, "digest");
    must_be(&b, x->digest);
    bench_must(&b, "reset; optim lr=0.001 decay=0.01; train 9; digest");
    digest_of(x->after, b.digests);
    bench_close(&b);
}

/* With steps in flight, a loss that is not finite ends training as it does on the cpu. */
static void test_not_finite(void **state)
{
    struct accident cpu, cuda;
    (void)state;
    have(&cpu, "backend cpu");
    pw_emu_set_deferred(true);
    have(&cuda, "backend cuda mode=ref");
    pw_emu_set_deferred(false);
    assert_string_equal(cuda.error, cpu.error);
    assert_string_equal(cuda.digest, cpu.digest);
    assert_string_equal(cuda.after, cpu.after);
}

static void test_lost(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, tiny);
    bench_must(&b, "backend cuda mode=ref; train 1");
    pw_emu_fail_launch(20, cudaErrorIllegalAddress);
    must_fail(&b, "train 9", "an illegal memory access was encountered; the device is lost to this process");
    must_fail(&b, "train 1", "lost to this process");
    must_fail(&b, "backend cpu",
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
        bench_must(&b, tiny);
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
    setenv("PLUGIN_DIR", getenv("PEWTER_BACKEND_DIR"), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_wide_heads),
        cmocka_unit_test(test_batch_fits),
        cmocka_unit_test(test_fits_with_scratch),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_own_batches),
        cmocka_unit_test(test_own_batches_in_groups),
        cmocka_unit_test(test_lands_in_order),
        cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_lost_anywhere),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_transplants),
        cmocka_unit_test(test_reads_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
