/* report.c - the emulator's settings, what it has found, and its lock. */
#include "base/mix.h"
#include "emu_int.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 };

struct pw_emu_state pw_emu;
struct pw_emu_regions pw_emu_regions;
const struct pw_emu_hooks *pw_emu_hooks;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool collecting;
static int n_findings;
static char findings[KEPT][600];
static uint64_t random_state;
static pthread_once_t configured = PTHREAD_ONCE_INIT;

static void configure(void)
{
    const char *text = getenv("PEWTER_EMU"), *unknown;
    if (text != NULL && (unknown = pw_emu_configure(text)) != NULL) {
        fprintf(stderr, "emulator: PEWTER_EMU has '%s', which means nothing\n", unknown);
        abort();
    }
}

void pw_emu_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pw_emu_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void pw_emu_report(const char *kind, const char *format, ...)
{
    char text[600];
    int n = snprintf(text, sizeof text, "%s: %s%s", kind, pw_emu.kernel != NULL ? pw_emu.kernel : "",
                     pw_emu.kernel != NULL ? ": " : "");
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    if (n_findings < KEPT)
        memcpy(findings[n_findings], text, sizeof text);
    n_findings++;
    if (!collecting) {
        fprintf(stderr, "emulator: %s\n", text);
        abort();
    }
}

void pw_emu_collect(bool on)
{
    collecting = on;
}

int pw_emu_findings(void)
{
    return n_findings;
}

const char *pw_emu_finding(int index)
{
    return index >= 0 && index < n_findings && index < KEPT ? findings[index] : "";
}

void pw_emu_clear(void)
{
    n_findings = 0;
}

void pw_emu_set_order(enum pw_emu_order order, uint64_t seed)
{
    pw_emu.order = order;
    random_state = seed;
}

/* splitmix64 (Steele et al. 2014). */
uint64_t pw_emu_random(void)
{
    return pw_mix64(random_state += 0x9e3779b97f4a7c15u);
}

void pw_emu_shuffle(unsigned *list, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)(pw_emu_random() % i), kept = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept;
    }
}

cudaError_t pw_emu_begin(void)
{
    pthread_once(&configured, configure);
    pw_emu_lock();
    cudaError_t none = pw_emu_no_device();
    return none != cudaSuccess ? none : pw_emu.sticky;
}

cudaError_t pw_emu_end(cudaError_t e)
{
    if (e != cudaSuccess && e != cudaErrorNotReady)
        pw_emu.last = e;
    pw_emu_unlock();
    return e;
}

void *pw_emu_memory(void *p, size_t n)
{
    void *got = realloc(p, n);
    if (got == NULL && n > 0) {
        perror("emulator");
        abort();
    }
    return got;
}

struct pw_emu_counts pw_emu_counts(void)
{
    return pw_emu.counts;
}

/* When the process ends: so that a script can see what the program asked of the device. */
__attribute__((destructor)) static void tell_counts(void)
{
    const struct pw_emu_counts *n = &pw_emu.counts;
    if (pw_emu.tells_counts)
        fprintf(stderr, "emulator: captures %lu, graph launches %lu, launches %lu, work %lu, libraries %lu\n",
                n->captures, n->graph_launches, n->launches, n->work, n->libraries);
}
