/* record_files.c - the files of a recorded session, in its folder or in the parts of a packed session; and
 * the folders in which it was recorded. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sessions/record_int.h"
#include "sessions/store_int.h"

#define PATIENCE 5.0       /* seconds */
#define AT_ONCE  (4 << 20) /* bytes that are read before progress is reported */

/* Get the size of a file from its row. */
static enum pw_code file_row(struct pw_record *r, const uint8_t sha[PW_SHA256], size_t *n, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    pw_record_hurry(r, PATIENCE);
    if (sqlite3_prepare_v2(r->db, "SELECT bytes,deleted FROM file WHERE sha=?1", -1, &q, NULL) != SQLITE_OK)
        return pw_sql_fail(err, r->db, PW_SESSION_DB);
    sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    int64_t bytes = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : -1;
    if (rc == SQLITE_ROW && sqlite3_column_int(q, 1) != 0)
        code = pw_fail(err, PW_EUSER, "it was deleted to keep the budget");
    else if (rc == SQLITE_DONE)
        code = pw_fail(err, PW_EUSER, "the session has no such file");
    else if (rc != SQLITE_ROW)
        code = pw_sql_fail(err, r->db, PW_SESSION_DB);
    else if (bytes < 0 || bytes > (int64_t)1 << 40)
        code = pw_fail(err, PW_EUSER, "its row is damaged");
    *n = (size_t)bytes;
    sqlite3_finalize(q);
    return code;
}

/* Read n bytes, and hash them while they are in the cache of the processor. */
static enum pw_code read_whole(int fd, void *bytes, size_t n, struct pw_sha256 *h, struct pw_err *err)
{
    size_t done = 0;
    enum pw_code code = PW_OK;
    pw_progress_begin("reading a checkpoint", n);
    while (done < n && code == PW_OK) {
        size_t part = n - done < AT_ONCE ? n - done : AT_ONCE;
        ssize_t got = read(fd, (char *)bytes + done, part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            code =
                pw_fail(err, PW_EIO, "it can't be read: %s", got < 0 ? strerror(errno) : "it is too short");
            break;
        }
        pw_sha256_add(h, (char *)bytes + done, (size_t)got);
        done += (size_t)got;
        code = pw_progress_add((size_t)got, err);
    }
    pw_progress_end();
    return code;
}

/* Read the file in the session's folder, if it has n bytes, and hash it. */
static enum pw_code read_beside(struct pw_record *r, const char *name, void **bytes, size_t n,
                                struct pw_sha256 *h, struct pw_err *err)
{
    struct stat st;
    enum pw_code code;
    int fd = openat(r->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return pw_fail(err, errno == ENOENT || errno == ELOOP ? PW_EUSER : PW_EIO, "it can't be opened: %s",
                       strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != n)
        code = pw_fail(err, PW_EUSER, "its size is not %zu bytes, as recorded", n);
    else if ((*bytes = malloc(n > 0 ? n : 1)) == NULL)
        code = pw_fail(err, PW_ENOMEM, "no memory for its %zu bytes", n);
    else
        code = read_whole(fd, *bytes, n, h, err);
    close(fd);
    return code;
}

/* Read a packed file. Its parts must exist before memory is allocated for them. */
static enum pw_code read_chunks(struct pw_record *r, const uint8_t sha[PW_SHA256], void **bytes, size_t n,
                                struct pw_sha256 *h, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    size_t done = 0;
    pw_record_hurry(r, PW_RECORD_LONG);
    if (sqlite3_prepare_v2(r->db, "SELECT total(length(data)) FROM chunk WHERE sha=?1", -1, &q, NULL) !=
        SQLITE_OK)
        return pw_sql_fail(err, r->db, "it can't be read");
    sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
    bool whole = sqlite3_step(q) == SQLITE_ROW && sqlite3_column_double(q, 0) == (double)n;
    sqlite3_finalize(q);
    if (!whole)
        return pw_fail(err, PW_EUSER, "its size is not %zu bytes, as recorded", n);
    if ((*bytes = malloc(n > 0 ? n : 1)) == NULL)
        return pw_fail(err, PW_ENOMEM, "no memory for its %zu bytes", n);
    int rc = sqlite3_prepare_v2(r->db, "SELECT data FROM chunk WHERE sha=?1 ORDER BY n", -1, &q, NULL);
    sqlite3_bind_blob(q, 1, sha, PW_SHA256, SQLITE_STATIC);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const void *part = sqlite3_column_blob(q, 0);
        size_t size = (size_t)sqlite3_column_bytes(q, 0);
        if (part != NULL && size <= n - done) {
            memcpy((char *)*bytes + done, part, size);
            pw_sha256_add(h, part, size);
            done += size;
        }
        rc = SQLITE_OK;
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, r->db, "it can't be read");
    sqlite3_finalize(q);
    return code == PW_OK && done != n ? pw_fail(err, PW_EUSER, "its size is not %zu bytes, as recorded", n)
                                      : code;
}

