/* ref_codec.h - random events of every kind, and a reader that reads everything an event can change. */
#ifndef REF_CODEC_H
#define REF_CODEC_H
#include "sessions/codec_int.h"
#include "sessions/fold.h"

/* A random number by splitmix64; rng is its state. */
uint64_t codec_next(uint64_t *rng);

/* A random event. Every member has a value that its kind allows; arrays exist and are small. The caller frees
 * it. */
struct pw_event *codec_random(enum pw_event_kind kind, uint64_t *rng);

/* ref_events.c: the same event each time, with a value in every member. codec_full_rows: the second form of
 * PW_EV_TABLE, learned rows instead of buckets. The caller frees them. */
struct pw_event *codec_full(enum pw_event_kind kind);
struct pw_event *codec_full_rows(void);

/* A lab with two arms that were evaluated. The first arm has a pinned prompt. */
struct pw_snapshot *codec_snapshot(void);

/* Folds e, and computes everything that is derived from a snapshot. */
void codec_look(struct pw_snapshot *s, struct pw_event *e);

/* Draws every pane of s. `which` selects the size, the page and the keys that are pressed. */
void codec_draw(const struct pw_snapshot *s, uint64_t which);

#endif
