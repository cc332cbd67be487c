/* cell - compute one cell: the script of a cluster calls this. */
#include "study/child.h"
#include "study/run.h"
#include "study/verbs/verbs_int.h"

struct options {
    int threads;
    char backend[64];
};

static const struct pw_opt table[] = {
    PW_STUDY_AUTO(threads, PW_STUDY_THREADS, "threads; auto: all processors"),
    {.name = "backend",
     .type = PW_OPT_TEXT,
     .offset = offsetof(struct options, backend),
     .def = "cpu",
     .size = sizeof((struct options *)0)->backend,
     .help = "as the option --backend"},
    {.name = NULL}};

/* The line for the log of the job. */
static void print_end(const struct pw_study_call *call, enum pw_study_cell_end end)
{
    static const char *const says[] = {[PW_CELL_DONE] = "computed",
                                       [PW_CELL_WAS_DONE] = "was there",
                                       [PW_CELL_ELSEWHERE] = "runs in another process",
                                       [PW_CELL_INTERRUPTED] = "interrupted",
                                       [PW_CELL_FAILED] = "failed"};
    fprintf(call->out, "cell %s: %s\n", call->words[0], says[end]);
}

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
    if (!pw_study_cell_find(&s, call->words[0], &cell)) {
        code = pw_fail(err, PW_EUSER, "no cell %s in this study", call->words[0]);
    } else {
        pw_child_pass_signals();
        enum pw_study_cell_end end = pw_study_cell_run(call->folder, &s, &cell, o->threads, o->backend, err);
        print_end(call, end);
        if (end == PW_CELL_FAILED)
            code = PW_EUSER;
        else if (end == PW_CELL_INTERRUPTED)
            code = pw_fail(err, PW_ECANCEL, "interrupted; the cell continues when it is run again");
    }
    pw_study_fini(&s);
    return code;
}

const struct pw_study_verb pw_study_verb_cell = {.name = "cell",
                                                 .words = "CELL",
                                                 .hidden = true,
                                                 .opts = table,
                                                 .opts_size = sizeof(struct options),
                                                 .run = run};
