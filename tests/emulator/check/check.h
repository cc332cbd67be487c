/* check.h - the check build: every load and store of a kernel is looked at.
 *
 * Kernels are compiled with -fsanitize=thread,undefined, but the callbacks that gcc puts there are ours
 * (tsan.c, ubsan.c), not those of the sanitizers' libraries; the Linux kernel's KCSAN and UBSAN work like
 * that. So an access is judged by CUDA's rules: is it inside of an allocation or of a shared array
 * (access.c), has somebody written there before, and has a barrier come between it and the accesses of other
 * threads (race.c)? The answers don't depend on the order in which threads ran. Findings name the line, the
 * array, block and thread (where.c).
 *
 * Not seen: accesses that the optimiser removes; memcpy and memset called by a kernel (don't), and clang's
 * calls of them for float4 (gcc, then); kernels of two streams that race with each other. Reported though
 * right: "the last block to arrive" by an atomic and __threadfence (don't). */
#ifndef PW_EMU_CHECK_H
#define PW_EMU_CHECK_H
#include "tests/emulator/emu_int.h"

struct pw_emu_access {
    const char *p;
    unsigned size;
    bool write, atomic;
    void *pc; /* behind the access */
};

static inline size_t pw_emu_device_offset(const void *p)
{
    return (size_t)((const char *)p - pw_emu_regions.device);
}

static inline size_t pw_emu_shared_offset(const void *p)
{
    return (size_t)((const char *)p - pw_emu_regions.shared);
}

/* ---- access.c */
void pw_emu_check_memory(const struct pw_emu_access *a);

/* Most accesses are to the thread's own variables. */
static inline void pw_emu_check(const char *p, unsigned size, bool write, void *pc)
{
    if ((size_t)(p - pw_emu_regions.stack) >= PW_EMU_STACK)
        pw_emu_check_memory(&(struct pw_emu_access){p, size, write, false, pc});
}

/* ---- race.c: of an access that is inside of an allocation, an array */
void pw_emu_check_device(const struct pw_emu_access *a);
void pw_emu_check_shared(const struct pw_emu_access *a);
void pw_emu_check_begin(void);

/* ---- where.c */
/* One finding for each place and kind. more: NULL or a text to add. */
void pw_emu_check_report(const char *kind, const struct pw_emu_access *a, const char *more);
bool pw_emu_in_image(const void *p, const void *pc); /* of the program or library that pc belongs to */

#endif
