/* ref_record.h - a recording that nobody made: events that are functions of (seed, number), behind the calls
 * of sessions/record.h, so that a player can be held against the fold without a disk. */
#ifndef PW_TESTS_REF_RECORD_H
#define PW_TESTS_REF_RECORD_H
#include "sessions/record.h"

/* The recording that pw_record_open opens from now on: n events, of which readers see `committed`. */
void history_make(uint64_t seed, int n);
void history_commit(int n);
int history_length(void);
uint64_t history_seq(int i);
struct pw_event *history_event(int i); /* the caller frees */

#endif
