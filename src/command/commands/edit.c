/* edit - replace a token of the pinned prompt or its answer. */
#include <string.h>

#include "lab/actions.h"
#include "lab/offer.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    long pos;
    if (pw_args_words(args) != 2 || args->n != 2 || !pw_text_int(pw_args_word(args, 0), 0, 1 << 20, &pos))
        return pw_fail(err, PW_EUSER,
                       "usage: edit POS TOKEN, such as 'edit 6 3'; position 0 is the prompt's first token");
    return pw_lab_edit(ctx, (int)pos, pw_args_word(args, 1), err);
}

/* Tokens that the reader has seen, each once: the candidates at the cursor, then the tokens of prompt and
 * answer. The snapshot has no list of all tokens. */
struct tokens {
    int n;
    const char *label[512];
};

static void take(struct tokens *t, const char *label)
{
    int i = 0;
    while (i < t->n && strcmp(t->label[i], label) != 0)
        i++;
    if (i == t->n && t->n < (int)(sizeof t->label / sizeof t->label[0]))
        t->label[t->n++] = label;
}

static void collect(struct tokens *t, const struct pw_snapshot *s)
{
    for (int i = 0; s->has_look && i < s->look.n; i++) /* best candidates first */
        if (s->look.token[i].token != PW_PAD)          /* PW_PAD is valid nowhere */
            take(t, s->look.token[i].label);
    for (int i = 0; i < s->prompt.n; i++)
        take(t, s->prompt.labels[i]);
}

static void complete(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    struct tokens known = {0};
    if (s == NULL || !s->has_prompt)
        return;
    if (c->at == 0)
        pw_offer_numbers(c, 0, s->prompt.n_prompt + s->n_tokens);
    if (c->at == 1)
        collect(&known, s);
    for (int i = 0; i < known.n; i++)
        pw_complete_offer(c, "%s", known.label[i]);
}

const struct pw_command pw_cmd_edit = {
    .name = "edit",
    .usage = "edit POS TOKEN",
    .example = "edit 7 4",
    .summary = "put another token at a position of the answer, and decode from there",
    .detail =
        "Position 0 is the prompt's first token. In the answer, TOKEN replaces the model's choice; earlier\n"
        "tokens stay and later ones are decoded again. In the prompt, the edit gives a new prompt; its "
        "right\n"
        "answer is known if the task can read it.\n"
        "'edit 9 </s>' ends the answer there. Quote characters that have a meaning on a command line:\n"
        "edit 9 \"=\".",
    .where = PW_AT_LAB,
    .complete = complete,
    .run = run,
};
