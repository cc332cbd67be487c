/* model.c - the pieces and merges of a file, and two hashes: of pieces, and of pairs that merge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mix.h"
#include "tokens/tokens_int.h"

/* ---- pieces */

static uint64_t hash_piece(const char *s, size_t n)
{
    uint64_t h = n;
    while (n > 0) {
        uint64_t part = 0;
        size_t k = n < 8 ? n : 8;
        memcpy(&part, s, k);
        h = pw_mix64(h ^ part);
        s += k;
        n -= k;
    }
    return h;
}

/* Returns the slot of a piece: its own, or the empty one where it belongs. */
static uint32_t slot_of(const struct pw_tokens *t, const char *s, size_t n)
{
    for (uint32_t i = (uint32_t)hash_piece(s, n);; i++) {
        uint32_t at = i & (t->n_slots - 1);
        const char *piece = t->slots[at] > 0 ? pw_tokens_piece(t, t->slots[at] - 1) : NULL;
        if (piece == NULL || (strncmp(piece, s, n) == 0 && piece[n] == '\0'))
            return at;
    }
}

int pw_tok_find_piece(const struct pw_tokens *t, const char *piece, size_t n)
{
    if (memchr(piece, '\0', n) != NULL) /* no piece has a NUL */
        return -1;
    return t->slots[slot_of(t, piece, n)] - 1;
}

int pw_tok_find_vocab(const struct pw_tokens *t, const char *piece, size_t n)
{
    int id = pw_tok_find_piece(t, piece, n);
    return id >= 0 && t->in_vocab[id] ? id : -1;
}

enum pw_code pw_tok_add_piece(struct pw_tokens *t, int id, const char *piece, const char *at,
                              struct pw_err *err)
{
    size_t n = strlen(piece);
    if (n == 0)
        return pw_fail(err, PW_EUSER, "%s: the piece of id %d is empty", at, id);
    uint32_t slot = slot_of(t, piece, n);
    if (t->slots[slot] == id + 1)
        return PW_OK;
    if (t->slots[slot] > 0)
        return pw_fail(err, PW_EUSER, "%s: the piece '%.40s' has two ids, %d and %d", at, piece,
                       t->slots[slot] - 1, id);
    if (pw_tokens_piece(t, id) != NULL)
        return pw_fail(err, PW_EUSER, "%s: id %d has two pieces, '%.40s' and '%.40s'", at, id,
                       pw_tokens_piece(t, id), piece);
    enum pw_code code = pw_tok_keep_piece(t, id, piece, n, err);
    t->slots[slot] = code == PW_OK ? id + 1 : 0;
    return code;
}

static enum pw_code read_pieces(struct pw_tokens *t, const cJSON *vocab, struct pw_err *err)
{
    const cJSON *v;
    int id;
    cJSON_ArrayForEach(v, vocab)
    {
        if (!pw_tok_json_whole(v, t->n - 1, &id))
            return pw_fail(err, PW_EUSER, "vocab: the id of '%.40s' must be a number from 0 to %d", v->string,
                           t->n - 1);
        int known = pw_tokens_find(t, v->string);
        if (known >= 0)
            return pw_fail(err, PW_EUSER, "vocab: the piece '%.40s' is there twice", v->string);
        enum pw_code code = pw_tok_add_piece(t, id, v->string, "vocab", err);
        if (code != PW_OK)
            return code;
        t->in_vocab[id] = true;
    }
    return PW_OK;
}

/* ---- merges */

static uint32_t pair_slot(const struct pw_tokens *t, int left, int right)
{
    for (uint32_t i = (uint32_t)pw_mix64((uint64_t)(uint32_t)left << 32 | (uint32_t)right);; i++) {
        uint32_t at = i & (t->n_pair_slots - 1);
        const struct pw_tok_merge *m = t->pair_slots[at] > 0 ? &t->merges[t->pair_slots[at] - 1] : NULL;
        if (m == NULL || (m->left == left && m->right == right))
            return at;
    }
}

int pw_tok_find_merge(const struct pw_tokens *t, int left, int right)
{
    int at = t->pair_slots[pair_slot(t, left, right)] - 1;
    return at >= 0 ? t->merges[at].rank : -1;
}

void pw_tok_hash_pairs(struct pw_tokens *t)
{
    t->n_pair_slots = 16;
    while (t->n_pair_slots < 2 * (uint32_t)t->n_merges)
        t->n_pair_slots *= 2;
    t->pair_slots = pw_alloc(t->n_pair_slots, sizeof *t->pair_slots);
    for (int i = 0; i < t->n_merges; i++)
        t->pair_slots[pair_slot(t, t->merges[i].left, t->merges[i].right)] = i + 1;
}

/* Finds the two pieces of a merge: "a b", or a list of two texts. *left is not NUL-terminated. */
static bool read_pair(const cJSON *m, const char **left, size_t *n_left, const char **right)
{
    if (cJSON_IsString(m)) {
        const char *blank = strchr(m->valuestring, ' ');
        if (blank == NULL || strchr(blank + 1, ' ') != NULL)
            return false;
        *left = m->valuestring;
        *n_left = (size_t)(blank - m->valuestring);
        *right = blank + 1;
        return true;
    }
    const cJSON *a = cJSON_IsArray(m) ? m->child : NULL, *b = a != NULL ? a->next : NULL;
    if (!cJSON_IsString(a) || !cJSON_IsString(b) || b->next != NULL)
        return false;
    *left = a->valuestring;
    *n_left = strlen(a->valuestring);
    *right = b->valuestring;
    return true;
}

