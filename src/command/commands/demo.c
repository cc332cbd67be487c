/* demo - run a race for beginners; each demo is a script of lines that a user could type.
 *
 * sort: the settings (alphabet, untied head, AdamW's second beta, heads) were tuned on the model without an
 * encoding. T5's 8 buckets up to distance 16 were chosen after inspecting the results beyond the trained
 * lengths. docs/guide/measuring.md has the experiment on seeds that no tuning used, also with T5's 32 buckets
 * up to 128.
 *
 * copy: a race that NoPE does not win.
 *
 * text: bytes of the chronicle that comes with the program. 700 steps of five arms take 40 seconds on two
 * cores (Intel Xeon, 2026-11-27); the loss on trained contexts hardly falls after that, except for NoPE's. */
#include <string.h>

#include "lab/actions.h"

static const struct demo {
    const char *name, *summary, *script;
} demos[] = {
    {"sort", "sorting digits: trained on 2 to 8 of them, tested to 16",
     "task sort\n"
     "model tiny\n"
     "seed 0\n"
     "race none,t5,alibi,rotary,sinusoidal\n"
     "say Five encodings learn to sort 2 to 8 digits. Which one sorts 16? T5 has 8 buckets up to distance "
     "16.\n"
     "prompt sort 9 2 6 5 3\n"
     "train\n"
     "eval\n"
     "say Your turn  :prompt sort 3 1 4 1 5  :pe rotary  :train 300   3 looks at heads\n"},
    {"copy", "copying random digits: trained on 2 to 10 of them, tested to 20",
     "task copy variant=cmc alphabet=10\n"
     "model tiny\n"
     "optim steps=2000\n"
     "seed 0\n"
     "race none,t5,alibi,rotary,sinusoidal\n"
     "say Five encodings learn to copy 2 to 10 digits. Here NoPE is the slowest, and ALiBi goes furthest.\n"
     "prompt copy 9 2 6 5 3\n"
     "train\n"
     "eval\n"
     "say Your turn  :prompt copy 3 1 4 1 5  :pe rotary  :train 300   3 looks at heads\n"},
    {"text", "the bytes of a chronicle: trained on contexts of 64, read to 256",
     "model tiny context=256\n"
     "task text lengths=64 test=65..256\n"
     "optim steps=700\n"
     "seed 0\n"
     "race none,t5,alibi,rotary,sinusoidal\n"
     "say Five encodings learn to continue a text from 64 bytes. Which one still reads 256? Watch the loss "
     "beyond "
     "64.\n"
     "prompt In the year\n"
     "train\n"
     "eval\n"
     "say Your turn  :prompt The wolves  :eval lengths=8..256  :sample length=128   2 shows the loss by "
     "context\n"},
};

static const size_t n_demos = sizeof demos / sizeof demos[0];

extern const struct pw_command pw_cmd_demo;

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *name = args->n > 0 ? pw_args_word(args, 0) : demos[0].name;
    enum pw_code code = pw_args_limit(&pw_cmd_demo, args, 0, 1, err);
    if (code != PW_OK)
        return code;
    for (size_t i = 0; i < n_demos; i++)
        if (strcmp(demos[i].name, name) == 0) {
            pw_lab_stop(ctx, "");
            return pw_lab_insert_script(ctx, demos[i].script, err);
        }
    return pw_fail(err, PW_EUSER, "demo: no demo '%s'; there are sort, copy and text", name);
}

static void complete(struct pw_completion *c)
{
    for (size_t i = 0; c->at == 0 && i < n_demos; i++)
        pw_complete_offer(c, "%s", demos[i].name);
}

const struct pw_command pw_cmd_demo = {
    .name = "demo",
    .search = "tutorial example quickstart",
    .usage = "demo [sort|copy|text]",
    .example = "demo copy",
    .summary = "run a race of five encodings",
    .detail = "  sort   sorting digits: trained on 2 to 8 of them, tested to 16\n"
              "  copy   copying random digits: trained on 2 to 10, tested to 20; NoPE does not win\n"
              "  text   the bytes of a chronicle: trained on contexts of 64, read to 256",
    .where = PW_AT_LAB,
    .lasts = true,
    .complete = complete,
    .run = run,
};
