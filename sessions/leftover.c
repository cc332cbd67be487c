/* leftover.c - folders that a killed process left among the sessions.
 *
 * A deletion first renames the session to NAME.pewter.deleted (delete.c). Unpacking fills
 * NAME.pewter.tmp-XXXXXX and renames it (pack.c), and holds a lock on this folder. A temporary folder that
 * can be locked was left by a killed process. The next deletion or unpacking of the same name removes it, and
 * so does `sessions prune`. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sessions/store_int.h"

#define MARK_BYTES (sizeof PW_SESSION_ASIDE - 1 - 6) /* without the six X, which mkdtemp replaces */

void pw_session_parent(char parent[PW_PATH], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(parent, PW_PATH, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
             slash == NULL ? "." : path);
}

int pw_session_lock_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Is `rest`, the part of a name behind that of the session, the ending of a temporary folder? */
static bool is_aside(const char *rest)
{
    return strncmp(rest, PW_SESSION_ASIDE, MARK_BYTES) == 0 && strlen(rest) == strlen(PW_SESSION_ASIDE);
}

bool pw_session_is_leftover(const char *name)
{
    size_t n = strlen(PW_SESSION_ENDING);
    for (const char *at = strstr(name, PW_SESSION_ENDING); at != NULL; at = strstr(at + 1, PW_SESSION_ENDING))
        if (at > name && (strcmp(at + n, PW_SESSION_DELETED) == 0 || is_aside(at + n)))
            return true;
    return false;
}

enum pw_code pw_session_remove_leftover(const char *path, struct pw_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return PW_OK; /* another process has removed it */
    int fd = pw_session_lock_folder(path);
    if (fd < 0)
        return pw_fail(err, PW_EUSER, "another process uses it");
    pw_session_remove(path);
    close(fd);
    return lstat(path, &st) != 0 ? PW_OK : pw_fail(err, PW_EIO, "it could not be deleted completely");
}

void pw_session_remove_unpacked(const char *path)
{
    char parent[PW_PATH], aside[PW_PATH];
    struct pw_err err;
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    size_t n = strlen(base);
    pw_session_parent(parent, path);
    DIR *d = opendir(parent);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, base, n) != 0 || !is_aside(e->d_name + n))
            continue;
        snprintf(aside, sizeof aside, "%.*s%.300s", (int)(base - path), path, e->d_name);
        pw_session_remove_leftover(aside, &err); /* one that is in use stays */
    }
    if (d != NULL)
        closedir(d);
}
