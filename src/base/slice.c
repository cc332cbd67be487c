/* slice.c - short time slices for the thread that draws.
 *
 * From version 6.6 on Linux schedules by deadlines (EEVDF). A turn ends after the thread's slice, 3 ms by
 * default. A thread that wakes up preempts the running one if its own turn would end earlier. A thread that
 * draws beside two compute threads can wait up to those 3 ms; with a slice of 0.1 ms it runs at once, for all
 * nice values. No privilege is needed, because a shorter slice takes no time from other threads. The C
 * library has no wrapper for the call. */
#include "base/slice.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of the kernel's struct sched_attr that is used. */
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
    syscall(SYS_sched_setattr, 0, &a, 0); /* on failure frames are only later */
#endif
}
