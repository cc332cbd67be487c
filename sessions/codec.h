/* codec.h - encode events as bytes and decode them: the payload of a row in the session store.
 *
 * A payload is a sequence of numbered fields. So an older pewter can read what a newer one has written: it
 * skips and counts unknown fields. A field that an older writer did not have is zero. One table
 * (codec_fields.c and its two neighbours) defines which members of an event are fields, with their types and
 * limits; writing, reading and checking all use it. Numbers are little-endian. Floats are stored as their
 * bits, with every NaN replaced by one fixed NaN.
 *
 * Bytes from a file are not trusted. Every count is checked against the remaining bytes before memory is
 * allocated, and every index against its range. Every text ends with a NUL and has its control characters
 * replaced.
 *
 * Any thread may call these functions on its own objects. */
#ifndef PW_CODEC_H
#define PW_CODEC_H
#include "base/err.h"
#include "base/text.h"
#include "sessions/event.h"

/* Append the payload of e to out: the member of its union that belongs to its kind. */
void pw_event_encode(struct pw_str *out, const struct pw_event *e);

/* Decode data [n] as the payload of an event of this kind. *unknown grows by the number of fields skipped.
 * Fails with PW_EUSER if the bytes are not such a payload. The caller sets seq, t_ns, arm, replica and
 * step, and frees the event. */
enum pw_code pw_event_decode(struct pw_event **e, int kind, const void *data, size_t n, int *unknown,
                             struct pw_err *err);

/* The first member in which a recorded event and a re-run one of the same kind differ: its name, and both
 * values with their bits. */
struct pw_difference {
    char what[64]; /* "loss", "exact at length 12", "candidate's probability at position 9 [2]" */
    char recorded[64], now[64];
};
/* Do both events have the same bits in every recorded field? Ignores fields that depend on the host,
 * prose (codec_finding.c), and fields that the recorded event's writer did not have. If not, *d is filled. */
bool pw_event_same(const struct pw_event *recorded, const struct pw_event *now, struct pw_difference *d);

/* Are seq, arm, replica, step and time in their valid ranges? They are not part of a payload, so a reader
 * that gets them from elsewhere must check them with this. */
bool pw_event_placed(const struct pw_event *e);

/* ---- runs. Events that every step emits (STEP, UPDATES, DIGEST) would make rows of many columns and few
 * values. A run packs consecutive events of these kinds, with their headers, into one payload of about 26
 * bytes per step. */

/* Can e be part of a run? */
bool pw_run_takes(const struct pw_event *e);

struct pw_run { /* an encoder; {0} is empty */
    struct pw_str bytes;
    int n;
    uint64_t first, seq; /* of its first and last event */
    int64_t t_ns, step;  /* of the last event */
    /* Total operations of each replica; events store the difference. */
    double flops[PW_MAX_ARMS * PW_MAX_REPLICAS];
};

void pw_run_add(struct pw_run *r, const struct pw_event *e); /* requires pw_run_takes(e) */
void pw_run_clear(struct pw_run *r);                         /* empties it, keeps the memory */
void pw_run_fini(struct pw_run *r);

/* A decoder of runs. It borrows the data given to pw_run_open. */
struct pw_run_reader {
    const unsigned char *at, *end;
    struct pw_run before; /* state after the last event that was read; `bytes` is not used */
};

/* Start to read a run from data [n], which must stay valid. */
void pw_run_open(struct pw_run_reader *r, const void *data, size_t n);
/* Return an event with room for any event of a run; the caller frees it with pw_event_free. */
struct pw_event *pw_run_event(void);
/* Decode the next event into *e, which has no arrays and room for any event of a run. *got is false after the
 * last one. Fails with PW_EUSER if the bytes are not a run. */
enum pw_code pw_run_next(struct pw_run_reader *r, struct pw_event *e, bool *got, struct pw_err *err);

#endif
