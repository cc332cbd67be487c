/* slice.h - how soon a thread gets a processor when it wakes. */
#ifndef PW_SLICE_H
#define PW_SLICE_H

/* The calling thread does little and shouldn't wait for those that compute: it asks for turns of 0.1 ms. A
 * hint; without effect before Linux 6.12. Threads that it starts don't inherit it. */
void pw_slice_short(void);

#endif
