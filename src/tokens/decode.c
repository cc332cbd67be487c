/* decode.c - ids to text: the steps of the decoder change a list of texts, which are then joined.
 *
 * pw_tok_spell runs the same steps for one id alone, as if it stood inside of a text, and keeps bytes that
 * are only a part of a character. */
#include <stdlib.h>
#include <string.h>

#include "tokens/tokens_int.h"

/* Texts, one behind the other in a buffer. */
struct texts {
    struct pw_tok_buf all;
    size_t *ends; /* [n] */
    size_t n, cap;
};

static bool end_text(struct texts *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap > 0 ? 2 * t->cap : 64;
        size_t *ends = realloc(t->ends, cap * sizeof *ends);
        if (ends == NULL)
            return false;
        t->ends = ends;
        t->cap = cap;
    }
    t->ends[t->n++] = t->all.n;
    return true;
}

static void fini_texts(struct texts *t)
{
    free(t->all.s);
    free(t->ends);
}

static const char *text_at(const struct texts *t, size_t i, size_t *n)
{
    size_t start = i > 0 ? t->ends[i - 1] : 0;
    *n = t->ends[i] - start;
    return *n > 0 ? t->all.s + start : "";
}

/* Appends bytes as Rust's from_utf8_lossy: U+FFFD for each longest part of a character that is cut off. */
static bool put_lossy(struct pw_tok_buf *out, const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        if (cp != 0xfffd || size > 1) {
            if (!pw_tok_put(out, s + at, size))
                return false;
            at += size;
            continue;
        }
        /* The bytes that could begin a character: E0 A0 before something else is one replacement. */
        unsigned char a = (unsigned char)s[at], b = at + 1 < n ? (unsigned char)s[at + 1] : 0;
        int need = a >= 0xc2 && a <= 0xdf ? 1 : a >= 0xe0 && a <= 0xef ? 2 : a >= 0xf0 && a <= 0xf4 ? 3 : 0;
        unsigned char lo = a == 0xe0   ? 0xa0
                           : a == 0xf0 ? 0x90
                                       : 0x80,
                      hi = a == 0xed   ? 0x9f
                           : a == 0xf4 ? 0x8f
                                       : 0xbf;
        at++;
        if (need > 1 && b >= lo && b <= hi) {
            at++;
            if (need == 3 && at < n && ((unsigned char)s[at] & 0xc0) == 0x80)
                at++;
        }
        if (!pw_tok_put(out, "\xef\xbf\xbd", 3))
            return false;
    }
    return true;
}

/* Appends the bytes of a piece in GPT-2's characters; a piece with another character is its own bytes. */
static bool put_unmapped(struct pw_tok_buf *out, const char *s, size_t n)
{
    size_t from = out->n;
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        at += pw_utf8_next(s + at, n - at, &cp);
        int byte = pw_tok_unmap(cp);
        if (byte < 0) {
            out->n = from;
            return pw_tok_put(out, s, n);
        }
        char c = (char)byte;
        if (!pw_tok_put(out, &c, 1))
            return false;
    }
    return true;
}

/* Returns the byte of a piece <0xNN>, or -1. As in tokenizers, small letters count, too. */
static int fallback_byte(const char *s, size_t n)
{
    char digits[3] = "", *end;
    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>')
        return -1;
    memcpy(digits, s + 3, 2);
    if (digits[0] == '+') /* Rust reads a sign */
        return digits[1] >= '0' && strspn(digits + 1, "0123456789abcdefABCDEF") == 1
                   ? (int)strtol(digits + 1, &end, 16)
                   : -1;
    return strspn(digits, "0123456789abcdefABCDEF") == 2 ? (int)strtol(digits, &end, 16) : -1;
}

