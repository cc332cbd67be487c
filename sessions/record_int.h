/* record_int.h - internals of a record, shared by the files that open it, read rows and verify. */
#ifndef PW_RECORD_INT_H
#define PW_RECORD_INT_H
#include "sessions/codec_int.h"
#include "sessions/record.h"
#include "sessions/schema.h"

/* An open session: one read-only connection with its prepared statements. Its reader's thread. */
struct pw_record {
    char *path; /* of the folder, or of the packed file */
    int folder; /* its open descriptor; -1: none */
    /* A packed file (pack.h); written by a later minor version, so with unknown tables or columns. */
    bool packed, newer;
    sqlite3 *db;
    sqlite3_stmt *row, *before, *by_kind, *by_slot, *blob, *version;
    int64_t seen_version;
    uint64_t first, last;
    uint64_t saved;  /* the last event known to have been on disk; 0: unknown */
    double deadline; /* time (pw_now) at which a statement is interrupted */
    int unknown, damaged;
    char damage[PW_LINE];
    struct pw_str payload; /* unpacked payload of the last row read */
    int64_t unpacks;       /* bytes that blobs may still unpack to in this pass (pw_record_pass) */
};

#define PW_RECORD_LONG 3600.0 /* time limit, in seconds, of operations over a whole session of many GB */
/* Set the time limit of statements, so that a malicious database can't block forever. */
void pw_record_hurry(struct pw_record *r, double seconds);
/* Count a damaged row. The first one is described in r->damage, as "event SEQ: WHY". */
void pw_record_damage(struct pw_record *r, uint64_t seq, const char *why);

/* Start a pass over rows. Many rows may refer to one blob, and a few bytes can unpack to 64 MiB. So a pass
 * has a budget: the most that a session of this size can unpack to. Beyond it payloads are dropped. */
void pw_record_pass(struct pw_record *r);
/* Get the payload of a row, unpacked and verified by its hash. It is valid until the next call. *dropped: the
 * disk budget had removed the payload when the session was recorded; data is NULL then. Fails with PW_EUSER
 * if the payload is missing, damaged, or exceeds the budget of the pass. */
enum pw_code pw_record_payload(struct pw_record *r, const struct pw_row *row, const void **data, size_t *n,
                               bool *dropped, struct pw_err *err);
/* Call each() with every file of the session, after verifying it by its name (NULL: only verify). */
enum pw_code pw_record_files(struct pw_record *r,
                             enum pw_code (*each)(void *arg, const uint8_t sha[PW_SHA256], const void *bytes,
                                                  size_t n, struct pw_err *err),
                             void *arg, struct pw_err *err);
/* Are the row's numbers within the limits of a session? */
bool pw_record_plausible(const struct pw_row *row);
/* Decode a row that is not a run. *e is NULL with PW_OK if this pewter doesn't know the kind. */
enum pw_code pw_record_decode(struct pw_record *r, struct pw_event **e, const struct pw_row *row,
                              const void *data, size_t n, struct pw_err *err);

#endif
