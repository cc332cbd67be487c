/* encodings.c - completion of arguments that name an encoding, and splitting lists of encodings. */
#include "lab/encodings.h"

#include <string.h>

#include "model/expr/expr.h"
#include "model/expr/library.h"
#include "sessions/fold.h"

static void offer_name(void *arg, const char *name)
{
    pw_complete_offer(arg, "%s", name);
}

void pw_offer_encodings(struct pw_completion *c)
{
    for (int i = 0; pw_pes[i] != NULL; i++)
        pw_complete_offer(c, "%s", pw_pes[i]->name);
    pw_library_list(offer_name, c);
}

void pw_complete_encoding(struct pw_completion *c)
{
    if (c->at == 0)
        pw_offer_encodings(c);
}

const struct pw_opt *pw_encoding_opts_at(const struct pw_args *so_far, int i)
{
    const char *name = pw_args_words(so_far) > i ? pw_args_word(so_far, i) : NULL;
    const struct pw_pe *pe = name != NULL ? pw_pe_find(name) : NULL;
    struct pw_pe_use_opts use;
    if (pe == NULL && name != NULL && pw_library_has(name) && pw_library_use(&use, name, NULL) == PW_OK)
        pe = use.pe;
    return pe != NULL ? pe->opts : NULL;
}

const struct pw_opt *pw_encoding_opts_of(const char *pe)
{
    const char *begin = strchr(pe, '\''), *end = begin != NULL ? strchr(begin + 1, '\'') : NULL;
    struct pw_str text = {0};
    struct pw_pe_use_opts use = {0};
    if (strncmp(pe, "expr '", 6) != 0 || end == NULL) {
        pw_str_put(&text, pe, strcspn(pe, " "));
        use.pe = pw_pe_find(pw_str_text(&text));
    } else {
        pw_str_put(&text, begin + 1, (size_t)(end - begin - 1));
        if (pw_pe_formula(&use, pw_str_text(&text), NULL) != PW_OK)
            use.pe = NULL;
    }
    pw_str_fini(&text);
    return use.pe != NULL ? use.pe->opts : NULL;
}

const char *pw_encoding_shown(struct pw_str *out, const struct pw_pe_use_opts *use)
{
    struct pw_str text = {0};
    pw_pe_print(use, &text);
    pw_encoding_text(out, text.s);
    pw_str_fini(&text);
    return pw_str_text(out);
}

/* Puts a formula in the quotes that it doesn't contain; a comment may have some. */
static enum pw_code quote_formula(const char *formula, struct pw_str *out, struct pw_err *err)
{
    const char *quote = strchr(formula, '\'') == NULL ? "'" : "\"";
    if (strstr(formula, quote) != NULL)
        return pw_fail(err, PW_EUSER, "expr: a formula can't have both kinds of quotes");
    pw_str_add(out, " %s%s%s", quote, formula, quote);
    return PW_OK;
}

enum pw_code pw_encoding_words(const struct pw_args *args, int from, const char *const *own,
                               struct pw_str *out, struct pw_err *err)
{
    int n = 0;
    bool formula = false;
    for (int i = 0; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key == NULL) {
            enum pw_code code = PW_OK;
            if (n == from)
                formula = strcmp(w->value, "expr") == 0;
            if (n == from + 1 && formula)
                code = quote_formula(w->value, out, err);
            else if (n == from)
                pw_str_add(out, "%s", w->value);
            else if (n > from)
                code = pw_fail(err, PW_EUSER, "'%s' is not of the form option=value", w->value);
            if (code != PW_OK)
                return code;
            n++;
        }
    }
    for (int i = 0; i < args->n; i++) {
        const struct pw_word *w = &args->words[i];
        bool is_own = w->key == NULL;
        for (const char *const *o = own; !is_own && o != NULL && *o != NULL; o++)
            is_own = strcmp(w->key, *o) == 0;
        if (!is_own)
            pw_str_add(out, " %s=%s", w->key, w->value);
    }
    return PW_OK;
}

bool pw_encoding_is_stage(const char *word)
{
    for (int k = 0; pw_stage_names[k] != NULL; k++)
        if (strcmp(pw_stage_names[k], word) == 0)
            return true;
    return false;
}

const struct pw_opt *pw_encoding_opts(const struct pw_args *so_far)
{
    return pw_encoding_opts_at(so_far, 0);
}

int pw_cut_encodings(char *list, char *out[PW_MOST_ENCODINGS])
{
    int n = 0, depth = 0;
    out[n++] = list;
    for (char *c = list; *c != '\0'; c++) {
        if ((*c == '"' || *c == '\'') && strchr(c + 1, *c) != NULL) { /* a formula */
            c = strchr(c + 1, *c);
            continue;
        }
        depth += (*c == '(') - (*c == ')');
        if (*c == ',' && depth == 0 && n < PW_MOST_ENCODINGS) {
            *c = '\0';
            out[n++] = c + 1;
        }
    }
    return n;
}
