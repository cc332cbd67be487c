/* gather - write all results into one SQLite file. */
#include "study/gather.h"
#include "study/verbs/verbs_int.h"

struct options {
    char out[1024];
};

static const struct pw_opt table[] = {
    PW_STUDY_TEXT(out, "the file; default: results.sqlite in the study's folder"), {.name = NULL}};

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study_reading x = {0};
    struct pw_str path = {0};
    enum pw_code code = pw_study_reading_open(&x, call->folder, err);
    if (code != PW_OK)
        return code;
    if (o->out[0] != '\0')
        pw_str_add(&path, "%s", o->out);
    else
        pw_str_add(&path, "%s/results.sqlite", call->folder);
    code = pw_study_gather(path.s, &x.r, x.text, err);
    if (code == PW_OK)
        fprintf(call->out, "wrote %s: %d of at most %d runs\n", path.s, x.r.there, x.r.n);
    pw_str_fini(&path);
    pw_study_reading_close(&x);
    return code;
}

const struct pw_study_verb pw_study_verb_gather = {
    .name = "gather", .opts = table, .opts_size = sizeof(struct options), .run = run};
