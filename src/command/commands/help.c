/* help - from the command tables. */
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    struct pw_str text = {0};
    enum pw_code code = PW_OK;
    if (args->n > 2)
        code = pw_fail(err, PW_EUSER, "usage: help [COMMAND [WORD]]");
    else if (args->n > 0)
        code = pw_command_help(lab->cfg.help, args->words[0].value, args->n > 1 ? args->words[1].value : NULL,
                               &text, err);
    else
        pw_command_help_list(lab->cfg.help, &text);
    if (code == PW_OK)
        pw_lab_note_lines(lab, pw_str_text(&text));
    pw_str_fini(&text);
    return code;
}

const struct pw_command pw_cmd_help = {
    .name = "help",
    .usage = "help [COMMAND [WORD]]",
    .summary =
        "this list, one command, or a word of it: help pe t5, help probe decay, help reproduce lengths",
    .where = PW_AT_LAB,
    .beside = true,
    .command_at = 1,
    .run = run,
};
