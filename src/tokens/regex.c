/* regex.c - regular expressions by PCRE2, in the meaning that Oniguruma gives them.
 *
 * The library tokenizers compiles the expressions of a file with Oniguruma (Ruby's syntax). Most of them mean
 * the same in PCRE2. Where they do not, the expression is rewritten: white space, word characters and scripts
 * are named by their Unicode properties, and \uHHHH, \v and \h are written in PCRE2's way. Whatever else
 * differs is refused: nested classes, set operations, backslash letters that are not listed in
 * rewrite_escape, named groups, and a plus behind braces.
 *
 * The tables of PCRE2 are those of its Unicode version, so characters that are newer can differ. A letter
 * that matches two others without regard to case (ß and ss) does so in Oniguruma only.
 *
 * A hostile expression can take exponential time. The limits of one match below end it with an error. PCRE2's
 * compiler to machine code is not used, because its own stack has limits that differ between machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/tokens_int.h"

#define PATTERN_MOST 16384
#define MATCH_LIMIT  4000000 /* internal calls from one place of the text */
#define HEAP_LIMIT   65536   /* KiB of one match */
#define WORD         "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define BARE_WORD    WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}" /* outside of a class */

static enum pw_code refuse(struct pw_err *err, const char *pattern, const char *why, const char *at)
{
    char part[8] = "";
    size_t n = 0;
    while (n < 4 && at[n] != '\0')
        n++;
    while (n > 0 && !pw_utf8_valid(at, n))
        n--;
    memcpy(part, at, n);
    return pw_fail(err, PW_EUSER, "regular expression '%.120s': %s at '%s'", pattern, why, part);
}

/* Rewrites \p{NAME} or \P{NAME} at s: a name that is no general category is a script. Returns its end, or
 * NULL.
 */
static const char *rewrite_property(const char *s, struct pw_str *out)
{
    static const char *const kept[] = {"Alphabetic", "White_Space", "Any", "Emoji",
                                       "Uppercase",  "Lowercase",   NULL};
    static const struct {
        const char *name, *category;
    } longer[] = {{"Letter", "L"},         {"Number", "N"},         {"Punctuation", "P"}, {"Symbol", "S"},
                  {"Mark", "M"},           {"Separator", "Z"},      {"Other", "C"},       {"Punct", "P"},
                  {"Alpha", "Alphabetic"}, {"Space", "White_Space"}};
    const char *close = strchr(s, '}');
    if (s[2] != '{' || close == NULL || close - s > 40)
        return NULL;
    bool negated = s[3] == '^';
    const char *name = s + 3 + negated;
    int n = (int)(close - name);
    char head = (s[1] == 'P') != negated ? 'P' : 'p';
    bool script = n > 2;
    for (int i = 0; kept[i] != NULL; i++)
        script = script && !(strlen(kept[i]) == (size_t)n && strncmp(kept[i], name, (size_t)n) == 0);
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strlen(longer[i].name) == (size_t)n && strncmp(longer[i].name, name, (size_t)n) == 0) {
            pw_str_add(out, "\\%c{%s}", head, longer[i].category);
            return close + 1;
        }
    pw_str_add(out, "\\%c{%s%.*s}", head, script ? "sc:" : "", n, name);
    return close + 1;
}

static bool is_hex(const char *s, int n)
{
    for (int i = 0; i < n; i++)
        if (s[i] == '\0' || strchr("0123456789abcdefABCDEF", s[i]) == NULL)
            return false;
    return true;
}

