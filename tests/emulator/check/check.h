/* check.h - the check build: checks every load and store of a kernel by CUDA's rules.
 *
 * Kernels are compiled with -fsanitize=thread,undefined, but gcc's callbacks are implemented here (tsan.c,
 * ubsan.c) instead of in the sanitizers' libraries; the KCSAN and UBSAN of the Linux kernel work the same
 * way. An access must lie inside an allocation or a shared array (access.c). A read must be of initialised
 * memory. A barrier must separate it from conflicting accesses of other threads (race.c). The verdict does
 * not depend on the order in which threads ran. A report names source line, array, block and thread
 * (where.c).
 *
 * Not detected: accesses that the optimiser removes; memcpy and memset called by a kernel, which kernels must
 * not use (clang calls them for float4, so use gcc); races between kernels on two streams. Reported although
 * correct: "the last block to arrive", implemented by an atomic and __threadfence; kernels must not use it.
 *
 * The caller holds the emulator's lock (emu_int.h). */
#ifndef PW_EMU_CHECK_H
#define PW_EMU_CHECK_H
#include "tests/emulator/emu_int.h"

/* One access of the running thread. */
struct pw_emu_access {
    const char *p;
    unsigned size;
    bool write, atomic;
    void *pc; /* address of the instruction after the access */
};

/* Offset of p in device memory; in shared memory. Larger than the space if p is not in it. */
static inline size_t pw_emu_device_offset(const void *p)
{
    return (size_t)((const char *)p - pw_emu_regions.device);
}

static inline size_t pw_emu_shared_offset(const void *p)
{
    return (size_t)((const char *)p - pw_emu_regions.shared);
}

/* ---- access.c: reports an access that is misaligned or not allowed to the thread, and passes others on to
 * race.c */
void pw_emu_check_memory(const struct pw_emu_access *a);

/* Checks an access. Most accesses are to the stack of the thread, so that test comes first and inline. */
static inline void pw_emu_check(const char *p, unsigned size, bool write, void *pc)
{
    if ((size_t)(p - pw_emu_regions.stack) >= PW_EMU_STACK)
        pw_emu_check_memory(&(struct pw_emu_access){p, size, write, false, pc});
}

/* ---- race.c: check initialisation and races of an access that lies inside an allocation, or a shared array
 */
void pw_emu_check_device(const struct pw_emu_access *a);
void pw_emu_check_shared(const struct pw_emu_access *a);
/* Installs the hooks of the check build (struct pw_emu_hooks), once. */
void pw_emu_check_begin(void);

/* ---- where.c */
/* Reports a finding, once for each kind and place in the code. more: text to append, or NULL. */
void pw_emu_check_report(const char *kind, const struct pw_emu_access *a, const char *more);
/* Does p lie in the program or library that contains pc? */
bool pw_emu_in_image(const void *p, const void *pc);

#endif
