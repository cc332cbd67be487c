/* record.h - read a recorded session, for replay, resuming, verification, export and lists.
 *
 * Any number of readers may read a session while it is recorded; a reader never writes to it and never waits
 * for the writer. The data may come from an untrusted source. So SQLite runs with its defensive settings and
 * limits, the schema must be the known one, and every number is checked (codec.h). Damaged rows are skipped
 * and reported; intact rows are used.
 *
 * One thread per record. Functions that return a code fail with PW_EUSER (not a session, or damaged), PW_EIO
 * or PW_ENOMEM. */
#ifndef PW_RECORD_H
#define PW_RECORD_H
#include "base/err.h"
#include "sessions/event.h"

struct pw_record;

/* Open a folder NAME.pewter or a packed file (pack.h). *r belongs to the caller. */
enum pw_code pw_record_open(struct pw_record **r, const char *path, struct pw_err *err);
void pw_record_close(struct pw_record *r); /* NULL is a no-op */

/* Summary of a session; pw_record_info fills it. */
struct pw_record_info {
    char name[PW_LINE];
    int64_t created_ns, used_ns; /* times of the first and the last event */
    uint64_t first, last;        /* event numbers */
    int64_t bytes;               /* with all files */
    int64_t steps;               /* steps of the arm that trained last */
    int segments;                /* processes that recorded it */
    bool ended;                  /* the last segment was closed normally */
    int unknown;                 /* kinds and fields from a newer pewter, skipped so far */
    int damaged;                 /* rows that could not be read so far */
    char damage[PW_LINE];        /* the first damage */
    int kernel_abi;              /* of the last segment; so are bits and env */
    char bits[16], env[PW_LINE];
};
void pw_record_info(struct pw_record *r, struct pw_record_info *out);
const char *pw_record_path(const struct pw_record *r); /* the path that it was opened by */
/* Write which process records the session now: "pid 4711"; "": none. */
void pw_record_writer(const struct pw_record *r, char *dst, size_t size);

/* Write the folders from which relative paths of the session's commands count, those of its first process
 * first, to out [PW_SESSION_FOLDERS]. Returns their number; the caller frees each. */
int pw_record_folders(struct pw_record *r, char **out);

/* Have events been committed since the last call? If so, info's last event is newer. */
bool pw_record_poll(struct pw_record *r);

/* Call each(arg, e) for the events from..to in order, including those inside runs. each returns false to
 * stop. It may take arrays out of e; the record frees the rest. */
enum pw_code pw_record_events(struct pw_record *r, uint64_t from, uint64_t to,
                              bool (*each)(void *arg, struct pw_event *e), void *arg, struct pw_err *err);

/* The same with a cursor, one event at a time; pw_record_end frees the cursor. */
struct pw_record_cursor;
enum pw_code pw_record_begin(struct pw_record *r, uint64_t from, struct pw_record_cursor **c,
                             struct pw_err *err);
struct pw_event *pw_record_next(struct pw_record_cursor *c); /* the caller frees; NULL: no more events yet */
void pw_record_end(struct pw_record_cursor *c);

/* Return the last event of a kind, arm (-1: any) and replica (-1: any) at or before seq; NULL if there is
 * none. Events in runs are not found. Uses an index, so it takes microseconds. The caller frees the event. */
struct pw_event *pw_record_last(struct pw_record *r, enum pw_event_kind kind, int arm, int replica,
                                uint64_t seq);

/* Return the last ARM event of an arm at or before seq; NULL if the arm did not exist then. The caller frees
 * it. */
struct pw_event *pw_record_arm(struct pw_record *r, int arm, uint64_t seq);

/* Read a file of the session by its SHA-256 and verify it. *bytes belongs to the caller (free). */
enum pw_code pw_record_file(struct pw_record *r, const uint8_t sha[PW_SHA256], void **bytes, size_t *n,
                            struct pw_err *err);

/* Verify everything: the chain of events, their payloads, and the files that they name. Fails with the first
 * error. *intact is the number of events that were verified. */
enum pw_code pw_record_check(struct pw_record *r, uint64_t *intact, struct pw_err *err);

#endif
