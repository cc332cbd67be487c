/* state_source.c - open the files of another program that a model of a state refers to.
 *
 * A file is compared by existence and size first, which costs nothing, then by SHA-256. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "foreign/foreign.h"
#include "lab/recording/state_int.h"
#include "model/checkpoint.h"

/* The path of file i. */
static void add_path(struct pw_str *out, const struct pw_source_files *s, int i)
{
    if (s->files[i].name[0] == '\0')
        pw_str_add(out, "%s", s->path);
    else
        pw_foreign_beside(s->path, s->files[i].name, out);
}

static enum pw_code fail_file(const struct pw_source_files *s, int i, const char *why, struct pw_err *err)
{
    struct pw_str path = {0};
    add_path(&path, s, i);
    enum pw_code code =
        pw_fail(err, PW_EMISSING, "the session needs %.200s (SHA-256 %.16s..., %llu bytes): %s", path.s,
                s->files[i].sha, (unsigned long long)s->files[i].bytes, why);
    pw_str_fini(&path);
    return code;
}

static enum pw_code fail_missing(const struct pw_source_files *s, int i, struct pw_err *err)
{
    struct pw_str why = {0};
    char *folder = s->path[0] != '/' ? getcwd(NULL, 0) : NULL; /* the path is as the user typed it */
    pw_str_add(&why, "there is no such file");
    if (folder != NULL)
        pw_str_add(&why, " (pewter runs in %.120s)", folder);
    enum pw_code code = fail_file(s, i, why.s, err);
    pw_str_fini(&why);
    free(folder);
    return code;
}

/* Checks existence and size of every file. */
static enum pw_code check_files(const struct pw_source_files *s, struct pw_err *err)
{
    for (int i = 0; i < s->n; i++) {
        struct pw_str path = {0};
        struct stat st;
        add_path(&path, s, i);
        bool exists = stat(path.s, &st) == 0;
        pw_str_fini(&path);
        if (!exists)
            return fail_missing(s, i, err);
        if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != s->files[i].bytes)
            return fail_file(s, i, "the file there has other content", err);
    }
    return PW_OK;
}

/* Compares the files of an open model with the recorded ones. */
static enum pw_code check_content(const struct pw_source_files *s, const struct pw_source_files *now,
                                  struct pw_err *err)
{
    for (int i = 0; i < s->n; i++)
        if (i >= now->n || strcmp(now->files[i].name, s->files[i].name) != 0 ||
            strcmp(now->files[i].sha, s->files[i].sha) != 0)
            return fail_file(s, i, "the file there has other content", err);
    return PW_OK;
}

enum pw_code pw_state_open_source(struct pw_foreign **out, const struct pw_source_files *s,
                                  struct pw_err *err)
{
    struct pw_err why;
    *out = NULL;
    enum pw_code code = check_files(s, err);
    if (code != PW_OK)
        return code;
    /* no command reads these files, so the session does not record it */
    struct pw_file_watch watch = pw_file_watch((struct pw_file_watch){0});
    code = pw_foreign_open(out, s->path, true, &why);
    pw_file_watch(watch);
    if (code == PW_ENOMEM)
        return pw_fail(err, code, "%s", why.msg);
    if (code != PW_OK)
        return fail_file(s, 0, why.msg, err);
    code = check_content(s, pw_foreign_info(*out)->source, err);
    if (code != PW_OK) {
        pw_foreign_close(*out);
        *out = NULL;
    }
    return code;
}

static enum pw_code check_image(const void *bytes, size_t n, struct pw_err *err)
{
    struct pw_checkpoint *c;
    struct pw_foreign *f = NULL;
    struct pw_err why;
    if (pw_checkpoint_open_bytes(&c, bytes, n, "state", &why) != PW_OK)
        return PW_OK; /* its reader reports it */
    const struct pw_source_files *s = pw_checkpoint_info(c)->source;
    enum pw_code code = s != NULL ? pw_state_open_source(&f, s, err) : PW_OK;
    pw_foreign_close(f);
    pw_checkpoint_close(c);
    return code;
}

enum pw_code pw_state_check_sources(int n,
                                    enum pw_code (*get)(void *, int, void **, size_t *, struct pw_err *),
                                    void *arg, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int i = 0; i < n && code == PW_OK; i++) {
        struct pw_err why;
        void *bytes = NULL;
        size_t size = 0;
        if (get(arg, i, &bytes, &size, &why) == PW_OK)
            code = check_image(bytes, size, err);
        free(bytes);
    }
    return code;
}
