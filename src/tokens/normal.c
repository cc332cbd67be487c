/* normal.c - the normaliser: each step reads the text that the step before has made. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "tokens/tokens_int.h"

#define MARKS_MOST 2048 /* combining marks in a row: ordering them takes quadratic time */

bool pw_tok_room(struct pw_tok_buf *b, size_t n)
{
    if (n <= b->cap - b->n)
        return true;
    size_t cap = b->cap < 128 ? 256 : 2 * b->cap;
    cap = cap < b->n + n ? b->n + n : cap;
    char *s = realloc(b->s, cap);
    if (s == NULL)
        return false;
    b->s = s;
    b->cap = cap;
    return true;
}

bool pw_tok_put(struct pw_tok_buf *b, const char *s, size_t n)
{
    if (!pw_tok_room(b, n))
        return false;
    if (n > 0)
        memcpy(b->s + b->n, s, n);
    b->n += n;
    return true;
}

bool pw_tok_is_space(uint32_t cp)
{
    return (cp >= 9 && cp <= 13) || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f ||
           cp == 0x3000;
}

static enum pw_code check_marks(struct pw_tok_run *r, const char *s, size_t n)
{
    int run = 0;
    for (size_t at = 0; at < n && run <= MARKS_MOST;) {
        uint32_t cp = (unsigned char)s[at];
        at += cp < 0x80 ? 1 : pw_utf8_next(s + at, n - at, &cp);
        run = cp >= 0x300 && utf8proc_get_property((int32_t)cp)->combining_class != 0 ? run + 1 : 0;
    }
    return run <= MARKS_MOST
               ? PW_OK
               : pw_fail(r->err, PW_EUSER, "the text has more than %d combining marks in a row", MARKS_MOST);
}

static enum pw_code apply_form(struct pw_tok_run *r, int form, const char *s, size_t n,
                               struct pw_tok_buf *out)
{
    utf8proc_uint8_t *made = NULL;
    size_t plain = 0;
    while (plain < n && (unsigned char)s[plain] < 0x80)
        plain++;
    if (plain == n) /* ASCII is in every form */
        return pw_tok_put(out, s, n) ? PW_OK : pw_tok_no_memory(r->err);
    enum pw_code code = check_marks(r, s, n);
    if (code != PW_OK)
        return code;
    utf8proc_ssize_t size =
        utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &made, (utf8proc_option_t)form);
    if (size < 0)
        return size == UTF8PROC_ERROR_NOMEM
                   ? pw_tok_no_memory(r->err)
                   : pw_fail(r->err, PW_EUSER, "normal form: %s", utf8proc_errmsg(size));
    bool fits = pw_tok_put(out, (const char *)made, (size_t)size);
    free(made);
    return fits ? PW_OK : pw_tok_no_memory(r->err);
}

static bool put_lower(struct pw_tok_buf *out, const char *s, size_t n)
{
    static const char dotted[] = "i\xcc\x87"; /* of U+0130, the only letter that becomes two */
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        char bytes[4];
        at += pw_utf8_next(s + at, n - at, &cp);
        bool two = cp == 0x130;
        size_t size = two ? 0 : pw_utf8_put(bytes, (uint32_t)utf8proc_tolower((int32_t)cp));
        if (!pw_tok_put(out, two ? dotted : bytes, two ? 3 : size))
            return false;
    }
    return true;
}

enum pw_code pw_tok_replace(struct pw_tok_run *r, const struct pw_tok_step *step, const char *s, size_t n,
                            struct pw_tok_buf *out)
{
    struct pw_tok_find f = {.code = step->code, .s = s, .n = n};
    size_t behind = 0;
    bool found, fits = true;
    if (n == 0)
        return PW_OK;
    for (;;) {
        enum pw_code code = pw_tok_find_next(r, &f, &found);
        if (code != PW_OK)
            return code;
        if (!found)
            break;
        fits = fits && pw_tok_put(out, s + behind, f.start - behind) && pw_tok_put(out, step->text, step->n);
        if (!fits)
            break;
        behind = f.end;
    }
    return fits && pw_tok_put(out, s + behind, n - behind) ? PW_OK : pw_tok_no_memory(r->err);
}

static bool put_trimmed(struct pw_tok_buf *out, const struct pw_tok_step *step, const char *s, size_t n)
{
    size_t left = 0, right = 0; /* the first byte kept, and the end of the last */
    bool begun = false;
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        if (!pw_tok_is_space(cp)) {
            left = begun ? left : at;
            right = at + size;
            begun = true;
        }
        at += size;
    }
    left = step->left == 0 ? 0 : begun ? left : n;
    right = step->right == 0 ? n : begun ? right : left;
    return pw_tok_put(out, s + left, right - left);
}

static enum pw_code apply_step(struct pw_tok_run *r, const struct pw_tok_step *step, const char *s, size_t n,
                               struct pw_tok_buf *out)
{
    bool fits = true;
    switch (step->kind) {
    case PW_TOK_FORM: return apply_form(r, step->form, s, n, out);
    case PW_TOK_REPLACE: return pw_tok_replace(r, step, s, n, out);
    case PW_TOK_LOWER: fits = put_lower(out, s, n); break;
    case PW_TOK_TRIM: fits = put_trimmed(out, step, s, n); break;
    default: fits = (n == 0 || pw_tok_put(out, step->text, step->n)) && pw_tok_put(out, s, n);
    }
    return fits ? PW_OK : pw_tok_no_memory(r->err);
}

enum pw_code pw_tok_normalise(struct pw_tok_run *r, const char *s, size_t n)
{
    const struct pw_tok_chain *c = &r->t->normal;
    enum pw_code code = PW_OK;
    r->text[0].n = 0;
    for (int i = 0; i < c->n && code == PW_OK; i++) {
        struct pw_tok_buf swap = r->text[0];
        const char *from = i == 0 ? s : swap.s;
        size_t size = i == 0 ? n : swap.n;
        r->text[0] = r->text[1];
        r->text[1] = swap;
        r->text[0].n = 0;
        code = apply_step(r, &c->list[i], from != NULL ? from : "", size, &r->text[0]);
    }
    if (c->n == 0 && !pw_tok_put(&r->text[0], s, n))
        return pw_tok_no_memory(r->err);
    return code;
}
