/* documents_split.c - the trained and the held-out part of a text, and windows of both (see documents.h).
 *
 * The windows of a length are counted without a list. Stretches are in descending order of tokens, so those
 * that hold a window come first. The first i of them have sums[i] - i * (tokens - 1) windows. */
#include "tasks/documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define TENTH 10

static int by_tokens(const void *a, const void *b)
{
    const struct pw_stretch *x = a, *y = b;
    if (x->tokens != y->tokens)
        return x->tokens > y->tokens ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static void add_stretch(struct pw_text_part *p, struct pw_stretch s)
{
    if (s.tokens == 0)
        return;
    p->list = pw_grow(p->list, (size_t)p->n + 1, sizeof *p->list);
    p->list[p->n++] = s;
}

static void sum_part(struct pw_text_part *p)
{
    if (p->n > 0)
        qsort(p->list, (size_t)p->n, sizeof *p->list, by_tokens);
    p->sums = pw_alloc((size_t)p->n + 1, sizeof *p->sums);
    for (int i = 0; i < p->n; i++)
        p->sums[i + 1] = p->sums[i] + p->list[i].tokens;
}

/* Documents in the order of their content, so that names and the order of the folder don't matter. */
struct place {
    const uint8_t *sha;
    int document;
};

static int by_sha(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = memcmp(x->sha, y->sha, 32);
    return order != 0 ? order : (x->document > y->document) - (x->document < y->document);
}

/* Holds one document in ten out, at least one. Equal documents stay on one side. */
static void split_documents(struct pw_documents *d)
{
    struct place *order = pw_alloc((size_t)d->n, sizeof *order);
    for (int i = 0; i < d->n; i++)
        order[i] = (struct place){d->list[i].sha, i};
    qsort(order, (size_t)d->n, sizeof *order, by_sha);
    int held = (d->n + TENTH / 2) / TENTH;
    held = held > 0 ? held : 1;
    while (held < d->n && memcmp(order[held].sha, order[held - 1].sha, 32) == 0)
        held++;
    for (int i = 0; i < d->n; i++) {
        int doc = order[i].document;
        add_stretch(&d->parts[i < held ? PW_PART_HELD : PW_PART_TRAINED],
                    (struct pw_stretch){doc, 0, d->list[doc].tokens});
    }
    free(order);
}

/* Holds the last tenth of a single document out. */
static void split_position(struct pw_documents *d)
{
    int64_t all = d->list[0].tokens, held = all / TENTH;
    add_stretch(&d->parts[PW_PART_TRAINED], (struct pw_stretch){0, 0, all - held});
    add_stretch(&d->parts[PW_PART_HELD], (struct pw_stretch){0, all - held, held});
}

enum pw_code pw_documents_split(struct pw_documents *d, struct pw_err *err)
{
    if (d->n > 1)
        split_documents(d);
    else
        split_position(d);
    for (int p = 0; p < PW_PARTS; p++)
        sum_part(&d->parts[p]);
    return d->parts[PW_PART_TRAINED].n > 0
               ? PW_OK
               : pw_fail(err, PW_EUSER,
                         "text: all %d documents are equal; different ones are needed to hold one out", d->n);
}

int64_t pw_documents_longest(const struct pw_documents *d, int part)
{
    const struct pw_text_part *p = &d->parts[part];
    return p->n > 0 ? p->list[0].tokens : 0;
}

int64_t pw_documents_tokens(const struct pw_documents *d, int part)
{
    return d->parts[part].sums[d->parts[part].n];
}

/* Returns the number of stretches that hold a window. */
static int n_holding(const struct pw_text_part *p, int64_t tokens)
{
    int lo = 0, hi = p->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (p->list[mid].tokens >= tokens)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int64_t windows_before(const struct pw_text_part *p, int i, int64_t tokens)
{
    return p->sums[i] - i * (tokens - 1);
}

int64_t pw_documents_windows(const struct pw_documents *d, int part, int64_t tokens)
{
    const struct pw_text_part *p = &d->parts[part];
    return windows_before(p, n_holding(p, tokens), tokens);
}

void pw_documents_window(const struct pw_documents *d, int part, int64_t tokens, int64_t k, int *document,
                         int64_t *start)
{
    const struct pw_text_part *p = &d->parts[part];
    int lo = 0, hi = n_holding(p, tokens); /* the last i with windows_before(i) <= k */
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (windows_before(p, mid, tokens) <= k)
            lo = mid;
        else
            hi = mid;
    }
    *document = p->list[lo].document;
    *start = p->list[lo].start + k - windows_before(p, lo, tokens);
}

/* Returns the byte offset of n characters after byte `at`. */
static size_t skip_chars(const struct pw_document *doc, size_t at, int64_t n)
{
    while (n-- > 0) {
        uint32_t cp;
        at += pw_utf8_next(doc->text + at, doc->bytes - at, &cp);
    }
    return at;
}

const char *pw_documents_text(const struct pw_documents *d, int document, int64_t start, int n, size_t *bytes)
{
    const struct pw_document *doc = &d->list[document];
    size_t at = (size_t)start;
    *bytes = (size_t)n;
    if (d->chars) {
        at = skip_chars(doc, doc->marks[start / PW_DOCUMENTS_MARK], start % PW_DOCUMENTS_MARK);
        *bytes = skip_chars(doc, at, n) - at;
    }
    return doc->text + at;
}
