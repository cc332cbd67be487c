/* store_lock.c - only one process records a session.
 *
 * The lock is flock on a separate file. It ends with the process in every case, so there is no stale lock.
 * Unlike SQLite's locks it survives if this process opens and closes the file elsewhere. The text in the file
 * is only for messages. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "sessions/store_int.h"

/* Network file systems: the write-ahead log needs memory that all writers share. */
static const char *shared_system(int fd)
{
    static const struct {
        unsigned long type;
        const char *name;
    } shared[] = {{0x6969, "NFS"},        {0x517b, "SMB"},      {0xff534d42, "SMB"},  {0xfe534d42, "SMB"},
                  {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x00c36400, "Ceph"}, {0x5346414f, "AFS"}};
    struct statfs fs;
    if (fstatfs(fd, &fs) == 0)
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            if (((unsigned long)fs.f_type & 0xffffffff) == shared[i].type)
                return shared[i].name;
    return NULL;
}

static enum pw_code held(int fd, const char *folder, struct pw_err *err)
{
    char text[200] = "", host[80] = "?", since[40] = "", name[PW_LINE * 4];
    int pid = 0;
    pw_session_name(name, sizeof name, folder);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n > 0 && sscanf(text, "%d %79s since %39[^\n]", &pid, host, since) == 3)
        return pw_fail(err, PW_EUSER,
                       "it is open in pewter %d on %s since %s; 'pewter replay %s' follows it read-only", pid,
                       host, since, name);
    return pw_fail(err, PW_EUSER, "it is open in another pewter; 'pewter replay %s' follows it read-only",
                   name);
}

/* Write which process holds the lock. On a full disk the text may be incomplete; the lock is valid all the
 * same. */
static void write_who(int fd)
{
    char text[200], host[65] = "", since[40];
    time_t now = time(NULL);
    struct tm tm;
    if (gethostname(host, sizeof host - 1) != 0 || localtime_r(&now, &tm) == NULL)
        return;
    strftime(since, sizeof since, "%Y-%m-%d %H:%M", &tm);
    int n = snprintf(text, sizeof text, "%ld %s since %s\n", (long)getpid(), host, since);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return;
}

bool pw_session_in_use(const char *folder, struct pw_err *why)
{
    char path[PW_PATH];
    if (snprintf(path, sizeof path, "%s/lock", folder) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool used = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (used)
        held(fd, folder, why);
    if (fd >= 0)
        close(fd);
    return used;
}

const char *pw_session_network(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    const char *shared = fd >= 0 ? shared_system(fd) : NULL;
    if (fd >= 0)
        close(fd);
    return shared;
}

enum pw_code pw_lock_take(int *fd, const char *folder, struct pw_err *err)
{
    char path[PW_PATH];
    struct stat st;
    snprintf(path, sizeof path, "%s/lock", folder);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (*fd < 0)
        return pw_fail(err, PW_EIO, "it can't be locked: %s%s", strerror(errno),
                       errno == EROFS || errno == EACCES ? "; 'pewter replay' can read it" : "");
    enum pw_code code = PW_OK;
    const char *shared = shared_system(*fd);
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode))
        code = pw_fail(err, PW_EUSER, "its lock is not a file");
    else if (shared != NULL)
        code =
            pw_fail(err, PW_EUSER,
                    "it is on %s, where recording is not safe; set XDG_STATE_HOME to a local disk", shared);
    else if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        code = errno == EWOULDBLOCK ? held(*fd, folder, err)
                                    : pw_fail(err, PW_EIO, "it can't be locked: %s", strerror(errno));
    else
        write_who(*fd);
    if (code != PW_OK) {
        close(*fd);
        *fd = -1;
    }
    return code;
}
