/* ref_texts.c - see ref_texts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"

#define MAX 2048

void texts_open(struct pw_taskset *set, const char *text)
{
    struct pw_err err = {0};
    if (pw_taskset_init(set, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
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
        if (pw_taskset_prompt(&set, cases[i].typed, max, &s, &err) == PW_OK)
            for (int k = 0; k < s.n; k++)
                pw_str_add(&got, "%s%s", k == s.n_prompt ? "|" : "", set.vocab.words[tokens[k]]);
        else
            pw_str_add(&got, "%s", err.msg);
        assert_string_equal(got.s, cases[i].said);
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
