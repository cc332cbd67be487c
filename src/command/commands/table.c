/* table - the encoding itself: buckets, slopes, frequencies, rows. */
#include "lab/lab_int.h"

struct table_opts {
    int length;
};

static const struct pw_opt opts[] = {{.name = "length",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct table_opts, length),
                                      .def = "0",
                                      .min = 0,
                                      .max = 1 << 16,
                                      .help = "distances or positions; 0: as long as the longest sample"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct table_opts o;
    struct pw_event *e;
    pw_opt_defaults(opts, &o);
    if (pw_args_words(args) > 0)
        return pw_fail(err, PW_EUSER, "table: '%s' is not key=value; usage: table [length=N]",
                       pw_args_word(args, 0));
    enum pw_code code = pw_args_opts(args, opts, &o, err);
    if (code == PW_OK)
        code = pw_lab_table(ctx, pw_lab_current(ctx), o.length, &e, err);
    if (code == PW_OK)
        pw_lab_emit(ctx, e);
    return code;
}

const struct pw_command pw_cmd_table = {
    .name = "table",
    .usage = "table [length=N]",
    .summary = "the current arm's encoding: buckets, slopes, frequencies, rows",
    .where = PW_AT_LAB,
    .opts = opts,
    .run = run,
};
