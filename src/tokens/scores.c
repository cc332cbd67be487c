/* scores.c - the merges of a vocabulary with scores, as SentencePiece has it (Kudo and Richardson 2018).
 *
 * Two pieces merge if together they are a piece, and the pair whose result has the highest score comes first.
 * Pairs with the same result share a rank, so that of them the leftmost in the text comes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tokens/tokens_int.h"

enum { MOST_BYTES = 512, MOST_MERGES = 4 * PW_TOKENS_MOST };

/* A merge, and the score of its result. */
struct scored {
    float score;
    struct pw_tok_merge merge;
};

struct scored_list {
    struct scored *items;
    size_t n, cap;
};

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->merge.id != y->merge.id)
        return x->merge.id < y->merge.id ? -1 : 1;
    return x->merge.left < y->merge.left ? -1 : x->merge.left > y->merge.left;
}

/* Finds a piece that has a score. */
static int find_scored(const struct pw_tokens *t, const char *piece, size_t n)
{
    int id = pw_tok_find_vocab(t, piece, n);
    return id >= 0 && !isnan(t->scores[id]) ? id : -1;
}

/* Adds the merges whose result is piece `id`, one for each place between two characters. */
static enum pw_code add_splits(const struct pw_tokens *t, int id, struct scored_list *list,
                               struct pw_err *err)
{
    const char *s = pw_tokens_piece(t, id);
    size_t n = strlen(s);
    if (n > MOST_BYTES)
        return pw_fail(err, PW_EUSER, "the piece of id %d has more than %d bytes", id, MOST_BYTES);
    for (size_t at = 1; at < n; at++) {
        if (((unsigned char)s[at] & 0xc0) == 0x80) /* inside of a character */
            continue;
        struct pw_tok_merge m = {
            .left = find_scored(t, s, at), .right = find_scored(t, s + at, n - at), .id = id};
        if (m.left < 0 || m.right < 0)
            continue;
        if (list->n == MOST_MERGES)
            return pw_fail(err, PW_EUSER, "the pieces have more than %d merges", MOST_MERGES);
        if (list->n == list->cap) {
            list->cap = list->cap > 0 ? 2 * list->cap : 256;
            list->items = pw_grow(list->items, list->cap, sizeof *list->items);
        }
        list->items[list->n++] = (struct scored){t->scores[id], m};
    }
    return PW_OK;
}

/* Moves the sorted merges into the tokenizer. Results of equal score have no order, so they are refused. */
static enum pw_code take_merges(struct pw_tokens *t, const struct scored_list *list, struct pw_err *err)
{
    t->merges = pw_alloc(list->n, sizeof *t->merges);
    for (size_t i = 0; i < list->n; i++) {
        struct pw_tok_merge m = list->items[i].merge;
        const struct scored *before = i > 0 ? &list->items[i - 1] : NULL;
        bool same = before != NULL && before->merge.id == m.id;
        if (before != NULL && !same && before->score == list->items[i].score)
            return pw_fail(err, PW_EUSER, "the pieces of ids %d and %d have the same score", before->merge.id,
                           m.id);
        m.rank = same ? t->merges[i - 1].rank : (int)i;
        t->merges[t->n_merges++] = m;
    }
    pw_tok_hash_pairs(t);
    return PW_OK;
}

enum pw_code pw_tok_score_merges(struct pw_tokens *t, struct pw_err *err)
{
    struct scored_list list = {0};
    enum pw_code code = PW_OK;
    for (int id = 0; id < t->n && code == PW_OK; id++)
        if (pw_tokens_piece(t, id) != NULL && !isnan(t->scores[id]))
            code = add_splits(t, id, &list, err);
    if (code == PW_OK && list.n > 0)
        qsort(list.items, list.n, sizeof *list.items, by_score);
    if (code == PW_OK)
        code = take_merges(t, &list, err);
    free(list.items);
    return code;
}
