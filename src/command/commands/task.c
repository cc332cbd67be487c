/* task - choose the task, or mixture of tasks, that all arms learn. */
#include "lab/actions.h"

extern const struct pw_command pw_cmd_task;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    if (args->n == 0)
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_task.usage);
    return pw_lab_set_task(ctx, args->rest, err);
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    const struct pw_task *task = pw_args_words(so_far) > 0 ? pw_task_find(pw_args_word(so_far, 0)) : NULL;
    return task != NULL ? pw_task_options(task) : NULL;
}

static bool describe_choice(const char *word, struct pw_str *out)
{
    const struct pw_task *task = pw_task_find(word);
    if (task != NULL)
        pw_str_add(out, "task %s: %s\n%s\n", task->name, task->summary,
                   task->source != NULL ? task->source : "");
    return task != NULL;
}

static void complete(struct pw_completion *c)
{
    for (int i = 0; c->at == 0 && pw_tasks[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_tasks[i]->name);
}

const struct pw_command pw_cmd_task = {
    .name = "task",
    .search = "dataset data problem",
    .usage = "task NAME[,NAME...] [key=value]",
    .example = "task copy variant=rsc lengths=2..10",
    .summary = "choose the task, or a mixture of tasks in equal shares",
    .detail =
        "  sort        variant=single|multi             put symbols, or numbers, in order\n"
        "  copy        variant=rsc|rsc2x|rdc|cmc|cmc2x  repeat the symbols (rsc: one symbol, so counting)\n"
        "  reverse     variant=mc|mc2x|mcrv             backwards (mcrv: and then forwards)\n"
        "  lego        clauses=chain|shuffled           follow a chain of signs: a = -1, b = -a, ...\n"
        "  addition    order=normal|reversed|all        two numbers, digit by digit\n"
        "  summation, polynomial                        modulo 10\n"
        "  parity                                       is the number of ones even?\n"
        "  scan                                         commands into actions; lengths=1..25, or 1..22\n"
        "  pcfg        tokens=N answer=N                functions of strings; lengths count the functions\n"
        "  session     by=first|last|both at=K          the next item, by position; for model causal=off\n"
        "  flipflop    ignored=PERCENT                  the bit that was written last\n"
        "  recall      values=N                         the value that follows a key\n"
        "  file        path=F skip=N                    your own lines: prompt, TAB, answer; one in ten is\n"
        "                 held out. Lengths count the prompt's words, without the first N\n"
        "  text        path=FILE|FOLDER tokens=bytes|chars|TOKENIZER.json|MODEL.gguf   running text:\n"
        "                 predict the next token. Lengths are contexts. Held out: a file's last tenth, or\n"
        "                 one in ten of a folder's files; eval gives the loss\n"
        "  ids         vocab=N                          numbers as tokens (#17), for 'model from='\n"
        "  lengths=A..B   trained lengths\n"
        "  test=A..B      longer lengths, only evaluated; default: B+1..2B (scan, pcfg: all)\n"
        "  dist=uniform|geometric|pairs|natural|FILE   distribution of trained lengths: uniform; each\n"
        "                 half as often as the previous; uniform over pairs (addition, lego); as in the\n"
        "                 source (scan, pcfg: the default); from a file of lines 'length weight'\n"
        "  data=N         a fixed training set, used in epochs; another 15 % of N samples are for "
        "validation\n"
        "                 and for eval; its bins (lengths; addition: pairs) are filled equally\n"
        "  held=on        one input in ten is kept from training; only these validate and are evaluated\n"
        "                 (scan: the default); a length with fewer than 20 inputs uses all for both\n"
        "  sampling=appendix  draw as the paper's appendix, where its data differ: sort numbers of 0..10000\n"
        "                 (not 10..9999); lego also asks for the middle variable of an odd number\n"
        "  alphabet=N     symbols in use, from 0-9, a-z, A-Z (pcfg: from A1 to Z20)\n"
        "  text=short     a constant first word, then one token per symbol; text=paper: the sentences of\n"
        "                 the paper's data; text=appendix: those of its appendix\n"
        "  scratchpad=full|minimal|bare|LETTERS   steps before the answer (addition, summation, parity,\n"
        "                 polynomial, sort, lego): all parts; computation and output; only the marks around "
        "them;\n"
        "                 or a choice of i(nput) c(omputation) o(utput) v(ariables) r(emaining). Only the "
        "answer\n"
        "                 after the steps counts, and eval decodes\n"
        "Options in parentheses belong to one task: task copy(variant=rsc),sort lengths=2..8\n"
        "A task with the same tokens keeps the weights; any other draws new weights for all arms.",
    .where = PW_AT_LAB,
    .opts_for = opts_for,
    .about = describe_choice,
    .complete = complete,
    .run = run,
};
