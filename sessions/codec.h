/* codec.h - events as bytes, and back: what a row of the store holds beside its columns.
 *
 * An event's payload is a sequence of fields, each with a number of its own, so that an older pewter reads
 * what a newer one has written: it skips fields that it doesn't know, and counts them; fields that an older
 * one did not write are zero. Which members of an event are fields, of which type and with which limits,
 * stands in one table (codec_fields.c, codec_finding.c): writing, reading and checking all go by it. Numbers
 * are little-endian; floats are their bits, with every NaN made the same one.
 *
 * Bytes that come from a file are hostile until proved otherwise: every count is checked against what is
 * there before anything is allocated, every index against its range, every text ends with a NUL and has no
 * control characters left in it. */
#ifndef PW_CODEC_H
#define PW_CODEC_H
#include "base/err.h"
#include "base/text.h"
#include "sessions/event.h"

/* Appends the payload of e: everything in its union that is told by its kind. */
void pw_event_encode(struct pw_str *out, const struct pw_event *e);

/* The event of this kind whose payload is data [n]. *unknown grows by the fields that were skipped. PW_EUSER:
 * the bytes are no such payload. The caller fills in seq, t_ns, arm, replicate and step, and frees. */
enum pw_code pw_event_decode(struct pw_event **e, int kind, const void *data, size_t n, int *unknown,
                             struct pw_err *err);

/* The first member in which a recorded event and one of now, of the same kind, differ: its name, and both
 * values with their bits. */
struct pw_difference {
    char what[64]; /* "loss", "exact at length 12", "candidate's probability at position 9 [2]" */
    char recorded[64], now[64];
};
/* Have both the same bits on record? Compares every field, but for those of the host and those that the
 * recorded one's writer didn't know. */
bool pw_event_same(const struct pw_event *recorded, const struct pw_event *now, struct pw_difference *d);

/* Are number, arm, replicate, step and time such as consumers can bear? They are no part of a payload: who
 * reads them from elsewhere asks this. */
bool pw_event_placed(const struct pw_event *e);

/* ---- runs. What is told of every step (STEP, UPDATES, DIGEST) would be a row of many columns and few
 * values; a run packs such events that follow each other, each with all of its header, into one payload:
 * about 26 bytes a step. */

/* May e be part of a run? */
bool pw_run_takes(const struct pw_event *e);

struct pw_run { /* {0} is empty */
    struct pw_str bytes;
    int n;
    uint64_t first, seq;                           /* of its first and last event */
    int64_t t_ns, step;                            /* of the last one, ... */
    double flops[PW_MAX_ARMS * PW_MAX_REPLICATES]; /* ... and what else differences are taken from */
};

void pw_run_add(struct pw_run *r, const struct pw_event *e); /* pw_run_takes(e) */
void pw_run_clear(struct pw_run *r);                         /* empty, memory kept */
void pw_run_fini(struct pw_run *r);

struct pw_run_reader {
    const unsigned char *at, *end;
    struct pw_run before; /* its bytes are not used */
};

void pw_run_open(struct pw_run_reader *r, const void *data, size_t n);
struct pw_event *pw_run_event(void); /* with room for any event of a run; pw_event_free */
/* Writes the next event into *e (it has no arrays); *got is false after the last. PW_EUSER: the bytes are no
 * run.
 */
enum pw_code pw_run_next(struct pw_run_reader *r, struct pw_event *e, bool *got, struct pw_err *err);

#endif
