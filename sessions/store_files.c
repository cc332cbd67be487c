/* store_files.c - store files by content: each is written to tmp/, synced, renamed, and only then named by a
 * row.
 *
 * A slice is 1 MiB and its sync, some milliseconds. Between two slices a command's commit can run. So it
 * never waits until a checkpoint of 100 MiB is on disk. A single fsync at the end would cause that on a
 * journalling file system. No file is overwritten, because its name is the hash of its content. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "sessions/store_int.h"

#define SLICE   ((size_t)1 << 20)
#define RESERVE ((uint64_t)4 << 20) /* bytes that checkpoints must leave for events */

static bool is_stored(const struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    for (int i = 0; i < s->n_stored; i++)
        if (memcmp(s->stored[i], sha, PW_SHA256) == 0)
            return true;
    return false;
}

/* Append a file to a list, unless it is there or on disk. */
static void add_file(struct pw_store *s, struct pw_new_file **list, const uint8_t sha[PW_SHA256], void *bytes,
                     size_t n)
{
    struct pw_new_file *f = pw_alloc(1, sizeof *f);
    memcpy(f->sha, sha, PW_SHA256);
    f->bytes = bytes;
    f->n = n;
    f->fd = -1;
    pthread_mutex_lock(&s->lock);
    struct pw_new_file **end = list;
    while (*end != NULL && memcmp((*end)->sha, sha, PW_SHA256) != 0)
        end = &(*end)->next;
    bool have = *end != NULL || is_stored(s, sha);
    if (!have)
        *end = f;
    pthread_mutex_unlock(&s->lock);
    if (have) {
        free(bytes);
        free(f);
    }
    pthread_cond_signal(&s->work);
}

void pw_store_file(struct pw_store *s, const uint8_t sha[PW_SHA256], void *bytes, size_t n)
{
    add_file(s, &s->files, sha, bytes, n);
}

void pw_store_copy(struct pw_store *s, const uint8_t sha[PW_SHA256], void *bytes, size_t n)
{
    add_file(s, &s->copies, sha, bytes, n);
}

bool pw_store_has_file(struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    pthread_mutex_lock(&s->lock);
    bool has = is_stored(s, sha);
    pthread_mutex_unlock(&s->lock);
    return has;
}

void pw_store_keep(struct pw_store *s, const uint8_t sha[PW_SHA256])
{
    pthread_mutex_lock(&s->lock);
    pw_store_kept_file(s, sha);
    pthread_mutex_unlock(&s->lock);
}

static void names(const struct pw_store *s, const struct pw_new_file *f, char tmp[PW_PATH],
                  char path[PW_PATH])
{
    char hex[65], name[80];
    pw_sha256_text(hex, f->sha);
    snprintf(name, sizeof name, "tmp/%s", hex);
    pw_store_path(s, tmp, name);
    snprintf(name, sizeof name, "files/%s", hex);
    pw_store_path(s, path, name);
}

/* Create the temporary file. Fails if the disk has no space for all of it and the reserve, so that a part
 * does not fill the disk. */
