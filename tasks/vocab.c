/* vocab.c - the vocabulary: words to ids, and text cut into tokens.
 *
 * Cutting takes the longest word at every position. The hash is FNV-1a because it is incremental in bytes:
 * one pass gives the hash of every prefix of the remaining text. A token costs one probe per byte of the
 * longest word, so a batch's texts are cut while the previous step runs, without a cache. */
#include "base/alloc.h"
#include "tasks/read.h"
#include "tasks/task.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t fnv(uint32_t h, char c)
{
    return (h ^ (unsigned char)c) * 16777619u;
}

#define FNV_START 2166136261u

/* Returns the slot of a word: its own, or the empty slot where it belongs. hash holds id + 1; 0 is empty. */
static int slot_of(const struct pw_vocab *v, uint32_t h, const char *word, size_t n)
{
    uint32_t mask = (uint32_t)v->n_hash - 1;
    for (uint32_t i = h & mask;; i = (i + 1) & mask) {
        const char *w;
        if (v->hash[i] == 0)
            return (int)i;
        w = v->words[v->hash[i] - 1];
        if (strncmp(w, word, n) == 0 && w[n] == '\0')
            return (int)i;
    }
}

static uint32_t hash_of(const char *word, size_t n)
{
    uint32_t h = FNV_START;
    for (size_t i = 0; i < n; i++)
        h = fnv(h, word[i]);
    return h;
}

static void rehash(struct pw_vocab *v, int n_hash)
{
    v->hash = pw_grow(v->hash, (size_t)n_hash, sizeof *v->hash);
    v->n_hash = n_hash;
    memset(v->hash, 0, (size_t)n_hash * sizeof *v->hash);
    for (int id = 0; id < v->n; id++) {
        size_t n = strlen(v->words[id]);
        v->hash[slot_of(v, hash_of(v->words[id], n), v->words[id], n)] = id + 1;
    }
}

/* Copies a word of n bytes. A tokenizer has tens of thousands of short words, so several share a block. */
static char *keep_word(struct pw_vocab *v, const char *word, size_t n)
{
    enum { FIRST = 256, MOST = 64 << 10 };
    if (v->block - v->used < n + 1) {
        size_t block = v->n_blocks == 0 ? FIRST : v->block < MOST ? 2 * v->block : MOST;
        v->block = block > n ? block : n + 1;
        v->blocks = pw_grow(v->blocks, (size_t)v->n_blocks + 1, sizeof *v->blocks);
        v->blocks[v->n_blocks++] = pw_grow(NULL, v->block, 1);
        v->used = 0;
    }
    char *at = v->blocks[v->n_blocks - 1] + v->used;
    v->used += n + 1;
    return memcpy(at, word, n + 1);
}

int pw_vocab_add(struct pw_vocab *v, const char *word)
{
    size_t n = strlen(word);
    int slot;
    assert(n > 0);
    if (2 * (v->n + 1) > v->n_hash) /* at most half full */
        rehash(v, v->n_hash > 0 ? 2 * v->n_hash : 64);
    slot = slot_of(v, hash_of(word, n), word, n);
    if (v->hash[slot] != 0)
        return v->hash[slot] - 1;
    if (v->n == v->cap) {
        v->cap = v->cap > 0 ? 2 * v->cap : 32;
        v->words = pw_grow(v->words, (size_t)v->cap, sizeof *v->words);
    }
    v->words[v->n] = keep_word(v, word, n);
    if ((int)n > v->longest)
        v->longest = (int)n;
    v->hash[slot] = v->n + 1;
    return v->n++;
}

int pw_vocab_find(const struct pw_vocab *v, const char *word, size_t n)
{
    if (v->n == 0 || n == 0)
        return -1;
    return v->hash[slot_of(v, hash_of(word, n), word, n)] - 1;
}

bool pw_vocab_ends(const struct pw_vocab *v, int token)
{
    return token == PW_EOS && !v->plain;
}

/* Finds the longest word at the beginning of text, and its bytes. Padding and end mark cannot be typed. */
static int longest_at(const struct pw_vocab *v, const char *text, size_t *bytes)
{
    uint32_t h = FNV_START;
    int best = -1;
    if (v->n == 0)
        return -1;
    for (int k = 0; k < v->longest && text[k] != '\0'; k++) {
        int id;
        h = fnv(h, text[k]);
        id = v->hash[slot_of(v, h, text, (size_t)k + 1)] - 1;
        if (id > PW_EOS || (id >= 0 && v->plain)) {
            best = id;
            *bytes = (size_t)k + 1;
        }
    }
    return best;
}

static int unknown(const struct pw_vocab *v, const char *at, struct pw_err *err)
{
    struct pw_str some = {0};
    size_t blank = strspn(at, " "), n = blank + strcspn(at + blank, " ");
    for (int id = PW_EOS + 1; id < v->n && id < PW_EOS + 13; id++)
        pw_str_add(&some, "%s'%s'", id > PW_EOS + 1 ? " " : "", v->words[id]);
    pw_fail(err, PW_EUSER, "no token '%s'; tokens are %s%s", pw_piece_text((struct pw_piece){at, n}).s,
            pw_str_text(&some), v->n > PW_EOS + 13 ? " ..." : "");
    pw_str_fini(&some);
    return -1;
}

int pw_vocab_cut(const struct pw_vocab *v, const char *text, int *tokens, int max, struct pw_err *err)
{
    int n = 0;
    if (v->pieces != PW_PIECES_WORDS) {
        n = pw_vocab_cut_pieces(v, text, strlen(text), tokens, tokens != NULL ? max : 0, err);
        text = "";
    }
    while (*text != '\0') {
        size_t bytes = 0;
        int id = longest_at(v, text, &bytes);
        if (id < 0)
            return unknown(v, text, err);
        if (tokens != NULL && n < max)
            tokens[n] = id;
        n++;
        text += bytes;
    }
    if (n > max) {
        pw_fail(err, PW_EUSER, "the text has %d tokens; at most %d are allowed", n, max);
        return -1;
    }
    return n;
}

bool pw_vocab_same(const struct pw_vocab *a, const struct pw_vocab *b)
{
    if (a->n != b->n)
        return false;
    for (int id = 0; id < a->n; id++)
        if (strcmp(a->words[id], b->words[id]) != 0)
            return false;
    return true;
}

void pw_vocab_fini(struct pw_vocab *v)
{
    for (int i = 0; i < v->n_blocks; i++)
        free(v->blocks[i]);
    free(v->blocks);
    free(v->words);
    free(v->hash);
    free(v->chars);
    *v = (struct pw_vocab){0};
}
