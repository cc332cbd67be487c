/* slice.c - short turns for the thread that draws.
 *
 * Linux schedules by deadlines (EEVDF, from 6.6 on): a turn ends after the thread's slice, 3 ms unless it
 * says otherwise, and a thread that wakes goes first if its own turn would end before that of the one that
 * runs. A thread that draws beside two that compute waits up to those 3 ms; with a slice of 0.1 ms it goes
 * first, whatever the nice values of the others. No right is needed: a shorter turn takes nothing from
 * anybody. The C library has no wrapper for the call. */
#include "base/slice.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr of the kernel's interface, up to where it is used. */
struct attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns */
};

enum { RESET_ON_FORK = 1 };

void pw_slice_short(void)
{
#if defined(SYS_sched_setattr) && defined(SYS_sched_getattr)
    struct attr a = {0};

    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0)
        return;
    a.flags |= RESET_ON_FORK;
    a.runtime = 100000;
    syscall(SYS_sched_setattr, 0, &a, 0); /* if it fails, frames are merely later */
#endif
}
