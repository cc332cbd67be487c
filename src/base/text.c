/* text.c - growing strings, safe copies, suggestions and strict number parsing; UTF-8 is in utf8.c.
 *
 * The program ends if there is no memory for a string (alloc.h). Large buffers are allocated by their owners,
 * which report PW_ENOMEM. */
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- growing strings */

static void grow(struct pw_str *b, size_t more)
{
    size_t cap = b->cap;

    if (more < cap - b->len) /* one byte is reserved for the NUL; len < cap unless both are 0 */
        return;
    if (more > SIZE_MAX / 2 - b->len - 1)
        pw_exhausted(more);
    cap = b->len + more + 1;
    cap = cap < 2 * b->cap ? 2 * b->cap : cap < 32 ? 32 : cap;
    b->s = pw_grow(b->s, cap, 1);
    b->cap = cap;
}

void pw_str_put(struct pw_str *b, const char *s, size_t n)
{
    grow(b, n);
    if (n > 0)
        memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void pw_str_quote(struct pw_str *b, const char *text)
{
    pw_str_put(b, "\"", 1);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            pw_str_put(b, "\\", 1);
        pw_str_put(b, text, 1);
    }
    pw_str_put(b, "\"", 1);
}

void pw_str_word(struct pw_str *b, const char *text)
{
    if (text[0] != '\0' && text[strcspn(text, " \t\"\\;#()")] == '\0')
        pw_str_put(b, text, strlen(text));
    else
        pw_str_quote(b, text);
}

void pw_str_xml(struct pw_str *b, uint32_t cp)
{
    char bytes[4];
    if (cp == '&')
        pw_str_add(b, "&amp;");
    else if (cp == '<')
        pw_str_add(b, "&lt;");
    else if (cp == '>')
        pw_str_add(b, "&gt;");
    else
        pw_str_put(b, bytes, pw_utf8_put(bytes, cp));
}

void pw_str_add(struct pw_str *b, const char *fmt, ...)
{
    va_list ap, again;

    grow(b, 80); /* usually enough, so that one call formats everything */
    size_t room = b->cap - b->len;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(b->s + b->len, room, fmt, ap);
    va_end(ap);
    assert(n >= 0); /* fails only for an invalid format or a wide character */
    if ((size_t)n >= room) {
        grow(b, (size_t)n);
        vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->len += (size_t)n;
}

void pw_str_clear(struct pw_str *b)
{
    b->len = 0;
    if (b->s != NULL)
        b->s[0] = '\0';
}

void pw_str_fini(struct pw_str *b)
{
    free(b->s);
    *b = (struct pw_str){0};
}

const char *pw_str_text(const struct pw_str *b)
{
    return b->s != NULL ? b->s : "";
}

/* ---- copies */

bool pw_text_ends(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

void pw_text_copy(char *dst, size_t size, const char *src)
{
    size_t n = strlen(src), out = 0;

    assert(size > 0);
    while (n > 0) {
        uint32_t cp;
        size_t used = pw_utf8_next(src, n, &cp);
        bool bad = cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp == 0xfffd && used == 1);
        size_t put = bad ? 1 : used;
        if (out + put >= size)
            break;
        memcpy(dst + out, bad ? "?" : src, put);
        out += put;
        src += used;
        n -= used;
    }
    dst[out] = '\0';
}

/* ---- suggestions */

enum { NEAREST_MAX = 63 }; /* a longer word is not a misspelt name */

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool pw_text_same(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b))
        a++, b++;
    return *a == *b;
}

/* Damerau-Levenshtein distance in its restricted form: no part is edited twice (a swapped pair is final).
 * Case is ignored. d[i][j] is the distance between the first i and the first j bytes. */
static int distance(const char *a, int n, const char *b, int m)
{
    unsigned char d[NEAREST_MAX + 1][NEAREST_MAX + 1];

    for (int i = 0; i <= n; i++)
        d[i][0] = (unsigned char)i;
    for (int j = 0; j <= m; j++)
        d[0][j] = (unsigned char)j;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            unsigned char x = lower(a[i - 1]), y = lower(b[j - 1]);
            int best = d[i - 1][j - 1] + (x != y);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]) && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = (unsigned char)best;
        }
    }
    return d[n][m];
}

const char *pw_text_nearest(const char *word, const char *const *names)
{
    size_t n = strlen(word);
    const char *nearest = NULL;

    if (n == 0 || n > NEAREST_MAX)
        return NULL;
    /* Two typos in three letters would match any word with any other. */
    int limit = n <= 3 ? 1 : n <= 7 ? 2 : 3;
    for (; *names != NULL; names++) {
        size_t m = strlen(*names);
        if (m > NEAREST_MAX)
            continue;
        int dist = distance(word, (int)n, *names, (int)m);
        if (n >= 2 && n < m && dist > 1 && distance(word, (int)n, *names, (int)n) == 0)
            dist = 1;       /* the beginning of a name counts as one typo */
        if (dist >= (int)n) /* no letter of the word is left */
            continue;
        if (dist <= limit) {
            limit = dist - 1; /* later names must be nearer, so the first of equals wins */
            nearest = *names;
        }
    }
    return nearest;
}

/* ---- numbers */

/* strtol and strtod also accept leading spaces, "+5", hexadecimal, "inf" and "nan". A number in a session
 * should have one spelling. */
static bool plain(const char *s, const char *allowed)
{
    return *s != '\0' && *s != '+' && s[strspn(s, allowed)] == '\0';
}

bool pw_text_int(const char *s, long min, long max, long *out)
{
    char *end;

    if (!plain(s, "-0123456789"))
        return false;
    errno = 0;
    long v = strtol(s, &end, 10);
    if (end == s || *end != '\0' || errno != 0 || v < min || v > max)
        return false;
    *out = v;
    return true;
}

bool pw_text_double(const char *s, double *out)
{
    char *end;

    if (!plain(s, "+-.0123456789eE"))
        return false;
    double v = strtod(s, &end);
    if (end == s || *end != '\0' || !isfinite(v)) /* underflow is not an error: 1e-400 is 0 */
        return false;
    *out = v;
    return true;
}

/* ---- times */

void pw_text_duration(char *dst, size_t size, double seconds)
{
    if (!(seconds >= 0 && seconds < 3600e6)) { /* also NaN: an unknown remaining time */
        snprintf(dst, size, "-:--");
        return;
    }
    long long s = (long long)seconds;
    if (s < 3600)
        snprintf(dst, size, "%lld:%02lld", s / 60, s % 60);
    else
        snprintf(dst, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}
