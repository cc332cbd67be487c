/* folder.c - list and create folders. Names are sorted by bytes; scandir's alphasort would depend on the
 * locale. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_folder(const char *folder, const struct dirent *e)
{
    struct pw_str path = {0};
    struct stat st;
    if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK)
        return e->d_type == DT_DIR;
    pw_str_add(&path, "%s/%s", folder, e->d_name);
    bool is = stat(path.s, &st) == 0 && S_ISDIR(st.st_mode);
    pw_str_fini(&path);
    return is;
}

/* The name of an entry, as pw_folder_entries gives it; NULL: it has none. The caller frees it. */
static char *entry_name(const char *folder, const struct dirent *e)
{
    struct pw_str name = {0};
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return NULL;
    pw_str_add(&name, "%s%s", e->d_name, is_folder(folder, e) ? "/" : "");
    return name.s;
}

/* ending NULL: all entries. */
static enum pw_code list(struct pw_folder *f, const char *folder, const char *ending, struct pw_err *err)
{
    struct dirent **all;
    *f = (struct pw_folder){0};
    int n = scandir(folder, &all, NULL, by_bytes);
    if (n < 0)
        return pw_fail(err, PW_EUSER, "%.240s: cannot list this folder: %s", folder, strerror(errno));
    f->names = pw_alloc((size_t)n + 1, sizeof *f->names);
    for (int i = 0; i < n; i++) {
        const char *name = all[i]->d_name;
        char *kept = NULL;
        if (ending == NULL)
            kept = entry_name(folder, all[i]);
        else if (pw_text_ends(name, ending) && strcmp(name, ending) != 0)
            kept = pw_text_dup(name);
        if (kept != NULL)
            f->names[f->n++] = kept;
        free(all[i]);
    }
    free(all);
    return PW_OK;
}

enum pw_code pw_folder_list(struct pw_folder *f, const char *folder, const char *ending, struct pw_err *err)
{
    return list(f, folder, ending, err);
}

enum pw_code pw_folder_entries(struct pw_folder *f, const char *folder, struct pw_err *err)
{
    return list(f, folder, NULL, err);
}

void pw_folder_free(struct pw_folder *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->names[i]);
    free(f->names);
    *f = (struct pw_folder){0};
}

/* POSIX does not define which error wins: for an existing folder mkdir may also return EROFS or EACCES. */
static enum pw_code make_one(const char *path, struct pw_err *err)
{
    struct stat st;
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return PW_OK;
    const char *why = strerror(errno);
    return stat(path, &st) == 0 ? PW_OK
                                : pw_fail(err, PW_EIO, "%.240s: cannot create this folder: %s", path, why);
}

enum pw_code pw_folder_make(const char *path, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    char *part = pw_text_dup(path);
    size_t n = strlen(path);
    for (size_t i = 1; i <= n && code == PW_OK; i++)
        if (i == n || path[i] == '/') {
            part[i] = '\0';
            code = make_one(part, err);
            part[i] = path[i];
        }
    free(part);
    return code;
}

enum pw_code pw_folder_make_above(const char *path, struct pw_err *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return PW_OK;
    char *folder = pw_text_dup(path);
    folder[slash - path] = '\0';
    enum pw_code code = pw_folder_make(folder, err);
    free(folder);
    return code;
}
