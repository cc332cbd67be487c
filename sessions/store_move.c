/* store_move.c - rename a session while it is recorded.
 *
 * The connection is closed, because SQLite remembers paths; the folder is renamed, and a new connection is
 * opened. A process that reads the session keeps its open files. To another file system the session is
 * copied, with the database copied by SQLite itself. The old folder is removed when the new one is complete
 * on disk. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/store_int.h"

static enum pw_code fail_errno(struct pw_err *err, const char *doing, int number)
{
    return number == EEXIST ? pw_fail(err, PW_EUSER, "it already exists")
                            : pw_fail(err, PW_EIO, "%s: %s", doing, strerror(number));
}

static int sync_parent(const char *folder)
{
    char path[PW_PATH];
    snprintf(path, sizeof path, "%s", folder);
    char *slash = strrchr(path, '/');
    slash[slash == path] = '\0'; /* paths here are absolute */
    return pw_sync_folder(path);
}

/* Make a path that does not exist yet absolute, by its parent folder. */
static enum pw_code absolute(char dst[PW_PATH], const char *folder, struct pw_err *err)
{
    char above[PATH_MAX];
    const char *slash = strrchr(folder, '/'), *name = slash != NULL ? slash + 1 : folder;
    snprintf(above, sizeof above, "%.*s", slash != NULL ? (int)(slash - folder) + 1 : 1,
             slash != NULL ? folder : ".");
    char *whole = realpath(above, NULL);
    if (whole == NULL)
        return fail_errno(err, "the folder that it would be in", errno);
    int n = snprintf(dst, PW_PATH, "%s/%s", strcmp(whole, "/") == 0 ? "" : whole, name);
    free(whole);
    return n < PW_PATH - 100 ? PW_OK
                             : pw_fail(err, PW_EUSER, "its path has more than %d bytes", PW_PATH - 100);
}

/* ---- to another file system */

/* Returns 0 or errno. */
static int copy_bytes(int in, int out)
{
    static char buf[256 << 10]; /* only the store's thread runs this */
    for (;;) {
        ssize_t n = read(in, buf, sizeof buf), wrote;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : 0;
        for (ssize_t done = 0; done<n; done += wrote> 0 ? wrote : 0) {
            wrote = write(out, buf + done, (size_t)(n - done));
            if (wrote == 0 || (wrote < 0 && errno != EINTR))
                return wrote < 0 ? errno : EIO;
        }
    }
}

static enum pw_code copy_file(int from, int to, const char *name, struct pw_err *err)
{
    int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = in >= 0 ? openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    int number = out < 0 ? errno : copy_bytes(in, out);
    if (number == 0 && fsync(out) != 0)
        number = errno;
    if (out >= 0)
        close(out);
    if (in >= 0)
        close(in);
    return number == 0 ? PW_OK : fail_errno(err, "a file can't be copied", number);
}

static enum pw_code copy_files(const struct pw_store *s, const struct pw_store *to, struct pw_err *err)
{
    DIR *in = pw_folder_inside(s, "files"), *out = pw_folder_inside(to, "files");
    enum pw_code code =
        in != NULL && out != NULL ? PW_OK : fail_errno(err, "its files can't be copied", errno);
    uint8_t sha[PW_SHA256];
    for (struct dirent *e; code == PW_OK && (e = readdir(in)) != NULL;)
        if (pw_sha256_read(sha, e->d_name))
            code = copy_file(dirfd(in), dirfd(out), e->d_name, err);
    if (code == PW_OK && fsync(dirfd(out)) != 0)
        code = fail_errno(err, "its files can't be copied", errno);
    if (in != NULL)
        closedir(in);
    if (out != NULL)
        closedir(out);
    return code;
}

static enum pw_code copy_db(const struct pw_store *s, const struct pw_store *to, struct pw_err *err)
{
    char path[PW_PATH];
    sqlite3 *db = NULL;
    pw_store_path(to, path, PW_SESSION_DB);
    int rc = sqlite3_open_v2(
        path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        NULL);
    sqlite3_backup *copy = rc == SQLITE_OK ? sqlite3_backup_init(db, "main", s->db, "main") : NULL;
    if (copy != NULL)
        sqlite3_backup_step(copy, -1);
    enum pw_code code = copy != NULL && sqlite3_backup_finish(copy) == SQLITE_OK
                            ? PW_OK
                            : pw_sql_fail(err, db, PW_SESSION_DB);
    sqlite3_close(db);
    return code;
}

