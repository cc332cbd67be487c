/* record.h - a recorded session as its readers see it: replay, resuming, verification, export, lists.
 *
 * A reader never writes to the session, never waits for who records it and may be many. What it reads may
 * come from anybody: SQLite's defensive settings and limits hold, the schema must be the known one, and every
 * number is checked (codec.h). What is damaged is left out and said; what is intact is shown. One thread a
 * record. */
#ifndef PW_RECORD_H
#define PW_RECORD_H
#include "base/err.h"
#include "sessions/event.h"

struct pw_record;

/* A folder NAME.pewter or a packed file (pack.h). */
enum pw_code pw_record_open(struct pw_record **r, const char *path, struct pw_err *err);
void pw_record_close(struct pw_record *r); /* NULL is a no-op */

struct pw_record_info {
    char name[PW_LINE];
    int64_t created_ns, used_ns; /* of the first and the last event */
    uint64_t first, last;        /* events */
    int64_t bytes;               /* with all files */
    int64_t steps;               /* that the arm which trained last had done */
    int segments;                /* processes that recorded it */
    bool ended;                  /* the last of them came to an end of its own */
    int unknown;                 /* kinds and fields of a newer pewter that were skipped so far */
    int damaged;                 /* rows that could not be read so far */
    char damage[PW_LINE];        /* the first of them */
    int kernel_abi;              /* of the last segment, like the next */
    char bits[16], env[PW_LINE];
};
void pw_record_info(struct pw_record *r, struct pw_record_info *out);
const char *pw_record_path(const struct pw_record *r); /* as it was opened */
/* Who records it now: "pid 4711"; "": nobody. */
void pw_record_writer(const struct pw_record *r, char *dst, size_t size);

/* Have events been committed since the last call? The last event's number grows then. */
bool pw_record_poll(struct pw_record *r);

/* Going through the events with numbers from..to in their order, those of runs at their places. each returns
 * false to end it; it may take arrays out of e. */
enum pw_code pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                              bool (*each)(void *arg, struct pw_event *e), void *arg, struct pw_err *err);

/* The same, one at a time. */
struct pw_record_cursor;
enum pw_code pw_record_begin(struct pw_record *r, uint64_t from, struct pw_record_cursor **c,
                             struct pw_err *err);
struct pw_event *pw_record_next(struct pw_record_cursor *c); /* the caller frees; NULL: the end, as yet */
void pw_record_end(struct pw_record_cursor *c);

/* The last event of a kind (not one of a run) of an arm (-1: of any) and replicate (-1: any) that is not
 * after `seq`; NULL: there is none. By index: it takes microseconds. The caller frees. */
struct pw_event *pw_record_last(struct pw_record *r, enum pw_event_kind kind, int arm, int replicate,
                                uint64_t seq);

/* What was last said of an arm by then; NULL: it isn't there, or not any more. The caller frees. */
struct pw_event *pw_record_arm(struct pw_record *r, int arm, uint64_t seq);

/* A file of the session by its content, checked against it; bytes are the caller's. */
enum pw_code pw_record_file(struct pw_record *r, const uint8_t sha[PW_SHA256], void **bytes, size_t *n,
                            struct pw_err *err);

/* Everything: the chain of events, what they carry, the files they name. Fails with the first thing that is
 * wrong; intact: how many events it could vouch for. */
enum pw_code pw_record_check(struct pw_record *r, uint64_t *intact, struct pw_err *err);

#endif
