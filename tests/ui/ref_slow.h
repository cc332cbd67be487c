/* ref_slow.h - a disk that does not answer, for tests that no key press waits for it. It takes the place of
 * the C library's fsync, flock, mkdir, access and pread64 in the whole test program. */
#ifndef REF_SLOW_H
#define REF_SLOW_H
#include <stdbool.h>

/* While the disk is stuck, these calls wait on every thread but that of the last slow_stick, which must never
 * make one. Such a call is counted and continues, so that the test can report it. */
void slow_stick(bool stuck);
/* The calls of that thread while the disk was stuck, and the calls of fsync on other threads, since the
 * program's start. */
int slow_by_screen(void);
int slow_synced_by_others(void);

#endif