static void remove_inside(const struct pw_store *s, const char *name)
{
    DIR *d = pw_folder_inside(s, name);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0); /* fails for folders, including "." */
    if (d != NULL)
        closedir(d);
}

static void remove_session(const struct pw_store *s)
{
    static const char *const folders[] = {"files", "tmp"};
    char path[PW_PATH];
    for (int i = 0; i < 2; i++) {
        remove_inside(s, folders[i]);
        pw_store_path(s, path, folders[i]);
        rmdir(path);
    }
    remove_inside(s, "");
    pw_store_path(s, path, "");
    rmdir(path);
}

/* The new folder is locked before it has content; the old one stays locked until it is removed. */
static enum pw_code copy_session(struct pw_store *s, char *folder, struct pw_err *err)
{
    static const char *const folders[] = {"files", "tmp"};
    struct pw_store to = {.folder = folder, .lock_fd = -1};
    char path[PW_PATH];
    if (mkdir(folder, 0700) != 0)
        return fail_errno(err, "the folder can't be made", errno);
    enum pw_code code = pw_lock_take(&to.lock_fd, folder, err);
    for (int i = 0; code == PW_OK && i < 2; i++) {
        pw_store_path(&to, path, folders[i]);
        if (mkdir(path, 0700) != 0)
            code = fail_errno(err, "the folder can't be made", errno);
    }
    if (code == PW_OK)
        code = copy_files(s, &to, err);
    if (code == PW_OK)
        code = copy_db(s, &to, err);
    int number = code == PW_OK ? pw_sync_folder(folder) : 0;
    if (number == 0 && code == PW_OK)
        number = sync_parent(folder);
    if (number != 0)
        code = fail_errno(err, "the folder can't be written", number);
    if (code != PW_OK) {
        remove_session(&to);
        if (to.lock_fd >= 0)
            close(to.lock_fd);
        return code;
    }
    pw_store_disconnect(s);
    remove_session(s);
    close(s->lock_fd);
    s->lock_fd = to.lock_fd;
    return PW_OK;
}

/* ---- on the same file system */

/* Rename without replacing. Some file systems can't guarantee that, so the target is tested first. */
static int rename_new(const char *from, const char *to)
{
    struct stat st;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (lstat(to, &st) != 0)
        return rename(from, to);
    errno = EEXIST;
    return -1;
}

static enum pw_code rename_session(struct pw_store *s, char *folder, struct pw_err *err)
{
    pw_store_fold_log(s, SQLITE_CHECKPOINT_TRUNCATE, NULL);
    pw_store_disconnect(s);
    if (rename_new(s->folder, folder) != 0)
        return fail_errno(err, "the folder can't be renamed", errno);
    int number = sync_parent(folder);
    if (number == 0)
        number = sync_parent(s->folder);
    if (number == 0)
        return PW_OK;
    rename(folder, s->folder); /* undo: perhaps not durable, but the path is valid */
    return fail_errno(err, "the folder can't be written", number);
}

/* Is the target on another file system? Tested before anything is closed. */
static bool is_elsewhere(const struct pw_store *s, const char *folder)
{
    char above[PW_PATH];
    struct stat here, there;
    snprintf(above, sizeof above, "%s", folder);
    char *slash = strrchr(above, '/');
    slash[slash == above] = '\0';
    return stat(s->folder, &here) == 0 && stat(above, &there) == 0 && here.st_dev != there.st_dev;
}

enum pw_code pw_store_do_move(struct pw_store *s, const char *folder, struct pw_err *err)
{
    char whole[PW_PATH];
    struct pw_err ignored;
    enum pw_code code = absolute(whole, folder, err);
    if (code != PW_OK)
        return code;
    pw_store_files_again(s);
    code = is_elsewhere(s, whole) ? copy_session(s, whole, err) : rename_session(s, whole, err);
    if (code == PW_OK) {
        char *old = s->folder;
        pthread_mutex_lock(&s->lock);
        s->folder = pw_text_dup(whole);
        pthread_mutex_unlock(&s->lock);
        free(old);
    }
    /* On failure the next commit tries again and reports it. */
    if (s->db == NULL && pw_store_connect(s, &ignored) != PW_OK)
        pw_store_disconnect(s);
    return code;
}
