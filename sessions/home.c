/* home.c - the folder of sessions, and names of sessions. */
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/places.h"
#include "base/text.h"
#include "sessions/store.h"

#define PACKED         ".pwt"
#define SQLITE_HEAD    "SQLite format 3" /* including its NUL */
#define NAME_MAX_BYTES 100

static enum pw_code home_of_sessions(char *dst, size_t size, struct pw_err *err)
{
    struct pw_str path = {0};
    if (!pw_place_state(&path, "sessions"))
        return pw_fail(err, PW_EUSER, "no folder for sessions: neither XDG_STATE_HOME nor HOME is set");
    bool fits = path.len + NAME_MAX_BYTES + sizeof PW_SESSION_ENDING + 1 <= size;
    snprintf(dst, size, "%s", path.s);
    pw_str_fini(&path);
    return fits ? PW_OK
                : pw_fail(err, PW_EUSER, "no folder for sessions: XDG_STATE_HOME or HOME is too long");
}

enum pw_code pw_session_home(char *dst, size_t size, struct pw_err *err)
{
    struct pw_err why;
    enum pw_code code = home_of_sessions(dst, size, err);
    if (code != PW_OK)
        return code;
    code = pw_folder_make(dst, &why);
    return code == PW_OK ? code : pw_fail(err, code, "no folder for sessions: %s", why.msg);
}

static enum pw_code check_name(const char *name, struct pw_err *err)
{
    if (name[0] == '\0')
        return pw_fail(err, PW_EUSER, "a session's name is empty");
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return pw_fail(err, PW_EUSER, "a session's name has no control characters: '%s'", name);
    if (!pw_utf8_valid(name, strlen(name)))
        return pw_fail(err, PW_EUSER, "a session's name is UTF-8: '%s'", name);
    return PW_OK;
}

/* Is there a regular file of this name in the current folder? */
static bool is_file_here(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

/* Is it a packed session, whatever its ending? */
static bool is_packed_here(const char *name)
{
    char head[sizeof SQLITE_HEAD];
    int fd = is_file_here(name) ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool packed = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
                  memcmp(head, SQLITE_HEAD, sizeof head) == 0;
    if (fd >= 0)
        close(fd);
    return packed;
}

enum pw_code pw_session_folder(char *dst, size_t size, const char *name, struct pw_err *err)
{
    char home[PATH_MAX];
    enum pw_code code = check_name(name, err);
    if (code != PW_OK)
        return code;
    if (strchr(name, '/') != NULL || pw_text_ends(name, PW_SESSION_ENDING) ||
        (pw_text_ends(name, PACKED) && is_file_here(name))) {
        size_t n = strlen(name);
        while (n > 1 && name[n - 1] == '/')
            n--;
        if (n + sizeof PW_SESSION_ENDING > size)
            return pw_fail(err, PW_EUSER, "a session's path has at most %zu bytes",
                           size - sizeof PW_SESSION_ENDING);
        snprintf(dst, size, "%.*s", (int)n, name);
        /* A packed file may have any name. */
        if (!pw_text_ends(dst, PW_SESSION_ENDING) && access(dst, F_OK) != 0)
            strcat(dst, PW_SESSION_ENDING);
        return PW_OK;
    }
    if (name[0] == '.' || name[0] == '-')
        return pw_fail(err, PW_EUSER, "a session's name doesn't begin with '%c'", name[0]);
    if (strlen(name) > NAME_MAX_BYTES)
        return pw_fail(err, PW_EUSER, "a session's name has at most %d bytes", NAME_MAX_BYTES);
    code = pw_session_home(home, size < sizeof home ? size : sizeof home, err);
    if (code != PW_OK)
        return code;
    snprintf(dst, size, "%s/%s%s", home, name, PW_SESSION_ENDING);
    if (access(dst, F_OK) != 0 && is_packed_here(name))
        snprintf(dst, size, "%s", name);
    return PW_OK;
}

/* Is it a text file? A packed session has a NUL early in its head, and a damaged one some control
 * character. */
static bool is_text(const char *path)
{
    char head[4096];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof head) : 0;
    bool text = n > 0;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < n && text; i++)
        text = (unsigned char)head[i] >= ' ' || head[i] == '\n' || head[i] == '\t' || head[i] == '\r';
    return text;
}

