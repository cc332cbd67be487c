/* store_move.c - a session gets another name while it is recorded.
 *
 * The connection is closed, the folder renamed, a new connection opened: SQLite remembers paths. A follower that
 * has the files open keeps them. Between two file systems it is copied, by SQLite's own backup and file by file, and
 * the old one removed when the new one is complete on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sessions/store_int.h"

static enum pw_code sync_parents(const char *from, const char *to, struct pw_err *err)
{
    char path[PW_PATH];
    int failed = 0;
    snprintf(path, sizeof path, "%s/..", to);
    failed = pw_sync_folder(path);
    const char *slash = strrchr(from, '/');
    snprintf(path, sizeof path, "%.*s", slash != NULL ? (int)(slash - from) + 1 : 1, slash != NULL ? from : ".");
    if (failed == 0)
        failed = pw_sync_folder(path);
    return failed == 0 ? PW_OK : pw_fail(err, PW_EIO, "the folder can't be written: %s", strerror(failed));
}

static enum pw_code rename_folder(const char *from, const char *to, struct pw_err *err)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return sync_parents(from, to, err);
    return errno == EEXIST ? pw_fail(err, PW_EUSER, "it is there already")
                           : pw_fail(err, PW_EIO, "the folder can't be renamed: %s", strerror(errno));
}

enum pw_code pw_store_do_move(struct pw_store *s, const char *folder, struct pw_err *err)
{
    struct pw_err why;
    pw_store_files_again(s);
    pw_store_disconnect(s);
    enum pw_code code = rename_folder(s->folder, folder, &why);
    if (code == PW_OK) {
        char *old = s->folder;
        pthread_mutex_lock(&s->lock);
        s->folder = pw_text_dup(folder);
        pthread_mutex_unlock(&s->lock);
        free(old);
    }
    struct pw_err again;
    if (pw_store_connect(s, &again) != PW_OK) /* the next commit tries, and says it */
        pw_store_disconnect(s);
    return code == PW_OK ? PW_OK : pw_fail(err, code, "%s", why.msg);
}
