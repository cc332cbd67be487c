/* test_stream.c - streams run as late as CUDA permits where they are deferred, events order them, graphs
 * repeat what was captured; what CUDA forbids is an error. */
#include "tests/emulator/ref_device.h"
#include "tests/emulator/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { N = 100, BYTES = N * 4 };

static cudaStream_t second;
static float *x, *y; /* on the device */
static float *pinned;
static float host[N];

static int setup(void **state)
{
    if (ref_setup(state) != 0 || cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMallocHost((void **)&pinned, BYTES) != cudaSuccess)
        return 1;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    x = ref_device(host, BYTES);
    y = ref_device(host, BYTES);
    memset(pinned, 0, BYTES);
    pw_emu_set_deferred(true);
    return 0;
}

static int teardown(void **state)
{
    return cudaStreamDestroy(second) != cudaSuccess || cudaFreeHost(pinned) != cudaSuccess ||
           ref_teardown(state);
}

/* y += x on the stream. */
static void add(cudaStream_t s)
{
    assert_int_equal(sample_axpy(s, y, x, 1.0f, N), cudaSuccess);
}

static float last(void)
{
    float now[N];
    assert_int_equal(cudaMemcpy(now, y, BYTES, cudaMemcpyDeviceToHost),
                     cudaSuccess); /* waits for no stream of ours */
    return now[N - 1];
}

static cudaEvent_t event(unsigned flags)
{
    cudaEvent_t e;
    assert_int_equal(cudaEventCreateWithFlags(&e, flags), cudaSuccess);
    return e;
}

static void late(void **state)
{
    (void)state;
    add(ref_stream);
    assert_true(last() == 99.0f); /* not yet, and a copy of the default stream doesn't wait for it */
    assert_int_equal(cudaStreamSynchronize(second), cudaSuccess);
    assert_true(last() == 99.0f);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_true(last() == 198.0f);
    add(ref_stream);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_true(last() == 297.0f);
    add(ref_stream);
    pw_emu_set_deferred(false);
    assert_true(last() == 396.0f);
    add(ref_stream);
    assert_true(last() == 495.0f);
}

static void default_stream_waits_for_blocking(void **state)
{
    (void)state;
    cudaStream_t blocking;
    assert_int_equal(cudaStreamCreate(&blocking), cudaSuccess);
    add(blocking);
    assert_true(last() == 198.0f);
    assert_int_equal(cudaStreamDestroy(blocking), cudaSuccess);
}

/* A pinned buffer is read when the copy runs; a pageable one when it is asked for. */
static void pinned_memory(void **state)
{
    (void)state;
    pinned[N - 1] = 1.0f;
    assert_int_equal(cudaMemcpyAsync(y, pinned, BYTES, cudaMemcpyHostToDevice, ref_stream), cudaSuccess);
    pinned[N - 1] = 2.0f; /* too early */
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_true(last() == 2.0f);

    float pageable[N] = {0};
    pageable[N - 1] = 3.0f;
    assert_int_equal(cudaMemcpyAsync(y, pageable, BYTES, cudaMemcpyHostToDevice, ref_stream), cudaSuccess);
    pageable[N - 1] = 4.0f;
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_true(last() == 3.0f);

    assert_int_equal(cudaMemcpyAsync(pinned, y, BYTES, cudaMemcpyDeviceToHost, ref_stream), cudaSuccess);
    assert_true(pinned[N - 1] == 2.0f); /* read too early */
    assert_int_equal(cudaMemcpyAsync(pageable, y, BYTES, cudaMemcpyDeviceToHost, ref_stream), cudaSuccess);
    assert_true(pageable[N - 1] == 3.0f); /* this one waits, and so for what was before it */
    assert_true(pinned[N - 1] == 3.0f);
}

