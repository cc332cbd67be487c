/* test_device.c - devices that there are and aren't, memory that ends, configurations that no device takes,
 * and injected faults. */
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void devices(void **state)
{
    (void)state;
    struct cudaDeviceProp prop;
    int n = -1, value;
    void *p;
    assert_int_equal(cudaGetDeviceCount(&n), cudaSuccess);
    assert_int_equal(n, 1);
    pw_emu_set_device("an old one", 5, 2);
    assert_int_equal(cudaGetDeviceProperties(&prop, 0), cudaSuccess);
    assert_string_equal(prop.name, "an old one");
    assert_int_equal(prop.major * 10 + prop.minor, 52);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
    assert_int_equal(value, 5);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetDeviceProperties(&prop, -1), cudaErrorInvalidDevice);

    n = -1;
    pw_emu_set_driver(0);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
    assert_int_equal(n, -1); /* not touched, as CUDA's */
    assert_int_equal(cudaMalloc(&p, 4), cudaErrorInsufficientDriver);
    assert_int_equal(cudaDriverGetVersion(&value), cudaSuccess);
    assert_int_equal(value, 0);
    pw_emu_set_driver(12040);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
    assert_int_equal(cudaDriverGetVersion(&value), cudaSuccess);
    assert_int_equal(value, 12040);
    pw_emu_set_driver(CUDART_VERSION);
    pw_emu_set_devices(0, cudaErrorNoDevice);
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    pw_emu_set_devices(1, cudaSuccess);
}