/* Rewrites the escape at s, inside of a class or not. Returns its end, or NULL if it is refused. */
static const char *rewrite_escape(const char *s, bool in_class, struct pw_str *out)
{
    unsigned char c = (unsigned char)s[1];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == '\0' || (!letter && c >= 0x80))
        return NULL;
    if (!letter || strchr("nrtfae", c) != NULL) {
        pw_str_put(out, s, 2);
        return s + 2;
    }
    switch (c) {
    case 's': pw_str_add(out, "\\p{White_Space}"); return s + 2;
    case 'S': pw_str_add(out, "\\P{White_Space}"); return s + 2;
    case 'd': pw_str_add(out, "\\p{Nd}"); return s + 2;
    case 'D': pw_str_add(out, "\\P{Nd}"); return s + 2;
    case 'w': pw_str_add(out, in_class ? WORD : "[" BARE_WORD "]"); return s + 2;
    case 'W':
        if (in_class)
            return NULL;
        pw_str_add(out, "[^" BARE_WORD "]");
        return s + 2;
    case 'h': pw_str_add(out, in_class ? "0-9a-fA-F" : "[0-9a-fA-F]"); return s + 2;
    case 'v': pw_str_add(out, "\\x{0B}"); return s + 2;
    case 'p':
    case 'P': return rewrite_property(s, out);
    case 'u':
        if (!is_hex(s + 2, 4))
            return NULL;
        pw_str_add(out, "\\x{%.4s}", s + 2);
        return s + 6;
    case 'x': {
        if (s[2] != '{' && is_hex(s + 2, 2)) { /* a byte of UTF-8 from 0x80 on, in Oniguruma */
            pw_str_put(out, s, 4);
            return s[2] < '8' ? s + 4 : NULL;
        }
        const char *close = strchr(s, '}');
        if (s[2] != '{' || close == NULL || close - s > 11 || !is_hex(s + 3, (int)(close - s) - 3))
            return NULL;
        pw_str_put(out, s, (size_t)(close - s) + 1);
        return close + 1;
    }
    case 'A':
    case 'z':
        if (in_class)
            return NULL;
        pw_str_put(out, s, 2);
        return s + 2;
    default: return NULL;
    }
}

/* Checks the group that begins at s, "(" and what follows. */
static bool is_known_group(const char *s)
{
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)", NULL};
    if (s[1] != '?' && s[1] != '*')
        return true;
    for (int i = 0; known[i] != NULL; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* Rewrites the class at s, with its brackets. Returns its end, or NULL with a message. */
static const char *rewrite_class(const char *pattern, const char *s, struct pw_str *out, struct pw_err *err)
{
    const char *from = s++;
    pw_str_put(out, "[", 1);
    if (*s == '^')
        pw_str_put(out, s++, 1);
    if (*s == ']') {
        refuse(err, pattern, "a class can't begin with ']'; write \\]", from);
        return NULL;
    }
    while (*s != '\0' && *s != ']') {
        if (*s == '[' || (s[0] == '&' && s[1] == '&')) {
            refuse(err, pattern, "classes in classes are not supported", s);
            return NULL;
        }
        const char *end = s + 1;
        if (*s == '\\')
            end = rewrite_escape(s, true, out);
        else
            pw_str_put(out, s, 1);
        if (end == NULL) {
            refuse(err, pattern, "this escape is not supported in a class", s);
            return NULL;
        }
        s = end;
    }
    if (*s == '\0') {
        refuse(err, pattern, "a class has no end", from);
        return NULL;
    }
    pw_str_put(out, "]", 1);
    return s + 1;
}

static enum pw_code rewrite(const char *pattern, struct pw_str *out, struct pw_err *err)
{
    for (const char *s = pattern; *s != '\0';) {
        if (*s == '\\') {
            const char *end = rewrite_escape(s, false, out);
            if (end == NULL)
                return refuse(err, pattern, "this escape is not supported", s);
            s = end;
            continue;
        }
        if (*s == '[') {
            s = rewrite_class(pattern, s, out, err);
            if (s == NULL)
                return PW_EUSER;
            continue;
        }
        if (*s == '(' && !is_known_group(s))
            return refuse(err, pattern, "this kind of group is not supported", s);
        if (s[0] == '}' && s[1] == '+')
            return refuse(err, pattern, "a plus behind braces is not supported", s);
        pw_str_put(out, s++, 1);
    }
    return PW_OK;
}

enum pw_code pw_tok_compile(pcre2_code **code, const char *pattern, enum pw_tok_syntax syntax,
                            struct pw_err *err)
{
    struct pw_str text = {0};
    int number = 0;
    size_t at = 0;
    *code = NULL;
    if (*pattern == '\0')
        return pw_fail(err, PW_EUSER, "a pattern is empty");
    if (strlen(pattern) > PATTERN_MOST)
        return pw_fail(err, PW_EUSER, "a pattern has %zu bytes; at most %d are allowed", strlen(pattern),
                       PATTERN_MOST);
    if (syntax == PW_TOK_ONIG) {
        enum pw_code c = rewrite(pattern, &text, err);
        if (c != PW_OK) {
            pw_str_fini(&text);
            return c;
        }
    } else
        pw_str_put(&text, pattern, strlen(pattern));
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;
    options |= syntax == PW_TOK_LITERAL ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_MULTILINE;
    if (syntax == PW_TOK_LITERAL)
        options &= ~(uint32_t)PCRE2_NEVER_BACKSLASH_C;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (context != NULL) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        *code = pcre2_compile((PCRE2_SPTR)pw_str_text(&text), text.len, options, &number, &at, context);
    }
    pcre2_compile_context_free(context);
    pw_str_fini(&text);
    if (*code != NULL)
        return PW_OK;
    if (context == NULL || number == PCRE2_ERROR_NOMEMORY)
        return pw_tok_no_memory(err);
    PCRE2_UCHAR message[160] = "";
    pcre2_get_error_message(number, message, sizeof message);
    return pw_fail(err, PW_EUSER, "regular expression '%.120s': %s", pattern, (const char *)message);
}

