/* added.c - added tokens: they are cut out of the text, the longest first at each place, before words are
 * made.
 *
 * Tokens that are not `normalized` are looked for in the text as it is, the others in the normalised rest. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tokens/tokens_int.h"

/* Checks the id of a token that is not in the vocabulary. tokenizers does not read it but counts: behind the
 * vocabulary, then behind the added token of the highest id so far. */
static enum pw_code check_id(const struct pw_tokens *t, int id, int highest, const char *content,
                             struct pw_err *err)
{
    int expected = highest >= t->n_vocab ? highest + 1 : t->n_vocab;
    return id == expected ? PW_OK
                          : pw_fail(err, PW_EUSER,
                                    "added_tokens: '%.40s' has id %d, but its place in the list gives it %d",
                                    content, id, expected);
}

enum pw_code pw_tok_read_added(struct pw_tokens *t, const cJSON *list, struct pw_err *err)
{
    const cJSON *o;
    const char at[] = "added_tokens", *content;
    int highest = -1;
    t->added = pw_alloc((size_t)cJSON_GetArraySize(list), sizeof *t->added);
    cJSON_ArrayForEach(o, list)
    {
        struct pw_tok_added *a = &t->added[t->n_added];
        bool special;
        enum pw_code code = pw_tok_json_int(o, at, "id", t->n - 1, &a->id, err);
        if (code == PW_OK)
            code = pw_tok_json_text(o, at, "content", true, &content, err);
        if (code == PW_OK)
            code = pw_tok_json_bool(o, at, "special", false, &special, err);
        if (code == PW_OK)
            code = pw_tok_json_bool(o, at, "single_word", false, &a->single_word, err);
        if (code == PW_OK)
            code = pw_tok_json_bool(o, at, "lstrip", false, &a->lstrip, err);
        if (code == PW_OK)
            code = pw_tok_json_bool(o, at, "rstrip", false, &a->rstrip, err);
        if (code == PW_OK)
            code = pw_tok_json_bool(o, at, "normalized", !special, &a->normalized, err);
        if (code != PW_OK)
            return code;
        if (strlen(content) > PW_TOK_ADDED)
            return pw_fail(err, PW_EUSER, "added_tokens: the content of id %d has more than %d bytes", a->id,
                           PW_TOK_ADDED);
        if (pw_tokens_find(t, content) < 0)
            code = check_id(t, a->id, highest, content, err);
        if (code == PW_OK)
            code = pw_tok_add_piece(t, a->id, content, at, err);
        highest = a->id > highest ? a->id : highest;
        if (code != PW_OK)
            return code;
        t->special[a->id] = t->special[a->id] || special;
        t->n_added++;
    }
    return PW_OK;
}

/* ---- trees */

static int add_node(struct pw_tok_tree *tree, unsigned char byte)
{
    if (tree->n == tree->cap) {
        tree->cap = tree->cap > 0 ? 2 * tree->cap : 64;
        tree->nodes = pw_grow(tree->nodes, (size_t)tree->cap, sizeof *tree->nodes);
    }
    tree->nodes[tree->n] = (struct pw_tok_node){.added = -1, .byte = byte};
    return tree->n++;
}

static int child_of(const struct pw_tok_tree *tree, int node, unsigned char byte)
{
    int at = tree->nodes[node].child;
    while (at > 0 && tree->nodes[at].byte != byte)
        at = tree->nodes[at].sibling;
    return at;
}

/* Adds a text; of equal texts the first counts. */
static void plant_text(struct pw_tok_tree *tree, const char *s, size_t n, int added)
{
    int node = 0;
    if (n == 0)
        return;
    if (tree->n == 0)
        (void)add_node(tree, 0);
    tree->starts[(unsigned char)s[0]] = true;
    for (size_t i = 0; i < n; i++) {
        int child = child_of(tree, node, (unsigned char)s[i]);
        if (child == 0) {
            child = add_node(tree, (unsigned char)s[i]);
            tree->nodes[child].sibling = tree->nodes[node].child;
            tree->nodes[node].child = child;
        }
        node = child;
    }
    if (tree->nodes[node].added < 0)
        tree->nodes[node].added = added;
}

