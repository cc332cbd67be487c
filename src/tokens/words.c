/* words.c - the pre-tokenizer: cuts text into words, depth first, and encodes each word.
 *
 * The library applies a step to all pieces, then the next step. Each step looks at one piece alone, so the
 * order does not matter, and going through all steps for one piece needs no list of pieces. */
#include <string.h>

#include "tokens/tokens_int.h"

/* The cutting of one piece: spans between and at matches, with one kept back that can still grow. */
struct cutting {
    struct pw_tok_run *r;
    int next; /* index of the step that takes the spans */
    const char *s;
    bool first;
    enum pw_tok_behavior behavior;
    size_t start, end; /* the span that is kept back */
    bool kept, match;
};

static enum pw_code pass_span(const struct cutting *c, size_t start, size_t end)
{
    return start == end ? PW_OK
                        : pw_tok_words(c->r, c->next, c->s + start, end - start, c->first && start == 0);
}

static enum pw_code pass_kept(struct cutting *c)
{
    bool kept = c->kept;
    c->kept = false;
    return kept ? pass_span(c, c->start, c->end) : PW_OK;
}

/* Returns true if a span becomes one with the span kept back. */
static bool joins(const struct cutting *c, bool match)
{
    if (!c->kept)
        return false;
    switch (c->behavior) {
    case PW_TOK_CONTIGUOUS: return match == c->match;
    case PW_TOK_PREVIOUS: return match && !c->match;
    case PW_TOK_NEXT: return !match && c->match;
    default: return false;
    }
}

static enum pw_code take_span(struct cutting *c, size_t start, size_t end, bool match)
{
    if (c->behavior == PW_TOK_ISOLATED || c->behavior == PW_TOK_REMOVED)
        return c->behavior == PW_TOK_REMOVED && match ? PW_OK : pass_span(c, start, end);
    enum pw_code code = PW_OK;
    if (!joins(c, match)) {
        code = pass_kept(c);
        c->start = start;
    }
    c->end = end;
    c->match = match;
    c->kept = true;
    return code;
}

static enum pw_code split_words(struct pw_tok_run *r, int k, const char *s, size_t n, bool first)
{
    const struct pw_tok_step *step = &r->t->pre.list[k];
    struct cutting c = {.r = r, .next = k + 1, .s = s, .first = first, .behavior = step->behavior};
    struct pw_tok_find f = {.code = step->code, .s = s, .n = n};
    size_t behind = 0;
    bool found = true;
    enum pw_code code = PW_OK;
    while (code == PW_OK && found) {
        code = pw_tok_find_next(r, &f, &found);
        if (code != PW_OK || !found)
            break;
        if (behind < f.start)
            code = take_span(&c, behind, f.start, step->invert);
        if (code == PW_OK)
            code = take_span(&c, f.start, f.end, !step->invert);
        behind = f.end;
    }
    if (code == PW_OK && behind < n)
        code = take_span(&c, behind, n, step->invert);
    return code == PW_OK ? pass_kept(&c) : code;
}

static enum pw_code map_bytes(struct pw_tok_run *r, int k, const char *s, size_t n, bool first)
{
    struct pw_tok_buf *out = &r->level[k];
    out->n = 0;
    if (!pw_tok_room(out, 2 * n))
        return pw_tok_no_memory(r->err);
    for (size_t i = 0; i < n; i++) {
        char c[4];
        size_t size = pw_tok_map(c, (unsigned char)s[i]);
        memcpy(out->s + out->n, c, size);
        out->n += size;
    }
    return pw_tok_words(r, k + 1, out->s, out->n, first);
}

static enum pw_code lead_word(struct pw_tok_run *r, int k, const char *s, size_t n, bool first)
{
    const struct pw_tok_step *step = &r->t->pre.list[k];
    struct pw_tok_buf *out = &r->level[k];
    if ((step->first && !first) || (n >= step->n && memcmp(s, step->text, step->n) == 0))
        return pw_tok_words(r, k + 1, s, n, first);
    out->n = 0;
    if (!pw_tok_put(out, step->text, step->n) || !pw_tok_put(out, s, n))
        return pw_tok_no_memory(r->err);
    return pw_tok_words(r, k + 1, out->s, out->n, first);
}

static enum pw_code replace_words(struct pw_tok_run *r, int k, const char *s, size_t n, bool first)
{
    struct pw_tok_buf *out = &r->level[k];
    out->n = 0;
    enum pw_code code = pw_tok_replace(r, &r->t->pre.list[k], s, n, out);
    return code == PW_OK ? pw_tok_words(r, k + 1, out->s, out->n, first) : code;
}

enum pw_code pw_tok_words(struct pw_tok_run *r, int k, const char *s, size_t n, bool first)
{
    if (n == 0)
        return PW_OK;
    if (k == r->t->pre.n)
        return pw_tok_merge_word(r, s, n);
    switch (r->t->pre.list[k].kind) {
    case PW_TOK_SPLIT: return split_words(r, k, s, n, first);
    case PW_TOK_MAP: return map_bytes(r, k, s, n, first);
    case PW_TOK_LEAD: return lead_word(r, k, s, n, first);
    default: return replace_words(r, k, s, n, first);
    }
}
