/* why_candidates.c - lists what the probe why changes: settings that every encoding has (model/tune.c), the
 * encoding's own options, the end mark, and heads. why_learned.c adds learned values, why_formula.c formulas.
 *
 * The values are fixed here, not fitted to the samples. Settings that were changed since the encoding was
 * set are first set back to their defaults, and then multiplied by a few factors. An option that would change
 * the shape of the parameters is left out, as in the command tune. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "probe/why.h"

/* Heads of a model whose heads are ablated, or pointed, one by one. */
enum { MOST_HEADS = 128, MOST_POINTED = 64 };

struct pw_why_candidate *pw_why_add(struct pw_why_state *s, enum pw_why_kind kind, const char *cause)
{
    s->list = pw_grow(s->list, (size_t)s->n + 1, sizeof *s->list);
    struct pw_why_candidate *c = &s->list[s->n++];
    *c = (struct pw_why_candidate){.kind = kind, .head = -1};
    pw_text_copy(c->cause, sizeof c->cause, cause);
    return c;
}

bool pw_why_same_encoding(const struct pw_pe_use_opts *a, const struct pw_pe_use_opts *b)
{
    struct pw_str one = {0}, other = {0};
    pw_pe_print(a, &one);
    pw_pe_print(b, &other);
    bool same = strcmp(pw_str_text(&one), pw_str_text(&other)) == 0;
    pw_str_fini(&one);
    pw_str_fini(&other);
    return same;
}

static bool is_listed(const struct pw_why_state *s, const struct pw_pe_use_opts *use)
{
    for (int i = 0; i < s->n; i++)
        if (s->list[i].kind == PW_WHY_TUNE && pw_why_same_encoding(&s->list[i].use, use))
            return true;
    return false;
}

/* Adds the model's encoding with an option at another value, if it can have it. */
static void add_setting(struct pw_why_state *s, const struct pw_model *m, const char *cause, bool undo,
                        const char *option, const char *value)
{
    struct pw_pe_use_opts use = *pw_model_pe(m);
    struct pw_err err;
    char text[64];
    snprintf(text, sizeof text, "%s=%s", option, value);
    if (pw_pe_turn(&use, text, pw_model_config(m), &err) != PW_OK ||
        pw_model_may_tune(m, &use, &err) != PW_OK)
        return;
    if (pw_why_same_encoding(&use, pw_model_pe(m)) || is_listed(s, &use))
        return;
    struct pw_why_candidate *c = pw_why_add(s, PW_WHY_TUNE, cause);
    c->use = use;
    c->undo = undo;
    pw_text_copy(c->name, sizeof c->name, text);
    snprintf(c->line, sizeof c->line, "fork choose=on; tune %s", text);
}

static void add_number(struct pw_why_state *s, const struct pw_model *m, const char *cause, bool undo,
                       const char *option, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    add_setting(s, m, cause, undo, option, text);
}

/* Adds an option at `now` times each factor. */
static void add_factors(struct pw_why_state *s, const struct pw_model *m, const char *cause,
                        const char *option, double now, const double *factors, int n)
{
    for (int i = 0; i < n; i++)
        add_number(s, m, cause, false, option, now * factors[i]);
}

/* ---- settings of every encoding */

static void add_settings(struct pw_why_state *s, const struct pw_model *m)
{
    static const double temperatures[] = {0.25, 0.5, 0.67, 0.8, 1.25, 1.5, 2, 4};
    static const double stretches[] = {0.25, 0.5, 0.75, 1.5, 2, 4}, gains[] = {0, 0.25, 0.5, 2, 4};
    static const double shifts[] = {-1, 1, -2, 2, -4, 4};
    const struct pw_pe_use_opts *use = pw_model_pe(m);
    const struct pw_pe_tune *t = &use->tune;
    int seen = pw_why_unseen(m, s->tokens).longest;
    add_number(s, m, "score temperature", true, "temperature", 1);
    add_factors(s, m, "score temperature", "temperature", (double)t->temperature, temperatures, 8);
    add_number(s, m, "sharpness at many keys", true, "logn", 0);
    if (seen > 1 && s->tokens > seen)
        add_number(s, m, "sharpness at many keys", false, "logn", seen);
    add_number(s, m, "scale of distances", true, "stretch", 1);
    if (seen > 0 && s->tokens > seen)
        add_number(s, m, "scale of distances", false, "stretch", (double)t->stretch * seen / s->tokens);
    add_factors(s, m, "scale of distances", "stretch", (double)t->stretch, stretches, 6);
    add_number(s, m, "strength of the fixed bias", true, "gain", 1);
    add_factors(s, m, "strength of the fixed bias", "gain", (double)t->gain, gains, 5);
    if ((use->pe->uses & (PW_PE_ADDED | PW_PE_DENSE)) == 0)
        return; /* rotations and biases by distance do not change if all positions are shifted */
    add_number(s, m, "shifted positions", true, "offset", 0);
    for (int i = 0; i < 6; i++)
        add_number(s, m, "shifted positions", false, "offset", (double)t->offset + shifts[i]);
}

