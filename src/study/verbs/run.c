/* run - compute the cells that are wanted. */
#include "study/run.h"
#include "study/verbs/verbs_int.h"

struct options {
    int jobs, threads;
};

static const char *const automatic[] = {"auto", NULL};
static const struct pw_opt table[] = {{.name = "jobs",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, jobs),
                                       .def = "auto",
                                       .min = 1,
                                       .max = PW_STUDY_JOBS,
                                       .choices = automatic,
                                       .help = "cells at once"},
                                      {.name = "threads",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, threads),
                                       .def = "auto",
                                       .min = 1,
                                       .max = 1024,
                                       .choices = automatic,
                                       .help = "threads of each cell"},
                                      {.name = NULL}};

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study_run how = {.jobs = o->jobs, .threads = o->threads, .out = call->out};
    int failed = 0;
    enum pw_code code = pw_study_run(call->folder, &how, &failed, err);
    if (code == PW_OK && failed > 0)
        return pw_fail(err, PW_EUSER, "%d runs failed; 'study status' says why", failed);
    return code;
}

const struct pw_study_verb pw_study_verb_run = {
    .name = "run", .opts = table, .opts_size = sizeof(struct options), .run = run};