static enum pw_code begin_file(struct pw_store *s, struct pw_new_file *f, const char *tmp, uint64_t reserve,
                               struct pw_err *err)
{
    struct statvfs fs;
    if (statvfs(s->folder, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < f->n + reserve)
        return pw_fail(err, PW_EIO, "no space for a file of %.1f MB next to the %.1f MB reserved for events",
                       (double)f->n / 1e6, (double)reserve / 1e6);
    f->done = 0;
    f->fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    return f->fd >= 0 ? PW_OK : pw_fail(err, PW_EIO, "a file can't be written: %s", strerror(errno));
}

static enum pw_code write_slice(struct pw_new_file *f, struct pw_err *err)
{
    size_t end = f->n - f->done < SLICE ? f->n : f->done + SLICE;
    while (f->done < end) {
        ssize_t n = write(f->fd, f->bytes + f->done, end - f->done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pw_fail(err, PW_EIO, "a file can't be written: %s",
                           n < 0 ? strerror(errno) : "no progress");
        f->done += (size_t)n;
    }
    if (f->done < f->n && fdatasync(f->fd) != 0) /* the last slice is synced in finish */
        return pw_fail(err, PW_EIO, "a file can't be written: %s", strerror(errno));
    return PW_OK;
}

static enum pw_code finish(struct pw_store *s, struct pw_new_file *f, const char *tmp, const char *path,
                           struct pw_err *err)
{
    char folder[PW_PATH];
    pw_store_path(s, folder, "files");
    int failed = fsync(f->fd) != 0 ? errno : 0; /* also the length */
    close(f->fd);
    f->fd = -1;
    if (failed == 0 && rename(tmp, path) != 0)
        failed = errno;
    if (failed == 0)
        failed = pw_sync_folder(folder);
    return failed == 0 ? PW_OK : pw_fail(err, PW_EIO, "a file can't be written: %s", strerror(failed));
}

/* The first file of the list is there. Its row is written with the next commit, which is before that of any
 * later event. */
static void is_there(struct pw_store *s, struct pw_new_file **list)
{
    struct pw_new_file *f = *list;
    s->file_rows = pw_grow(s->file_rows, (size_t)s->n_file_rows + 1, sizeof *s->file_rows);
    struct pw_file_row *row = &s->file_rows[s->n_file_rows++];
    row->bytes = (int64_t)f->n;
    memcpy(row->sha, f->sha, PW_SHA256);
    pthread_mutex_lock(&s->lock);
    s->stored = pw_grow(s->stored, (size_t)s->n_stored + 1, sizeof *s->stored);
    memcpy(s->stored[s->n_stored++], f->sha, PW_SHA256);
    *list = f->next;
    if (s->files == NULL)
        s->file_why[0] = '\0';
    pthread_mutex_unlock(&s->lock);
    free(f->bytes);
    free(f);
    s->chores_at = 0.0; /* the session may exceed its budget now */
}

static struct pw_new_file *first(struct pw_store *s, struct pw_new_file *const *list)
{
    pthread_mutex_lock(&s->lock);
    struct pw_new_file *f = *list;
    pthread_mutex_unlock(&s->lock);
    return f;
}

static void begin_again(struct pw_store *s, struct pw_new_file *const *list)
{
    char tmp[PW_PATH], path[PW_PATH];
    struct pw_new_file *f = first(s, list);
    if (f == NULL)
        return;
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    f->done = 0;
    names(s, f, tmp, path);
    unlink(tmp);
}

void pw_store_files_again(struct pw_store *s)
{
    begin_again(s, &s->files);
}

/* Write a slice of the first file of a list. */
static enum pw_code go_on(struct pw_store *s, struct pw_new_file **list, struct pw_err *err)
{
    char tmp[PW_PATH], path[PW_PATH];
    enum pw_code code = PW_OK;
    struct pw_new_file *f = first(s, list);
    if (f == NULL)
        return PW_OK;
    names(s, f, tmp, path);
    if (f->fd < 0)
        code = begin_file(s, f, tmp, list == &s->files ? RESERVE : 0, err);
    if (code == PW_OK && f->done < f->n)
        code = write_slice(f, err);
    if (code == PW_OK && f->done < f->n)
        return PW_OK;
    if (code == PW_OK)
        code = finish(s, f, tmp, path, err);
    if (code == PW_OK)
        is_there(s, list);
    else
        begin_again(s, list);
    return code;
}

enum pw_code pw_store_files_go_on(struct pw_store *s, struct pw_err *err)
{
    return go_on(s, &s->files, err);
}

enum pw_code pw_store_copies(struct pw_store *s, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    while (code == PW_OK && first(s, &s->copies) != NULL)
        code = go_on(s, &s->copies, err);
    return code;
}

/* ---- at start: remove files that a crash left */

static int64_t remove_file(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
                   unlinkat(folder, name, 0) == 0
               ? (int64_t)st.st_size
               : 0;
}

/* Does a row name the file, and has the budget not removed it? */
static bool has_row(sqlite3_stmt *known, const char *name)
{
    uint8_t sha[PW_SHA256];
    if (!pw_sha256_read(sha, name))
        return false;
    sqlite3_bind_blob(known, 1, sha, PW_SHA256, SQLITE_STATIC);
    bool found = sqlite3_step(known) != SQLITE_DONE; /* keep it also after an error */
    sqlite3_reset(known);
    return found;
}

/* Remove files in a folder that have no row (known NULL: all). *bytes grows by their sizes. */
static enum pw_code sweep(struct pw_store *s, int64_t *bytes, const char *folder, sqlite3_stmt *known,
                          struct pw_err *err)
{
    DIR *d = pw_folder_inside(s, folder);
    if (d == NULL)
        return pw_fail(err, PW_EIO, "%s can't be read: %s", folder, strerror(errno));
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !(known != NULL && has_row(known, e->d_name)))
            *bytes += remove_file(dirfd(d), e->d_name);
    closedir(d);
    return PW_OK;
}

enum pw_code pw_store_files_clear(struct pw_store *s, int64_t *bytes, struct pw_err *err)
{
    sqlite3_stmt *known = NULL;
    *bytes = 0;
    if (sqlite3_prepare_v2(s->db, "SELECT 1 FROM file WHERE sha=?1 AND deleted=0", -1, &known, NULL) !=
        SQLITE_OK)
        return pw_sql_fail(err, s->db, PW_SESSION_DB);
    enum pw_code code = sweep(s, bytes, "tmp", NULL, err);
    if (code == PW_OK)
        code = sweep(s, bytes, "files", known, err);
    sqlite3_finalize(known);
    return code;
}
