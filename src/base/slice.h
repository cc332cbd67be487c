/* slice.h - scheduling latency: how soon a thread gets a processor after it wakes up. */
#ifndef PW_SLICE_H
#define PW_SLICE_H

/* Ask the kernel for time slices of 0.1 ms for the calling thread. Use it in a thread that computes little
 * and must not wait behind compute threads. It is a hint, without effect before Linux 6.12. Threads that this
 * thread starts don't inherit it. Cannot fail. */
void pw_slice_short(void);

#endif
