/* patch - activation patching: which activations of the pinned prompt restore its answer in a corrupt
 * prompt. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_patch;

struct patch_opts {
    char from[PW_LINE];
    int replica;
};

static const struct pw_opt opts[] = {{.name = "from",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct patch_opts, from),
                                      .size = sizeof((struct patch_opts *)0)->from,
                                      .help = "the corrupt prompt, with as many tokens as the pinned one"},
                                     PW_REPLICA_OPT(struct patch_opts, replica),
                                     {.name = NULL}};

/* The patched activation: kind, layer, head and position; -1: not given. */
struct target {
    enum pw_patch_kind kind;
    int layer, head, pos;
};

static enum pw_code read_number(const char *what, const char *word, int *out, struct pw_err *err)
{
    long n;
    if (!pw_text_int(word, 0, 1000000, &n))
        return pw_fail(err, PW_EUSER, "patch: %s '%s' is not a number from 0; usage: %s", what, word,
                       pw_cmd_patch.usage);
    *out = (int)n;
    return PW_OK;
}

/* Read one head, L.H, as a list of `ablate` with exactly one head. */
static enum pw_code read_head(const struct pw_replica *arm, const char *word, struct target *t,
                              struct pw_err *err)
{
    int n = arm->cfg.layers * arm->cfg.heads, many = 0;
    uint8_t *chosen = pw_alloc((size_t)n, sizeof *chosen);
    enum pw_code code = pw_lab_read_heads(arm, "patch", word, chosen, err);
    for (int i = 0; code == PW_OK && i < n; i++)
        if (chosen[i]) {
            many++;
            t->layer = i / arm->cfg.heads;
            t->head = i % arm->cfg.heads;
        }
    free(chosen);
    if (code == PW_OK && many > 1)
        return pw_fail(err, PW_EUSER, "patch: '%s' names several heads; 'patch heads' shows all", word);
    return code;
}

static enum pw_code read_target(const struct pw_replica *arm, const struct pw_args *args, struct target *t,
                                struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *last;
    bool resid = strcmp(what, "resid") == 0;
    enum pw_code code = pw_args_limit(&pw_cmd_patch, args, 1, resid ? 3 : 2, err);
    *t = (struct target){resid ? PW_PATCH_RESID : PW_PATCH_HEADS, -1, -1, -1};
    if (code == PW_OK && resid && pw_args_words(args) > 1)
        code = read_number("layer", pw_args_word(args, 1), &t->layer, err);
    if (code == PW_OK && !resid && strcmp(what, "heads") != 0)
        code = strchr(what, '.') != NULL
                   ? read_head(arm, what, t, err)
                   : pw_fail(err, PW_EUSER, "patch: '%s': allowed: resid, heads, L.H; usage: %s", what,
                             pw_cmd_patch.usage);
    last = pw_args_word(args, resid ? 2 : 1);
    if (code == PW_OK && last != NULL)
        code = read_number("position", last, &t->pos, err);
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct patch_opts o;
    struct pw_args rest;
    struct pw_replica *arm;
    struct target t;
    pw_opt_defaults(opts, &o);
    o.from[0] = '\0';
    enum pw_code code = pw_scope_arm(ctx, args, &rest, &arm, err);
    if (code == PW_OK)
        code = pw_args_opts(&rest, opts, &o, err);
    if (code == PW_OK)
        code = pw_scope_replica(ctx, &arm, "patch", o.replica, err);
    if (code == PW_OK && (pw_args_words(&rest) == 0 || o.from[0] == '\0'))
        code = pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_patch.usage);
    if (code == PW_OK)
        code = read_target(arm, &rest, &t, err);
    return code == PW_OK ? pw_lab_patch(ctx, arm, t.kind, t.layer, t.head, t.pos, o.from, err) : code;
}

/* Offer the positions of the pinned prompt. */
static void offer_positions(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    if (s != NULL && s->has_prompt)
        pw_offer_numbers(c, 0, s->prompt.n_prompt);
}

static void complete(struct pw_completion *c)
{
    const struct pw_arm_view *arm = pw_offer_arm(c);
    bool resid = c->at > 0 && strcmp(pw_args_word(c->so_far, 0), "resid") == 0;
    if (c->at == 0) {
        pw_complete_offer_all(c, (const char *const[]){"resid", "heads", NULL});
        pw_offer_heads(c, false);
    } else if (c->at == 1 && resid) {
        pw_offer_numbers(c, 0, arm != NULL ? arm->info.layers + 1 : 0);
    } else if (c->at == 1 + resid) {
        offer_positions(c);
    }
}

/* Offer the pinned prompt as a text to edit. */
static void values(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    if (strcmp(c->key, "from") == 0 && s != NULL && s->has_prompt)
        pw_complete_offer(c, "%s", s->prompt.text);
    else
        pw_offer_values(c);
}

const struct pw_command pw_cmd_patch = {
    .name = "patch",
    .search = "causal tracing",
    .usage = "patch resid|heads|L.H [L] [POS] from=\"PROMPT\" [arm=K] [replica=R]",
    .example = "patch heads from=\"sort 3 1 4 1 6\"",
    .summary = "find the activations of the pinned prompt that restore its answer in a corrupt prompt",
    .detail =
        "Run the corrupt prompt (same number of tokens) with an activation of the clean, pinned one put in.\n"
        "m = logit(clean's token) - logit(corrupt's token), at the first place where the right answers "
        "differ;\n"
        "recovery = (m_patched - m_corrupt) / (m_clean - m_corrupt): 0: none, 1: full.\n"
        "  patch resid           the stream into each layer (and out of the last): a map by position\n"
        "  patch resid L [POS]   the stream into layer L: at one position, or at all\n"
        "  patch heads [POS]     every head's output before W_o: a map, at all positions or at one\n"
        "  patch L.H [POS]       one head\n"
        "If a right answer is not known, the model's own answers are used for both. The map opens in the "
        "step\n"
        "pane; P hides and shows it.\n"
        "prompt sort 3 1 2; patch resid from=\"sort 3 5 2\"; patch heads from=\"sort 3 5 2\"",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .complete = complete,
    .values = values,
    .run = run,
};
