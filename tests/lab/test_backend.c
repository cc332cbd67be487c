/* test_backend.c - tests `backend` through the lab's commands, on the emulated device: models move with
 * their bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref_device.h"
#include "tests/emulator/emulator.h"

static void test_moves(void **state)
{
    char want[33];
    struct bench b;
    (void)state;
    device_remember(want);
    bench_open(&b, 1, false);
    bench_must(&b, device_tiny);
    bench_must(&b, "pe t5; train 2; backend cuda mode=ref");
    assert_string_equal(b.s->lab.backend, "cuda: emulated, ref fp32");
    bench_must(&b, "train 1; prompt sort 3 1 2; backend cpu");
    assert_non_null(strstr(b.s->lab.backend, "cpu: 1 thread, "));
    bench_must(&b, "train 1; digest");
    device_must_be(&b, want);
    bench_must(&b, "backend cuda; digest");
    device_must_be(&b, want); /* weights keep their bits in any arithmetic */
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
        bench_must(&b, device_tiny);
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
    bench_must(&b, device_tiny);
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
        device_digest(digest[i], digests[i]);
    assert_string_equal(digest[0], digest[1]);
}

/* Learned tables of an encoding are transplanted between arms on the device as on the cpu. */
static void test_transplants(void **state)
{
    char digests[2][4096], digest[2][33];
    (void)state;
    run_on_both("race t5,t5; seed 9 arm=2; train 3; transplant 2 arm=1; train 2; digest", digests);
    for (int i = 0; i < 2; i++)
        device_digest(digest[i], digests[i]);
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
        bench_must(&b, device_tiny);
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

/* Jobs that run models survive a move with the same bits. One to other arithmetic cancels them: their results
 * would be partly of one and partly of the other, and where the parts meet would depend on the moment. */
static void test_jobs(void **state)
{
    static const char *const jobs[] = {"eval samples=1000000", "ablate 0.0 mode=mean samples=4096",
                                       "patch heads from=\"sort 9 8 7 6 5 4 3 2 2\"",
                                       "export activations never.npz samples=5000"};
    struct bench b;
    char line[200];
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "model tiny width=16 layers=4 heads=4; prompt sort 9 8 7 6 5 4 3 2 1");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        snprintf(line, sizeof line, "%s; backend cuda mode=ref", jobs[i]);
        bench_begin_job(&b, line);
        while (strcmp(b.s->lab.backend, "cuda: emulated, ref fp32") != 0)
            bench_look(&b, 10000);
        assert_int_equal(b.s->job.state, PW_JOB_RUNNING);
        bench_send(&b, "backend cuda");
        while (strstr(b.s->lab.backend, "fast") == NULL)
            bench_look(&b, 10000);
        assert_int_equal(b.s->job.state, PW_JOB_CANCELLED);
        bench_must(&b, "backend cpu");
    }
    bench_close(&b);
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
    bench_must(&b, device_tiny);
    bench_must(&b, "backend cuda; seed 7; race t5 seeds=3 batches=own; train 43; digest");
    snprintf(all, sizeof all, "%s", b.digests);
    for (int k = 0; k < 3; k++) {
        snprintf(script, sizeof script, "seed %d; race t5; train 43; digest", 7 + k);
        bench_must(&b, script);
        device_digest(digest, b.digests);
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
    bench_must(&b, device_tiny);
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
    device_remember(want);
    bench_open(&b, 1, false);
    bench_must(&b, device_tiny);
    bench_must(&b, "pe t5; train 2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_must_fail(&b, cases[i][0], cases[i][1]);
    pw_emu_set_device(NULL, 6, 1);
    bench_must_fail(&b, "backend cuda", "its compute capability is 6.1, this needs 7.5");
    pw_emu_set_device(NULL, 7, 5);
    bench_must_fail(&b, "backend cuda precision=bf16", "begins with compute capability 8.0");
    pw_emu_set_device(NULL, 8, 6);
    pw_emu_fail_launch(1, cudaErrorNoKernelImageForDevice);
    bench_must_fail(&b, "backend cuda",
                    "has no code for compute capability 8.6: build it with -DPEWTER_CUDA_ARCH");
    pw_emu_reset();
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    pw_emu_set_devices(0, cudaErrorNoDevice);
    bench_must_fail(&b, "backend cuda", "there is no NVIDIA device");
    pw_emu_set_devices(1, cudaSuccess);
    setenv("PEWTER_BACKEND_DIR", "/nowhere", 1);
    bench_must_fail(&b, "backend cuda", "no plug-in libpewter_cuda.so in /nowhere");
    setenv("PEWTER_BACKEND_DIR", getenv("PLUGIN_DIR"), 1);
    bench_must(&b, "train 2; digest");
    device_must_be(&b, want);
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

int main(void)
{
    setenv("PLUGIN_DIR", getenv("PEWTER_BACKEND_DIR"), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_jobs),           cmocka_unit_test(test_choices),
        cmocka_unit_test(test_own_batches),    cmocka_unit_test(test_own_batches_in_groups),
        cmocka_unit_test(test_lands_in_order), cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_transplants),    cmocka_unit_test(test_reads_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
