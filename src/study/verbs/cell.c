/* cell - compute one cell: the script of a cluster calls this. */
#include "study/run.h"
#include "study/verbs/verbs_int.h"

struct options {
    int threads;
};

static const char *const automatic[] = {"auto", NULL};
static const struct pw_opt table[] = {{.name = "threads",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, threads),
                                       .def = "auto",
                                       .min = 1,
                                       .max = 1024,
                                       .choices = automatic,
                                       .help = "threads; auto: all processors"},
                                      {.name = NULL}};

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study s;
    struct pw_study_cell cell;
    if (call->n != 1)
        return pw_fail(err, PW_EUSER, "study cell NAME needs the name of a cell");
    enum pw_code code = pw_study_open(&s, call->folder, NULL, err);
    if (code != PW_OK)
        return code;
    if (!pw_study_cell_find(&s, call->words[0], &cell))
        code = pw_fail(err, PW_EUSER, "no cell %s in this study", call->words[0]);
    else if (pw_study_cell_run(call->folder, &s, &cell, o->threads, err) == PW_CELL_FAILED)
        code = PW_EUSER;
    pw_study_fini(&s);
    return code;
}

const struct pw_study_verb pw_study_verb_cell = {.name = "cell",
                                                 .words = "CELL",
                                                 .opts = table,
                                                 .opts_size = sizeof(struct options),
                                                 .hidden = true,
                                                 .run = run};
