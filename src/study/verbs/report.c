/* report - print tables, tests and commands, and write them into files. */
#include "study/report.h"
#include "study/verbs/verbs_int.h"

struct options {
    char out[1024];
};

static const struct pw_opt table[] = {
    PW_STUDY_TEXT(out, "folder for report.html, report.txt, cells.csv and pictures"), {.name = NULL}};

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study_reading x = {0};
    enum pw_code code = pw_study_reading_open(&x, call->folder, err);
    if (code != PW_OK)
        return code;
    struct pw_study_report made;
    pw_study_report_init(&made, &x.r, pw_study_title(call->name), x.text);
    pw_study_print(call->out, &made);
    if (o->out[0] != '\0')
        code = pw_study_files(o->out, &made, err);
    if (code == PW_OK && o->out[0] != '\0')
        fprintf(call->out,
                "\nwrote %s/report.html, report.txt, cells.csv, and task1.svg and .pdf of each task\n",
                o->out);
    pw_study_report_fini(&made);
    pw_study_reading_close(&x);
    return code;
}

const struct pw_study_verb pw_study_verb_report = {
    .name = "report", .opts = table, .opts_size = sizeof(struct options), .run = run};
