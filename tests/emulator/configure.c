/* configure.c - settings as words, for programs that can't call (the environment's PEWTER_EMU), and the way
 * back. */
#include "emu_int.h"

#include <stdlib.h>
#include <string.h>

enum { OLD_DRIVER = 12040 }; /* of CUDA 12.4 */

static bool number(const char *text, const char *end, long *n)
{
    char *stop;
    *n = strtol(text, &stop, 10);
    if (stop < end && (*stop == 'K' || *stop == 'M' || *stop == 'G'))
        *n <<= *stop == 'K' ? 10 : *stop == 'M' ? 20 : 30, stop++;
    return text < end && stop == end && *n >= 0;
}

static bool is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncmp(word, name, n) == 0;
}

static bool order(const char *word, const char *end)
{
    const char *colon = memchr(word, ':', (size_t)(end - word));
    size_t n = (size_t)((colon != NULL ? colon : end) - word);
    long seed = 1;
    if (colon != NULL && !number(colon + 1, end, &seed))
        return false;
    if (is(word, n, "forward"))
        pw_emu_set_order(PW_EMU_FORWARD, (uint64_t)seed);
    else if (is(word, n, "reverse"))
        pw_emu_set_order(PW_EMU_REVERSE, (uint64_t)seed);
    else if (is(word, n, "shuffle"))
        pw_emu_set_order(PW_EMU_SHUFFLE, (uint64_t)seed);
    else
        return false;
    return true;
}

static bool device(const char *word, const char *end)
{
    long capability;
    size_t n = (size_t)(end - word);
    if (is(word, n, "none"))
        pw_emu_set_devices(0, cudaErrorNoDevice);
    else if (is(word, n, "no-driver"))
        pw_emu_set_driver(0);
    else if (is(word, n, "old-driver"))
        pw_emu_set_driver(OLD_DRIVER);
    else if (number(word, end, &capability))
        pw_emu_set_device(NULL, (int)capability / 10, (int)capability % 10);
    else
        return false;
    return true;
}

static bool setting(const char *word, const char *end)
{
    const char *equals = memchr(word, '=', (size_t)(end - word));
    size_t n = (size_t)((equals != NULL ? equals : end) - word);
    long value = 0;
    bool numeric = equals != NULL && number(equals + 1, end, &value);
    if (equals == NULL && is(word, n, "deferred"))
        pw_emu_set_deferred(true);
    else if (equals == NULL && is(word, n, "guarded"))
        pw_emu_set_guarded(true);
    else if (equals == NULL && is(word, n, "graphs"))
        pw_emu.tells_graphs = true;
    else if (equals == NULL && is(word, n, "counts"))
        pw_emu.tells_counts = true;
    else if (equals == NULL && is(word, n, "no-blas"))
        pw_emu_set_blas(false);
    else if (equals != NULL && is(word, n, "order"))
        return order(equals + 1, end);
    else if (equals != NULL && is(word, n, "device"))
        return device(equals + 1, end);
    else if (numeric && is(word, n, "memory"))
        pw_emu_set_memory((size_t)value);
    else if (numeric && is(word, n, "fail-malloc"))
        pw_emu_fail_malloc(value);
    else if (numeric && is(word, n, "fail-launch"))
        pw_emu_fail_launch(value, cudaErrorLaunchFailure);
    else if (numeric && is(word, n, "fail-work"))
        pw_emu_fail_work(value, cudaErrorUnknown);
    else
        return false;
    return true;
}

const char *pw_emu_configure(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, ",");
        if (n > 0 && !setting(text, text + n))
            return text;
        text += n + (text[n] == ',');
    }
    return NULL;
}

void pw_emu_reset(void)
{
    pw_emu_lock();
    pw_emu_drain_all();
    pw_emu.sticky = pw_emu.last = cudaSuccess;
    pw_emu.deferred = false;
    pw_emu_set_guarded(false);
    pw_emu_set_order(PW_EMU_FORWARD, 1);
    pw_emu_leave_out(-1);
    pw_emu_fail_malloc(0);
    pw_emu_fail_launch(0, cudaSuccess);
    pw_emu_fail_work(0, cudaSuccess);
    pw_emu_set_memory(0);
    pw_emu_set_blas(true);
    pw_emu_set_device(NULL, 8, 6);
    pw_emu_set_devices(1, cudaSuccess);
    pw_emu_set_driver(CUDART_VERSION);
    pw_emu_unlock();
}

/* Everything on the device is gone, and its error with it. */
cudaError_t cudaDeviceReset(void)
{
    pw_emu_lock();
    pw_emu_drain_all();
    pw_emu_memory_reset();
    pw_emu.sticky = pw_emu.last = cudaSuccess;
    pw_emu_unlock();
    return cudaSuccess;
}
