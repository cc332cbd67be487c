/* pack.c - pack a session into a file, and unpack it.
 *
 * In both directions rows are copied into a new database, so only values pass from a file of unknown origin.
 *
 * A process that is killed while it packs must leave nothing, but SQLite opens files by name. So the database
 * is built in a file whose name is removed as soon as SQLite has opened it. Then it is copied into a file
 * that gets its name when it is complete (base/file.h). A session may be larger than memory, which rules out
 * a database in memory. A folder needs a name: unpack fills NAME.tmp-XXXXXX and renames it. It holds a lock
 * on that folder (leftover.c). */
#include "sessions/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "sessions/record_int.h"
#include "sessions/store_int.h"

#define CHUNK ((size_t)8 << 20)

static enum pw_code no_place(const char *path, struct pw_err *err)
{
    struct stat st;
    if (strlen(path) + sizeof PW_SESSION_ASIDE + 80 > PW_PATH)
        return pw_fail(err, PW_EUSER, "%.60s...: a path has at most %d bytes", path, PW_PATH);
    if (lstat(path, &st) == 0)
        return pw_fail(err, PW_EUSER, "%s already exists", path);
    return PW_OK;
}

/* Rename the temporary folder to its final path. */
static enum pw_code put_in_place(const char *aside, const char *path, struct pw_err *err)
{
    char parent[PW_PATH];
    pw_session_parent(parent, path);
    int failed = renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE) != 0 ? errno : 0;
    if (failed == EEXIST)
        return pw_fail(err, PW_EUSER, "%s already exists", path);
    failed = failed == 0 ? pw_sync_folder(parent) : failed;
    return failed == 0 ? PW_OK : pw_fail(err, PW_EIO, "%s can't be written: %s", path, strerror(failed));
}

static enum pw_code open_db(sqlite3 **db, const char *path, struct pw_err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    return sqlite3_open_v2(path, db, flags, NULL) == SQLITE_OK ? PW_OK : pw_sql_fail(err, *db, path);
}

/* Copy the session's tables into a new database; the transaction remains open. */
static enum pw_code copy_db(sqlite3 *db, struct pw_record *r, bool packed, struct pw_err *err)
{
    enum pw_code code = pw_schema_settings(db, false, err);
    if (code == PW_OK) /* a journal on disk is useless: an incomplete database is dropped */
        code = pw_sql_run(db, "PRAGMA page_size=8192; PRAGMA journal_mode=MEMORY", err);
    if (code == PW_OK) /* a packed one is copied, and the copy is synced */
        code =
            pw_sql_run(db, packed ? "PRAGMA synchronous=OFF; BEGIN" : "PRAGMA synchronous=FULL; BEGIN", err);
    if (code == PW_OK)
        code = pw_schema_create(db, packed, err);
    pw_record_hurry(r, PW_RECORD_LONG);
    return code == PW_OK ? pw_schema_copy(db, r->db, err) : code;
}

static enum pw_code end_db(sqlite3 *db, enum pw_code code, struct pw_err *err)
{
    if (code == PW_OK)
        code = pw_sql_run(db, "COMMIT", err);
    sqlite3_close(db);
    return code;
}

/* Open a record for copying, in a transaction, so that a concurrent recording does not change it. */
static enum pw_code begin_copy(struct pw_record **r, const char *path, bool packed, struct pw_err *err)
{
    enum pw_code code = pw_record_open(r, path, err);
    if (code == PW_OK && (*r)->packed != packed)
        code = pw_fail(err, PW_EUSER,
                       packed ? "%s is a folder: there is nothing to unpack" : "%s is packed already", path);
    if (code == PW_OK && (*r)->newer)
        code = pw_fail(err, PW_EUSER, "%s was recorded by a newer pewter, which can do this", path);
    return code == PW_OK ? pw_sql_run((*r)->db, "BEGIN", err) : code;
}

/* ---- into a file */

static enum pw_code put_chunks(void *arg, const uint8_t sha[PW_SHA256], const void *bytes, size_t n,
                               struct pw_err *err)
{
    sqlite3 *db = arg;
    sqlite3_stmt *q = NULL;
    enum pw_code code =
        sqlite3_prepare_v2(db, "INSERT INTO chunk(sha,n,data) VALUES(?1,?2,?3)", -1, &q, NULL) == SQLITE_OK
            ? PW_OK
            : pw_sql_fail(err, db, "chunk");
    for (size_t at = 0; code == PW_OK && at < n; at += CHUNK) {
        sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)(at / CHUNK));
        sqlite3_bind_blob64(q, 3, (const char *)bytes + at, n - at < CHUNK ? n - at : CHUNK, SQLITE_STATIC);
        code = sqlite3_step(q) == SQLITE_DONE ? PW_OK : pw_sql_fail(err, db, "chunk");
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return code;
}

/* Copy the bytes of a descriptor to a stream. Returns the errno of a failed read; ferror() of the stream
 * reports failed writes. */
static int copy_bytes(int fd, FILE *to)
{
    static const size_t most = (size_t)1 << 20;
    char *bytes = malloc(most);
    int failed = bytes == NULL ? ENOMEM : 0;
    ssize_t got;
    for (off_t at = 0; failed == 0 && (got = pread(fd, bytes, most, at)) != 0; at += got > 0 ? got : 0) {
        if (got > 0)
            fwrite(bytes, 1, (size_t)got, to);
        else if (errno != EINTR)
            failed = errno;
    }
    free(bytes);
    return failed;
}