/* Appends the bytes of a run of such pieces: a text, or U+FFFD for each byte. */
static bool put_run(struct texts *out, struct pw_tok_buf *run)
{
    bool valid = run->n > 0 && pw_utf8_valid(run->s, run->n), fits = true;
    if (run->n == 0)
        return true;
    if (valid)
        fits = pw_tok_put(&out->all, run->s, run->n) && end_text(out);
    for (size_t i = 0; i < run->n && !valid && fits; i++)
        fits = pw_tok_put(&out->all, "\xef\xbf\xbd", 3) && end_text(out);
    run->n = 0;
    return fits;
}

static bool join_bytes(const struct texts *in, struct texts *out)
{
    struct pw_tok_buf run = {0};
    bool fits = true;
    for (size_t i = 0; i < in->n && fits; i++) {
        size_t n;
        const char *s = text_at(in, i, &n);
        int byte = fallback_byte(s, n);
        char c = (char)byte;
        if (byte >= 0)
            fits = pw_tok_put(&run, &c, 1);
        else
            fits = put_run(out, &run) && pw_tok_put(&out->all, s, n) && end_text(out);
    }
    fits = fits && put_run(out, &run);
    free(run.s);
    return fits;
}

/* Appends a text without up to `left` and `right` times a character at its ends. */
static bool put_cut(struct pw_tok_buf *out, const struct pw_tok_step *step, const char *s, size_t n)
{
    for (int i = 0; i < step->left && n >= step->n && memcmp(s, step->text, step->n) == 0; i++) {
        s += step->n;
        n -= step->n;
    }
    for (int i = 0; i < step->right && n >= step->n && memcmp(s + n - step->n, step->text, step->n) == 0; i++)
        n -= step->n;
    return pw_tok_put(out, s, n);
}

static bool put_spaces(struct pw_tok_buf *out, const struct pw_tok_step *step, const char *s, size_t n,
                       bool removed)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        bool mark = size == step->n && memcmp(s + at, step->text, size) == 0;
        if (!(mark && removed) && !pw_tok_put(out, mark ? " " : s + at, mark ? 1 : size))
            return false;
        at += size;
    }
    return true;
}

static enum pw_code decode_step(struct pw_tok_run *r, const struct pw_tok_step *step, const struct texts *in,
                                struct texts *out)
{
    bool fits = true;
    if (step->kind == PW_TOK_FALLBACK)
        return join_bytes(in, out) ? PW_OK : pw_tok_no_memory(r->err);
    if (step->kind == PW_TOK_UNMAP) {
        struct pw_tok_buf bytes = {0};
        for (size_t i = 0; i < in->n && fits; i++) {
            size_t n;
            const char *s = text_at(in, i, &n);
            fits = put_unmapped(&bytes, s, n);
        }
        fits = fits && put_lossy(&out->all, bytes.s, bytes.n) && end_text(out);
        free(bytes.s);
        return fits ? PW_OK : pw_tok_no_memory(r->err);
    }
    for (size_t i = 0; i < in->n && fits; i++) {
        size_t n;
        const char *s = text_at(in, i, &n);
        enum pw_code code = PW_OK;
        switch (step->kind) {
        case PW_TOK_REPLACE: code = pw_tok_replace(r, step, s, n, &out->all); break;
        case PW_TOK_CUT: fits = put_cut(&out->all, step, s, n); break;
        case PW_TOK_SPACES: fits = put_spaces(&out->all, step, s, n, step->first && i == 0); break;
        default: fits = pw_tok_put(&out->all, s, n);
        }
        if (code != PW_OK)
            return code;
        if (step->kind != PW_TOK_FUSE || i + 1 == in->n)
            fits = fits && end_text(out);
    }
    return fits ? PW_OK : pw_tok_no_memory(r->err);
}

/* Returns true if a decoding without special tokens leaves an id out. As in tokenizers, the text that is
 * decoded decides: a special token that the normaliser changes stays. */
static bool is_left_out(const struct pw_tokens *t, int id)
{
    int named = pw_tokens_find(t, pw_tok_spoken(t, id));
    return named >= 0 && t->special[named];
}

