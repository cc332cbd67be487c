/* lego_read.c - reads typed chains of LEGO. One reader serves the paper's sentence, the short form and the
 * payload, which differ only in filler words. */
#include "tasks/lego.h"
#include "tasks/read.h"

/* Reads a variable. */
static enum pw_code read_var(const struct pw_task_opts *opt, struct pw_piece piece, int *var,
                             struct pw_err *err)
{
    if (piece.n == 1 && *piece.s >= 'a' && *piece.s < 'a' + opt->alphabet) {
        *var = *piece.s - 'a';
        return PW_OK;
    }
    if (piece.n == 0)
        return pw_fail(err, PW_EUSER,
                       "lego: the question is missing at the end; write: lego " PW_LEGO_EXAMPLE);
    return pw_fail(err, PW_EUSER,
                   "lego: '%s' is not one of the %d variables a..%s; write: lego " PW_LEGO_EXAMPLE,
                   pw_piece_text(piece).s, opt->alphabet, pw_lego_letter(opt->alphabet - 1));
}

static enum pw_code unknown_value(const struct pw_lego_opts *opt, const char *var,
                                  const int value[PW_LEGO_LETTERS], struct pw_err *err)
{
    char known[2 * PW_LEGO_LETTERS + 1];
    size_t n = 0;
    for (int i = 0; i < PW_LEGO_LETTERS; i++)
        if (value[i] != 0) {
            known[n++] = ' ';
            known[n++] = *pw_lego_letter(i);
        }
    known[n] = '\0';
    return pw_fail(err, PW_EUSER, "lego: '%s' has no value%s; known are%s", var,
                   opt->clauses == PW_LEGO_CHAIN ? " yet" : "", n > 0 ? known : " none");
}

/* Reads the rest of a clause after its variable: "= -a", "=a", "- a", "= +1", ... */
static enum pw_code read_clause(const struct pw_lego_opts *opt, const char **text, int var,
                                struct pw_item *item, struct pw_err *err)
{
    struct pw_lego_clause c = {var, 1, PW_LEGO_ONE};
    struct pw_piece piece;
    int value[PW_LEGO_LETTERS];
    bool equals = pw_read_accept(text, "="), plus = pw_read_accept(text, "+");
    bool minus = !plus && pw_read_accept(text, "-");
    enum pw_code code;
    piece = pw_read_piece(text);
    if (!equals && !plus && !minus)
        return pw_fail(err, PW_EUSER, "lego: '%s' after '%s': expected a clause such as a = -1 or b = -a",
                       pw_piece_text(piece).s, pw_lego_letter(var));
    c.sign = minus ? -1 : 1;
    pw_lego_solve(item, value);
    if (pw_lego_clause_for(item, var) >= 0)
        return pw_fail(err, PW_EUSER, "lego: '%s' is assigned twice", pw_lego_letter(var));
    if (!pw_piece_is(piece, "1")) {
        code = read_var(&opt->common, piece, &c.from, err);
        if (code != PW_OK)
            return code;
        if (opt->clauses == PW_LEGO_CHAIN && value[c.from] == 0)
            return unknown_value(opt, pw_lego_letter(c.from), value, err);
    }
    pw_lego_add(item, c);
    return PW_OK;
}

/* Checks that every source variable and the variable asked for have a value. */
static enum pw_code check_values(const struct pw_lego_opts *opt, const struct pw_item *item,
                                 struct pw_err *err)
{
    int value[PW_LEGO_LETTERS];
    pw_lego_solve(item, value);
    for (int i = 0; i < item->length; i++) {
        int from = pw_lego_clause(item, i).from;
        if (from != PW_LEGO_ONE && value[from] == 0)
            return unknown_value(opt, pw_lego_letter(from), value, err);
    }
    return value[item->v[0]] != 0 ? PW_OK : unknown_value(opt, pw_lego_letter(item->v[0]), value, err);
}

enum pw_code pw_lego_payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_lego_opts *opt = o;
    item->length = 0;
    item->n = 1;
    for (;;) {
        enum pw_code code;
        bool asked;
        const char *ahead;
        struct pw_piece next;
        int var = 0;
        (void)pw_read_accept(&text, ".");
        asked = pw_read_accept(&text, "Then what is the value of") || pw_read_accept(&text, "Then what is") ||
                pw_read_accept(&text, "what is the value of") || pw_read_accept(&text, "value of");
        code = read_var(&opt->common, pw_read_piece(&text), &var, err);
        if (code != PW_OK)
            return code;
        ahead = text;
        next = pw_read_piece(&ahead);
        if (asked || next.n == 0 || *next.s == '?' || *next.s == '>') {
            item->v[0] = var;
            break;
        }
        code = read_clause(opt, &text, var, item, err);
        if (code != PW_OK)
            return code;
    }
    enum pw_code code = check_values(opt, item, err);
    if (code != PW_OK)
        return code;
    (void)(pw_read_accept(&text, "?") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "lego", "lego " PW_LEGO_EXAMPLE, err);
}

enum pw_code pw_lego_read(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    const char *opening = opt->text == PW_TEXT_SHORT ? "lego" : "If";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "lego: a prompt must start with '%s'", opening);
    return pw_lego_payload(o, text, item, err);
}
