/* lex.c - the lexer: blanks, quotes, comments and parentheses. */
#include "command/lex.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r'; /* '\r': pw_lex_check allows it only before '\n' */
}

/* Does a quote begin at s[at]? A single one does where a formula begins: after the word expr, and after
 * "expr(". Everywhere else it is an apostrophe. */
static bool opens_quote(const char *s, size_t begin, size_t at)
{
    static const char word[] = PW_LEX_FORMULA;
    size_t n = sizeof word - 1, i = at;
    if (s[at] != '\'')
        return s[at] == '"';
    while (i > begin && blank(s[i - 1]))
        i--;
    bool apart = i < at;
    if (i > begin && s[i - 1] == '(') {
        apart = true;
        for (i--; i > begin && blank(s[i - 1]);)
            i--;
    }
    return apart && i >= begin + n && strncmp(s + i - n, word, n) == 0 &&
           (i == begin + n || strchr(" \t,(", s[i - n - 1]) != NULL);
}

/* Return the position of the quote that closes the one at s[at]; PW_NOWHERE if the line ends first. */
static size_t closing(const char *s, size_t at, size_t end)
{
    for (size_t i = at + 1; i < end && s[i] != '\n'; i++) {
        if (s[i] == s[at])
            return i;
        if (s[at] == '"' && s[i] == '\\' && i + 1 < end && (s[i + 1] == '"' || s[i + 1] == '\\'))
            i++;
    }
    return PW_NOWHERE;
}

/* '#' at the start of a word begins a comment, except before a digit: #17 is token 17. */
static bool opens_comment(const char *s, size_t begin, size_t i)
{
    return s[i] == '#' && (i == begin || blank(s[i - 1])) && !(s[i + 1] >= '0' && s[i + 1] <= '9');
}

bool pw_lex_command(const char *s, size_t at, struct pw_lex_command *c)
{
    size_t n = at + strlen(s + at), i = at;
    while (i < n && (blank(s[i]) || s[i] == ';' || s[i] == '\n' || s[i] == ':'))
        i++;
    if (i == n)
        return false;
    *c = (struct pw_lex_command){.begin = i, .quote = PW_NOWHERE};
    for (; i < n && s[i] != ';' && s[i] != '\n'; i++) {
        if (opens_comment(s, c->begin, i)) {
            c->comment = true;
            break;
        }
        if (opens_quote(s, c->begin, i)) {
            size_t close = closing(s, i, n);
            if (close == PW_NOWHERE) {
                c->quote = i;
                i += strcspn(s + i, "\n");
                break;
            }
            i = close;
        }
    }
    c->next = c->comment ? i + strcspn(s + i, "\n") : i;
    c->end = i;
    /* Blanks after an open quote belong to it: a cursor behind them is still in that word. */
    while (c->quote == PW_NOWHERE && c->end > c->begin && blank(s[c->end - 1]))
        c->end--;
    return true;
}

bool pw_lex_word(const char *s, size_t at, size_t end, struct pw_lex_word *w)
{
    int depth = 0;
    while (at < end && blank(s[at]))
        at++;
    if (at >= end)
        return false;
    *w = (struct pw_lex_word){
        .begin = at, .item = at, .equals = PW_NOWHERE, .open = PW_NOWHERE, .stray = PW_NOWHERE};
    size_t i = at;
    for (; i < end && (depth > 0 || !blank(s[i])); i++) {
        if (opens_quote(s, 0, i)) {
            size_t close = closing(s, i, end);
            i = close == PW_NOWHERE ? end - 1 : close;
        } else if (s[i] == '(') {
            if (depth++ == 0)
                w->open = i;
        } else if (s[i] == ')') {
            if (depth == 0) {
                if (w->stray == PW_NOWHERE)
                    w->stray = i;
            } else if (--depth == 0) {
                w->open = PW_NOWHERE;
            }
        } else if (depth == 0 && s[i] == ',') {
            w->item = i + 1;
        } else if (depth == 0 && s[i] == '=' && w->equals == PW_NOWHERE && s[at] != '"') {
            w->equals = i;
            w->item = i + 1;
        }
    }
    w->end = i;
    return true;
}

void pw_lex_unquote(const char *s, size_t begin, size_t end, struct pw_str *out)
{
    int depth = 0;
    pw_str_put(out, "", 0); /* makes an empty word a string */
    for (size_t i = begin; i < end; i++) {
        if (!opens_quote(s, 0, i)) {
            depth += (s[i] == '(') - (s[i] == ')');
            pw_str_put(out, s + i, 1);
            continue;
        }
        size_t close = closing(s, i, end), stop = close == PW_NOWHERE ? end : close;
        if (depth > 0) { /* quotes inside parentheses are kept for the parser of their content */
            pw_str_put(out, s + i, stop - i + (close != PW_NOWHERE));
        } else {
            size_t at = i;
            for (i++; i < stop; i++) {
                if (s[at] == '"' && s[i] == '\\' && i + 1 < stop && (s[i + 1] == '"' || s[i + 1] == '\\'))
                    i++;
                pw_str_put(out, s + i, 1);
            }
        }
        i = stop;
    }
}

bool pw_lex_enclosed(const char *s, size_t begin, size_t end)
{
    return begin < end && opens_quote(s, 0, begin) && closing(s, begin, end) == end - 1;
}

enum pw_code pw_lex_fail(const char *s, size_t at, const char *what, struct pw_err *err)
{
    size_t start = 0; /* start of the line */
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        if (s[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    if (line == 1 && strchr(s, '\n') == NULL)
        return pw_fail(err, PW_EUSER, "byte %zu: %s", at + 1, what);
    return pw_fail(err, PW_EUSER, "line %d, byte %zu: %s", line, at - start + 1, what);
}

enum pw_code pw_lex_check(const char *s, struct pw_err *err)
{
    size_t n = strlen(s), start = 0, used;
    for (size_t i = 0; i < n; i += used) {
        uint32_t cp;
        used = pw_utf8_next(s + i, n - i, &cp);
        if (cp == '\n')
            start = i + 1;
        else if (i - start >= PW_LINE_LIMIT)
            return pw_lex_fail(s, i, "the line is longer than 64 KiB", err);
        else if (cp == 0xfffd && used == 1)
            return pw_lex_fail(s, i, "not valid UTF-8", err);
        else if ((cp < 0x20 && cp != '\t' && !(cp == '\r' && s[i + 1] == '\n')) || (cp >= 0x7f && cp < 0xa0))
            return pw_lex_fail(s, i, "control character; a line must be plain text", err);
    }
    return PW_OK;
}

size_t pw_lex_tail(const char *s, size_t at, size_t end)
{
    while (at < end && blank(s[at]))
        at++;
    size_t close = at < end && opens_quote(s, 0, at) ? closing(s, at, end) : PW_NOWHERE;
    return close != PW_NOWHERE && (close + 1 == end || blank(s[close + 1])) ? close + 1 : end;
}