static void memory(void **state)
{
    (void)state;
    size_t free, total;
    void *p, *q;
    pw_emu_set_memory(10000);
    assert_int_equal(cudaMalloc(&p, 6000), cudaSuccess);
    assert_int_equal((uintptr_t)p % 256, 0);
    assert_int_equal(cudaMemGetInfo(&free, &total), cudaSuccess);
    assert_int_equal(total, 10000);
    assert_int_equal(free, 4000);
    q = p;
    assert_int_equal(cudaMalloc(&q, 4001), cudaErrorMemoryAllocation);
    assert_null(q);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaPeekAtLastError(), cudaSuccess);
    assert_int_equal(cudaMalloc(&q, 4000), cudaSuccess);
    assert_int_equal(cudaFree(p), cudaSuccess);
    assert_int_equal(cudaMalloc(&p, 6000), cudaSuccess); /* in the same place again */
    assert_true(p < q);

    unsigned char fresh[8];
    assert_int_equal(cudaMemcpy(fresh, p, 8, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 8; i++)
        assert_int_equal(fresh[i], 0xff);

    pw_emu_collect(true);
    assert_int_equal(cudaFree((char *)p + 256), cudaErrorInvalidValue);
    ref_assert_found("which is no allocation");
    assert_int_equal(cudaMemcpy(p, q, 4001, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    ref_assert_found("a copy of 4001 bytes leaves its allocation");
    assert_int_equal(cudaMemcpy(p, fresh, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ref_assert_found("a copy of kind 2 has device memory to write and host memory to read");
    assert_int_equal(cudaMemset((char *)p + 5999, 0, 2), cudaErrorInvalidValue);
    ref_assert_found("a memset of 2 bytes leaves its allocation");
}

static void configurations(void **state)
{
    (void)state;
    static const struct dim3 one = {1, 1, 1};
    static const struct {
        struct dim3 grid, block;
    } bad[] = {
        {{0, 1, 1}, {32, 1, 1}}, {{1, 65536, 1}, {32, 1, 1}},      {{1, 1, 65536}, {32, 1, 1}},
        {{1, 1, 1}, {0, 1, 1}},  {{1, 1, 1}, {1025, 1, 1}},        {{1, 1, 1}, {32, 33, 1}},
        {{1, 1, 1}, {1, 1, 65}}, {{0x80000000u, 1, 1}, {1, 1, 1}},
    };
    int *out = ref_device(NULL, 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sample_places(ref_stream, out, bad[i].grid, bad[i].block),
                         cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(sample_places(ref_stream, out, one, one), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess); /* nothing sticks */

    assert_int_equal(sample_dynamic(ref_stream, out, 48 << 10), cudaSuccess);
    assert_int_equal(sample_dynamic(ref_stream, out, (48 << 10) + 4), cudaErrorInvalidValue);
    assert_int_equal(sample_allow_dynamic(100 << 10), cudaErrorInvalidValue); /* 99 KB on this device */
    assert_int_equal(sample_allow_dynamic(99 << 10), cudaSuccess);
    assert_int_equal(sample_dynamic(ref_stream, out, 99 << 10), cudaSuccess);
    assert_int_equal(sample_dynamic(ref_stream, out, (99 << 10) + 4), cudaErrorInvalidValue);
    pw_emu_set_device(NULL, 7, 5);
    assert_int_equal(sample_allow_dynamic((64 << 10) + 4), cudaErrorInvalidValue);
}

static void failing_malloc(void **state)
{
    (void)state;
    void *p;
    pw_emu_fail_malloc(2);
    assert_int_equal(cudaMalloc(&p, 4), cudaSuccess);
    assert_int_equal(cudaMalloc(&p, 4), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&p, 4), cudaSuccess);
}

/* The n-th kernel fails when it runs; from then on the device is lost, until it is reset. */
static void failing_launch(void **state)
{
    (void)state;
    float zero[32] = {0}, *y = ref_device(zero, sizeof zero);
    void *p;
    for (int deferred = 0; deferred < 2; deferred++) {
        pw_emu_set_deferred(deferred);
        pw_emu_fail_launch(2, cudaErrorLaunchFailure);
        assert_int_equal(sample_axpy(ref_stream, y, y, 1.0f, 32), cudaSuccess);
        cudaError_t told = sample_axpy(ref_stream, y, y, 1.0f, 32);
        assert_int_equal(told, deferred ? cudaSuccess : cudaErrorLaunchFailure);
        assert_int_equal(cudaStreamSynchronize(ref_stream), cudaErrorLaunchFailure);
        assert_int_equal(cudaMalloc(&p, 4), cudaErrorLaunchFailure);
        assert_int_equal(cudaMemcpy(zero, y, 4, cudaMemcpyDeviceToHost), cudaErrorLaunchFailure);
        assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
        assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure); /* it sticks */
        assert_int_equal(cudaFree(y), cudaErrorLaunchFailure);
        assert_int_equal(cudaDeviceReset(), cudaSuccess);
        y = ref_device(zero, sizeof zero);
    }
}

static void failing_work(void **state)
{
    (void)state;
    float zero[32] = {0}, *y = ref_device(NULL, sizeof zero);
    pw_emu_fail_work(3, cudaErrorUnknown);
    assert_int_equal(cudaMemset(y, 0, sizeof zero), cudaSuccess);
    assert_int_equal(sample_axpy(ref_stream, y, y, 1.0f, 32), cudaSuccess);
    assert_int_equal(cudaMemcpy(zero, y, 4, cudaMemcpyDeviceToHost), cudaErrorUnknown);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaErrorUnknown);
    assert_string_equal(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
    assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

/* Reads the device's memory from the host, in a process of its own; returns its exit status. */
static int touch(const float *device)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        fclose(stderr);
        _exit(*(volatile const float *)device == 1.0f ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void guarded(void **state)
{
    (void)state;
    float ones[32];
    for (int i = 0; i < 32; i++)
        ones[i] = 1.0f;
    float *x = ref_device(ones, sizeof ones);
    int status = touch(x);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pw_emu_set_guarded(true);
    status = touch(x);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    float *y = ref_device(ones, sizeof ones); /* the device goes on */
    assert_int_equal(sample_axpy(ref_stream, y, x, 2.0f, 32), cudaSuccess);
    ref_fetch(ones, y, sizeof ones);
    assert_true(ones[31] == 3.0f);
    pw_emu_set_guarded(false);
    status = touch(x);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void words(void **state)
{
    (void)state;
    int n;
    size_t free, total;
    assert_null(pw_emu_configure(""));
    assert_null(pw_emu_configure("order=shuffle:7,deferred,guarded,memory=3M,device=75,fail-launch=2"));
    assert_int_equal(cudaMemGetInfo(&free, &total), cudaSuccess);
    assert_int_equal(total, 3 << 20);
    assert_int_equal(cudaDeviceGetAttribute(&n, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
    assert_int_equal(n, 64 << 10);
    assert_null(pw_emu_configure("device=none"));
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    assert_null(pw_emu_configure("device=no-driver"));
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
    pw_emu_reset();
    assert_null(pw_emu_configure("device=old-driver"));
    assert_int_equal(cudaDriverGetVersion(&n), cudaSuccess);
    assert_int_equal(n, 12040);
    pw_emu_reset();
    assert_int_equal(cudaGetDeviceCount(&n), cudaSuccess);
    static const char *const wrong[] = {"orders=forward", "order=sideways", "order",
                                        "memory=much",    "memory=",        "deferred=1",
                                        "fail-launch=-1", "device=",        "memory=3MB"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_string_equal(pw_emu_configure(wrong[i]), wrong[i]);
    assert_string_equal(pw_emu_configure("deferred,nothing"), "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(devices, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(memory, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(configurations, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(failing_malloc, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(failing_launch, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(failing_work, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(guarded, ref_setup, ref_teardown),
        cmocka_unit_test_setup_teardown(words, ref_setup, ref_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
