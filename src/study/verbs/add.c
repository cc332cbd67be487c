/* add - allow more seeds. The statement `seeds` is replaced by a range, so that the test counts the looks. */
#include <stdlib.h>

#include "study/verbs/verbs_int.h"

struct options {
    int seeds;
};

static const char *const none[] = {"none", NULL};
static const struct pw_opt table[] = {{.name = "seeds",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, seeds),
                                       .def = "none",
                                       .min = 1,
                                       .max = PW_STUDY_SEEDS,
                                       .choices = none,
                                       .help = "more seeds of each arm and task"},
                                      {.name = NULL}};

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study s, changed;
    char *text;
    struct pw_str with = {0};
    if (o->seeds == 0)
        return pw_fail(err, PW_EUSER, "study add NAME needs seeds=N");
    enum pw_code code = pw_study_open(&s, call->folder, &text, err);
    if (code != PW_OK)
        return code;
    pw_str_add(&with, "%s", text);
    while (with.len > 0 && with.s[with.len - 1] == '\n')
        with.s[--with.len] = '\0';
    pw_str_add(&with, "\nseeds %d..%d\n", s.seeds_min, s.seeds_max + o->seeds);
    code = pw_study_read(&changed, with.s, err);
    if (code == PW_OK) {
        code = pw_study_write(call->folder, with.s, err);
        fprintf(call->out, "seeds %d..%d; 'study run' computes them\n", changed.seeds_min, changed.seeds_max);
        pw_study_fini(&changed);
    }
    pw_str_fini(&with);
    free(text);
    pw_study_fini(&s);
    return code;
}

const struct pw_study_verb pw_study_verb_add = {
    .name = "add", .opts = table, .opts_size = sizeof(struct options), .run = run};
