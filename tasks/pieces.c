/* pieces.c - vocabularies of running text: a token is a byte, a character or a piece of a tokenizer.
 *
 * The word of such a token is its label on the screen: short, visible and different from all other labels. A
 * space is a middle dot, and what cannot be shown is \xNN (a byte) or \u0301 (a character). A byte from 128
 * on has such a label, too, because it is only a part of a character. Ids of bytes are the same for every
 * text, so weights can go on with another one. If two pieces of a tokenizer have the same label, the second
 * one ends with # and its id. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tasks/task.h"

static const struct {
    uint32_t cp;
    const char *label;
} marks[] = {{' ', "·"}, {'\n', "↵"}, {'\t', "⇥"}};

enum { N_MARKS = sizeof marks / sizeof *marks, LABEL = PW_TOKENS_LABEL + 64 };

static bool is_mark(uint32_t cp)
{
    return cp == 0xb7 || cp == 0x21b5 || cp == 0x21e5;
}

/* Returns true if a character is a blank or has no form of its own. */
static bool is_blank(uint32_t cp)
{
    return cp == 0xa0 || cp == 0xad || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202f) || (cp >= 0x205f && cp <= 0x206f) || cp == 0x3000 || cp == 0xfeff ||
           pw_utf8_cells(cp) == 0;
}

/* Writes the label of a code point below 128, or of any character. */
static void write_label(char label[16], uint32_t cp)
{
    char bytes[5] = "";
    for (int i = 0; i < N_MARKS; i++)
        if (marks[i].cp == cp) {
            snprintf(label, 16, "%s", marks[i].label);
            return;
        }
    if (cp < 0x20 || cp == 0x7f)
        snprintf(label, 16, "\\x%02X", (unsigned)cp);
    else if ((cp >= 0x80 && cp < 0xa0) || is_mark(cp) || is_blank(cp))
        snprintf(label, 16, "\\u%04X", (unsigned)cp);
    else {
        bytes[pw_utf8_put(bytes, cp)] = '\0';
        snprintf(label, 16, "%s", bytes);
    }
}

void pw_vocab_add_bytes(struct pw_vocab *v)
{
    char label[16];
    v->pieces = PW_PIECES_BYTES;
    for (unsigned b = 0; b < 256; b++) {
        if (b < 128)
            write_label(label, b);
        else
            snprintf(label, sizeof label, "\\x%02X", b);
        pw_vocab_add(v, label);
    }
}

void pw_vocab_add_chars(struct pw_vocab *v, const uint32_t *chars, int n)
{
    char label[16];
    v->pieces = PW_PIECES_CHARS;
    v->chars = pw_copy(chars, (size_t)n, sizeof *chars);
    for (int i = 0; i < n; i++) {
        write_label(label, chars[i]);
        pw_vocab_add(v, label);
    }
}

/* Makes a label different from all others. */
static void add_number(const struct pw_vocab *v, char label[LABEL], int id)
{
    size_t n = strlen(label);
    do /* a piece can be "x#5", too */
        n += (size_t)snprintf(label + n, LABEL - n, "#%d", id);
    while (pw_vocab_find(v, label, n) >= 0 && n + 10 < LABEL);
}

void pw_vocab_add_tokens(struct pw_vocab *v, const struct pw_tokens *tokenizer, int n)
{
    int pieces = pw_tokens_count(tokenizer);
    v->pieces = PW_PIECES_TOKENS;
    v->tokenizer = tokenizer;
    for (int id = 0; id < pieces || id < n; id++) {
        char label[LABEL];
        if (id < pieces)
            pw_tokens_label(tokenizer, id, label);
        else
            snprintf(label, sizeof label, "#%d", id);
        if (pw_vocab_find(v, label, strlen(label)) >= 0)
            add_number(v, label, id);
        pw_vocab_add(v, label);
    }
}

/* Is the token's word its text? Padding, end mark and unused tokens have no other. */
static bool is_word(const struct pw_vocab *v, int token)
{
    return v->pieces == PW_PIECES_WORDS ||
           (v->pieces == PW_PIECES_TOKENS ? token >= pw_tokens_count(v->tokenizer) : token < PW_PIECE);
}

void pw_vocab_put(const struct pw_vocab *v, int token, struct pw_str *out)
{
    char bytes[4] = {(char)(token - PW_PIECE)};
    size_t n = 1;
    const char *s = bytes;
    if (is_word(v, token))
        n = strlen(s = v->words[token]);
    else if (v->pieces == PW_PIECES_TOKENS)
        s = pw_tokens_bytes(v->tokenizer, token, &n);
    else if (v->pieces == PW_PIECES_CHARS)
        n = pw_utf8_put(bytes, v->chars[token - PW_PIECE]);
    pw_str_put(out, s, n);
}

size_t pw_vocab_bytes(const struct pw_vocab *v, int token)
{
    char bytes[4];
    size_t n;
    if (is_word(v, token))
        return strlen(v->words[token]);
    if (v->pieces == PW_PIECES_TOKENS) {
        (void)pw_tokens_bytes(v->tokenizer, token, &n);
        return n;
    }
    return v->pieces == PW_PIECES_CHARS ? pw_utf8_put(bytes, v->chars[token - PW_PIECE]) : 1;
}

/* Returns the token of a character; -1: none. */
static int find_char(const struct pw_vocab *v, uint32_t cp)
{
    int lo = 0, hi = v->n - PW_PIECE;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (v->chars[mid] < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < v->n - PW_PIECE && v->chars[lo] == cp ? PW_PIECE + lo : -1;
}

/* Writes the first max tokens of a text, and returns the number of all; -1: they can't be made. */
static int cut_tokens(const struct pw_vocab *v, const char *text, size_t n, int *tokens, int max,
                      struct pw_err *err)
{
    struct pw_token_list list = {0};
    enum pw_code code = pw_tokens_encode(v->tokenizer, text, n, &list, err);
    for (size_t i = 0; i < list.n && i < (size_t)max; i++)
        tokens[i] = list.ids[i];
    int count = code != PW_OK ? -1 : (int)list.n;
    pw_token_list_fini(&list);
    return count;
}

int pw_vocab_cut_pieces(const struct pw_vocab *v, const char *text, size_t n, int *tokens, int max,
                        struct pw_err *err)
{
    int count = 0;
    if (v->pieces == PW_PIECES_TOKENS)
        return cut_tokens(v, text, n, tokens, max, err);
    for (size_t at = 0; at < n; count++) {
        int token = PW_PIECE + (unsigned char)text[at];
        size_t bytes = 1;
        if (v->pieces == PW_PIECES_CHARS) {
            uint32_t cp;
            char label[16];
            bytes = pw_utf8_next(text + at, n - at, &cp);
            token = find_char(v, cp);
            write_label(label, cp);
            if (token < 0) {
                pw_fail(err, PW_EUSER, "the character '%s' does not occur in the text, so it is no token",
                        label);
                return -1;
            }
        }
        if (count < max)
            tokens[count] = token;
        at += bytes;
    }
    return count;
}
