/* ref_device.c - see ref_device.h. */
#include "tests/emulator/ref_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

cudaStream_t ref_stream;

int ref_setup(void **state)
{
    (void)state;
    pw_emu_reset();
    return cudaStreamCreateWithFlags(&ref_stream, cudaStreamNonBlocking) != cudaSuccess;
}

int ref_teardown(void **state)
{
    (void)state;
    pw_emu_collect(false);
    pw_emu_clear();
    pw_emu_reset();
    return cudaStreamDestroy(ref_stream) != cudaSuccess || cudaDeviceReset() != cudaSuccess;
}

void *ref_device(const void *host, size_t n)
{
    void *p;
    assert_int_equal(cudaMalloc(&p, n), cudaSuccess);
    if (host != NULL)
        assert_int_equal(cudaMemcpy(p, host, n, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}

void ref_fetch(void *host, const void *device, size_t n)
{
    assert_int_equal(cudaStreamSynchronize(ref_stream), cudaSuccess);
    assert_int_equal(cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost), cudaSuccess);
}

void ref_each_order(void (*check)(void))
{
    static const enum pw_emu_order orders[] = {PW_EMU_FORWARD, PW_EMU_REVERSE, PW_EMU_SHUFFLE,
                                               PW_EMU_SHUFFLE};
    for (int deferred = 0; deferred < 2; deferred++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            pw_emu_set_order(orders[i], i);
            pw_emu_set_deferred(deferred);
            check();
        }
}

void ref_assert_found(const char *text)
{
    if (pw_emu_findings() != 1 || strstr(pw_emu_finding(0), text) == NULL)
        fail_msg("%d findings, the first '%s'; one with '%s' is due", pw_emu_findings(), pw_emu_finding(0),
                 text);
    pw_emu_clear();
}
