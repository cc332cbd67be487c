/* pe.c - the table of positional encodings, and their text: parse and print. */
#include "model/pe.h"
#include "base/alloc.h"
#include "base/places.h"
#include "model/expr/library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern const struct pw_pe pw_pe_none, pw_pe_learned, pw_pe_sinusoidal, pw_pe_t5, pw_pe_alibi, pw_pe_rotary;
extern const struct pw_pe pw_pe_clipped, pw_pe_shaw, pw_pe_fire, pw_pe_fox, pw_pe_inkling;
extern const struct pw_pe pw_pe_grape, pw_pe_stickbreaking, pw_pe_cope, pw_pe_pope, pw_pe_grape_turn,
    pw_pe_selective, pw_pe_path, pw_pe_wall;
extern const struct pw_pe pw_pe_rspe, pw_pe_aspe, pw_pe_2dspe, pw_pe_dpe, pw_pe_ldpe, pw_pe_learned_reversed;

/* clang-format off */
const struct pw_pe *const pw_pes[] = {
    &pw_pe_none,
    &pw_pe_learned,
    &pw_pe_sinusoidal,
    &pw_pe_t5,
    &pw_pe_alibi,
    &pw_pe_rotary,
    &pw_pe_clipped,
    &pw_pe_shaw,
    &pw_pe_fire,
    &pw_pe_rspe,
    &pw_pe_aspe,
    &pw_pe_2dspe,
    &pw_pe_dpe,
    &pw_pe_ldpe,
    &pw_pe_learned_reversed,
    &pw_pe_fox,
    &pw_pe_inkling,
    &pw_pe_grape,
    &pw_pe_stickbreaking,
    &pw_pe_cope,
    &pw_pe_selective,
    &pw_pe_pope,
    &pw_pe_grape_turn,
    &pw_pe_path,
    &pw_pe_wall,
    NULL,
};
/* clang-format on */

const struct pw_pe *pw_pe_find(const char *name)
{
    for (const struct pw_pe *const *pe = pw_pes; *pe != NULL; pe++) {
        if (pw_text_same((*pe)->name, name))
            return *pe;
        for (const char *const *alias = (*pe)->aliases; *alias != NULL; alias++)
            if (pw_text_same(*alias, name))
                return *pe;
    }
    return NULL;
}

enum pw_code pw_pe_check(const struct pw_pe_use_opts *use, const struct pw_config *cfg, struct pw_err *err)
{
    if (use->pe->needs_mask && !cfg->causal)
        return pw_fail(err, PW_EUSER, "%s: causal=off: %s, so it needs causal=on", use->pe->name,
                       (use->pe->uses & PW_PE_SLOPES) != 0 ? "a later key would gain by its distance"
                       : (use->pe->uses & PW_PE_WALK) != 0 ? "a query walks over earlier tokens"
                                                           : "it sums over earlier tokens");
    enum pw_code code = use->pe->check != NULL ? use->pe->check(use->o.bytes, cfg, err) : PW_OK;
    return code == PW_OK ? pw_pe_tune_check(use, cfg, err) : code;
}

bool pw_pe_gains(const struct pw_pe_use_opts *use)
{
    const struct pw_pe *pe = use->pe;

    return ((pe->uses & PW_PE_GAIN) != 0 && (pe->gains == NULL || pe->gains(use->o.bytes))) ||
           use->tune.logn > 0;
}

bool pw_pe_learns(const struct pw_pe *pe)
{
    return pe->param != NULL || pe->params != NULL;
}

unsigned pw_pe_use_of(enum pw_pe_table which)
{
    static const unsigned uses[PW_PE_TABLES] = {
        [PW_TABLE_BIAS] = PW_PE_BIASES,   [PW_TABLE_GAIN] = PW_PE_GAIN,   [PW_TABLE_COSINE] = PW_PE_ROTATION,
        [PW_TABLE_SINE] = PW_PE_ROTATION, [PW_TABLE_ADDED] = PW_PE_ADDED, [PW_TABLE_BANK] = PW_PE_MIXES,
        [PW_TABLE_PLANES] = PW_PE_PLANES, [PW_TABLE_SCORE] = PW_PE_SCORE};
    return uses[which];
}

bool pw_pe_computes(const struct pw_pe *pe, enum pw_pe_table which)
{
    return (pe->computed & pw_pe_use_of(which)) != 0;
}

bool pw_pe_learns_rows(const struct pw_pe *pe)
{
    return pe->param != NULL && (pe->uses & PW_PE_ADDED) != 0;
}

struct pw_pe_tables pw_pe_tables_at(const struct pw_pe_tables *t, int layer)
{
    struct pw_pe_tables at = *t;
    size_t l = (size_t)layer;

    at.cosine = t->cosine != NULL ? t->cosine + l * t->turn_layer : NULL;
    at.sine = t->sine != NULL ? t->sine + l * t->turn_layer : NULL;
    at.gain = t->gain != NULL ? t->gain + l * t->gain_layer : NULL;
    at.bias = t->bias != NULL ? t->bias + l * t->bias_layer : NULL;
    at.dense = t->dense != NULL ? t->dense + l * t->bias_layer : NULL;
    at.turn_layer = at.gain_layer = at.bias_layer = 0;
    return at;
}

