/* record_check.c - verify a session without re-running it.
 *
 * Verified are the database's B-trees, the chain over all events, each payload, the rows that are updated,
 * and the files. Hashes detect damage, not fraud: the author of a forged session can
 * recompute them. `replay --verify` detects fraud by re-running. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "sessions/record_int.h"

static enum pw_code check_trees(struct pw_record *r, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    pw_record_hurry(r, PW_RECORD_LONG);
    if (sqlite3_prepare_v2(r->db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW)
        code = pw_sql_fail(err, r->db, "its database is damaged");
    else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
        code = pw_fail(err, PW_EUSER, "its database is damaged: %.200s",
                       (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return code;
}

static enum pw_code check_run(const struct pw_row *row, const void *data, size_t n, uint64_t *events,
                              struct pw_err *err)
{
    struct pw_run_reader reader;
    struct pw_event *e = pw_run_event();
    uint64_t last = 0;
    bool got = true;
    enum pw_code code = PW_OK;
    pw_run_open(&reader, data, n);
    while (code == PW_OK && got) {
        code = pw_run_next(&reader, e, &got, err);
        if (code == PW_OK && got && last == 0 && e->seq != (uint64_t)row->seq)
            code = pw_fail(err, PW_EUSER, "its run has other numbers");
        if (code == PW_OK && got) {
            last = e->seq;
            ++*events;
        }
    }
    if (code == PW_OK && last != (uint64_t)row->last)
        code = pw_fail(err, PW_EUSER, "its run has other numbers");
    pw_event_free(e);
    return code;
}

static enum pw_code check_row(struct pw_record *r, const struct pw_row *row, uint64_t *events,
                              struct pw_err *err)
{
    const void *data;
    size_t n;
    bool dropped;
    struct pw_event *e = NULL;
    enum pw_code code = pw_record_payload(r, row, &data, &n, &dropped, err);
    if (code != PW_OK || dropped)
        return code;
    if (row->kind == PW_EV_STEP)
        return check_run(row, data, n, events, err);
    code = pw_record_decode(r, &e, row, data, n, err);
    *events += code == PW_OK;
    pw_event_free(e);
    return code;
}

static enum pw_code check_events(struct pw_record *r, uint64_t *intact, struct pw_err *err)
{
    uint8_t chain[PW_CHAIN] = {0}, stored[PW_CHAIN];
    sqlite3_stmt *q = NULL;
    struct pw_err why;
    enum pw_code code = PW_OK;
    int64_t last = 0; /* last event of the previous row */
    int rc = sqlite3_prepare_v2(r->db, "SELECT " PW_ROW_COLUMNS " FROM event ORDER BY seq", -1, &q, NULL);
    pw_record_hurry(r, PW_RECORD_LONG);
    while (rc == SQLITE_OK && code == PW_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        struct pw_row row;
        bool whole = pw_row_read(&row, stored, q);
        if (whole) {
            pw_row_chain(chain, chain, &row);
            whole = memcmp(chain, stored, PW_CHAIN) == 0;
        }
        if (!whole)
            code = pw_fail(&why, PW_EUSER, "it is damaged");
        else if (!pw_record_plausible(&row) || row.seq <= last)
            code = pw_fail(&why, PW_EUSER, "its numbers are out of range");
        else
            code = check_row(r, &row, intact, &why);
        last = row.last;
        if (code != PW_OK)
            pw_fail(err, code, "event %" PRId64 ": %s", (int64_t)sqlite3_column_int64(q, 0), why.msg);
        rc = SQLITE_OK;
    }
    if (code == PW_OK && rc != SQLITE_DONE)
        code = pw_sql_fail(err, r->db, "its events can't be read");
    sqlite3_finalize(q);
    return code;
}

/* A segment that was closed has the number of its last event. */
static enum pw_code check_ends(struct pw_record *r, struct pw_err *err)
{
    int64_t lost;
    enum pw_code code =
        pw_sql_int(r->db,
                   "SELECT id FROM segment WHERE last IS NOT NULL AND last <> coalesce((SELECT "
                   "last FROM event WHERE seg <= segment.id ORDER BY seq DESC LIMIT 1),0)",
                   0, &lost, err);
    if (code == PW_OK && lost != 0)
        code = pw_fail(err, PW_EUSER, "the last events of segment %" PRId64 " are missing", lost);
    if (code == PW_OK && r->saved > r->last)
        code = pw_fail(err, PW_EUSER,
                       "events %" PRIu64 " to %" PRIu64 " were on disk and are lost: its log is damaged",
                       r->last + 1, r->saved);
    return code;
}

enum pw_code pw_record_check(struct pw_record *r, uint64_t *intact, struct pw_err *err)
{
    static const char *const guarded[] = {"meta", "segment", "file"};
    *intact = 0;
    pw_record_pass(r);
    enum pw_code code = check_events(r, intact, err);
    if (code == PW_OK)
        code = check_trees(r, err);
    for (size_t i = 0; code == PW_OK && i < sizeof guarded / sizeof guarded[0]; i++)
        code = pw_guard_check(r->db, guarded[i], err);
    if (code == PW_OK)
        code = check_ends(r, err);
    return code == PW_OK ? pw_record_files(r, NULL, NULL, err) : code;
}
