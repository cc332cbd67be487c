/* record.c - open a recorded session, which may be from an untrusted source and may still be recorded.
 *
 * The connection is read-only and does not block the writer: no transaction outlasts a call. SQLite can't
 * read in place if there is a log beside the database in a read-only folder. Then database and log are copied
 * to a temporary folder. That is safe if no process holds the session's lock, because then no process can
 * lose its locks. */
#include "sessions/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/record_int.h"
#include "sessions/saved.h"
#include "sessions/store_int.h"

#define READING                                                                                              \
    (SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE)
#define PATIENCE 5.0
#define MOST     "9007199254740992" /* PW_MANY */

void pw_record_hurry(struct pw_record *r, double seconds)
{
    r->deadline = pw_now() + seconds;
}

static int too_late(void *arg)
{
    return pw_now() > ((const struct pw_record *)arg)->deadline;
}

void pw_record_damage(struct pw_record *r, uint64_t seq, const char *why)
{
    if (r->damaged++ == 0)
        snprintf(r->damage, sizeof r->damage, "event %" PRIu64 ": %.200s", seq, why);
}

/* ---- opening */

static enum pw_code prepare(struct pw_record *r, struct pw_err *err)
{
    const struct {
        sqlite3_stmt **q;
        const char *sql;
    } all[] = {
        {&r->row, "SELECT " PW_ROW_COLUMNS " FROM event WHERE seq>=?1 ORDER BY seq LIMIT 1"},
        {&r->before, "SELECT seq,last,chain FROM event WHERE seq<?1 ORDER BY seq DESC LIMIT 1"},
        {&r->by_kind, "SELECT seq FROM event INDEXED BY event_kind WHERE kind=?1 AND seq<=?2 "
                      "ORDER BY seq DESC LIMIT 1"},
        {&r->by_slot, "SELECT seq FROM event INDEXED BY event_slot WHERE kind=?1 AND seq<=?2 AND arm=?3 AND "
                      "replicate=?4 ORDER BY seq DESC LIMIT 1"},
        {&r->blob, "SELECT bytes,dropped,packed FROM blob WHERE sha=?1"},
        {&r->version, "PRAGMA data_version"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (sqlite3_prepare_v3(r->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].q, NULL) != SQLITE_OK)
            return pw_sql_fail(err, r->db, PW_SESSION_DB);
    return PW_OK;
}

static void let_go(struct pw_record *r)
{
    sqlite3_stmt **const all[] = {&r->row, &r->before, &r->by_kind, &r->by_slot, &r->blob, &r->version};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sqlite3_finalize(*all[i]);
        *all[i] = NULL;
    }
    sqlite3_close(r->db);
    r->db = NULL;
}

static enum pw_code connect_to(struct pw_record *r, const char *path, struct pw_err *err)
{
    pw_record_hurry(r, PATIENCE);
    int rc = sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY | READING, NULL);
    enum pw_code code =
        rc == SQLITE_OK ? pw_schema_settings(r->db, true, err) : pw_sql_fail(err, r->db, PW_SESSION_DB);
    if (code == PW_OK) {
        sqlite3_progress_handler(r->db, 10000, too_late, r);
        code = pw_sql_run(r->db, "PRAGMA query_only=ON", err);
    }
    if (code == PW_OK)
        code = pw_schema_check(r->db, r->packed, &r->newer, err);
    if (code == PW_OK)
        code = prepare(r, err);
    if (code != PW_OK)
        let_go(r);
    return code;
}

