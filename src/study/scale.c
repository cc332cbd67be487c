#include "study/scale.h"

#include <stdbool.h>
#include <string.h>

const char *const pw_study_scales[] = {"toy", "paper", NULL};

static bool is_scale(const char *word, size_t n)
{
    for (int i = 0; pw_study_scales[i] != NULL; i++)
        if (strlen(pw_study_scales[i]) == n && strncmp(pw_study_scales[i], word, n) == 0)
            return true;
    return false;
}

static enum pw_code check_scale(const char *word, size_t n, struct pw_err *err)
{
    return is_scale(word, n) ? PW_OK
                             : pw_fail(err, PW_EUSER, "no scale '%.*s'; allowed are toy and paper",
                                       (int)(n < 40 ? n : 40), word);
}

/* The end of a statement: a ';', a line break that follows no comma, or the end of the text, outside of
 * quotes, parentheses and comments (as in parse.c). A comment ends with its line. NULL: a quote is not
 * closed. */
static const char *end_of(const char *from)
{
    char quote = '\0', last = '\0'; /* last: the character in front, without blanks and comments */
    int depth = 0;
    const char *c = from;
    for (; *c != '\0'; c++) {
        bool inside = quote != '\0' || depth > 0;
        if (!inside && (*c == ';' || (*c == '\n' && last != ',')))
            break;
        if (quote != '\0') {
            quote = *c == quote ? '\0' : quote;
        } else if (*c == '#') {
            c += strcspn(c, "\n") - 1; /* the line break itself comes next */
            continue;
        } else if (*c == '"' || *c == '\'') {
            quote = *c;
        } else {
            depth += *c == '(' ? 1 : *c == ')' && depth > 0 ? -1 : 0;
        }
        last = strchr(" \t\n", *c) == NULL ? *c : last;
    }
    return quote != '\0' ? NULL : c;
}

/* The length of the word in front of a ':' at the beginning of a statement; 0: it has no scale. */
static size_t scale_of(const char *statement)
{
    size_t n = strspn(statement, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return statement[n] == ':' ? n : 0;
}

enum pw_code pw_study_scale(struct pw_str *out, const char *text, const char *scale, struct pw_err *err)
{
    bool left_out = false, kept = false; /* statements of this line */
    enum pw_code code = check_scale(scale, strlen(scale), err);
    while (code == PW_OK && *text != '\0') {
        const char *statement = text + strspn(text, " \t"), *end = end_of(statement);
        size_t n = scale_of(statement);
        if (end == NULL)
            return pw_fail(err, PW_EUSER, "a quote is not closed");
        code = n > 0 ? check_scale(statement, n, err) : PW_OK;
        if (n == 0 || (strlen(scale) == n && strncmp(scale, statement, n) == 0)) {
            const char *from = n == 0 ? text : statement + n + 1 + strspn(statement + n + 1, " \t");
            pw_str_add(out, "%s%.*s", !kept ? "" : n == 0 ? ";" : "; ", (int)(end - from), from);
            kept = true;
        } else {
            left_out = true;
        }
        if (*end == '\n' && (kept || !left_out))
            pw_str_put(out, "\n", 1);
        if (*end != ';')
            left_out = kept = false;
        text = end + (*end != '\0');
    }
    return code;
}
