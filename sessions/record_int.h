/* record_int.h - what the parts of a record share: opening, rows, checking. */
#ifndef PW_RECORD_INT_H
#define PW_RECORD_INT_H
#include "sessions/codec_int.h"
#include "sessions/record.h"
#include "sessions/schema.h"

struct pw_record {
    char *path; /* of the folder, or of the packed file */
    int folder; /* it, open; -1: none */
    bool packed, newer;
    sqlite3 *db;
    sqlite3_stmt *row, *before, *by_kind, *by_slot, *blob, *version;
    int64_t seen_version;
    uint64_t first, last;
    uint64_t saved;  /* the last event that was on disk when it was recorded, where that is known */
    double deadline; /* a statement is interrupted at it */
    int unknown, damaged;
    char damage[PW_LINE];
    struct pw_str payload; /* of the row that was read last */
    int64_t unpacks;       /* bytes that blobs may still unpack to: pw_record_pass */
};

#define PW_RECORD_LONG 3600.0 /* for what goes over all of a session of many GB */
/* Every statement gets so long, so that a database that was made to take forever doesn't. */
void pw_record_hurry(struct pw_record *r, double seconds);
void pw_record_damage(struct pw_record *r, uint64_t seq, const char *why);

/* Begins a pass over rows. Many rows may name one blob, and a few bytes unpack to 64 MiB; so a pass unpacks
 * what sessions of this size do at the most, and leaves out what rows beyond that carry. */
void pw_record_pass(struct pw_record *r);
/* The payload of a row, unpacked and compared with its sum, valid until the next call. *dropped: the budget
 * took it, and data is NULL. */
enum pw_code pw_record_payload(struct pw_record *r, const struct pw_row *row, const void **data, size_t *n,
                               bool *dropped, struct pw_err *err);
/* Hands every file of the session, checked against its name, to `each` (NULL: checking is all). */
enum pw_code pw_record_files(struct pw_record *r,
                             enum pw_code (*each)(void *arg, const uint8_t sha[PW_SHA256], const void *bytes,
                                                  size_t n, struct pw_err *err),
                             void *arg, struct pw_err *err);
/* Are its numbers such as a session has? */
bool pw_record_plausible(const struct pw_row *row);
/* One that is no run; NULL without a message: it is of a kind that this pewter doesn't know. */
enum pw_code pw_record_decode(struct pw_record *r, struct pw_event **e, const struct pw_row *row,
                              const void *data, size_t n, struct pw_err *err);

#endif