static bool take_pieces(const struct pw_tokens *t, const int *ids, size_t n, bool special, struct texts *out)
{
    bool fits = true;
    for (size_t i = 0; i < n && fits; i++) {
        const char *piece = pw_tok_spoken(t, ids[i]);
        if (piece != NULL && (special || !is_left_out(t, ids[i])))
            fits = pw_tok_put(&out->all, piece, strlen(piece)) && end_text(out);
    }
    return fits;
}

enum pw_code pw_tokens_decode(const struct pw_tokens *t, const int *ids, size_t n, bool special,
                              struct pw_str *out, struct pw_err *err)
{
    struct pw_tok_run r;
    struct texts now = {0};
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= t->n)
            return pw_fail(err, PW_EUSER, "there is no id %d; the tokenizer has 0 to %d", ids[i], t->n - 1);
    enum pw_code code = pw_tok_begin(&r, t, err);
    if (code != PW_OK)
        return code;
    if (!take_pieces(t, ids, n, special, &now))
        code = pw_tok_no_memory(err);
    for (int i = 0; i < t->decoder.n && code == PW_OK; i++) {
        struct texts next = {0};
        code = decode_step(&r, &t->decoder.list[i], &now, &next);
        fini_texts(&now);
        now = next;
    }
    for (size_t i = 0; i < now.n && code == PW_OK; i++) {
        size_t size;
        const char *s = text_at(&now, i, &size);
        pw_str_put(out, t->decoder.n == 0 && i > 0 ? " " : "", t->decoder.n == 0 && i > 0 ? 1 : 0);
        pw_str_put(out, s, size);
    }
    fini_texts(&now);
    pw_tok_end(&r);
    return code;
}

/* ---- the bytes of each id */

/* Puts the text of one piece, as if it stood inside of a text, into *now. */
static enum pw_code spell_piece(struct pw_tok_run *r, const char *piece, struct pw_tok_buf *now,
                                struct pw_tok_buf *next)
{
    const struct pw_tok_chain *c = &r->t->decoder;
    bool fused = false, fits = pw_tok_put(now, piece, strlen(piece));
    for (int i = 0; i < c->n && fits; i++) {
        const struct pw_tok_step *step = &c->list[i];
        const char *s = now->n > 0 ? now->s : "";
        int byte = fallback_byte(s, now->n);
        char one = (char)byte;
        enum pw_code code = PW_OK;
        next->n = 0;
        switch (step->kind) {
        case PW_TOK_REPLACE: /* an expression can't read a part of a character */
            if (pw_utf8_valid(s, now->n))
                code = pw_tok_replace(r, step, s, now->n, next);
            else
                fits = pw_tok_put(next, s, now->n);
            break;
        case PW_TOK_UNMAP: fits = put_unmapped(next, s, now->n); break;
        case PW_TOK_FALLBACK: fits = pw_tok_put(next, byte >= 0 ? &one : s, byte >= 0 ? 1 : now->n); break;
        case PW_TOK_SPACES: fits = put_spaces(next, step, s, now->n, false); break;
        case PW_TOK_CUT: fits = fused ? pw_tok_put(next, s, now->n) : put_cut(next, step, s, now->n); break;
        default: fits = pw_tok_put(next, s, now->n); fused = true;
        }
        if (code != PW_OK)
            return code;
        struct pw_tok_buf swap = *now;
        *now = *next;
        *next = swap;
    }
    return fits ? PW_OK : pw_tok_no_memory(r->err);
}

enum pw_code pw_tok_spell(struct pw_tokens *t, struct pw_err *err)
{
    struct pw_tok_run r;
    struct pw_tok_buf now = {0}, next = {0};
    enum pw_code code = pw_tok_begin(&r, t, err);
    if (code != PW_OK)
        return code;
    for (int id = 0; id < t->n && code == PW_OK; id++) {
        const char *piece = pw_tok_spoken(t, id);
        now.n = 0;
        code = piece != NULL ? spell_piece(&r, piece, &now, &next) : PW_OK;
        if (code == PW_OK)
            code = pw_tok_keep_bytes(t, id, now.s, now.n, err);
    }
    free(now.s);
    free(next.s);
    pw_tok_end(&r);
    return code;
}