static bool copy_inside(const struct pw_record *r, const char *name, const char *to)
{
    char buf[16384];
    struct stat st;
    int in = openat(r->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int out = in >= 0 && fstat(in, &st) == 0 && S_ISREG(st.st_mode)
                  ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                  : -1;
    ssize_t n = -1;
    while (out >= 0 && (n = read(in, buf, sizeof buf)) > 0)
        if (write(out, buf, (size_t)n) != n)
            break;
    if (out >= 0)
        close(out);
    if (in >= 0)
        close(in);
    return n == 0;
}

void pw_record_writer(const struct pw_record *r, char *dst, size_t size)
{
    char text[32] = "";
    int pid = 0, fd = openat(r->folder, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    dst[0] = '\0';
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0) {
        if (pread(fd, text, sizeof text - 1, 0) > 0)
            pid = atoi(text);
        snprintf(dst, size, "pid %d", pid);
    }
    if (fd >= 0)
        close(fd);
}

static bool somebody_records(const struct pw_record *r)
{
    char who[32];
    pw_record_writer(r, who, sizeof who);
    return who[0] != '\0';
}

/* Copy database and log, and checkpoint the log in the copy. The copy is unlinked as soon as it is open, so
 * nothing is left behind. */
static enum pw_code connect_to_copy(struct pw_record *r, struct pw_err *err)
{
    const char *base = getenv("TMPDIR");
    char dir[PATH_MAX - 64], db[PATH_MAX], log[PATH_MAX], shared[PATH_MAX];
    sqlite3 *fold = NULL;
    snprintf(dir, sizeof dir, "%s/pewter-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
    char *whole = mkdtemp(dir) != NULL ? realpath(dir, NULL) : NULL;
    if (whole == NULL)
        return pw_fail(err, PW_EIO, "it has to be copied to be read, and %.200s can't be made: %s", dir,
                       strerror(errno));
    snprintf(db, sizeof db, "%.4000s/" PW_SESSION_DB, whole);
    snprintf(log, sizeof log, "%.4000s/" PW_SESSION_DB "-wal", whole);
    snprintf(shared, sizeof shared, "%.4000s/" PW_SESSION_DB "-shm", whole);
    bool copied = copy_inside(r, PW_SESSION_DB, db);
    copy_inside(r, PW_SESSION_DB "-wal", log);
    if (copied && sqlite3_open_v2(db, &fold, SQLITE_OPEN_READWRITE | READING, NULL) == SQLITE_OK &&
        pw_schema_settings(fold, true, NULL) == PW_OK)
        pw_sql_run(fold, "PRAGMA journal_mode=DELETE", NULL);
    sqlite3_close(fold);
    enum pw_code code = copied ? connect_to(r, db, err)
                               : pw_fail(err, PW_EIO, "it has to be copied to be read, and that failed");
    unlink(db);
    unlink(log);
    unlink(shared);
    rmdir(whole);
    free(whole);
    return code;
}

static enum pw_code open_path(struct pw_record *r, const char *path, struct pw_err *err)
{
    char db[PATH_MAX];
    struct stat st;
    r->path = realpath(path, NULL); /* SQLITE_OPEN_NOFOLLOW rejects links anywhere in a path */
    r->packed = r->path != NULL && stat(r->path, &st) == 0 && S_ISREG(st.st_mode);
    if (r->packed) {
        enum pw_code code = pw_session_no_text(path, err);
        return code == PW_OK ? connect_to(r, r->path, err) : code;
    }
    r->folder = r->path != NULL ? open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (r->folder < 0)
        return errno == ENOENT    ? pw_fail(err, PW_EUSER, "there is no such session")
               : errno == ENOTDIR ? pw_fail(err, PW_EUSER, "not a session: it is neither a folder nor a file")
                                  : pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    r->saved = pw_saved_read(r->folder); /* before the database: another process may record */
    if (fstatat(r->folder, PW_SESSION_DB, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? pw_fail(err, PW_EUSER, "not a session: there is no %s in it", PW_SESSION_DB)
                               : pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return pw_fail(err, PW_EUSER, "not a session: %s in it is not a file", PW_SESSION_DB);
    snprintf(db, sizeof db, "%.4000s/" PW_SESSION_DB, r->path);
    enum pw_code code = connect_to(r, db, err);
    if (code == PW_EIO && !somebody_records(r))
        code = connect_to_copy(r, err);
    return code;
}

/* Get the numbers of the first and the last event. A row with invalid numbers is skipped by readers and
 * reported by pw_record_check; it does not extend the session. */
static enum pw_code read_ends(struct pw_record *r, struct pw_err *err)
{
    static const char *const sql[] = {"SELECT seq FROM event WHERE seq<1 LIMIT 1",
                                      "SELECT seq FROM event WHERE seq<=" MOST " ORDER BY seq LIMIT 1",
                                      "SELECT CASE WHEN last BETWEEN seq AND " MOST
                                      " THEN last ELSE seq END FROM event WHERE seq<=" MOST
                                      " ORDER BY seq DESC LIMIT 1"};
    int64_t is[3] = {1};
    enum pw_code code = PW_OK;
    pw_record_hurry(r, PATIENCE);
    for (int i = 0; i < 3 && code == PW_OK; i++)
        code = pw_sql_int(r->db, sql[i], is[i], &is[i], err);
    if (code == PW_OK && is[0] < 1)
        code =
            pw_fail(err, PW_EUSER, "one of its events has the number %" PRId64 "; they begin with 1", is[0]);
    if (code == PW_OK) {
        r->first = (uint64_t)is[1];
        r->last = (uint64_t)is[2];
    }
    return code;
}

enum pw_code pw_record_open(struct pw_record **out, const char *path, struct pw_err *err)
{
    struct pw_record *r = pw_alloc(1, sizeof *r);
    struct pw_err why;
    r->folder = -1;
    *out = NULL;
    enum pw_code code = open_path(r, path, &why);
    if (code == PW_OK) {
        pw_record_poll(r);
        code = read_ends(r, &why);
    }
    if (code == PW_OK) {
        pw_record_pass(r);
        *out = r;
        return PW_OK;
    }
    char name[PW_LINE];
    pw_session_name(name, sizeof name, path);
    pw_record_close(r);
    return pw_fail(err, code, "%s: %s", name, why.msg);
}

void pw_record_close(struct pw_record *r)
{
    if (r == NULL)
        return;
    let_go(r);
    if (r->folder >= 0)
        close(r->folder);
    pw_str_fini(&r->payload);
    free(r->path);
    free(r);
}

const char *pw_record_path(const struct pw_record *r)
{
    return r->path;
}

/* The data version also changes when the log is checkpointed or another table is written; only a new event
 * counts as news. If the ends can't be read, the next call tries again. */
bool pw_record_poll(struct pw_record *r)
{
    int64_t version = r->seen_version;
    uint64_t last = r->last;
    pw_record_hurry(r, PATIENCE);
    if (sqlite3_step(r->version) == SQLITE_ROW)
        version = sqlite3_column_int64(r->version, 0);
    sqlite3_reset(r->version);
    if (version == r->seen_version || read_ends(r, NULL) != PW_OK)
        return false;
    r->seen_version = version;
    return r->last != last;
}

/* ---- information */

static int64_t int_of(struct pw_record *r, const char *sql)
{
    int64_t x;
    pw_record_hurry(r, PATIENCE);
    pw_sql_int(r->db, sql, 0, &x, NULL);
    return x;
}

static int64_t size_inside(const struct pw_record *r, const char *name)
{
    struct stat st;
    return fstatat(r->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
               ? (int64_t)st.st_size
               : 0;
}

static void text_column(char *dst, size_t size, sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    pw_text_copy(dst, size, text != NULL ? text : "");
}

static void last_segment(struct pw_record *r, struct pw_record_info *out)
{
    static const char sql[] =
        "SELECT ended_ns,kernel_abi,bits,pewter,device FROM segment ORDER BY id DESC LIMIT 1";
    sqlite3_stmt *q = NULL;
    pw_record_hurry(r, PATIENCE);
    if (sqlite3_prepare_v2(r->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
        char pewter[100], device[100];
        out->ended = sqlite3_column_type(q, 0) != SQLITE_NULL;
        out->kernel_abi = sqlite3_column_int(q, 1);
        text_column(out->bits, sizeof out->bits, q, 2);
        text_column(pewter, sizeof pewter, q, 3);
        text_column(device, sizeof device, q, 4);
        snprintf(out->env, sizeof out->env, "%s, %s", pewter, device);
    }
    sqlite3_finalize(q);
}

void pw_record_info(struct pw_record *r, struct pw_record_info *out)
{
    struct stat st;
    *out = (struct pw_record_info){
        .first = r->first, .last = r->last, .unknown = r->unknown, .damaged = r->damaged};
    pw_session_name(out->name, sizeof out->name, r->path);
    snprintf(out->damage, sizeof out->damage, "%s", r->damage);
    out->created_ns = int_of(r, "SELECT t_ns FROM event ORDER BY seq LIMIT 1");
    out->used_ns = int_of(r, "SELECT t_ns FROM event ORDER BY seq DESC LIMIT 1");
    out->segments = (int)int_of(r, "SELECT count(*) FROM segment");
    if (r->packed)
        out->bytes = stat(r->path, &st) == 0 ? (int64_t)st.st_size : 0;
    else
        out->bytes = int_of(r, "SELECT sum(bytes) FROM file WHERE deleted=0") +
                     size_inside(r, PW_SESSION_DB) + size_inside(r, PW_SESSION_DB "-wal");
    out->steps = int_of(r, "SELECT step FROM event WHERE kind=5 AND arm>0 ORDER BY seq DESC LIMIT 1");
    last_segment(r, out);
}