static void events(void **state)
{
    (void)state;
    cudaEvent_t first = event(cudaEventDisableTiming), done = event(cudaEventDefault);
    float ms;
    assert_int_equal(cudaEventQuery(first), cudaSuccess); /* never recorded: nothing to wait for */
    assert_int_equal(cudaStreamWaitEvent(second, first, 0), cudaSuccess);
    assert_int_equal(cudaEventRecord(done, ref_stream), cudaSuccess);
    add(ref_stream);
    assert_int_equal(cudaEventRecord(first, ref_stream), cudaSuccess);
    add(ref_stream); /* behind it: not waited for */
    assert_int_equal(cudaStreamWaitEvent(second, first, 0), cudaSuccess);
    assert_int_equal(cudaEventRecord(first, ref_stream),
                     cudaSuccess); /* the wait was for the record before */
    add(second);
    assert_int_equal(cudaStreamSynchronize(second), cudaSuccess);
    assert_true(last() == 297.0f);
    assert_int_equal(cudaEventElapsedTime(&ms, done, first),
                     cudaErrorInvalidResourceHandle); /* without timing */
    assert_int_equal(cudaEventSynchronize(first), cudaSuccess);
    assert_true(last() == 396.0f);
    assert_int_equal(cudaEventElapsedTime(&ms, done, done), cudaSuccess);
    assert_true(ms == 0.0f);
    assert_int_equal(cudaEventDestroy(first), cudaSuccess);
    assert_int_equal(cudaEventDestroy(done), cudaSuccess);
}

static void queries_come_to_an_end(void **state)
{
    (void)state;
    cudaEvent_t e = event(cudaEventDisableTiming);
    add(ref_stream);
    assert_int_equal(cudaEventRecord(e, ref_stream), cudaSuccess);
    add(ref_stream);
    int asked = 0;
    while (cudaEventQuery(e) == cudaErrorNotReady && asked < 10)
        asked++;
    assert_int_equal(asked, 2);
    assert_true(last() == 198.0f);
    while (cudaStreamQuery(ref_stream) == cudaErrorNotReady && asked < 10)
        asked++;
    assert_int_equal(asked, 3);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* not to be ready is no error */
    assert_int_equal(cudaEventDestroy(e), cudaSuccess);
}

static void note(void *arg)
{
    *(int *)arg += 1;
}

static void host_functions(void **state)
{
    (void)state;
    int called = 0;
    assert_int_equal(cudaLaunchHostFunc(ref_stream, note, &called), cudaSuccess);
    assert_int_equal(called, 0);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_int_equal(called, 1);
}

/* ---- graphs */

static void graphs(void **state)
{
    (void)state;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaEvent_t fork = event(cudaEventDisableTiming), join = event(cudaEventDisableTiming);
    enum cudaStreamCaptureStatus status;
    size_t nodes;
    assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    add(ref_stream);
    assert_int_equal(cudaEventRecord(fork, ref_stream), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaSuccess);
    add(second); /* is captured, too */
    assert_int_equal(cudaEventRecord(join, second), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(ref_stream, join, 0), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(pinned, y, BYTES, cudaMemcpyDeviceToHost, ref_stream), cudaSuccess);
    assert_int_equal(cudaStreamIsCapturing(second, &status), cudaSuccess);
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(cudaStreamEndCapture(ref_stream, &g), cudaSuccess);
    assert_int_equal(cudaStreamIsCapturing(second, &status), cudaSuccess);
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_int_equal(cudaGraphGetNodes(g, NULL, &nodes), cudaSuccess);
    assert_int_equal(nodes, 3);
    assert_int_equal(cudaGraphInstantiate(&exec, g, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(g), cudaSuccess);
    assert_true(last() == 99.0f); /* nothing has run */
    struct pw_emu_counts before = pw_emu_counts();
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(cudaGraphLaunch(exec, ref_stream), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
        assert_true(pinned[N - 1] == 99.0f + 198.0f * (float)i);
    }
    assert_int_equal(cudaGraphLaunch(exec, ref_stream), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess); /* launches still run */
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_true(last() == 99.0f + 4 * 198.0f);
    assert_int_equal(pw_emu_counts().graph_launches - before.graph_launches, 4);
    assert_int_equal(pw_emu_counts().captures, before.captures);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
}

/* Captures y += x on the second stream beside y = 0 on the first, which waits for it before that or after, or
 * never. */
enum waits { BEFORE, AFTER, NEVER };

static cudaError_t capture_beside(cudaGraph_t *g, enum waits waits)
{
    cudaEvent_t fork = event(cudaEventDisableTiming), join = event(cudaEventDisableTiming);
    assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaEventRecord(fork, ref_stream), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaSuccess);
    add(second);
    assert_int_equal(cudaEventRecord(join, second), cudaSuccess);
    if (waits == BEFORE)
        assert_int_equal(cudaStreamWaitEvent(ref_stream, join, 0), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(y, 0, BYTES, ref_stream), cudaSuccess);
    if (waits == AFTER)
        assert_int_equal(cudaStreamWaitEvent(ref_stream, join, 0), cudaSuccess);
    cudaError_t e = cudaStreamEndCapture(ref_stream, g);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    return e;
}

