/* pe - swap an arm's positional encoding in place. */
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"
#include "lab/scope.h"

extern const struct pw_command pw_cmd_pe;

enum { PW_PE_PATH = 1024 };
/* Options of the command: without and with a file. A formula may have an option `by`. */
static const char *const own[][4] = {{"restart", "file", NULL}, {"restart", "file", "by", NULL}};
static const char *const counts[] = {"auto", "distance", "signed", "pair", NULL};

struct pe_opts {
    bool restart, replace;
    int by; /* enum pw_bias_by */
    char title[200], file[PW_PE_PATH];
};

static const struct pw_opt opts[] = {{.name = "restart",
                                      .type = PW_OPT_SWITCH,
                                      .offset = offsetof(struct pe_opts, restart),
                                      .def = "on",
                                      .help = "restart the learning-rate schedule"},
                                     {.name = "file",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct pe_opts, file),
                                      .size = sizeof((struct pe_opts *)0)->file,
                                      .def = "",
                                      .help = "an .npz file with bias, scale, angle or embed"},
                                     {.name = "by",
                                      .type = PW_OPT_CHOICE,
                                      .offset = offsetof(struct pe_opts, by),
                                      .def = "auto",
                                      .choices = counts,
                                      .help = "how the file's bias counts pairs of positions"},
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

/* Names the arm by a command of its own, which a session records: a re-run writes no file, and names the arm
 * when it comes to that command. */
static void name_arm(struct pw_lab *lab, const struct pw_replica *arm, const char *name)
{
    struct pw_str line = {0};
    pw_str_add(&line, "pe name ");
    for (const char *c = name; *c != '\0'; c++) /* files have one name in any case */
        pw_str_add(&line, "%c", *c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
    pw_str_add(&line, " arm=%d", arm->id);
    pw_lab_then(lab, line.s);
    pw_str_fini(&line);
}

static enum pw_code save_formula(struct pw_lab *lab, const struct pw_replica *arm, const struct pw_args *args,
                                 struct pw_err *err)
{
    struct pe_opts o;
    struct pw_str path = {0};
    pw_opt_defaults(save_opts, &o);
    if (pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "usage: pe save NAME [title=TEXT] [replace=on] [arm=K]");
    const char *name = pw_args_word(args, 1);
    bool hides = pw_encoding_is_project(name);
    enum pw_code code = pw_args_opts(args, save_opts, &o, err);
    if (code == PW_OK)
        code = pw_encoding_save(&arm->pe, name, o.title, o.replace, &path, err);
    if (code == PW_OK) {
        pw_lab_note(lab, "written: %s%s%s", path.s, hides ? "; it hides the project's encoding " : "",
                    hides ? name : "");
        name_arm(lab, arm, name);
    } else {
        pw_err_at(err, "pe save");
    }
    pw_str_fini(&path);
    return code;
}

/* Reads the options of the command itself; all others belong to the encoding. */
static enum pw_code read_own(const struct pw_args *args, struct pe_opts *o, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    pw_opt_defaults(opts, o);
    bool file = pw_args_key(args, "file") != NULL;
    for (int k = 0; own[file][k] != NULL && code == PW_OK; k++) {
        const char *value = pw_args_key(args, own[file][k]);
        if (value != NULL)
            code = pw_opt_set(opts, o, "pe", own[file][k], value, err);
    }
    return code;
}

/* The encoding, as arguments of pw_lab_set_pe: of a file, or as the words name it. */
static enum pw_code read_encoding(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                                  bool check, const struct pe_opts *o, struct pw_str *text,
                                  struct pw_err *err)
{
    enum pw_code code = PW_OK;
    if (o->file[0] != '\0' && pw_args_words(args) > check)
        return pw_fail(err, PW_EUSER, "pe: file=F.npz is an encoding: no name or formula beside it");
    if (check && pw_args_words(args) == 2 && strchr(pw_args_word(args, 1), '=') != NULL)
        pw_str_add(text, "expr "); /* only a formula has such a word */
    if (o->file[0] != '\0')
        code = pw_lab_read_pe(lab, arm, o->file, (enum pw_bias_by)o->by, text, err);
    return code == PW_OK ? pw_encoding_words(args, check, own[o->file[0] != '\0'], text, err) : code;
}

/* There is no name: the words are options, or a formula without `expr`. */
static enum pw_code refuse_words(const struct pw_args *args, struct pw_err *err)
{
    for (int i = 0; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key != NULL && pw_encoding_is_stage(w->key))
            return pw_fail(err, PW_EUSER, "pe: a formula follows 'expr': pe expr '%s = %s'", w->key,
                           w->value);
    }
    return pw_fail(err, PW_EUSER, "usage: %s", pw_cmd_pe.usage);
}

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    const struct pw_pe_use_opts before = arm->pe;
    struct pe_opts o;
    bool check = args->n > 1 && args->words[0].key == NULL && strcmp(args->words[0].value, "check") == 0;
    struct pw_str text = {0};
    if (saves(args))
        return save_formula(lab, arm, args, err);
    if (pw_args_words(args) == 2 && strcmp(pw_args_word(args, 0), "name") == 0)
        return pw_lab_name_pe(lab, arm, pw_args_word(args, 1), err);
    if (pw_args_key(args, "file") == NULL &&
        (pw_args_words(args) == 0 ||
         (pw_args_words(args) == 1 && pw_text_same(pw_args_word(args, 0), "check"))))
        return refuse_words(args, err);
    enum pw_code code = read_own(args, &o, err);
    if (code == PW_OK)
        code = read_encoding(lab, arm, args, check, &o, &text, err);
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
        pw_lab_note_defaults(lab, arm, &before, args);
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
    if (strcmp(word, "expr") == 0) {
        pw_encoding_expr_about(out);
        return true;
    }
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
        pw_complete_offer_all(c, (const char *const[]){"expr", "check", "save", "name", NULL});
    pw_complete_encoding(c);
}

