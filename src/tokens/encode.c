/* encode.c - text to ids: added tokens, normaliser, pre-tokenizer, merges. */
#include <stdlib.h>
#include <string.h>

#include "tokens/tokens_int.h"

static enum pw_code encode_words(struct pw_tok_run *r, const char *s, size_t n, bool first)
{
    return pw_tok_words(r, 0, s, n, first);
}

static enum pw_code encode_rest(struct pw_tok_run *r, const char *s, size_t n, bool first)
{
    enum pw_code code = pw_tok_normalise(r, s, n);
    if (code != PW_OK)
        return code;
    return pw_tok_cut_added(r, &r->t->normed, r->text[0].s, r->text[0].n, first, encode_words);
}

static size_t first_invalid(const char *s, size_t n)
{
    size_t at = 0;
    while (at < n) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        if (cp == 0xfffd && size == 1)
            break;
        at += size;
    }
    return at;
}

enum pw_code pw_tokens_encode(const struct pw_tokens *t, const char *text, size_t n,
                              struct pw_token_list *list, struct pw_err *err)
{
    struct pw_tok_run r;
    if (n > PW_TOKENS_TEXT)
        return pw_fail(err, PW_EUSER, "the text has %zu bytes; at most %d can be encoded", n, PW_TOKENS_TEXT);
    size_t bad = first_invalid(text, n);
    if (bad < n)
        return pw_fail(err, PW_EUSER, "byte %zu of the text is not valid UTF-8", bad);
    enum pw_code code = pw_tok_begin(&r, t, err);
    if (code != PW_OK)
        return code;
    r.list = list;
    code = pw_tok_cut_added(&r, &t->raw, text, n, true, encode_rest);
    pw_tok_end(&r);
    return code;
}

void pw_token_list_fini(struct pw_token_list *list)
{
    free(list->ids);
    *list = (struct pw_token_list){0};
}

int pw_tokens_count(const struct pw_tokens *t)
{
    return t->n;
}

int pw_tokens_find(const struct pw_tokens *t, const char *piece)
{
    return pw_tok_find_piece(t, piece, strlen(piece));
}

bool pw_tokens_special(const struct pw_tokens *t, int id)
{
    return t->special[id];
}

int pw_tokens_before(const struct pw_tokens *t, int *ids, int max)
{
    for (int i = 0; i < t->n_before && i < max; i++)
        ids[i] = t->before[i];
    return t->n_before;
}