enum pw_code pw_session_no_text(const char *path, struct pw_err *err)
{
    return is_text(path)
               ? pw_fail(err, PW_EUSER, "it is a script, not a session; 'pewter run %.200s' runs it", path)
               : PW_OK;
}

enum pw_code pw_session_files(struct pw_folder *f, const char *folder, struct pw_err *err)
{
    enum pw_code code = pw_folder_list(f, folder, PW_SESSION_ENDING, err);
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        struct pw_str path = {0};
        pw_str_add(&path, "%s/%s", folder, f->names[i]);
        if (is_text(path.s))
            free(f->names[i]);
        else
            f->names[n++] = f->names[i];
        pw_str_fini(&path);
    }
    f->n = n;
    return code;
}

enum pw_code pw_session_unnamed(char *dst, size_t size, struct pw_err *err)
{
    char home[PATH_MAX], when[32];
    time_t now = time(NULL);
    struct tm tm;
    enum pw_code code = pw_session_home(home, size < sizeof home ? size : sizeof home, err);
    if (code != PW_OK)
        return code;
    if (localtime_r(&now, &tm) == NULL)
        return pw_fail(err, PW_EIO, "the clock has no date");
    strftime(when, sizeof when, "%Y-%m-%d-%H%M%S", &tm);
    int n = snprintf(dst, size, "%s/%s-%ld", home, when, (long)getpid());
    snprintf(dst + n, size - (size_t)n, "%s", PW_SESSION_ENDING);
    for (int i = 2; access(dst, F_OK) == 0 && i < 1000; i++) /* another one in the same second */
        snprintf(dst + n, size - (size_t)n, "-%d%s", i, PW_SESSION_ENDING);
    return PW_OK;
}

bool pw_session_is_unnamed(const char *name)
{
    static const char shape[] = "dddd-dd-dd-dddddd-"; /* as strftime writes it above; d: a digit */
    size_t n = sizeof shape - 1;
    for (size_t i = 0; i < n; i++)
        if (shape[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != shape[i])
            return false;
    size_t pid = strspn(name + n, "0123456789");
    const char *rest = name + n + pid;
    bool again = rest[0] == '-' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0';
    return pid > 0 && (rest[0] == '\0' || again);
}

/* Return the name of a session's folder if it is in `home`, else NULL. */
static const char *name_in(const char *home, const char *folder)
{
    size_t n = strlen(home);
    bool inside = strncmp(folder, home, n) == 0 && folder[n] == '/' && strchr(folder + n + 1, '/') == NULL &&
                  pw_text_ends(folder, PW_SESSION_ENDING);
    return inside ? folder + n + 1 : NULL;
}

void pw_session_name(char *dst, size_t size, const char *folder)
{
    char home[PATH_MAX], short_name[PW_LINE];
    bool known = home_of_sessions(home, sizeof home, NULL) == PW_OK;
    char *whole = known ? realpath(home, NULL) : NULL;
    const char *name = known ? name_in(home, folder) : NULL;
    if (name == NULL && whole != NULL)
        name = name_in(whole, folder);
    free(whole);
    size_t n = name != NULL ? strlen(name) - strlen(PW_SESSION_ENDING) : 0;
    if (n > 0 && n <= NAME_MAX_BYTES)
        snprintf(short_name, sizeof short_name, "%.*s", (int)n, name);
    pw_text_copy(dst, size, n > 0 && n <= NAME_MAX_BYTES ? short_name : folder);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void pw_session_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
