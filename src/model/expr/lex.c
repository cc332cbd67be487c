/* lex.c - tokens of a formula. A number is read by its own rules, so that no locale changes it. */
#include <stdlib.h>
#include <string.h>

#include "model/expr/expr_int.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the end of the number at s: digits, a point with a digit after it, an exponent. "1..3" is the
 * number 1 and then "..". */
static const char *number_end(const char *s)
{
    while (is_digit(*s))
        s++;
    if (*s == '.' && is_digit(s[1]))
        for (s++; is_digit(*s);)
            s++;
    if (*s == 'e' || *s == 'E') {
        const char *digits = s + 1 + (s[1] == '+' || s[1] == '-');
        if (is_digit(*digits)) {
            for (s = digits; is_digit(*s);)
                s++;
        }
    }
    return s;
}

static int sign_length(const char *s)
{
    static const char *const longer[] = {"**", "..", "<=", ">=", "==", "!=", "&&", "||"};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strncmp(s, longer[i], 2) == 0)
            return 2;
    return strchr("+-*/%^()[]{},=<>?:!", *s) != NULL;
}

static int skip_blanks(const char *text, int at)
{
    for (;; at++)
        if (text[at] == '#')
            while (text[at + 1] != '\n' && text[at + 1] != '\0')
                at++;
        else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\r')
            return at;
}

enum pw_code pw_expr_lex(const char *text, int at, struct pw_token *out, struct pw_err *err)
{
    at = skip_blanks(text, at);
    const char *s = text + at;
    *out = (struct pw_token){.kind = PW_TOK_END, .at = at};
    if (*s == '\0')
        return PW_OK;
    if (*s == ';' || *s == '\n') {
        int end = at;
        while (text[end] == ';' || text[end] == '\n')
            end = skip_blanks(text, end + 1);
        out->kind = PW_TOK_BREAK;
        out->length = end - at;
    } else if (is_digit(*s) || (*s == '.' && is_digit(s[1]))) {
        char copy[64];
        out->kind = PW_TOK_NUMBER;
        out->length = (int)(number_end(s) - s);
        if (out->length >= (int)sizeof copy)
            return pw_fail(err, PW_EUSER, "a number has at most %d characters", (int)sizeof copy - 1);
        memcpy(copy, s, (size_t)out->length);
        copy[out->length] = '\0';
        out->value = strtod(copy, NULL);
    } else if (is_letter(*s)) {
        out->kind = PW_TOK_NAME;
        while (is_letter(s[out->length]) || is_digit(s[out->length]))
            out->length++;
    } else {
        out->kind = PW_TOK_SIGN;
        out->length = sign_length(s);
        if (out->length == 0)
            return pw_fail(err, PW_EUSER, "'%.*s' has no meaning in a formula",
                           (unsigned char)*s < 0x80 ? 1 : (int)strcspn(s, " \t\n;()"), s);
    }
    return PW_OK;
}
