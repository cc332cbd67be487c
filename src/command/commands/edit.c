/* edit - another token in the pinned prompt or its answer. */
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    long pos;
    if (pw_args_words(args) != 2 || args->n != 2 || !pw_text_int(pw_args_word(args, 0), 0, 1 << 20, &pos))
        return pw_fail(
            err, PW_EUSER,
            "usage: edit POS TOKEN, such as 'edit 6 3'; positions are counted from 0, the prompt's first");
    return pw_lab_edit(ctx, (int)pos, pw_args_word(args, 1), err);
}

const struct pw_command pw_cmd_edit = {
    .name = "edit",
    .usage = "edit POS TOKEN",
    .summary = "another token at a position of the answer, and decode on from there",
    .detail =
        "Positions are counted from 0, the prompt's first token. In the answer the token stands in place of\n"
        "the model's choice, what is before it stays, and what follows is decoded anew. In the prompt it\n"
        "makes another prompt; its right answer is known where the task can read it.\n"
        "'edit 9 </s>' ends the answer there. Quote what means something to a command line: edit 9 \"=\".",
    .where = PW_AT_LAB,
    .run = run,
};