static enum pw_code read_merge(struct pw_tokens *t, const cJSON *m, struct pw_str *both, struct pw_err *err)
{
    const char *left, *right;
    size_t n_left;
    if (!read_pair(m, &left, &n_left, &right))
        return pw_fail(err, PW_EUSER, "merges: entry %d must be \"a b\" or [\"a\", \"b\"]", t->n_merges);
    pw_str_clear(both);
    pw_str_put(both, left, n_left);
    pw_str_put(both, right, strlen(right));
    struct pw_tok_merge merge = {.left = pw_tok_find_piece(t, left, n_left),
                                 .right = pw_tokens_find(t, right),
                                 .id = pw_tokens_find(t, pw_str_text(both))};
    if (merge.left < 0)
        return pw_fail(err, PW_EUSER, "merges: entry %d: '%.*s' is not in the vocabulary", t->n_merges,
                       (int)(n_left < 60 ? n_left : 60), left);
    if (merge.right < 0 || merge.id < 0)
        return pw_fail(err, PW_EUSER, "merges: entry %d: '%.60s' is not in the vocabulary", t->n_merges,
                       merge.right < 0 ? right : pw_str_text(both));
    merge.rank = t->n_merges;
    t->merges[t->n_merges++] = merge;
    return PW_OK;
}

static enum pw_code read_merges(struct pw_tokens *t, const cJSON *list, struct pw_err *err)
{
    struct pw_str both = {0};
    const cJSON *m;
    enum pw_code code = PW_OK;
    int n = cJSON_GetArraySize(list);
    t->merges = pw_alloc((size_t)n, sizeof *t->merges);
    cJSON_ArrayForEach(m, list)
    {
        code = read_merge(t, m, &both, err);
        if (code != PW_OK)
            break;
    }
    pw_str_fini(&both);
    if (code == PW_OK)
        pw_tok_hash_pairs(t);
    return code;
}

/* ---- the model */

static enum pw_code read_flags(struct pw_tokens *t, const cJSON *model, struct pw_err *err)
{
    const char *unk;
    enum pw_code code = pw_tok_json_bool(model, "model", "fuse_unk", false, &t->fuse_unk, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(model, "model", "byte_fallback", false, &t->byte_fallback, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(model, "model", "ignore_merges", false, &t->ignore_merges, err);
    if (code == PW_OK)
        code = pw_tok_json_text(model, "model", "unk_token", false, &unk, err);
    if (code != PW_OK)
        return code;
    t->unk = unk != NULL ? pw_tokens_find(t, unk) : -1;
    if (unk != NULL && t->unk < 0)
        return pw_fail(err, PW_EUSER, "model: the unk_token '%.40s' is not in the vocabulary", unk);
    for (int b = 0; b < 256; b++) {
        char piece[8];
        snprintf(piece, sizeof piece, "<0x%02X>", (unsigned)b);
        t->fallback[b] = pw_tokens_find(t, piece);
    }
    return PW_OK;
}

/* Refuses members that change the pieces in ways that are not known here. */
static enum pw_code check_model(const cJSON *model, struct pw_err *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const char *type, *affix;
    const cJSON *dropout = pw_tok_json_get(model, "dropout");
    if (!cJSON_IsObject(model))
        return pw_fail(err, PW_EUSER, "it has no 'model'");
    enum pw_code code = pw_tok_json_text(model, "model", "type", false, &type, err);
    if (code == PW_OK && type != NULL && strcmp(type, "BPE") != 0)
        return pw_fail(err, PW_EUSER, "model: type '%.40s' is not supported; allowed is BPE", type);
    if (code == PW_OK && dropout != NULL && !(cJSON_IsNumber(dropout) && dropout->valuedouble == 0))
        return pw_fail(err, PW_EUSER, "model: 'dropout' is not supported: the ids would depend on chance");
    for (int i = 0; i < 2 && code == PW_OK; i++) {
        code = pw_tok_json_text(model, "model", affixes[i], false, &affix, err);
        if (code == PW_OK && affix != NULL && *affix != '\0')
            return pw_fail(err, PW_EUSER, "model: '%s' is not supported", affixes[i]);
    }
    if (code == PW_OK && !cJSON_IsObject(pw_tok_json_get(model, "vocab")))
        return pw_fail(err, PW_EUSER, "model: 'vocab' must be an object of pieces and ids");
    if (code == PW_OK && !cJSON_IsArray(pw_tok_json_get(model, "merges")))
        return pw_fail(err, PW_EUSER, "model: 'merges' must be a list");
    return code;
}

enum pw_code pw_tok_read_model(struct pw_tokens *t, const cJSON *model, struct pw_err *err)
{
    enum pw_code code = check_model(model, err);
    if (code == PW_OK)
        code = read_pieces(t, pw_tok_json_get(model, "vocab"), err);
    if (code == PW_OK)
        code = read_flags(t, model, err);
    if (code == PW_OK && t->scores != NULL)
        return pw_tok_score_merges(t, err);
    return code == PW_OK ? read_merges(t, pw_tok_json_get(model, "merges"), err) : code;
}
