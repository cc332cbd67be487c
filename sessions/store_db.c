/* store_db.c - the one connection that writes.
 *
 * With synchronous=FULL a returned commit survives a power loss. (With NORMAL it may not, though kill -9
 * can't show that.) Only this connection checkpoints the write-ahead log, and keeps it at about 1 MiB. On a
 * full disk a session must still be opened and copied, and both need as much space as the log has. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/store_int.h"

#define CANT "the session can't be written"

static int count_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
    (void)db, (void)name;
    ((struct pw_store *)arg)->log_pages = pages;
    return SQLITE_OK;
}

/* Read the last event's number, and the chain after it. */
static enum pw_code read_tail(struct pw_store *s, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    s->last = 0;
    memset(s->chain, 0, sizeof s->chain);
    int rc =
        sqlite3_prepare_v2(s->db, "SELECT last,chain FROM event ORDER BY seq DESC LIMIT 1", -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t last = sqlite3_column_int64(q, 0);
        s->last = (uint64_t)last;
        if (last < 1 || last > PW_MANY / 2) /* later events need numbers, too */
            code = pw_fail(
                err, PW_EUSER,
                "its last event has the number %" PRId64 ", as no session has: it can't be continued", last);
        else if (sqlite3_column_bytes(q, 1) == PW_CHAIN)
            memcpy(s->chain, sqlite3_column_blob(q, 1), PW_CHAIN);
        else
            code = pw_fail(err, PW_EUSER, "its last row is damaged");
    } else if (rc != SQLITE_DONE) {
        code = pw_sql_fail(err, s->db, PW_SESSION_DB);
    }
    sqlite3_finalize(q);
    return code;
}

static ino_t inode_of(const struct pw_store *s, const char *name)
{
    char path[PW_PATH];
    struct stat st;
    pw_store_path(s, path, name);
    return lstat(path, &st) == 0 ? st.st_ino : 0;
}

static enum pw_code prepare(struct pw_store *s, struct pw_err *err)
{
    static const char insert[] =
        "INSERT INTO event(" PW_ROW_COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)";
    static const char known[] = "SELECT dropped FROM blob WHERE sha=?1";
    static const char put[] = "INSERT INTO blob(sha,bytes,dropped,packed) VALUES(?1,?2,0,?3) "
                              "ON CONFLICT(sha) DO UPDATE SET packed=excluded.packed, dropped=0";
    if (sqlite3_prepare_v3(s->db, insert, -1, SQLITE_PREPARE_PERSISTENT, &s->insert, NULL) != SQLITE_OK ||
        sqlite3_prepare_v3(s->db, known, -1, SQLITE_PREPARE_PERSISTENT, &s->blob_known, NULL) != SQLITE_OK ||
        sqlite3_prepare_v3(s->db, put, -1, SQLITE_PREPARE_PERSISTENT, &s->blob_put, NULL) != SQLITE_OK)
        return pw_sql_fail(err, s->db, PW_SESSION_DB);
    return PW_OK;
}

static enum pw_code set_up(struct pw_store *s, struct pw_err *err)
{
    bool newer;
    int64_t busy;
    enum pw_code code = pw_schema_settings(s->db, false, err);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (code == PW_OK)
        code = pw_schema_check(s->db, false, &newer, err);
    if (code == PW_OK)
        code = pw_sql_run(s->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL", err);
    if (code == PW_OK)
        code = pw_sql_int(s->db, "PRAGMA wal_autocheckpoint=0", 0, &busy, err);
    if (code == PW_OK)
        code = pw_sql_int(s->db, "PRAGMA journal_size_limit=1048576", 0, &busy, err);
    if (code == PW_OK)
        code = read_tail(s, err);
    if (code == PW_OK)
        code = prepare(s, err);
    sqlite3_wal_hook(s->db, count_pages, s);
    s->db_inode = inode_of(s, PW_SESSION_DB);
    s->log_inode = inode_of(s, PW_SESSION_DB "-wal");
    if (code == PW_OK && s->log_inode == 0)
        code = pw_fail(err, PW_EIO, "%s has no write-ahead log here", PW_SESSION_DB);
    return code;
}

enum pw_code pw_store_connect(struct pw_store *s, struct pw_err *err)
{
    char path[PW_PATH];
    pw_store_path(s, path, PW_SESSION_DB);
    int rc = sqlite3_open_v2(path, &s->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                                 SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE,
                             NULL);
    enum pw_code code = rc == SQLITE_OK ? set_up(s, err) : pw_sql_fail(err, s->db, PW_SESSION_DB);
    if (code != PW_OK)
        pw_store_disconnect(s);
    return code;
}

void pw_store_disconnect(struct pw_store *s)
{
    sqlite3_finalize(s->insert);
    sqlite3_finalize(s->blob_known);
    sqlite3_finalize(s->blob_put);
    s->insert = s->blob_known = s->blob_put = NULL;
    sqlite3_close(s->db);
    s->db = NULL;
    s->log_pages = 0;
}

/* ---- rows */

static enum pw_code done(struct pw_store *s, sqlite3_stmt *q, struct pw_err *err)
{
    enum pw_code code = sqlite3_step(q) == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, CANT);
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
    return code;
}

