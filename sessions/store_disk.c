/* store_disk.c - full or failing disks.
 *
 * A failed commit or sync is not retried on the same connection. The kernel may have marked pages clean that
 * it could not write; a retry would then succeed without anything on disk. So the connection is dropped, and
 * the log is overwritten with its own bytes, which makes its pages dirty again and the next sync meaningful.
 * A new connection then reads how far the session is on disk; rows that are missing wait in memory and are
 * written after it.
 *
 * The ballast is disk space that the session reserves. When the disk is full it is released, so that the log
 * can be checkpointed and committed data stay readable. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sessions/store_int.h"

#define BALLAST ((off_t)2 << 20)
#define PLENTY  ((uint64_t)32 << 20) /* free bytes that are required to create it */

void pw_store_ballast(struct pw_store *s)
{
    char path[PW_PATH];
    struct stat st;
    struct statvfs fs;
    pw_store_path(s, path, "ballast");
    s->ballast = lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == BALLAST;
    if (s->ballast || statvfs(s->folder, &fs) != 0 || (uint64_t)fs.f_bavail * fs.f_frsize < PLENTY)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    s->ballast = fd >= 0 && fallocate(fd, 0, 0, BALLAST) == 0;
    if (fd >= 0)
        close(fd);
    if (!s->ballast)
        unlink(path);
}

bool pw_store_no_ballast(struct pw_store *s)
{
    char path[PW_PATH];
    pw_store_path(s, path, "ballast");
    bool gave = s->ballast && unlink(path) == 0;
    s->ballast = false;
    return gave;
}

/* Were the database or the log removed by another program? Then further commits would be lost. */
static enum pw_code still_linked(struct pw_store *s, struct pw_err *err)
{
    static const char *const name[] = {PW_SESSION_DB, PW_SESSION_DB "-wal"};
    const ino_t inode[] = {s->db_inode, s->log_inode};
    char path[PW_PATH];
    struct stat st;
    for (int i = 0; i < 2; i++) {
        pw_store_path(s, path, name[i]);
        if (lstat(path, &st) != 0 || st.st_ino != inode[i])
            return pw_fail(err, PW_EUSER, "%s was removed: recording here has ended", name[i]);
    }
    return PW_OK;
}

static bool write_over(int fd)
{
    static char buf[64 << 10];
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, buf, sizeof buf, at)) != 0; at += n)
        if (n < 0 || pwrite(fd, buf, (size_t)n, at) != n)
            return false;
    return fsync(fd) == 0;
}

static enum pw_code rewrite_log(struct pw_store *s, struct pw_err *err)
{
    char path[PW_PATH];
    pw_store_path(s, path, PW_SESSION_DB "-wal");
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool done = fd < 0 ? errno == ENOENT : write_over(fd);
    enum pw_code code =
        done ? PW_OK : pw_fail(err, PW_EIO, "the session can't be written: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return code;
}

/* Drop rows that a failed commit wrote after all; a commit is all or nothing. */
static void drop_written(struct pw_store *s)
{
    int n = s->writing.n;
    if (n > 0 && (uint64_t)s->writing.rows[n - 1].row.last <= s->last)
        pw_row_batch_clear(&s->writing);
}

static enum pw_code reconnect(struct pw_store *s, struct pw_err *err)
{
    enum pw_code code = still_linked(s, err);
    if (code == PW_OK)
        code = rewrite_log(s, err);
    if (code == PW_OK)
        code = pw_store_connect(s, err);
    if (code != PW_OK)
        return code;
    if (s->last < s->saved) {
        pw_store_disconnect(s);
        return pw_fail(err, PW_EUSER, "events that were on disk are lost: recording here has ended");
    }
    drop_written(s);
    return PW_OK;
}

/* *full: the disk has no space, perhaps. */
static enum pw_code try_once(struct pw_store *s, bool *full, struct pw_err *err)
{
    enum pw_code code = s->db == NULL ? reconnect(s, err) : still_linked(s, err);
    if (code == PW_OK && pw_store_copies(s, err) != PW_OK) { /* the rows refer to them */
        *full = true;
        return PW_EIO;
    }
    if (code == PW_OK)
        code = pw_store_write(s, err);
    if (code == PW_OK && s->log_pages >= PW_LOG_PAGES)
        code = pw_store_fold_log(s, SQLITE_CHECKPOINT_PASSIVE, err);
    if (code == PW_OK)
        return PW_OK;
    int number = s->db != NULL ? sqlite3_system_errno(s->db) : errno;
    *full = (s->db != NULL && (sqlite3_errcode(s->db) & 0xff) == SQLITE_FULL) || number == ENOSPC ||
            number == EDQUOT || number == EFBIG; /* EFBIG: from `ulimit -f` */
    pw_store_disconnect(s);
    return code;
}

bool pw_store_commit(struct pw_store *s)
{
    struct pw_err err = {0};
    if (s->stopped)
        return false;
    bool full = false;
    enum pw_code code = try_once(s, &full, &err);
    if (code != PW_OK && full && pw_store_no_ballast(s))
        code = try_once(s, &full, &err);
    pthread_mutex_lock(&s->lock);
    s->paused = code != PW_OK;
    s->stopped = code == PW_EUSER;
    snprintf(s->why, sizeof s->why, "%.255s", code != PW_OK ? err.msg : "");
    pthread_mutex_unlock(&s->lock);
    s->retry_at = pw_now() + s->cfg.retry_s;
    return code == PW_OK;
}
