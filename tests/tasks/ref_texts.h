/* ref_texts.h - samples of a set as sorted texts, to tell which of them occur and how often. */
#ifndef REF_TEXTS_H
#define REF_TEXTS_H
#include "tasks/task.h"

struct texts {
    int n;
    char **v;
};

void texts_open(struct pw_taskset *set, const char *text); /* fails the test with what is wrong */
/* What comes of a prompt that is typed: its text with "|" and its answer behind it, or what is wrong. */
struct typed {
    const char *set, *typed, *said;
};
void texts_typed(const struct typed *cases, size_t n, int max); /* max: of tokens; fails the test */
/* The prompt of a sample (free), and what it is; the tokens are there until the next call. */
char *texts_one(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t i, int length,
                struct pw_sample *s);
/* Prompts of n samples from `first` on, sorted. */
struct texts texts_take(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t first,
                        int n);
void texts_drop(struct texts t);
int texts_different(struct texts t);
bool texts_have(struct texts t, const char *text);
int texts_compare(const void *a, const void *b); /* of two char *, for qsort */

#endif