float pw_pe_bias_at(const struct pw_pe_tables *t, int h, int query, int key)
{
    size_t P = (size_t)t->P;

    if (t->dense != NULL)
        return t->dense[((size_t)h * P + (size_t)query) * P + (size_t)key];
    return t->bias[(size_t)h * (2 * P - 1) + (P - 1) + (size_t)query - (size_t)key];
}

bool pw_pe_adds_by_length(const struct pw_pe *pe)
{
    for (int k = 0; k < PW_PE_ADDS; k++)
        if (pe->by[k] > PW_PE_BY_POSITION)
            return true;
    return false;
}

bool pw_pe_uses_length(const struct pw_pe *pe)
{
    return pw_pe_adds_by_length(pe) || pe->rows_by_length != NULL;
}

int pw_pe_row(enum pw_pe_by by, int pos, int l)
{
    switch (by) {
    case PW_PE_BY_REVERSE: return l - 1 - pos;
    case PW_PE_BY_LENGTH: return l - 1;
    default: return pos;
    }
}

int pw_pe_adds(const struct pw_pe *pe)
{
    return (pe->by[0] != PW_PE_NO_TABLE) + (pe->by[1] != PW_PE_NO_TABLE);
}

int pw_pe_add_width(const struct pw_pe *pe, int C)
{
    return pe->halves ? C / 2 : C;
}

size_t pw_pe_add_at(const struct pw_pe *pe, const struct pw_config *cfg, int k)
{
    return (size_t)k * cfg->context * pw_pe_add_width(pe, cfg->width);
}

void pw_pe_compose(const struct pw_pe *pe, float *out, const float *const tables[PW_PE_ADDS], int l, int C)
{
    int W = pw_pe_add_width(pe, C);

    for (int k = 0; k < pw_pe_adds(pe); k++) {
        for (int pos = 0; pos < l; pos++) {
            const float *from = tables[k] + (size_t)pw_pe_row(pe->by[k], pos, l) * W;
            float *to = out + (size_t)pos * C + (pe->halves ? k * W : 0);
            for (int i = 0; i < W; i++)
                to[i] = k > 0 && !pe->halves ? to[i] + from[i] : from[i];
        }
    }
}

/* The names that a mistyped one may have meant. */
struct names {
    char **list; /* ends with NULL */
    int n;
};

static void add_name(void *arg, const char *name)
{
    struct names *names = arg;
    names->list = pw_grow(names->list, (size_t)names->n + 2, sizeof *names->list);
    names->list[names->n++] = pw_text_dup(name);
    names->list[names->n] = NULL;
}

static enum pw_code unknown(const char *name, struct pw_err *err)
{
    struct names names = {0};
    struct pw_str all = {0};
    for (int n = 0; pw_pes[n] != NULL; n++) {
        add_name(&names, pw_pes[n]->name);
        pw_str_add(&all, "%s%s", n > 0 ? ", " : "", pw_pes[n]->name);
    }
    for (int i = 0; pw_pes[i] != NULL; i++)
        for (const char *const *alias = pw_pes[i]->aliases; *alias != NULL; alias++)
            add_name(&names, *alias);
    int built_in = names.n;
    pw_library_list(add_name, &names);
    const char *near = pw_text_nearest(name, (const char *const *)names.list);
    enum pw_code code =
        near != NULL
            ? pw_fail(err, PW_EUSER, "no encoding '%s'; did you mean '%s'?", name, near)
            : pw_fail(err, PW_EUSER, "no encoding '%s'; there are %s%s%s", name, pw_str_text(&all),
                      names.n > built_in ? ", and formula files ('help pe')" : "", pw_place_own_hint());
    for (int i = 0; i < names.n; i++)
        free(names.list[i]);
    free(names.list);
    pw_str_fini(&all);
    return code;
}

enum pw_code pw_pe_set_option(struct pw_pe_use_opts *use, char *word, struct pw_err *err)
{
    char *equals = strchr(word, '=');

    if (equals == NULL)
        return pw_fail(err, PW_EUSER, "%s: '%s' is not of the form option=value", use->pe->name, word);
    *equals = '\0';
    if (pw_opt_find(pw_pe_tune_opts, word) != NULL)
        return pw_opt_set(pw_pe_tune_opts, &use->tune, use->pe->name, word, equals + 1, err);
    if (use->pe->opts == NULL)
        return pw_fail(err, PW_EUSER, "%s: no option '%s'; there are no options", use->pe->name, word);
    return pw_opt_set(use->pe->opts, use->o.bytes, use->pe->name, word, equals + 1, err);
}

/* Reads "'FORMULA' [option=value ...]", "('FORMULA',option=value)", "(FORMULA)" or "FORMULA" at rest. Returns
 * the formula, ended by NUL, where the options begin, and what separates them. */
