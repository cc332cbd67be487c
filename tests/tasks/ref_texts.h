/* ref_texts.h - samples of a task set as sorted texts. Tests use it to find out which samples occur and how
 * often. */
#ifndef REF_TEXTS_H
#define REF_TEXTS_H
#include "tasks/task.h"

struct texts {
    int n;
    char **v;
};

void texts_open(struct pw_taskset *set, const char *text); /* an error fails the test with its message */
/* A typed prompt and the expected result: the prompt's text, "|" and the answer, or the error message. */
struct typed {
    const char *set, *typed, *said;
};
void texts_typed(const struct typed *cases, size_t n, int max); /* max: tokens; a mismatch is a failure */
/* A typed prompt that is read, and the result: "prompt|answer" without the end mark, the index of the task in
 * the set, and the length. texts_reads reads `typed`, which may be another spelling of the case's prompt. */
struct texts_good {
    const char *set, *typed, *spelt;
    int task, length;
};
void texts_reads(const struct texts_good *g, const char *typed);
/* Returns the prompt of a sample; the caller frees it. Fills *s, whose tokens are valid until the next
 * call. */
char *texts_one(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t i, int length,
                struct pw_sample *s);
/* Returns the sorted prompts of samples first..first+n-1. Free them with texts_drop. */
struct texts texts_take(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t first,
                        int n);
void texts_drop(struct texts t);
/* The number of distinct texts; true if a text is among them. */
int texts_different(struct texts t);
bool texts_have(struct texts t, const char *text);
int texts_compare(const void *a, const void *b); /* compares two char *, for qsort */

#endif
