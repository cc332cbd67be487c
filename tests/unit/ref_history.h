/* ref_history.h - random histories: each event is a function of (seed, number). Most orders could never occur
 * in a lab. */
#ifndef PW_TESTS_REF_HISTORY_H
#define PW_TESTS_REF_HISTORY_H
#include "sessions/event.h"

/* Selects the history of the other calls: n events. With even seeds all arms have one replica. */
void history_make(uint64_t seed, int n);
/* The number of events; the number, and the content, of the i-th one. */
int history_length(void);
uint64_t history_seq(int i);
struct pw_event *history_event(int i); /* the caller frees it */

#endif
