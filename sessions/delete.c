/* delete.c - delete a session on the user's request.
 *
 * Its lock is held meanwhile, so no pewter can record in it. It is renamed first. So a process that is killed
 * while it removes files does not leave a partial session under the name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sessions/store_int.h"

static enum pw_code check_deletable(const char *folder, struct pw_err *err)
{
    char db[PW_PATH];
    struct stat st;
    if (lstat(folder, &st) != 0)
        return errno == ENOENT ? pw_fail(err, PW_EUSER, "there is no such session")
                               : pw_fail(err, PW_EIO, "it can't be read: %s", strerror(errno));
    enum pw_code code = pw_session_no_text(folder, err);
    if (code != PW_OK)
        return code;
    if (!S_ISDIR(st.st_mode))
        return pw_fail(err, PW_EUSER, "it is a %s, not a session's folder; 'rm' deletes it",
                       S_ISLNK(st.st_mode) ? "link" : "packed file");
    if (snprintf(db, sizeof db, "%s/%s", folder, PW_SESSION_DB) >= (int)sizeof db || lstat(db, &st) != 0)
        return pw_fail(err, PW_EUSER, "not a session: there is no %s in it", PW_SESSION_DB);
    return PW_OK;
}

static enum pw_code remove_renamed(const char *folder, struct pw_err *err)
{
    char aside[PW_PATH];
    if (snprintf(aside, sizeof aside, "%s" PW_SESSION_DELETED, folder) >= (int)sizeof aside)
        return pw_fail(err, PW_EUSER, "its path is too long");
    pw_session_remove(aside); /* left by a process that was killed */
    if (rename(folder, aside) != 0)
        return pw_fail(err, PW_EIO, "it can't be deleted: %s", strerror(errno));
    pw_session_remove(aside);
    return access(aside, F_OK) == 0
               ? pw_fail(err, PW_EIO, "it could not be deleted completely: %s is left", aside)
               : PW_OK;
}

enum pw_code pw_session_delete(const char *folder, struct pw_err *err)
{
    int lock = -1;
    enum pw_code code = check_deletable(folder, err);
    if (code == PW_OK)
        code = pw_lock_take(&lock, folder, err);
    if (code == PW_OK)
        code = remove_renamed(folder, err);
    if (lock >= 0)
        close(lock);
    return code;
}