/* Build the packed database in a file without a name, and copy it to f. */
static enum pw_code build(struct pw_file *f, struct pw_record *r, const char *file, struct pw_err *err)
{
    sqlite3 *db = NULL;
    char *name;
    int fd;
    enum pw_code code = pw_file_scratch(&fd, &name, file, err);
    if (code != PW_OK)
        return code;
    code = open_db(&db, name, err);
    unlink(name);
    if (code == PW_OK)
        code = copy_db(db, r, true, err);
    if (code == PW_OK)
        code = pw_record_files(r, put_chunks, db, err);
    code = end_db(db, code, err);
    int failed = code == PW_OK ? copy_bytes(fd, pw_file_stream(f)) : 0;
    close(fd);
    free(name);
    return failed == 0 ? code : pw_fail(err, PW_EIO, "%s can't be written: %s", file, strerror(failed));
}

enum pw_code pw_session_pack(const char *folder, const char *file, struct pw_err *err)
{
    struct pw_record *r = NULL;
    struct pw_file *f = NULL;
    enum pw_code code = no_place(file, err);
    if (code == PW_OK)
        code = begin_copy(&r, folder, false, err);
    if (code == PW_OK)
        code = pw_file_create(&f, file, err);
    if (code == PW_OK) {
        pw_file_private(f);
        pw_file_fresh(f);
        code = build(f, r, file, err);
        if (code == PW_OK)
            code = pw_file_commit(f, err);
        else
            pw_file_abandon(f);
    }
    pw_record_close(r);
    return code;
}

/* ---- into a folder */

static enum pw_code put_file(void *arg, const uint8_t sha[PW_SHA256], const void *bytes, size_t n,
                             struct pw_err *err)
{
    char path[PW_PATH];
    size_t done = 0;
    int used = snprintf(path, sizeof path, "%s/files/", (const char *)arg);
    pw_sha256_text(path + used, sha);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600),
        failed = fd < 0 ? errno : 0;
    while (failed == 0 && done < n) {
        ssize_t wrote = write(fd, (const char *)bytes + done, n - done);
        failed = wrote > 0 || (wrote < 0 && errno == EINTR) ? 0 : wrote < 0 ? errno : EIO;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (failed == 0 && fsync(fd) != 0)
        failed = errno;
    if (fd >= 0)
        close(fd);
    return failed == 0 ? PW_OK : pw_fail(err, PW_EIO, "a file can't be written: %s", strerror(failed));
}

static enum pw_code fill_folder(struct pw_record *r, char *aside, struct pw_err *err)
{
    char path[PW_PATH];
    sqlite3 *db = NULL;
    int failed = 0;
    for (int i = 0; i < 2 && failed == 0; i++) {
        snprintf(path, sizeof path, "%.1300s/%s", aside, i == 0 ? "files" : "tmp");
        failed = mkdir(path, 0700) != 0 ? errno : 0;
    }
    if (failed != 0)
        return pw_fail(err, PW_EIO, "a folder can't be made: %s", strerror(failed));
    snprintf(path, sizeof path, "%.1300s/" PW_SESSION_DB, aside);
    enum pw_code code = open_db(&db, path, err);
    if (code == PW_OK)
        code = copy_db(db, r, false, err);
    code = end_db(db, code, err);
    if (code == PW_OK)
        code = pw_record_files(r, put_file, aside, err);
    snprintf(path, sizeof path, "%.1300s/files", aside);
    if (code == PW_OK && ((failed = pw_sync_folder(path)) != 0 || (failed = pw_sync_folder(aside)) != 0))
        code = pw_fail(err, PW_EIO, "a folder can't be written: %s", strerror(failed));
    return code;
}

/* Create the temporary folder `aside`, and lock it. */
static enum pw_code make_aside(char aside[PW_PATH], int *lock, const char *folder, struct pw_err *err)
{
    struct stat st;
    pw_session_remove_unpacked(folder);
    snprintf(aside, PW_PATH, "%s" PW_SESSION_ASIDE, folder);
    if (mkdtemp(aside) == NULL)
        return pw_fail(err, PW_EIO, "%s can't be made: %s", folder, strerror(errno));
    *lock = pw_session_lock_folder(aside);
    if (lstat(aside, &st) == 0)
        return PW_OK;
    if (*lock >= 0) /* it was removed before it was locked */
        close(*lock);
    return pw_fail(err, PW_EUSER, "%s is being unpacked by another process", folder);
}

enum pw_code pw_session_unpack(const char *file, const char *folder, struct pw_err *err)
{
    struct pw_record *r = NULL;
    struct pw_err why;
    char aside[PW_PATH];
    int lock = -1;
    uint64_t intact;
    enum pw_code code = no_place(folder, err);
    if (code == PW_OK)
        code = begin_copy(&r, file, true, err);
    if (code == PW_OK && (code = pw_record_check(r, &intact, &why)) != PW_OK)
        pw_fail(err, code, "%s: %s", file, why.msg);
    if (code == PW_OK)
        code = make_aside(aside, &lock, folder, err);
    if (code == PW_OK) {
        code = fill_folder(r, aside, err);
        if (code == PW_OK)
            code = put_in_place(aside, folder, err);
        if (code != PW_OK)
            pw_session_remove(aside);
        if (lock >= 0) /* a file system without locks: nothing is removed there */
            close(lock);
    }
    pw_record_close(r);
    return code;
}
