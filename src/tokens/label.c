/* label.c - a short label of an id for the screen: every character of it can be seen. */
#include <stdio.h>
#include <string.h>

#include "tokens/tokens_int.h"

#define CELLS 20 /* of the characters; an ellipsis shows that there are more */

static bool is_hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0xfeff ||
           (cp != ' ' && pw_tok_is_space(cp)) || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || pw_utf8_cells(cp) == 0;
}

/* Writes the label of one character of `size` bytes, at most 12 bytes. */
static void label_character(char out[16], const char *s, uint32_t cp, size_t size)
{
    if (cp == 0xfffd && size == 1)
        snprintf(out, 16, "<0x%02X>", (unsigned)(unsigned char)*s);
    else if (cp == ' ' || cp == '\n' || cp == '\t')
        snprintf(out, 16, "%s", cp == ' ' ? "·" : cp == '\n' ? "↵" : "⇥");
    else if (is_hidden(cp))
        snprintf(out, 16, cp < 0x80 ? "<0x%02X>" : "\\u%04X", (unsigned)cp);
    else
        snprintf(out, 16, "%.*s", (int)size, s);
}

/* Returns true for a piece <0xNN> of a vocabulary that has such pieces beside those of characters. */
static bool is_fallback(const struct pw_tokens *t, int id)
{
    size_t n;
    const char *s = pw_tokens_bytes(t, id, &n);
    return t->byte_fallback && n == 1 && t->fallback[(unsigned char)*s] == id;
}

void pw_tokens_label(const struct pw_tokens *t, int id, char label[PW_TOKENS_LABEL])
{
    size_t n, len = 0;
    const char *s = pw_tokens_bytes(t, id, &n);
    int cells = 0;
    label[0] = '\0';
    if (is_fallback(t, id)) {
        snprintf(label, PW_TOKENS_LABEL, "%.16s", pw_tokens_piece(t, id));
        return;
    }
    if (n == 0)
        snprintf(label, PW_TOKENS_LABEL, pw_tokens_piece(t, id) == NULL ? "<unused %d>" : "<empty %d>", id);
    for (size_t at = 0; at < n;) {
        char one[16];
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        label_character(one, s + at, cp, size);
        cells += pw_text_cells(one);
        if (cells > CELLS || len + strlen(one) + 4 > PW_TOKENS_LABEL) {
            strcpy(label + len, "…");
            break;
        }
        strcpy(label + len, one);
        len += strlen(one);
        at += size;
    }
}