/* Compression level 1: other levels take three to ten times as long and save a tenth. */
static enum pw_code put_blob(struct pw_store *s, const uint8_t sha[PW_SHA256], const void *data, size_t n,
                             struct pw_err *err)
{
    sqlite3_bind_blob(s->blob_known, 1, sha, PW_SHA256, SQLITE_STATIC);
    bool there = sqlite3_step(s->blob_known) == SQLITE_ROW && sqlite3_column_int(s->blob_known, 0) == 0;
    sqlite3_reset(s->blob_known);
    if (there)
        return PW_OK;
    uLongf size = compressBound(n);
    if (s->packed.cap < size) {
        s->packed.s = pw_grow(s->packed.s, size, 1);
        s->packed.cap = size;
    }
    int rc = compress2((Bytef *)s->packed.s, &size, data, n, 1);
    if (rc != Z_OK)
        return pw_fail(err, PW_ENOMEM, "no memory to pack %zu bytes for the session", n);
    sqlite3_bind_blob(s->blob_put, 1, sha, PW_SHA256, SQLITE_STATIC);
    sqlite3_bind_int64(s->blob_put, 2, (sqlite3_int64)n);
    sqlite3_bind_blob64(s->blob_put, 3, s->packed.s, size, SQLITE_STATIC);
    return done(s, s->blob_put, err);
}

static enum pw_code put_row(struct pw_store *s, uint8_t chain[PW_CHAIN], const struct pw_waiting *w,
                            struct pw_err *err)
{
    struct pw_row row = w->row;
    uint8_t sha[PW_SHA256];
    const char *bytes = s->writing.bytes.s + w->at;
    enum pw_code code = PW_OK;
    row.seg = s->seg;
    row.text = row.n_text > 0 ? bytes : NULL;
    row.data = bytes + row.n_text;
    if (row.n_data > PW_INLINE && row.kind != PW_EV_STEP) {
        pw_sha256_of(sha, row.data, row.n_data);
        code = put_blob(s, sha, row.data, row.n_data, err);
        row.blob = sha;
        row.data = NULL;
        row.n_data = 0;
    }
    if (code != PW_OK)
        return code;
    const int64_t numbers[] = {row.seq,  row.last, row.seg,     row.t_ns,
                               row.kind, row.arm,  row.replica, row.step};
    pw_row_chain(chain, chain, &row);
    for (int i = 0; i < 8; i++)
        sqlite3_bind_int64(s->insert, i + 1, numbers[i]);
    if (row.text != NULL)
        sqlite3_bind_text64(s->insert, 9, row.text, row.n_text, SQLITE_STATIC, SQLITE_UTF8);
    if (row.data != NULL)
        sqlite3_bind_blob64(s->insert, 10, row.data, row.n_data, SQLITE_STATIC);
    if (row.blob != NULL)
        sqlite3_bind_blob(s->insert, 11, row.blob, PW_SHA256, SQLITE_STATIC);
    sqlite3_bind_blob(s->insert, 12, chain, PW_CHAIN, SQLITE_STATIC);
    return done(s, s->insert, err);
}

static enum pw_code put_file_row(struct pw_store *s, const struct pw_file_row *row, struct pw_err *err)
{
    static const char put[] = "INSERT INTO file(sha,bytes,keep,deleted) VALUES(?1,?2,0,0) "
                              "ON CONFLICT(sha) DO UPDATE SET deleted=0 RETURNING id";
    static const char keep[] = "UPDATE file SET keep=1 WHERE sha=?1 RETURNING id";
    sqlite3_stmt *q = NULL;
    int64_t id = 0;
    int rc = sqlite3_prepare_v2(s->db, row->bytes >= 0 ? put : keep, -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, row->sha, PW_SHA256, SQLITE_STATIC);
        if (row->bytes >= 0)
            sqlite3_bind_int64(q, 2, row->bytes);
        rc = sqlite3_step(q);
        id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
        rc = rc == SQLITE_ROW ? sqlite3_step(q) : rc;
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, s->db, CANT);
    sqlite3_finalize(q);
    return code == PW_OK && id != 0 ? pw_guard_write(s->db, "file", id, err) : code;
}

/* File rows come first, because an event may name a file: a row must imply that its file exists. */
enum pw_code pw_store_write(struct pw_store *s, struct pw_err *err)
{
    uint8_t chain[PW_CHAIN];
    memcpy(chain, s->chain, sizeof chain);
    enum pw_code code = pw_sql_run(s->db, "BEGIN IMMEDIATE", err);
    for (int i = 0; code == PW_OK && i < s->n_file_rows; i++)
        code = put_file_row(s, &s->file_rows[i], err);
    for (int i = 0; code == PW_OK && i < s->writing.n; i++)
        code = put_row(s, chain, &s->writing.rows[i], err);
    if (code == PW_OK)
        code = pw_sql_run(s->db, "COMMIT", err);
    if (code != PW_OK)
        return code;
    if (s->writing.n > 0)
        s->last = (uint64_t)s->writing.rows[s->writing.n - 1].row.last;
    memcpy(s->chain, chain, sizeof chain);
    pw_row_batch_clear(&s->writing);
    s->n_file_rows = 0;
    return PW_OK;
}

/* Checkpoint the log into the database. A reader may block it; that is not a failure, and the next checkpoint
 * includes the rest. */
enum pw_code pw_store_fold_log(struct pw_store *s, int mode, struct pw_err *err)
{
    int pages = 0, folded = 0;
    sqlite3_busy_timeout(s->db, 0);
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, mode, &pages, &folded);
    sqlite3_busy_timeout(s->db, 2000);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY && (rc & 0xff) != SQLITE_LOCKED)
        return pw_sql_fail(err, s->db, CANT);
    s->log_pages = pages - folded;
    return PW_OK;
}