static enum pw_code read_file(struct pw_record *r, const uint8_t sha[PW_SHA256], const char *name,
                              void **bytes, size_t *n, struct pw_err *err)
{
    uint8_t is[PW_SHA256];
    struct pw_sha256 h;
    pw_sha256_begin(&h);
    enum pw_code code = file_row(r, sha, n, err);
    if (code == PW_OK)
        code = r->packed ? read_chunks(r, sha, bytes, *n, &h, err) : read_beside(r, name, bytes, *n, &h, err);
    if (code == PW_OK) {
        pw_sha256_end(&h, is);
        if (memcmp(is, sha, sizeof is) != 0)
            code = pw_fail(err, PW_EUSER, "its content is damaged");
    }
    return code;
}

enum pw_code pw_record_file(struct pw_record *r, const uint8_t sha[PW_SHA256], void **bytes, size_t *n,
                            struct pw_err *err)
{
    char name[80] = "files/";
    struct pw_err why;
    *bytes = NULL;
    pw_sha256_text(name + 6, sha);
    enum pw_code code = read_file(r, sha, name, bytes, n, &why);
    if (code == PW_OK)
        return PW_OK;
    free(*bytes);
    *bytes = NULL;
    *n = 0;
    return pw_fail(err, code, "%.18s...: %s", name, why.msg);
}

enum pw_code pw_record_files(struct pw_record *r,
                             enum pw_code (*each)(void *arg, const uint8_t sha[PW_SHA256], const void *bytes,
                                                  size_t n, struct pw_err *err),
                             void *arg, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    enum pw_code code = PW_OK;
    int rc = sqlite3_prepare_v2(r->db, "SELECT sha FROM file WHERE deleted=0 ORDER BY id", -1, &q, NULL);
    pw_record_hurry(r, PW_RECORD_LONG);
    while (rc == SQLITE_OK && code == PW_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint8_t sha[PW_SHA256] = {0};
        void *bytes;
        size_t n;
        if (sqlite3_column_bytes(q, 0) == PW_SHA256)
            memcpy(sha, sqlite3_column_blob(q, 0), PW_SHA256);
        code = pw_record_file(r, sha, &bytes, &n, err);
        if (code == PW_OK && each != NULL)
            code = each(arg, sha, bytes, n, err);
        free(bytes);
        pw_record_hurry(r, PW_RECORD_LONG);
        rc = SQLITE_OK;
    }
    if (code == PW_OK && rc != SQLITE_DONE)
        code = pw_sql_fail(err, r->db, "its files can't be listed");
    sqlite3_finalize(q);
    return code;
}

int pw_record_folders(struct pw_record *r, char **out)
{
    sqlite3_stmt *q = NULL;
    int n = 0;
    pw_record_hurry(r, PATIENCE);
    if (sqlite3_prepare_v2(r->db, PW_FOLDERS_SQL, -1, &q, NULL) == SQLITE_OK)
        while (n < PW_SESSION_FOLDERS && sqlite3_step(q) == SQLITE_ROW) {
            const char *path = (const char *)sqlite3_column_text(q, 0);
            bool fits = path != NULL && path[0] == '/' && strlen(path) < PATH_MAX;
            if (fits && pw_utf8_valid(path, strlen(path)))
                out[n++] = pw_text_dup(path);
        }
    sqlite3_finalize(q);
    return n;
}