/* Returns the last value of y. */
static float beside(enum waits waits, enum pw_emu_order order, uint64_t seed)
{
    cudaGraph_t g;
    cudaGraphExec_t exec;
    pw_emu_set_order(order, seed);
    assert_int_equal(cudaMemcpy(y, host, BYTES, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(capture_beside(&g, waits), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, g, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(exec, ref_stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(g), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    return last();
}

/* Unordered parts run in either order, so that a missing wait is found. */
static void branches(void **state)
{
    (void)state;
    cudaGraph_t g;
    int zero = 0;
    assert_true(beside(AFTER, PW_EMU_FORWARD, 0) == 0.0f);
    assert_true(beside(AFTER, PW_EMU_REVERSE, 0) == 99.0f);
    for (uint64_t seed = 0; seed < 20; seed++) {
        zero += beside(AFTER, PW_EMU_SHUFFLE, seed) == 0.0f;
        assert_true(beside(BEFORE, PW_EMU_SHUFFLE, seed) == 0.0f);
    }
    assert_in_range(zero, 3, 17);
    assert_true(beside(BEFORE, PW_EMU_REVERSE, 0) == 0.0f);
    assert_int_equal(capture_beside(&g, NEVER), cudaErrorStreamCaptureUnjoined);
    assert_null(g);
    add(second); /* which is free again */
    assert_int_equal(cudaStreamSynchronize(second), cudaSuccess);
    assert_true(last() == 99.0f);
}

static void separate_captures(void **state)
{
    (void)state;
    cudaGraph_t g;
    cudaEvent_t e = event(cudaEventDisableTiming);
    assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaEventRecord(e, ref_stream), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, e, 0), cudaErrorStreamCaptureMerge);
    assert_int_equal(cudaStreamEndCapture(ref_stream, &g), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaStreamEndCapture(second, &g), cudaErrorStreamCaptureInvalidated);
    cudaEventDestroy(e);
}

static cudaError_t forbidden(int which)
{
    float *p;
    cudaEvent_t e = event(cudaEventDisableTiming);
    cudaError_t error = cudaSuccess;
    switch (which) {
    case 0: error = cudaStreamSynchronize(ref_stream); break;
    case 1: error = cudaDeviceSynchronize(); break;
    case 2: error = cudaMalloc((void **)&p, 4); break;
    case 3: error = cudaFree(x); break;
    case 4: error = cudaMemcpy(host, y, BYTES, cudaMemcpyDeviceToHost); break;
    case 5: error = cudaStreamQuery(ref_stream); break;
    }
    cudaEventDestroy(e);
    return error;
}

static void captures_spoilt(void **state)
{
    (void)state;
    cudaGraph_t g;
    for (int which = 0; which < 6; which++) {
        assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeGlobal),
                         cudaErrorStreamCaptureUnsupported);
        assert_int_equal(forbidden(which), cudaErrorStreamCaptureUnsupported);
        assert_int_equal(sample_axpy(ref_stream, y, x, 1.0f, N), cudaErrorStreamCaptureInvalidated);
        assert_int_equal(cudaStreamEndCapture(ref_stream, &g), cudaErrorStreamCaptureInvalidated);
        assert_null(g);
        assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess); /* as before */
    }
    assert_int_equal(cudaStreamEndCapture(ref_stream, &g), cudaErrorInvalidValue);
    assert_int_equal(cudaStreamBeginCapture(ref_stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    float *p;
    assert_int_equal(cudaMalloc((void **)&p, 4), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(ref_stream, &g), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(g), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void handles(void **state)
{
    (void)state;
    cudaStream_t gone;
    assert_int_equal(cudaStreamCreate(&gone), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(gone), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
    assert_int_equal(sample_axpy(gone, y, x, 1.0f, N), cudaErrorInvalidResourceHandle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(late, setup, teardown),
        cmocka_unit_test_setup_teardown(default_stream_waits_for_blocking, setup, teardown),
        cmocka_unit_test_setup_teardown(pinned_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(events, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_come_to_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(host_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(graphs, setup, teardown),
        cmocka_unit_test_setup_teardown(branches, setup, teardown),
        cmocka_unit_test_setup_teardown(separate_captures, setup, teardown),
        cmocka_unit_test_setup_teardown(captures_spoilt, setup, teardown),
        cmocka_unit_test_setup_teardown(handles, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
