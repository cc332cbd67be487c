#include "study/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/places.h"

#define TEXT_MAX (1 << 20)

enum pw_code pw_study_folder(char dst[PW_STUDY_PATH], const char *name, struct pw_err *err)
{
    struct pw_str path = {0};
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return pw_fail(err, PW_EUSER, "'%s' is no name of a study", name);
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return pw_fail(err, PW_EUSER, "a study's name has no control characters");
    if (strchr(name, '/') == NULL && !pw_place_state(&path, "studies/"))
        return pw_fail(err, PW_EUSER, "no folder for studies: neither XDG_STATE_HOME nor HOME is set");
    pw_str_add(&path, "%s", name);
    bool fits = path.len < PW_STUDY_PATH - 64;
    snprintf(dst, PW_STUDY_PATH, "%s", path.s);
    pw_str_fini(&path);
    return fits ? PW_OK : pw_fail(err, PW_EUSER, "the path of the study is too long");
}

static void text_path(char dst[PW_STUDY_PATH], const char *folder)
{
    snprintf(dst, PW_STUDY_PATH, "%s/study.txt", folder);
}

static enum pw_code write_text(const char *folder, const char *text, bool fresh, struct pw_err *err)
{
    char path[PW_STUDY_PATH];
    struct pw_file *f;
    text_path(path, folder);
    enum pw_code code = pw_file_create(&f, path, err);
    if (code != PW_OK)
        return code;
    if (fresh)
        pw_file_fresh(f);
    fputs(text, pw_file_stream(f));
    if (text[0] == '\0' || text[strlen(text) - 1] != '\n')
        fputc('\n', pw_file_stream(f));
    return pw_file_commit(f, err);
}

const char *pw_study_title(const char *name)
{
    const char *last = strrchr(name, '/');
    return last != NULL && last[1] != '\0' ? last + 1 : name;
}

enum pw_code pw_study_create(const char *folder, const char *text, struct pw_err *err)
{
    char path[PW_STUDY_PATH];
    struct stat st;
    text_path(path, folder);
    if (stat(path, &st) == 0)
        return pw_fail(err, PW_EUSER, "the study %s is there already", folder);
    snprintf(path, sizeof path, "%s/cells", folder);
    enum pw_code code = pw_folder_make(path, err);
    return code == PW_OK ? write_text(folder, text, true, err) : code;
}

enum pw_code pw_study_write(const char *folder, const char *text, struct pw_err *err)
{
    return write_text(folder, text, false, err);
}

enum pw_code pw_study_open(struct pw_study *s, const char *folder, char **text, struct pw_err *err)
{
    char path[PW_STUDY_PATH], *read = NULL;
    size_t size;
    struct stat st;
    struct pw_err why;
    text_path(path, folder);
    if (stat(path, &st) != 0)
        return pw_fail(err, PW_EUSER, "no study in %s; 'study new NAME TEXT' makes one", folder);
    enum pw_code code = pw_file_read(path, TEXT_MAX, &read, &size, err);
    if (code != PW_OK)
        return code;
    code = pw_study_read(s, read, &why);
    if (code != PW_OK)
        pw_fail(err, code, "%.200s: %.400s", path, why.msg);
    if (code == PW_OK && text != NULL)
        *text = read;
    else
        free(read);
    return code;
}

void pw_study_cell_path(struct pw_str *out, const char *folder, const char *id, const char *ending)
{
    pw_str_add(out, "%s/cells/%s%s", folder, id, ending);
}

void pw_study_cell_unlink(const char *folder, const char *id, const char *ending)
{
    struct pw_str path = {0};
    pw_study_cell_path(&path, folder, id, ending);
    unlink(path.s);
    pw_str_fini(&path);
}

int pw_study_lock(const char *path, struct pw_err *err)
{
    char text[24];
    int fd = open(path, O_RDWR | O_CREAT, 0600); /* children inherit it: see place.h */
    if (fd < 0) {
        pw_fail(err, PW_EIO, "%s: %s", path, strerror(errno));
        return -2;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        close(fd);
        if (why == EWOULDBLOCK)
            return -1;
        pw_fail(err, PW_EIO, "%s: no lock: %s", path, strerror(why));
        return -2;
    }
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) {
        /* a full disk: the lock holds without the number */
    }
    return fd;
}

long pw_study_locked(const char *path)
{
    char text[24] = "";
    long pid = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        if (!pw_text_int(text, 1, 0x7fffffff, &pid))
            pid = -1; /* held, by an unknown process */
    }
    close(fd);
    return pid;
}