enum pw_code pw_tok_no_memory(struct pw_err *err)
{
    return pw_fail(err, PW_ENOMEM, "no memory for the tokenizer");
}

enum pw_code pw_tok_begin(struct pw_tok_run *r, const struct pw_tokens *t, struct pw_err *err)
{
    *r = (struct pw_tok_run){.t = t, .err = err};
    r->match = pcre2_match_data_create(1, NULL); /* the whole match, no groups */
    r->limits = pcre2_match_context_create(NULL);
    if (r->match == NULL || r->limits == NULL) {
        pw_tok_end(r);
        return pw_tok_no_memory(err);
    }
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(r->limits, HEAP_LIMIT);
    return PW_OK;
}

void pw_tok_end(struct pw_tok_run *r)
{
    pcre2_match_data_free(r->match);
    pcre2_match_context_free(r->limits);
    for (int i = 0; i < 2; i++)
        free(r->text[i].s);
    for (int i = 0; i < PW_TOK_STEPS; i++)
        free(r->level[i].s);
    free(r->symbols);
    free(r->heap);
    *r = (struct pw_tok_run){0};
}

/* Finds the next match. As in Oniguruma's crate, an empty match directly behind another match is passed over.
 */
enum pw_code pw_tok_find_next(struct pw_tok_run *r, struct pw_tok_find *f, bool *found)
{
    *found = false;
    while (f->at <= f->n) {
        int count = pcre2_match(f->code, (PCRE2_SPTR)(f->s != NULL ? f->s : ""), f->n, f->at,
                                PCRE2_NO_UTF_CHECK, r->match, r->limits);
        if (count == PCRE2_ERROR_NOMATCH)
            return PW_OK;
        if (count == PCRE2_ERROR_NOMEMORY)
            return pw_tok_no_memory(r->err);
        if (count < 0) {
            PCRE2_UCHAR message[160] = "";
            pcre2_get_error_message(count, message, sizeof message);
            return pw_fail(r->err, PW_EUSER,
                           "a regular expression of the tokenizer takes too long at byte %zu of the text: %s",
                           f->at, (const char *)message);
        }
        const PCRE2_SIZE *place = pcre2_get_ovector_pointer(r->match);
        size_t start = place[0], end = place[1];
        if (end < start || start < f->at) /* \K is refused; a lookbehind can't move the start */
            return pw_fail(r->err, PW_EUSER, "a regular expression of the tokenizer matches backwards");
        if (start == end && f->any && end == f->end) {
            uint32_t cp;
            f->at += f->at < f->n ? pw_utf8_next(f->s + f->at, f->n - f->at, &cp) : 1;
            continue;
        }
        f->any = true;
        f->at = f->end = end;
        f->start = start;
        *found = true;
        return PW_OK;
    }
    return PW_OK;
}
