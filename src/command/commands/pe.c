/* pe - swap an arm's positional encoding in place. */
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_pe;

struct pe_opts {
    bool restart, replace;
    char title[200];
};

static const struct pw_opt opts[] = {{.name = "restart",
                                      .type = PW_OPT_SWITCH,
                                      .offset = offsetof(struct pe_opts, restart),
                                      .def = "on",
                                      .help = "restart the learning-rate schedule"},
                                     {.name = NULL}};
static const struct pw_opt save_opts[] = {{.name = "replace",
                                           .type = PW_OPT_SWITCH,
                                           .offset = offsetof(struct pe_opts, replace),
                                           .def = "off",
                                           .help = "replace the file if it exists"},
                                          {.name = "title",
                                           .type = PW_OPT_TEXT,
                                           .offset = offsetof(struct pe_opts, title),
                                           .size = sizeof((struct pe_opts *)0)->title,
                                           .def = "",
                                           .help = "one line for the list of encodings"},
                                          {.name = NULL}};

static bool saves(const struct pw_args *args)
{
    return pw_args_words(args) > 0 && strcmp(pw_args_word(args, 0), "save") == 0;
}

static enum pw_code save_formula(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_args *args,
                                 struct pw_err *err)
{
    struct pe_opts o;
    struct pw_str path = {0};
    pw_opt_defaults(save_opts, &o);
    if (pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "usage: pe save NAME [title=TEXT] [replace=on] [arm=K]");
    enum pw_code code = pw_args_opts(args, save_opts, &o, err);
    if (code == PW_OK)
        code = pw_encoding_save(&arm->pe, pw_args_word(args, 1), o.title, o.replace, &path, err);
    if (code == PW_OK)
        pw_lab_note(lab, "written: %s", path.s);
    else
        pw_err_at(err, "pe save");
    pw_str_fini(&path);
    return code;
}

/* restart=on|off belongs to the command; all other options belong to the encoding. */
static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    struct pe_opts o;
    bool check = args->n > 1 && args->words[0].key == NULL && strcmp(args->words[0].value, "check") == 0;
    struct pw_str text = {0};
    const char *restart = pw_args_key(args, "restart");
    if (saves(args))
        return save_formula(lab, arm, args, err);
    if (pw_args_words(args) == 0 ||
        (pw_args_words(args) == 1 && pw_text_same(pw_args_word(args, 0), "check")))
        return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_pe.usage);
    pw_opt_defaults(opts, &o);
    enum pw_code code = pw_encoding_words(args, check, (const char *const[]){"restart", NULL}, &text, err);
    if (code == PW_OK && restart != NULL)
        code = pw_opt_set(opts, &o, "pe", "restart", restart, err);
    if (code == PW_OK && check) {
        code = pw_lab_check_pe(lab, arm, pw_str_text(&text), err);
        pw_str_fini(&text);
        return code;
    }
    if (code == PW_OK)
        code = pw_lab_set_pe(lab, arm, pw_str_text(&text), o.restart, err);
    pw_str_fini(&text);
    if (code == PW_OK) {
        struct pw_str now = {0};
        pw_lab_note(lab, "arm %d: %s%s", arm->id, pw_encoding_shown(&now, &arm->pe),
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

/* ---- help and completion */

static bool describe_choice(const char *word, struct pw_str *out)
{
    const struct pw_pe *pe = pw_pe_find(word);
    if (pe == NULL)
        return pw_encoding_file_about(word, out);
    pw_str_add(out, "pe %s: %s\n%s\n", pe->name, pe->summary, pe->source != NULL ? pe->source : "");
    for (const char *const *alias = pe->aliases; *alias != NULL; alias++)
        pw_str_add(out, "%s%s%s", alias == pe->aliases ? "also read as " : ", ", *alias,
                   alias[1] == NULL ? "\n" : "");
    if (pe->choice != NULL)
        pw_str_add(out, "%s alone is %s\n", pe->name, pe->choice);
    return true;
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return saves(so_far) ? save_opts : pw_encoding_opts(so_far);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, (const char *const[]){"expr", "check", "save", NULL});
    pw_complete_encoding(c);
}

const struct pw_command pw_cmd_pe = {
    .name = "pe",
    .search = "position embedding encoding",
    .usage = "pe NAME [key=value] [arm=K] | pe expr FORMULA | pe check NAME | pe save NAME",
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
        "  expr FORMULA                       your own, to the end of the line; quotes around it, ' or \",\n"
        "                                     protect ';': pe expr 'm = slopes()[h]; bias = -m * d'\n"
        "The two lines before expr need the length of the whole sequence, which leaks it in causal training. "
        "In\n"
        "decoding the length is the number of tokens so far, so every new token changes all earlier keys.\n"
        "'pe check expr \"FORMULA\"' swaps nothing. It says the formula's class, its number of learned "
        "parameters,\n"
        "the built-in encoding that it equals, where it is finite, and its form in FlexAttention.\n"
        "A formula's bias may learn: pe expr 'a = learn(1) per head; bias = -a * log1p(d)'; 'per layer', "
        "too,\n"
        "tables 'T = learn(normal(0.1), 8) per head' read as T[n] or T(x), and networks 'mlp(x, "
        "hidden=32)'.\n"
        "A position may read tokens and chance: pe expr 'position = index(i) + floor(uniform(0, 9)); bias = "
        "-d';\n"
        "there are token(i) run(i) index(i) length(i) prompt training uniform(A, B) normal(M, S) sample(k, "
        "n, "
        "m).\n"
        "Case does not matter. 'help pe NAME' lists aliases: nope, rope, sin, and ape (sinusoidal as in\n"
        "Kazemnejad et al. 2023).\n"
        "The new encoding's parameters are drawn, with moments and a step count of their own.\n"
        "Formula files are encodings, too: encodings/NAME.pe of the project, and your own in\n"
        "$XDG_CONFIG_HOME/pewter/encodings, which 'pe save NAME [title=TEXT] [replace=on]' writes from the\n"
        "arm's formula. A file is lines '# title:', '# paper:' and '# look:', and a formula. A constant "
        "that\n"
        "may be set is a = option(1, 0.01..100) with a comment as its help: pe rope_pi factor=4; tune "
        "factor=2.",
    .where = PW_AT_LAB,
    .opts = opts,
    .also = pw_scope_opts,
    .formula = true,
    .opts_for = opts_for,
    .about = describe_choice,
    .more = pw_encoding_files_about,
    .outside = saves,
    .complete = complete,
    .values = pw_offer_values,
    .run = run,
};
