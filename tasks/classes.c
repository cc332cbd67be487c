/* classes.c - the class of each token: digits, separators, symbols, and the last token of every prompt.
 *
 * All but the last token follow from the word. It is known if a few prompts of a task end with the same
 * token; in a mixture that must hold for every task. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tasks/task.h"

enum { TRIED = 8 }; /* prompts per task */

static enum pw_token_class class_of(const char *word)
{
    const char *s = word[0] == ' ' ? word + 1 : word;
    bool one = s[0] != '\0' && s[1] == '\0', letters = false;
    if (one && isdigit((unsigned char)*s))
        return PW_TOKEN_DIGIT;
    if (one && pw_symbol_index(s, 1) >= 0)
        return PW_TOKEN_SYMBOL;
    for (const char *c = s; *c != '\0'; c++)
        letters = letters || isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80;
    return letters ? PW_TOKEN_WORD : PW_TOKEN_SEPARATOR;
}

/* Returns the class of a piece of a tokenizer: a number is a digit, one letter is a symbol. */
static enum pw_token_class class_of_piece(const struct pw_tokens *t, int id)
{
    struct pw_str text = {0};
    size_t n, digits;
    const char *s = pw_tokens_bytes(t, id, &n);
    pw_str_put(&text, s, n);
    s = pw_str_text(&text);
    digits = strspn(s + (*s == ' '), "0123456789");
    enum pw_token_class class = digits > 0 && s[digits + (*s == ' ')] == '\0' ? PW_TOKEN_DIGIT : class_of(s);
    pw_str_fini(&text);
    return pw_tokens_special(t, id) ? PW_TOKEN_WORD : class;
}

static enum pw_token_class class_of_token(const struct pw_vocab *v, int token)
{
    if ((token == PW_PAD || token == PW_EOS) && !v->plain)
        return PW_TOKEN_WORD;
    if (v->pieces == PW_PIECES_TOKENS && token >= pw_tokens_count(v->tokenizer))
        return PW_TOKEN_WORD;
    return v->pieces == PW_PIECES_TOKENS ? class_of_piece(v->tokenizer, token) : class_of(v->words[token]);
}

/* Returns the last token of a task's prompts; -1: they differ, or can have it in other places, too. */
static int last_of(const struct pw_taskset *set, int t)
{
    const struct pw_task_use *use = &set->use[t];
    int lo = pw_task_train(use).lo, hi = pw_task_train(use).hi, found = -1;
    if (use->task->last_recurs)
        return -1;
    for (int i = 0; i < TRIED; i++) {
        int length = lo + (hi - lo) * i / TRIED, most = pw_taskset_tokens_at(set, t, length);
        struct pw_sample x = {.tokens = pw_alloc((size_t)most, sizeof(int)), .cap = most};
        pw_taskset_sample(set, 1, PW_SPLIT_TEST, (uint64_t)i, t, length, &x);
        int last = x.tokens[x.n_prompt - 1], at = 0;
        while (x.tokens[at] != last)
            at++;
        bool only = at == x.n_prompt - 1;
        free(x.tokens);
        if (!only || (i > 0 && last != found))
            return -1;
        found = last;
    }
    return found;
}

void pw_taskset_classes(const struct pw_taskset *set, unsigned char *classes)
{
    int last[PW_MAX_TASKS];
    bool all = true;
    for (int v = 0; v < set->vocab.n; v++)
        classes[v] = (unsigned char)class_of_token(&set->vocab, v);
    for (int t = 0; t < set->n; t++) {
        last[t] = last_of(set, t);
        all = all && last[t] >= 0;
    }
    for (int t = 0; t < set->n && all; t++)
        classes[last[t]] = PW_TOKEN_LAST;
}