enum pw_code pw_tok_plant(struct pw_tokens *t, struct pw_err *err)
{
    struct pw_tok_run r;
    enum pw_code code =
        pw_tok_compile(&t->word, "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]", PW_TOK_PCRE, err);
    if (code == PW_OK)
        code = pw_tok_begin(&r, t, err);
    if (code != PW_OK)
        return code;
    /* tokenizers adds special tokens before the others. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->n_added && code == PW_OK; i++) {
            const struct pw_tok_added *a = &t->added[i];
            const char *s = pw_tokens_piece(t, a->id);
            if (t->special[a->id] != (pass == 0))
                continue;
            if (!a->normalized) {
                plant_text(&t->raw, s, strlen(s), i);
                continue;
            }
            code = pw_tok_normalise(&r, s, strlen(s));
            if (code != PW_OK)
                break;
            plant_text(&t->normed, r.text[0].s, r.text[0].n, i);
            /* tokenizers decodes it as it was found */
            code = pw_tok_keep_spoken(t, a->id, r.text[0].s, r.text[0].n, err);
        }
    pw_tok_end(&r);
    return code;
}

/* ---- cutting */

/* Returns the bytes of the longest added token at s, and its index. */
static size_t longest_at(const struct pw_tok_tree *tree, const char *s, size_t n, int *added)
{
    size_t best = 0;
    int node = 0;
    for (size_t i = 0; i < n; i++) {
        node = child_of(tree, node, (unsigned char)s[i]);
        if (node == 0)
            break;
        if (tree->nodes[node].added >= 0) {
            best = i + 1;
            *added = tree->nodes[node].added;
        }
    }
    return best;
}

/* Returns the begin of the character that ends before byte `at` > 0. */
static size_t character_before(const char *s, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)s[at] & 0xc0) == 0x80);
    return at;
}

static bool is_word_at(struct pw_tok_run *r, const char *s, size_t n)
{
    return pcre2_match(r->t->word, (PCRE2_SPTR)s, n, 0, PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, r->match,
                       r->limits) > 0;
}

/* Returns true if no word continues at either end of a match. */
static bool is_single(struct pw_tok_run *r, const char *s, size_t n, size_t start, size_t end)
{
    if (start > 0 && is_word_at(r, s + character_before(s, start), start - character_before(s, start)))
        return false;
    return end == n || !is_word_at(r, s + end, n - end);
}

static size_t strip_left(const char *s, size_t from, size_t start)
{
    while (start > from) {
        uint32_t cp;
        size_t before = character_before(s, start);
        (void)pw_utf8_next(s + before, start - before, &cp);
        if (!pw_tok_is_space(cp))
            break;
        start = before;
    }
    return start;
}

static size_t strip_right(const char *s, size_t n, size_t end)
{
    while (end < n) {
        uint32_t cp;
        size_t size = pw_utf8_next(s + end, n - end, &cp);
        if (!pw_tok_is_space(cp))
            break;
        end += size;
    }
    return end;
}

enum pw_code pw_tok_cut_added(struct pw_tok_run *r, const struct pw_tok_tree *tree, const char *s, size_t n,
                              bool first, pw_tok_rest *rest)
{
    size_t behind = 0, space = 0, space_end = 0; /* white space that was looked at before */
    enum pw_code code = PW_OK;
    for (size_t at = 0; tree->n > 0 && at < n && code == PW_OK;) {
        int k = -1;
        size_t size = tree->starts[(unsigned char)s[at]] ? longest_at(tree, s + at, n - at, &k) : 0;
        if (size == 0) {
            at++;
            continue;
        }
        const struct pw_tok_added *a = &r->t->added[k];
        size_t start = at, end = at + size;
        at = end;
        if (a->single_word && !is_single(r, s, n, start, end))
            continue;
        if (a->lstrip) {
            start = strip_left(s, behind, start);
            start = start > behind ? start : behind;
        }
        if (a->rstrip && end >= space && end <= space_end)
            end = space_end;
        else if (a->rstrip) {
            space = end;
            end = space_end = strip_right(s, n, end);
        }
        if (behind < start)
            code = rest(r, s + behind, start - behind, first && behind == 0);
        /* As in tokenizers, a match in the white space that the one before has taken counts, unless nothing
         * is left of it. */
        if (code == PW_OK && start < end)
            code = pw_tok_append(r, a->id);
        behind = end;
    }
    return code == PW_OK && behind < n ? rest(r, s + behind, n - behind, first && behind == 0) : code;
}
