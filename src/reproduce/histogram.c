/* histogram.c - lengths of instructions (Kazemnejad et al. 2023, Figure A.1), of any file. */
#include "reproduce/study.h"

struct options {
    char path[256];
};

static const struct pw_opt opts[] = {{.name = "path",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct options, path),
                                      .size = sizeof((struct options *)0)->path,
                                      .def = "",
                                      .help = "a file of lines: prompt, TAB, answer"},
                                     {.name = NULL}};

static enum pw_code check(const void *opts_, struct pw_err *err)
{
    const struct options *o = opts_;
    if (o->path[0] == '\0')
        return pw_fail(err, PW_EUSER, "histogram: path=FILE is missing: lines of prompt, TAB, answer");
    return PW_OK;
}

static void script(const void *opts_, struct pw_str *out)
{
    pw_str_add(out, "probe histogram");
    pw_opt_print(opts, opts_, false, out);
    pw_str_add(out, "\n");
}

const struct pw_study pw_study_histogram = {
    .name = "histogram",
    .document = "Kazemnejad et al. 2023, Figure A.1",
    .summary = "how long the prompts of a file are: path=FILE",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .check = check,
    .script = script,
    .finding = "histogram",
};