static char *cut_formula(char *rest, char **options, const char **separators)
{
    char *s = rest + strspn(rest, " "), *end;
    for (size_t n = strlen(s); n > 0 && s[n - 1] == ' ';)
        s[--n] = '\0';
    if (*s == '(' && s[strlen(s) - 1] == ')' && s[1] != '\0') {
        *separators = " ,";
        s[strlen(s) - 1] = '\0';
        s++;
    }
    end = s + strlen(s);
    if ((*s == '\'' || *s == '"') && (end = strchr(s + 1, *s)) != NULL) {
        *end++ = '\0';
        s++;
    } else
        end = s + strlen(s);
    *options = end;
    return s;
}

/* Modifies copy. Words are separated by spaces, inside parentheses also by commas. */
static enum pw_code parse(struct pw_pe_use_opts *use, char *copy, struct pw_err *err)
{
    char *name = copy + strspn(copy, " "), *rest, *word, *state = NULL;
    size_t n = strcspn(name, " (");
    const char *separators = " ";

    rest = name + n;
    bool formula = n == 4 && strncasecmp(name, "expr", n) == 0;
    enum pw_code code = PW_OK;
    if (formula) {
        char *text = cut_formula(rest, &rest, &separators);
        code = pw_pe_formula(use, text, err);
    } else if (*rest == '(') {
        char *close = strchr(rest, ')');
        if (close == NULL || close[1 + strspn(close + 1, " ")] != '\0')
            return pw_fail(err, PW_EUSER, "encoding: one ')' must end '%s'", name);
        *close = '\0';
        separators = " ,";
    }
    if (!formula) {
        if (*rest != '\0')
            *rest++ = '\0';
        use->pe = pw_pe_find(name);
        if (use->pe == NULL) {
            bool equals = strchr(name, '=') != NULL || rest[strspn(rest, " ")] == '=';
            formula = pw_library_has(name);
            code = formula  ? pw_library_use(use, name, err)
                   : equals ? pw_fail(err, PW_EUSER,
                                      "no encoding '%s'; a formula follows 'expr', as in pe expr 'bias = -d'",
                                      name)
                            : unknown(name, err);
        }
    }
    if (code != PW_OK)
        return code;
    assert(use->pe->opts_size <= sizeof use->o.bytes);
    if (use->pe->opts != NULL && !formula)
        pw_opt_defaults(use->pe->opts, use->o.bytes);
    pw_opt_defaults(pw_pe_tune_opts, &use->tune);
    for (word = strtok_r(rest, separators, &state); word != NULL; word = strtok_r(NULL, separators, &state)) {
        bool names = formula && strncmp(word, "as=", 3) == 0;
        code = names ? pw_pe_formula_name(use, word + 3, err) : pw_pe_set_option(use, word, err);
        if (code != PW_OK)
            return code;
    }
    return pw_pe_formula_settle(use, err);
}

enum pw_code pw_pe_read(struct pw_pe_use_opts *use, const char *text, struct pw_err *err)
{
    struct pw_pe_use_opts parsed;
    enum pw_code code;
    char *copy = strdup(text);

    if (copy == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    memset(&parsed, 0, sizeof parsed); /* clears padding too: options are compared by their bytes */
    code = parse(&parsed, copy, err);
    free(copy);
    if (code == PW_OK)
        *use = parsed;
    return code;
}

enum pw_code pw_pe_parse(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                         struct pw_err *err)
{
    struct pw_pe_use_opts parsed;
    enum pw_code code = pw_pe_read(&parsed, text, err);

    if (code == PW_OK && parsed.pe->resolve != NULL)
        parsed.pe->resolve(parsed.o.bytes, cfg);
    if (code == PW_OK)
        code = pw_pe_check(&parsed, cfg, err);
    if (code == PW_OK)
        *use = parsed;
    return code;
}

struct pw_pe_use_opts pw_pe_settled(const struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    struct pw_pe_use_opts settled = *use;

    if (use->pe->settle != NULL)
        use->pe->settle(settled.o.bytes, cfg);
    return settled;
}

void pw_pe_unsettle(struct pw_pe_use_opts *use, const struct pw_config *cfg)
{
    for (const struct pw_opt *o = use->pe->settle != NULL ? use->pe->opts : NULL;
         o != NULL && o->name != NULL; o++) {
        struct pw_pe_use_opts other = *use, settled;
        if (o->def == NULL || pw_opt_set(use->pe->opts, other.o.bytes, "", o->name, o->def, NULL) != PW_OK)
            continue;
        settled = pw_pe_settled(&other, cfg);
        if (memcmp(settled.o.bytes, use->o.bytes, sizeof settled.o.bytes) == 0)
            *use = other;
    }
}

void pw_pe_print(const struct pw_pe_use_opts *use, struct pw_str *out)
{
    bool formula = use->pe->print != NULL;
    pw_str_add(out, "%s", formula ? "expr '" : use->pe->name);
    if (formula) {
        use->pe->print(use->o.bytes, out);
        pw_str_add(out, "'");
    }
    if (use->pe->opts != NULL)
        pw_opt_print(use->pe->opts, use->o.bytes, false, out);
    if (formula && strcmp(use->pe->name, "expr") != 0)
        pw_str_add(out, " as=%s", use->pe->name);
    pw_opt_print(pw_pe_tune_opts, &use->tune, true, out);
}
