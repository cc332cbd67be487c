/* ref_texts.c - see ref_texts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"

#define MAX 4096

void texts_open(struct pw_taskset *set, const char *text)
{
    struct pw_err err = {0};
    if (pw_taskset_init(set, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
}

/* Appends the first n tokens as text, with a bar between prompt and answer. */
static void spell(const struct pw_taskset *set, const struct pw_sample *s, int n, struct pw_str *out)
{
    for (int i = 0; i < n; i++)
        pw_str_add(out, "%s%s", i == s->n_prompt ? "|" : "", set->vocab.words[s->tokens[i]]);
}

void texts_reads(const struct texts_good *g, const char *typed)
{
    struct pw_taskset set;
    struct pw_err err = {0};
    struct pw_str got = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    texts_open(&set, g->set);
    if (pw_taskset_prompt(&set, typed, MAX, &s, &err) != PW_OK)
        fail_msg("%s: '%s': %s", g->set, typed, err.msg);
    assert_true(s.n > s.n_prompt && tokens[s.n - 1] == PW_EOS);
    spell(&set, &s, s.n - 1, &got);
    assert_string_equal(got.s, g->spelt);
    assert_int_equal(s.task, g->task);
    assert_int_equal(s.length, g->length);
    pw_str_fini(&got);
    pw_taskset_fini(&set);
}

void texts_typed(const struct typed *cases, size_t n, int max)
{
    for (size_t i = 0; i < n; i++) {
        struct pw_taskset set;
        int tokens[MAX];
        struct pw_sample s = {.tokens = tokens, .cap = max};
        struct pw_str got = {0};
        struct pw_err err = {0};
        texts_open(&set, cases[i].set);
        enum pw_code code = pw_taskset_prompt(&set, cases[i].typed, max, &s, &err);
        if (code == PW_OK)
            spell(&set, &s, s.n, &got);
        else
            pw_str_add(&got, "%s", err.msg);
        assert_string_equal(got.s, cases[i].said);
        assert_true(code == PW_OK || code == PW_EUSER);
        pw_str_fini(&got);
        pw_taskset_fini(&set);
    }
}

char *texts_one(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t i, int length,
                struct pw_sample *s)
{
    static int tokens[MAX];
    struct pw_str prompt = {0}, answer = {0};
    *s = (struct pw_sample){.tokens = tokens, .cap = MAX};
    pw_taskset_sample(set, seed, split, i, 0, length, s);
    pw_taskset_sample_text(set, seed, split, i, 0, length, &prompt, &answer);
    pw_str_fini(&answer);
    return prompt.s;
}

int texts_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct texts texts_take(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t first,
                        int n)
{
    struct texts t = {n, malloc((size_t)n * sizeof *t.v)};
    struct pw_sample s;
    for (int i = 0; i < n; i++)
        t.v[i] = texts_one(set, seed, split, first + (uint64_t)i, 0, &s);
    qsort(t.v, (size_t)n, sizeof *t.v, texts_compare);
    return t;
}

void texts_drop(struct texts t)
{
    for (int i = 0; i < t.n; i++)
        free(t.v[i]);
    free(t.v);
}

int texts_different(struct texts t)
{
    int n = t.n > 0;
    for (int i = 1; i < t.n; i++)
        n += strcmp(t.v[i - 1], t.v[i]) != 0;
    return n;
}

bool texts_have(struct texts t, const char *text)
{
    return bsearch(&text, t.v, (size_t)t.n, sizeof *t.v, texts_compare) != NULL;
}
