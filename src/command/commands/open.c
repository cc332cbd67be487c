/* open - resume a recorded session. */
#include "lab/actions.h"
#include "lab/offer.h"

extern const struct pw_command pw_cmd_open;

struct open_opts {
    int from;
};

static const struct pw_opt opts[] = {{.name = "from",
                                      .type = PW_OPT_INT,
                                      .offset = offsetof(struct open_opts, from),
                                      .min = 0,
                                      .max = 1e9,
                                      .help = "step to continue from, in a new session"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct open_opts o = {.from = -1};
    enum pw_code code = pw_args_limit(&pw_cmd_open, args, 1, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_session_open(ctx, pw_args_word(args, 0), o.from, err) : code;
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_session(c);
}

const struct pw_command pw_cmd_open = {
    .name = "open",
    .search = "load resume continue rewind",
    .usage = "open NAME [from=STEP]",
    .example = "open monday from=20",
    .summary = "continue a recorded session where it ended",
    .detail = "Load its newest checkpoint, re-run what was recorded after it, compare every bit, then "
              "continue. With\n"
              "from=, continue from that step of its current arm as a new session; the old one is not "
              "changed. The\n"
              "session that is open now is kept; its unfinished work continues when it is opened again. "
              "'sessions'\n"
              "lists the sessions.",
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .opts = opts,
    .file_at = 1,
    .complete = complete,
    .run = run,
};