/* ---- the encoding's own options */

/* Writes the default of an option in this model; false: there is none. */
static bool default_of(const struct pw_model *m, const struct pw_opt *o, struct pw_str *out)
{
    const struct pw_pe *pe = pw_model_pe(m)->pe;
    struct pw_pe_use_opts plain;
    struct pw_err err;
    if (o->def != NULL) {
        pw_str_add(out, "%s", o->def);
        return true;
    }
    if (pe->resolve == NULL || pw_pe_find(pe->name) != pe ||
        pw_pe_parse(&plain, pe->name, pw_model_config(m), &err) != PW_OK)
        return false;
    pw_opt_value(o, plain.o.bytes, out);
    return true;
}

static void add_option(struct pw_why_state *s, const struct pw_model *m, const struct pw_opt *o)
{
    static const double factors[] = {0.25, 0.5, 2, 4, 16};
    struct pw_str def = {0}, now = {0};
    char cause[48];
    snprintf(cause, sizeof cause, "option %.24s of the encoding", o->name);
    if (default_of(m, o, &def))
        add_setting(s, m, cause, true, o->name, pw_str_text(&def));
    pw_opt_value(o, pw_model_pe(m)->o.bytes, &now);
    double value = strtod(pw_str_text(&now), NULL);
    for (int i = 0; i < 5; i++)
        add_number(s, m, cause, false, o->name,
                   o->type == PW_OPT_INT ? floor(value * factors[i]) : value * factors[i]);
    pw_str_fini(&def);
    pw_str_fini(&now);
}

static void add_options(struct pw_why_state *s, const struct pw_model *m)
{
    const struct pw_opt *o = pw_model_pe(m)->pe->opts;
    for (; o != NULL && o->name != NULL; o++)
        if (o->type == PW_OPT_INT || o->type == PW_OPT_FLOAT || o->type == PW_OPT_DOUBLE)
            add_option(s, m, o);
}

/* ---- heads */

static void add_head(struct pw_why_state *s, const struct pw_config *cfg, int head, bool restore)
{
    struct pw_why_candidate *c = pw_why_add(s, restore ? PW_WHY_RESTORE : PW_WHY_ABLATE,
                                            restore ? "head that is switched off" : "head that misleads");
    char which[32], name[64];
    c->head = head;
    c->undo = restore;
    snprintf(which, sizeof which, "%d.%d", head / cfg->heads, head % cfg->heads);
    snprintf(name, sizeof name, "head %s %s", which, restore ? "restored" : "ablated");
    snprintf(c->line, sizeof c->line, "fork choose=on; %s %s", restore ? "restore" : "ablate", which);
    pw_text_copy(c->name, sizeof c->name, name);
}

static void add_pointed(struct pw_why_state *s, const struct pw_config *cfg)
{
    int n = cfg->layers * cfg->heads;
    for (int h = 0; h < n && n <= MOST_POINTED; h++) {
        struct pw_why_candidate *c = pw_why_add(s, PW_WHY_GOLD, "head that misses the gold pointers");
        char name[64];
        c->head = h;
        snprintf(name, sizeof name, "head %d.%d to gold", h / cfg->heads, h % cfg->heads);
        pw_text_copy(c->name, sizeof c->name, name);
    }
}

static void add_heads(struct pw_why_state *s, const struct pw_model *m)
{
    const struct pw_config *cfg = pw_model_config(m);
    int n = cfg->layers * cfg->heads, off = 0;
    for (int h = 0; h < n; h++)
        off += pw_model_replaced(m, h / cfg->heads, h % cfg->heads) != 0;
    for (int h = 0; h < n; h++) {
        bool replaced = pw_model_replaced(m, h / cfg->heads, h % cfg->heads) != 0;
        if (replaced || n <= MOST_HEADS)
            add_head(s, cfg, h, replaced);
    }
    if (off < 2)
        return;
    struct pw_why_candidate *c = pw_why_add(s, PW_WHY_RESTORE, "heads that are switched off");
    c->undo = true;
    pw_text_copy(c->name, sizeof c->name, "all heads restored");
    pw_text_copy(c->line, sizeof c->line, "fork choose=on; restore");
}

enum pw_code pw_why_list(struct pw_why_state *s, const struct pw_probe_in *in, struct pw_err *err)
{
    const struct pw_model *m = in->subject[0].model;
    struct pw_why_candidate *c;
    c = pw_why_add(s, PW_WHY_NOTHING, "");
    pw_text_copy(c->name, sizeof c->name, "as it is");
    add_options(s, m); /* before settings that act on more: of two that recover as much, the first is named */
    add_settings(s, m);
    if (s->ends) {
        c = pw_why_add(s, PW_WHY_END, "end mark");
        pw_text_copy(c->name, sizeof c->name, "end mark forced");
    }
    pw_why_add_learned(s, in);
    pw_why_add_formulas(s, m);
    add_heads(s, m);
    enum pw_code code = pw_why_add_patterns(s, in, err);
    if (code == PW_OK && s->gold != NULL)
        add_pointed(s, pw_model_config(m));
    return code;
}
