/* pe - swap an arm's positional encoding in place. */
#include <stdio.h>
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_pe;

/* restart=on|off belongs to the command; all other options belong to the encoding. */
static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    bool restart = true,
         check = args->n > 1 && args->words[0].key == NULL && strcmp(args->words[0].value, "check") == 0;
    struct pw_str text = {0};
    if (args->n == 0 || args->words[0].key != NULL)
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_pe.usage);
    for (int i = check; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        bool formula = i > check && pw_text_same(args->words[i - 1].value, "expr");
        if (w->key == NULL) {
            pw_str_add(&text, formula && i == check + 1 ? " '%s'" : i > check ? " %s" : "%s", w->value);
        } else if (strcmp(w->key, "restart") == 0) {
            enum pw_code code = pw_opt_set(pw_cmd_pe.opts, &restart, "pe", w->key, w->value, err);
            if (code != PW_OK) {
                pw_str_fini(&text);
                return code;
            }
        } else
            pw_str_add(&text, " %s=%s", w->key, w->value);
    }
    if (check) {
        enum pw_code code = pw_lab_check_pe(lab, arm, pw_str_text(&text), err);
        pw_str_fini(&text);
        return code;
    }
    enum pw_code code = pw_lab_set_pe(lab, arm, pw_str_text(&text), restart, err);
    pw_str_fini(&text);
    if (code == PW_OK) {
        struct pw_str now = {0};
        pw_pe_print(&arm->pe, &now);
        pw_lab_note(lab, "arm %d: %s%s", arm->id, pw_str_text(&now),
                    arm->step > 0 ? "; all other weights and their moments stay" : "");
        pw_lab_note_encoding(lab, arm);
        pw_str_fini(&now);
    }
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static bool describe_choice(const char *word, struct pw_str *out)
{
    const struct pw_pe *pe = pw_pe_find(word);
    if (pe == NULL)
        return false;
    pw_str_add(out, "pe %s: %s\n%s\n", pe->name, pe->summary, pe->source != NULL ? pe->source : "");
    for (const char *const *alias = pe->aliases; *alias != NULL; alias++)
        pw_str_add(out, "%s%s%s", alias == pe->aliases ? "also read as " : ", ", *alias,
                   alias[1] == NULL ? "\n" : "");
    if (pe->choice != NULL)
        pw_str_add(out, "%s alone is %s\n", pe->name, pe->choice);
    return true;
}

static const struct pw_opt opts[] = {{.name = "restart",
                                      .type = PW_OPT_SWITCH,
                                      .offset = 0,
                                      .def = "on",
                                      .help = "restart the learning-rate schedule"},
                                     {.name = NULL}};

const struct pw_command pw_cmd_pe = {
    .name = "pe",
    .search = "position embedding encoding",
    .usage = "pe [check] NAME [key=value] [arm=K]",
    .example = "pe t5 buckets=8 distance=16",
    .summary = "swap the encoding of the current arm, or of arm K; all other weights stay",
    .detail =
        "  none                               no encoding: order comes from the causal mask alone (NoPE)\n"
        "  learned                            a learned row for each position, added to the embedding\n"
        "  sinusoidal base= layout= amplitude=  fixed rows, added to the embedding\n"
        "  t5         buckets= distance=      a learned bias for each head and bucket of distances: 8/16 "
        "for\n"
        "                                     contexts up to 256, 32/128 for longer ones; with causal=off "
        "half\n"
        "                                     of the buckets are for later keys\n"
        "  alibi                              a fixed slope for each head\n"
        "  rotary     base= dims= pairing=    rotates queries and keys by position\n"
        "  clipped    distance=               a learned bias for each head and distance up to k\n"
        "  shaw       distance=               a learned vector for each layer and distance, added to keys\n"
        "  fire       hidden= threshold=      a bias by a learned network, of the distance divided by the "
        "query's\n"
        "                                     position (by threshold=, if that is larger)\n"
        "  rspe aspe 2dspe dpe                sines of the position from the end, or of the length, too\n"
        "  ldpe learned_reversed              learned rows by the position from the end, too, or only\n"
        "  expr \"FORMULA\"                     your own: fixed bias, angle, gain or embed, as in\n"
        "                                     pe expr \"m = slopes()[h]; bias = -m * d\"\n"
        "The two lines before expr need the length of the whole sequence, which leaks it in causal training. "
        "In\n"
        "decoding the length is the number of tokens so far, so every new token changes all earlier keys.\n"
        "'pe check expr \"FORMULA\"' swaps nothing. It says the formula's class, its number of learned "
        "parameters,\n"
        "the built-in encoding that it equals, where it is finite, and its form in FlexAttention.\n"
        "Case does not matter. 'help pe NAME' lists aliases: nope, rope, sin, and ape (sinusoidal as in\n"
        "Kazemnejad et al. 2023).\n"
        "The new encoding's parameters are drawn, with moments and a step count of their own.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .opts_for = pw_encoding_opts,
    .about = describe_choice,
    .complete = pw_complete_encoding,
    .values = pw_offer_values,
    .run = run,
};