const struct pw_command pw_cmd_pe = {
    .name = "pe",
    .search = "position embedding encoding",
    .usage = "pe NAME [key=value] [arm=K] | pe expr FORMULA | pe file=F.npz | pe check NAME | pe save NAME | "
             "pe name NAME",
    .example = "pe t5 buckets=8 distance=16",
    .summary = "swap the encoding of the current arm, or of arm K; all other weights stay",
    .detail =
        "  none                               no encoding: order comes from the causal mask alone (NoPE)\n"
        "  learned                            a learned row for each position, added to the embedding\n"
        "  sinusoidal base= layout= amplitude=  fixed rows, added to the embedding\n"
        "  t5         buckets= distance=      a learned bias for each head and bucket of distances: 8/16 "
        "for\n"
        "                                     contexts up to 256, 32/128 for longer ones\n"
        "  alibi                              a fixed slope for each head\n"
        "  rotary     base= dims= pairing=    rotates queries and keys by position\n"
        "  clipped    distance=               a learned bias for each head and distance up to k\n"
        "  shaw       distance=               a learned vector for each layer and distance, added to keys\n"
        "  fire       hidden= threshold=      a bias by a learned network, of the distance divided by the "
        "query's\n"
        "                                     position (by threshold=, if that is larger)\n"
        "  rspe aspe 2dspe dpe                sines of the position from the end, or of the length, too\n"
        "  ldpe learned_reversed              learned rows by the position from the end, too, or only\n"
        "  fox        open=                   a gate on each token: how much a head forgets of earlier ones\n"
        "  inkling    reach= mixes= alpha=    each token mixes a bias by distance from a learned bank\n"
        "  grape      gate= omega=            a linear bias; query and key make its slope\n"
        "  stickbreaking                      keys take shares of what later keys leave; no softmax\n"
        "  cope       npos=                   a learned part of the score by the number of gated keys\n"
        "  selective                          votes of earlier tokens hide keys from later ones\n"
        "  pope       base=                   lengths by content, angles by position\n"
        "  grape_turn base= planes=           rotary in learned planes\n"
        "  path       rank= conv=             each token after a key reflects the query\n"
        "  wall       gate_bias=              each token has a gate on each channel of q.k\n"
        "  expr FORMULA                       your own, to the end of the line; quotes around it, ' or \",\n"
        "                                     protect ';': pe expr 'm = slopes()[h]; bias = -m * d'\n"
        "                                     'help pe expr' lists the language: stages, variables, "
        "functions\n"
        "The two lines before fox need the length of the whole sequence, which leaks it in causal training. "
        "In\n"
        "decoding the length is the number of tokens so far, so every new token changes all earlier keys.\n"
        "A formula whose angle or gain reads n is of this kind, too: rope_dynamic, longrope.\n"
        "'pe check expr \"FORMULA\"' swaps nothing. It says the formula's class, its learned "
        "parameters,\n"
        "the built-in encoding that it equals, where it is finite, and its form in FlexAttention.\n"
        "'pe file=F.npz' takes numbers (numpy.savez), for L layers and H heads: bias [P] "
        "or\n"
        "[H,P] by distance, [H,2P-1] by signed distance (as many as the model has, or by=signed), [H,P,P] "
        "by\n"
        "query and key (by=pair), each also [L,H,...], where -inf hides a key; scale [P] or [H,P], a factor "
        "on\n"
        "a query's scores; angle [P,pairs] in radians; embed [P,C]. 'export table F.npz' writes such a "
        "file.\n"
        "Case does not matter. 'help pe NAME' lists aliases: nope, rope, sin, ape.\n"
        "The new encoding's parameters are drawn, with moments and a step count of their own.\n"
        "Formula files are encodings, too: encodings/NAME.pe of the project, and your own in\n"
        "$XDG_CONFIG_HOME/pewter/encodings, which 'pe save NAME [title=TEXT] [replace=on]' writes from the\n"
        "arm's formula; the arm is then shown by that name, as after 'pe name NAME'. A file is lines '# "
        "title:', '# paper:' and '# look:', and a formula. A constant "
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
