/* sessions - list recorded sessions with size, steps, arms and last use. */
#include "lab/actions.h"
#include <stddef.h>

extern const struct pw_command pw_cmd_sessions;

struct sessions_opts {
    int by; /* index into orders */
};

static const char *const orders[] = {"use", "size", NULL};
static const struct pw_opt opts[] = {{.name = "by",
                                      .type = PW_OPT_CHOICE,
                                      .offset = offsetof(struct sessions_opts, by),
                                      .def = "use",
                                      .choices = orders,
                                      .help = "order: the last used first, or the largest first"},
                                     {.name = NULL}};

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct sessions_opts o;
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_args_limit(&pw_cmd_sessions, args, 0, 1, err);
    if (code == PW_OK)
        code = pw_args_opts(args, opts, &o, err);
    return code == PW_OK ? pw_session_list(ctx, pw_args_word(args, 0), o.by == 1, err) : code;
}

const struct pw_command pw_cmd_sessions = {
    .name = "sessions",
    .search = "list ls history replay load",
    .usage = "sessions [FOLDER] [by=use|size]",
    .example = "sessions",
    .summary = "list the recorded sessions and the space that they take on disk",
    .detail = "They are in $XDG_STATE_HOME/pewter/sessions, else in ~/.local/state/pewter/sessions.\n"
              "'delete' deletes one, and 'pewter sessions prune older=30d' those that are not used any more.",
    .opts = opts,
    .where = PW_AT_LAB,
    .outside = pw_command_outside,
    .beside = true,
    .file_at = 1,
    .run = run,
};
