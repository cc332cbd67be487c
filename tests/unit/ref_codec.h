/* ref_codec.h - random events of every kind, and a reader that looks at everything an event can change. */
#ifndef REF_CODEC_H
#define REF_CODEC_H
#include "sessions/codec_int.h"
#include "sessions/fold.h"

uint64_t codec_next(uint64_t *rng);

/* Every member has a value that its kind allows; arrays are there, and small. The caller frees. */
struct pw_event *codec_random(enum pw_event_kind kind, uint64_t *rng);

/* A lab with two arms that were evaluated, the first with a prompt pinned. */
struct pw_snapshot *codec_snapshot(void);

/* Folds e and asks for whatever is derived from a snapshot. */
void codec_look(struct pw_snapshot *s, struct pw_event *e);

/* Draws every pane of s; which: at what size, on which of its pages and with which keys pressed. */
void codec_draw(const struct pw_snapshot *s, uint64_t which);

#endif
