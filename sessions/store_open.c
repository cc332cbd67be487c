/* store_open.c - create a session, and open an existing one for recording, however its last process ended.
 *
 * A new session is reported as created when its tables, its folder and the parent folder are on disk. After a
 * power loss before that, there is nothing, or a session that is rejected as unfinished. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sessions/saved.h"
#include "sessions/store_int.h"

int pw_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = fd < 0 ? errno : 0;
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        number = errno;
    if (fd >= 0)
        close(fd);
    return number;
}

DIR *pw_folder_inside(const struct pw_store *s, const char *name)
{
    char path[PW_PATH];
    pw_store_path(s, path, name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL && fd >= 0)
        close(fd);
    return d;
}

static enum pw_code sync_both(const char *folder, struct pw_err *err)
{
    char parent[PW_PATH];
    snprintf(parent, sizeof parent, "%s/..", folder);
    int number = pw_sync_folder(folder);
    if (number == 0)
        number = pw_sync_folder(parent);
    return number == 0 ? PW_OK : pw_fail(err, PW_EIO, "it can't be written: %s", strerror(number));
}

static enum pw_code make_folders(const struct pw_store *s, struct pw_err *err)
{
    static const char *const inside[] = {"files", "tmp"};
    char path[PW_PATH];
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        pw_store_path(s, path, inside[i]);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return pw_fail(err, PW_EIO, "%s can't be made: %s", inside[i], strerror(errno));
        /* A link is not followed, because files in the folder will be removed. */
        DIR *d = pw_folder_inside(s, inside[i]);
        if (d == NULL)
            return pw_fail(err, PW_EUSER, "not a session: %s in it is not a folder", inside[i]);
        closedir(d);
    }
    return PW_OK;
}

enum pw_code pw_store_put_meta(sqlite3 *db, const char *key, const char *value, struct pw_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db, "INSERT INTO meta(key,value) VALUES(?1,?2)", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, value, -1, SQLITE_STATIC);
        rc = sqlite3_step(q);
    }
    enum pw_code code = rc == SQLITE_DONE ? PW_OK : pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_finalize(q);
    return code == PW_OK ? pw_guard_write(db, "meta", sqlite3_last_insert_rowid(db), err) : code;
}

static enum pw_code fill(sqlite3 *db, const struct pw_environment *env, struct pw_err *err)
{
    unsigned char random[16];
    char id[33], created[32];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return pw_fail(err, PW_EIO, "no random numbers for the session's name");
    for (int i = 0; i < 16; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    snprintf(created, sizeof created, "%" PRId64, pw_wall_ns());
    /* One commit, with a rollback journal, and a page size that can't be changed later. */
    enum pw_code code =
        pw_sql_run(db,
                   "PRAGMA page_size=8192; PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;"
                   "BEGIN IMMEDIATE",
                   err);
    if (code == PW_OK)
        code = pw_schema_create(db, false, err);
    if (code == PW_OK)
        code = pw_store_put_meta(db, "session", id, err);
    if (code == PW_OK)
        code = pw_store_put_meta(db, "created_ns", created, err);
    if (code == PW_OK)
        code = pw_store_put_meta(db, "pewter", env->pewter, err);
    return code == PW_OK ? pw_sql_run(db, "COMMIT", err) : code;
}

static enum pw_code make_db(const struct pw_store *s, struct pw_err *err)
{
    char path[PW_PATH];
    sqlite3 *db = NULL;
    pw_store_path(s, path, PW_SESSION_DB);
    int rc = sqlite3_open_v2(
        path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        NULL);
    enum pw_code code = rc == SQLITE_OK ? fill(db, &s->cfg.env, err) : pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_close(db);
    return code;
}

/* Resolve the folder's path. SQLite must follow no links (a link in a session could lead anywhere), and
 * that includes links above the folder. */
static bool absolute(struct pw_store *s)
{
    char *whole = realpath(s->folder, NULL);
    if (whole == NULL)
        return false;
    free(s->folder);
    s->folder = whole;
    return strlen(whole) < PW_PATH - 100;
}

enum pw_code pw_store_make(struct pw_store *s, struct pw_err *err)
{
    static const char *const made[] = {PW_SESSION_DB "-wal",
                                       PW_SESSION_DB "-shm",
                                       PW_SESSION_DB "-journal",
                                       PW_SESSION_DB,
                                       "lock",
                                       "files",
                                       "tmp",
                                       "."};
    char path[PW_PATH];
    if (mkdir(s->folder, 0700) != 0)
        return errno == EEXIST ? pw_fail(err, PW_EUSER, "it already exists")
                               : pw_fail(err, PW_EIO, "the folder can't be made: %s", strerror(errno));
    if (!absolute(s))
        return pw_fail(err, PW_EIO, "the folder can't be found: %s", strerror(errno));
    enum pw_code code = pw_lock_take(&s->lock_fd, s->folder, err);
    if (code == PW_OK)
        code = make_folders(s, err);
    if (code == PW_OK)
        code = make_db(s, err);
    if (code == PW_OK)
        code = pw_store_connect(s, err);
    if (code == PW_OK)
        code = sync_both(s->folder, err);
    for (size_t i = 0; code != PW_OK && i < sizeof made / sizeof made[0]; i++) {
        if (i == 0)
            pw_store_disconnect(s);
        pw_store_path(s, path, strcmp(made[i], ".") == 0 ? "" : made[i]);
        remove(path);
    }
    return code;
}

/* ---- existing sessions */

static enum pw_code regular_inside(struct pw_store *s, struct pw_err *err)
{
    char path[PW_PATH];
    struct stat st;
    if (stat(s->folder, &st) != 0)
        return errno == ENOENT ? pw_fail(err, PW_EUSER, "there is no such session")
                               : pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    enum pw_code code = pw_session_no_text(s->folder, err);
    if (code != PW_OK)
        return code;
    if (!S_ISDIR(st.st_mode))
        return pw_fail(err, PW_EUSER,
                       "it is packed; 'pewter session unpack FILE' makes a session that can continue");
    if (!absolute(s))
        return pw_fail(err, PW_EIO, "the folder can't be found: %s", strerror(errno));
    pw_store_path(s, path, PW_SESSION_DB);
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? pw_fail(err, PW_EUSER, "not a session: there is no %s in it", PW_SESSION_DB)
                               : pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return pw_fail(err, PW_EUSER, "not a session: %s in it is not a file", PW_SESSION_DB);
    return PW_OK;
}

/* Compare with `saved` (saved.c), because SQLite does not report damage at the end of its log. */
static enum pw_code look_for_gone(struct pw_store *s, struct pw_err *err)
{
    int fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    uint64_t saved = pw_saved_read(fd);
    s->gone = saved > s->last ? saved - s->last : 0;
    close(fd);
    return PW_OK;
}

enum pw_code pw_store_take(struct pw_store *s, int64_t *cleared, struct pw_err *err)
{
    enum pw_code code = regular_inside(s, err);
    if (code == PW_OK)
        code = pw_lock_take(&s->lock_fd, s->folder, err);
    if (code == PW_OK)
        code = pw_store_connect(s, err);
    if (code == PW_OK)
        code = pw_guard_check(s->db, "segment", err);
    if (code == PW_OK)
        code = pw_segment_check(s, err);
    if (code == PW_OK)
        code = pw_guard_check(s->db, "file", err);
    if (code == PW_OK)
        code = make_folders(s, err);
    if (code == PW_OK)
        code = look_for_gone(s, err);
    return code == PW_OK ? pw_store_files_clear(s, cleared, err) : code;
}
