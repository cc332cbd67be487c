/* list - print the studies in the user's folder. */
#include <dirent.h>
#include <string.h>

#include "study/verbs/verbs_int.h"

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    char folder[PW_STUDY_PATH];
    struct dirent *e;
    enum pw_code code = pw_study_folder(folder, "x", err);
    if (code != PW_OK)
        return code;
    *strrchr(folder, '/') = '\0';
    DIR *d = opendir(folder);
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct pw_study_reading x = {0};
        struct pw_err why;
        struct pw_str path = {0};
        if (e->d_name[0] == '.')
            continue;
        pw_str_add(&path, "%s/%s", folder, e->d_name);
        if (pw_study_reading_open(&x, path.s, &why) == PW_OK) {
            fprintf(call->out, "%s  %d of at most %d runs\n", e->d_name, x.r.there, x.r.n);
            pw_study_reading_close(&x);
        }
        pw_str_fini(&path);
    }
    if (d != NULL)
        closedir(d);
    return PW_OK;
}

const struct pw_study_verb pw_study_verb_list = {.name = "list", .nameless = true, .run = run};
