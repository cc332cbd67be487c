/* help - print help, which comes from the command tables. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_help;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    struct pw_str text = {0};
    enum pw_code code = pw_args_limit(&pw_cmd_help, args, 0, 2, err);
    if (code == PW_OK && args->n > 0)
        code =
            pw_command_help(pw_lab_facts(lab).help, pw_args_word(args, 0), pw_args_word(args, 1), &text, err);
    else if (code == PW_OK)
        pw_command_help_list(pw_lab_facts(lab).help, &text);
    if (code == PW_OK)
        pw_lab_note_lines(lab, pw_str_text(&text));
    pw_str_fini(&text);
    return code;
}

const struct pw_command pw_cmd_help = {
    .name = "help",
    .search = "man manual docs",
    .usage = "help [COMMAND [WORD]]",
    .example = "help pe t5",
    .summary = "list the commands; explain a command or a word of it: help pe t5, help model layers",
    .detail = "If WORD is not a command, list the commands that mention it: help heatmap.",
    .where = PW_AT_LAB,
    .beside = true,
    .command_at = 1,
    .run = run,
};
