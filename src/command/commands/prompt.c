/* prompt - let the current arm answer a text, which stays pinned for inspection. */
#include "lab/actions.h"
#include "lab/offer.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_lab *lab = ctx;
    if (args->rest == NULL || args->rest[0] == '\0')
        return pw_lab_want_prompt(lab, "usage: prompt TEXT or prompt path=FILE", err);
    return pw_lab_prompt(lab, args->rest, err);
}

/* Offer the names of the lab's tasks; the task's input follows a name. */
static void complete(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    for (int i = 0; c->at == 0 && s != NULL && i < s->lab.n_tasks; i++)
        pw_complete_offer(c, "%s", s->lab.tasks[i].name);
}

const struct pw_command pw_cmd_prompt = {
    .name = "prompt",
    .search = "ask infer generate decode",
    .usage = "prompt TEXT | prompt path=FILE",
    .example = "prompt sort 3 1 4 1 5",
    .summary = "let the current arm answer, and pin the prompt for inspection",
    .detail = "TEXT is a prompt as the task writes it, or the task's name and the input:\n"
              "  prompt sort 3 1 4 1 5\n"
              "  prompt copy a b c\n"
              "  prompt reverse a b c\n"
              "  prompt lego a = -1, b = -a, c = +b, c ?\n"
              "  prompt addition 726 + 59\n"
              "  prompt summation 3 9 1 8\n"
              "  prompt parity 1 0 1 1\n"
              "  prompt polynomial x=-2: -2x^2 - 1 + 3x^3\n"
              "  prompt scan walk left twice after run\n"
              "  prompt pcfg append reverse A1 A2 , A3 A4\n"
              "  prompt session 3 1 4 0 5\n"
              "  prompt flipflop w 1 i 0 w 0 i 1 r\n"
              "  prompt recall c 9 k 8 j 3 ? k\n"
              "path=FILE reads TEXT from a file, for prompts that are longer than a line. A final newline is "
              "left out. The prompt and its answer must fit into the model's context.",
    .where = PW_AT_LAB,
    .beside = true,
    .raw = true,
    .complete = complete,
    .run = run,
};
