/* why_formula.c - candidates of the probe why that no option has: an encoding without learned values, written
 * as a formula that reads nothing beyond the distances or positions seen in training.
 *
 *   ALiBi           its distances are clamped: the bias is flat beyond the largest one seen
 *   sinusoidal      its positions are clamped: later tokens have the row of the last one seen
 *   both, rotary    a query sees only keys at distances that were seen: a sliding window
 *   and none
 *
 * A rotation can't clamp distances, because it is applied to queries and keys before they meet. So its window
 * is the nearest intervention. Learned encodings keep their values and are clamped by why_learned.c. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probe/why.h"

/* Reads option `name` of the encoding as text; "" if it has none. */
static void option_text(const struct pw_pe_use_opts *use, const char *name, struct pw_str *out)
{
    const struct pw_opt *o = use->pe->opts != NULL ? pw_opt_find(use->pe->opts, name) : NULL;
    pw_str_clear(out);
    if (o != NULL)
        pw_opt_value(o, use->o.bytes, out);
}

static bool option_is(const struct pw_pe_use_opts *use, const char *name, const char *value)
{
    struct pw_str text = {0};
    option_text(use, name, &text);
    bool same = strcmp(pw_str_text(&text), value) == 0;
    pw_str_fini(&text);
    return same;
}

/* Appends the encoding as a formula, with `position` in place of the position of an added row. Returns false
 * if it has no such form. */
static bool write_formula(const struct pw_pe_use_opts *use, const char *position, struct pw_str *out)
{
    struct pw_str base = {0}, amplitude = {0}, dims = {0};
    const char *name = use->pe->name;
    bool known = true;
    option_text(use, "base", &base);
    option_text(use, "amplitude", &amplitude);
    if (strcmp(name, "none") == 0)
        pw_str_add(out, "%s", "");
    else if (strcmp(name, "alibi") == 0)
        pw_str_add(out, "bias = -slopes()[h] * d; ");
    else if (strcmp(name, "rotary") == 0) {
        option_text(use, "dims", &dims);
        if (!option_is(use, "dims", "0"))
            pw_str_add(out, "rotary_dim = %s; ", pw_str_text(&dims));
        pw_str_add(out, "%sangle = i * %s ** (-p / pairs); ",
                   option_is(use, "pairing", "interleaved") ? "pairing = interleaved; " : "",
                   pw_str_text(&base));
    } else if (strcmp(name, "sinusoidal") == 0 && option_is(use, "layout", "interleaved"))
        pw_str_add(
            out,
            "w = %s ** (-2 * floor(c / 2) / C); embed = %s * (c %% 2 == 0 ? sin(%s * w) : cos(%s * w)); ",
            pw_str_text(&base), pw_str_text(&amplitude), position, position);
    else
        known = false;
    pw_str_fini(&base);
    pw_str_fini(&amplitude);
    pw_str_fini(&dims);
    return known;
}

/* Adds the encoding that a formula defines, with the present settings of model/tune.c. */
static void add_formula(struct pw_why_state *s, const struct pw_model *m, const char *formula,
                        const char *cause, const char *name)
{
    struct pw_str text = {0};
    struct pw_pe_use_opts use;
    struct pw_err err;
    pw_str_add(&text, "expr '%s'", formula);
    enum pw_code code = pw_pe_parse(&use, pw_str_text(&text), pw_model_config(m), &err);
    if (code == PW_OK) {
        use.tune = pw_model_pe(m)->tune;
        code = pw_pe_check(&use, pw_model_config(m), &err);
    }
    if (code == PW_OK) {
        struct pw_why_candidate *c = pw_why_add(s, PW_WHY_SWAP, cause);
        c->use = use;
        pw_text_copy(c->name, sizeof c->name, name);
        pw_str_clear(&text);
        pw_pe_print(&use, &text);
        if (strlen(pw_str_text(&text)) + 16 < sizeof c->line)
            snprintf(c->line, sizeof c->line, "fork %.143s choose=on", pw_str_text(&text));
    }
    pw_str_fini(&text);
}

void pw_why_add_formulas(struct pw_why_state *s, const struct pw_model *m)
{
    const struct pw_pe_use_opts *use = pw_model_pe(m);
    struct pw_why_seen seen = pw_why_unseen(m, s->tokens);
    struct pw_str text = {0};
    char position[32];
    if (seen.distances == 0 || !pw_model_config(m)->causal)
        return;
    snprintf(position, sizeof position, "min(i, %d)", seen.longest - 1);
    if (strcmp(use->pe->name, "alibi") == 0) {
        pw_str_add(&text, "bias = -slopes()[h] * min(d, %d)", seen.first - 1);
        add_formula(s, m, pw_str_text(&text), "distances never seen in training", "distances clamped");
    } else if (strcmp(use->pe->name, "sinusoidal") == 0 && write_formula(use, position, &text)) {
        add_formula(s, m, pw_str_text(&text), "positions never seen in training", "positions clamped");
    }
    pw_str_clear(&text);
    if (write_formula(use, "i", &text)) {
        pw_str_add(&text, "mask = d < %d", seen.first);
        add_formula(s, m, pw_str_text(&text), "distances never seen in training", "window of those seen");
    }
    pw_str_fini(&text);
}
