/* bytes.c - GPT-2's characters for bytes: a printable byte is itself in Latin-1, the others follow at U+0100.
 */
#include "tokens/tokens_int.h"

/* Runs of bytes that are not printable, and the character of the first. */
static const struct {
    int first, last, cp;
} hidden[] = {{0x00, 0x20, 0x100}, {0x7f, 0xa0, 0x121}, {0xad, 0xad, 0x143}};

enum { N_HIDDEN = sizeof hidden / sizeof *hidden };

size_t pw_tok_map(char out[4], unsigned char byte)
{
    int cp = byte;
    for (int i = 0; i < N_HIDDEN; i++)
        if (byte >= hidden[i].first && byte <= hidden[i].last)
            cp = hidden[i].cp + byte - hidden[i].first;
    return pw_utf8_put(out, (uint32_t)cp);
}

int pw_tok_unmap(uint32_t cp)
{
    int c = cp < 0x1000 ? (int)cp : -1;
    bool printable = c >= 0 && c < 256;
    for (int i = 0; i < N_HIDDEN; i++) {
        int at = c - hidden[i].cp;
        if (at >= 0 && at <= hidden[i].last - hidden[i].first)
            return hidden[i].first + at;
        printable = printable && !(c >= hidden[i].first && c <= hidden[i].last);
    }
    return printable ? c : -1;
}
