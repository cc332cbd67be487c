/* ref_history.h - what nobody did: events that are functions of (seed, number), in an order in which much of
 * it could never happen. */
#ifndef PW_TESTS_REF_HISTORY_H
#define PW_TESTS_REF_HISTORY_H
#include "sessions/event.h"

/* The history that the other calls are about: n events; of even seeds all arms have one replicate. */
void history_make(uint64_t seed, int n);
int history_length(void);
uint64_t history_seq(int i);
struct pw_event *history_event(int i); /* the caller frees */

#endif
