/* merge.c - byte pair encoding of one word (Sennrich et al. 2016, section 3.2).
 *
 * The symbols of a word are a linked list, and the possible merges are a heap by rank, then place. A merge
 * that an earlier one has made impossible stays in the heap and is passed over. So a word of n characters
 * takes O(n log n), also if a whole text is one word, as in LLaMA-2 and Gemma. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens/tokens_int.h"

/* A symbol; id -1: it was merged into the one before. */
struct pw_tok_symbol {
    int id, prev, next;
};

/* Returns an array with room for n entries, or NULL. */
static void *make_room(void *p, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return p;
    size_t more = *cap < 32 ? 64 : 2 * *cap;
    more = more < n ? n : more;
    void *made = realloc(p, more * size);
    if (made != NULL)
        *cap = more;
    return made;
}

enum pw_code pw_tok_append(struct pw_tok_run *r, int id)
{
    int *ids = make_room(r->list->ids, &r->list->cap, r->list->n + 1, sizeof *ids);
    if (ids == NULL)
        return pw_tok_no_memory(r->err);
    r->list->ids = ids;
    ids[r->list->n++] = id;
    return PW_OK;
}

static bool add_symbol(struct pw_tok_run *r, int id)
{
    struct pw_tok_symbol *s = make_room(r->symbols, &r->cap_symbols, r->n_symbols + 1, sizeof *s);
    if (s == NULL)
        return false;
    r->symbols = s;
    int at = (int)r->n_symbols++;
    s[at] = (struct pw_tok_symbol){id, at - 1, at + 1};
    return true;
}

/* ---- the heap of merges: rank in the high half, place in the low half */

static bool push(struct pw_tok_run *r, uint64_t key)
{
    uint64_t *h = make_room(r->heap, &r->cap_heap, r->n_heap + 1, sizeof *h);
    if (h == NULL)
        return false;
    r->heap = h;
    size_t at = r->n_heap++;
    while (at > 0 && h[(at - 1) / 2] > key) {
        h[at] = h[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h[at] = key;
    return true;
}

static uint64_t pop(struct pw_tok_run *r)
{
    uint64_t *h = r->heap, top = h[0], last = h[--r->n_heap];
    size_t at = 0, n = r->n_heap;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n)
            break;
        child += child + 1 < n && h[child + 1] < h[child];
        if (h[child] >= last)
            break;
        h[at] = h[child];
        at = child;
    }
    h[at] = last;
    return top;
}

/* Adds the merge of a symbol and the next, if there is one. */
static bool push_merge(struct pw_tok_run *r, int at)
{
    const struct pw_tok_symbol *s = r->symbols;
    if (at < 0 || s[at].next >= (int)r->n_symbols)
        return true;
    int rank = pw_tok_find_merge(r->t, s[at].id, s[s[at].next].id);
    return rank < 0 || push(r, (uint64_t)rank << 32 | (uint32_t)at);
}

static bool merge_symbols(struct pw_tok_run *r)
{
    struct pw_tok_symbol *s = r->symbols;
    const struct pw_tok_merge *merges = r->t->merges;
    int n = (int)r->n_symbols;
    r->n_heap = 0;
    for (int i = 0; i + 1 < n; i++)
        if (!push_merge(r, i))
            return false;
    while (r->n_heap > 0) {
        uint64_t top = pop(r);
        int at = (int)(top & 0xffffffff), next = s[at].id >= 0 ? s[at].next : n;
        if (next >= n)
            continue;
        /* As in tokenizers, a merge is still possible if the pair now there gives the same piece. */
        int rank = pw_tok_find_merge(r->t, s[at].id, s[next].id), id = merges[top >> 32].id;
        if (rank < 0 || merges[rank].id != id)
            continue;
        s[at].id = id;
        s[at].next = s[next].next;
        s[next].id = -1;
        if (s[at].next < n)
            s[s[at].next].prev = at;
        if (!push_merge(r, s[at].prev) || !push_merge(r, at))
            return false;
    }
    return true;
}

/* ---- the first symbols: characters, or their bytes */

/* Adds the bytes of a character without a piece, if all have one. */
static bool add_bytes(struct pw_tok_run *r, const char *s, size_t n, bool *fits)
{
    for (size_t i = 0; i < n; i++)
        if (r->t->fallback[(unsigned char)s[i]] < 0)
            return false;
    for (size_t i = 0; i < n; i++)
        *fits = *fits && add_symbol(r, r->t->fallback[(unsigned char)s[i]]);
    return true;
}

static enum pw_code fail_character(struct pw_tok_run *r, const char *s, size_t n)
{
    return pw_fail(r->err, PW_EUSER, "the tokenizer has no piece for '%.*s', and no unk_token", (int)n, s);
}

static enum pw_code first_symbols(struct pw_tok_run *r, const char *s, size_t n)
{
    const struct pw_tokens *t = r->t;
    bool fits = true, unknown = false; /* unknown: an unk_token is due before the next known character */
    r->n_symbols = 0;
    for (size_t at = 0; at < n && fits;) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + at, n - at, &cp);
        int id = pw_tok_find_vocab(t, s + at, size);
        if (id >= 0) {
            fits = (!unknown || add_symbol(r, t->unk)) && add_symbol(r, id);
            unknown = false;
        } else if (!t->byte_fallback || !add_bytes(r, s + at, size, &fits)) {
            if (t->unk < 0)
                return fail_character(r, s + at, size);
            fits = !unknown || t->fuse_unk || add_symbol(r, t->unk);
            unknown = true;
        }
        at += size;
    }
    fits = fits && (!unknown || add_symbol(r, t->unk));
    return fits ? PW_OK : pw_tok_no_memory(r->err);
}

enum pw_code pw_tok_merge_word(struct pw_tok_run *r, const char *s, size_t n)
{
    int whole = r->t->ignore_merges ? pw_tok_find_vocab(r->t, s, n) : -1;
    if (whole >= 0)
        return pw_tok_append(r, whole);
    enum pw_code code = first_symbols(r, s, n);
    if (code != PW_OK)
        return code;
    if (!merge_symbols(r))
        return pw_tok_no_memory(r->err);
    for (int i = 0; i < (int)r->n_symbols && code == PW_OK; i = r->symbols[i].next)
        code = pw_tok_append(r, r->symbols[i].id);
    return code;
}
