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

/* Names the folders in which a relative path was looked for. */
static enum pw_code fail_missing(const struct pw_source_files *s, int i, struct pw_err *err)
{
    const char *const *folders = pw_file_folders();
    struct pw_str why = {0};
    char *here = s->path[0] != '/' ? getcwd(NULL, 0) : NULL;
    pw_str_add(&why, "there is no such file");
    if (here != NULL)
        pw_str_add(&why, " in %.100s", here);
    for (int k = 0; here != NULL && folders != NULL && folders[k] != NULL; k++)
        if (strcmp(folders[k], here) != 0)
            pw_str_add(&why, " or %.100s", folders[k]);
    enum pw_code code = fail_file(s, i, why.s, err);
    pw_str_fini(&why);
    free(here);
    return code;
}

/* Checks existence and size of every file. *missing: the index of one that does not exist; -1: all do. */
static enum pw_code check_files(const struct pw_source_files *s, int *missing, struct pw_err *err)
{
    *missing = -1;
    for (int i = 0; i < s->n; i++) {
        struct pw_str path = {0};
        struct stat st;
        add_path(&path, s, i);
        bool exists = stat(path.s, &st) == 0;
        pw_str_fini(&path);
        if (!exists) {
            *missing = i;
            return PW_EMISSING;
        }
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

/* Opens the files at one place. */
static enum pw_code open_at(struct pw_foreign **out, const struct pw_source_files *s, int *missing,
                            struct pw_err *err)
{
    struct pw_err why;
    enum pw_code code = check_files(s, missing, err);
    if (code != PW_OK)
        return code;
    code = pw_foreign_open(out, s->path, true, &why);
    if (code == PW_OK)
        code = pw_foreign_digest(*out, &why);
    if (code == PW_OK)
        code = check_content(s, pw_foreign_info(*out)->source, err);
    else if (code == PW_ENOMEM || code == PW_ECANCEL)
        pw_fail(err, code, "%s", why.msg);
    else
        code = fail_file(s, 0, why.msg, err);
    if (code != PW_OK) {
        pw_foreign_close(*out);
        *out = NULL;
    }
    return code;
}

/* A relative path counts from the working directory, then from the folders in which the session was recorded.
 * The first place with the recorded content counts. */
enum pw_code pw_state_open_source(struct pw_foreign **out, const struct pw_source_files *s,
                                  struct pw_err *err)
{
    /* no command reads these files, so the session does not record it */
    struct pw_file_watch watch = pw_file_watch((struct pw_file_watch){0});
    const char *const *folders = s->path[0] != '/' ? watch.folders : NULL;
    struct pw_err other = {.msg = ""};
    int missing, first;
    *out = NULL;
    enum pw_code code = open_at(out, s, &first, &other);
    for (int k = 0; code == PW_EMISSING && folders != NULL && folders[k] != NULL; k++) {
        struct pw_str place = {0};
        struct pw_source_files there = *s;
        struct pw_err why = {.msg = ""};
        pw_str_add(&place, "%s/%s", folders[k], s->path);
        there.path = place.s;
        code = open_at(out, &there, &missing, &why);
        bool first_reason = missing < 0 && other.msg[0] == '\0';
        if (code != PW_OK && (code != PW_EMISSING || first_reason))
            other = why;
        pw_str_fini(&place);
    }
    pw_file_watch(watch);
    if (code == PW_EMISSING && other.msg[0] == '\0')
        return fail_missing(s, first, err);
    return code == PW_OK ? PW_OK : pw_fail(err, code, "%s", other.msg);
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
