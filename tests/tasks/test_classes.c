/* test_classes.c - tests the classes of tokens: digits, separators, symbols, and the last token of the
 * prompts of every task in every style. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/task.h"

static unsigned char *classes_of(struct pw_taskset *set, const char *text)
{
    struct pw_err err;
    if (pw_taskset_init(set, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
    unsigned char *classes = calloc((size_t)set->vocab.n, 1);
    assert_non_null(classes);
    pw_taskset_classes(set, classes);
    return classes;
}

static void test_words(void **state)
{
    static const struct {
        const char *task, *word;
        enum pw_token_class class;
    } cases[] = {
        {"addition", " 7", PW_TOKEN_DIGIT},
        {"addition", " +", PW_TOKEN_SEPARATOR},
        {"addition", " >", PW_TOKEN_LAST},
        {"addition", "addition", PW_TOKEN_WORD},
        {"addition", "</s>", PW_TOKEN_WORD},
        {"addition text=paper", " ?", PW_TOKEN_LAST},
        {"addition text=paper scratchpad=full", " 12", PW_TOKEN_WORD},
        {"copy alphabet=20", " b", PW_TOKEN_SYMBOL},
        {"copy alphabet=20", " 3", PW_TOKEN_DIGIT},
        {"sort text=paper", ",", PW_TOKEN_SEPARATOR},
        {"copy,sort", " >", PW_TOKEN_LAST},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pw_taskset set;
        unsigned char *classes = classes_of(&set, cases[k].task);
        int v = pw_vocab_find(&set.vocab, cases[k].word, strlen(cases[k].word));
        if (v < 0 || classes[v] != cases[k].class)
            fail_msg("%s: '%s' (%d) has class %d", cases[k].task, cases[k].word, v, v < 0 ? -1 : classes[v]);
        free(classes);
        pw_taskset_fini(&set);
    }
}

/* Of every prompt the first token of this class is the last one. */
static void test_last(void **state)
{
    static const char *const texts[] = {"short", "paper", "appendix"};
    int n = 0;
    (void)state;
    for (int t = 0; pw_tasks[t] != NULL; t++)
        for (int style = 0; style < 3; style++) {
            struct pw_taskset set;
            struct pw_sample x = {.cap = 4096};
            int tokens[4096];
            char text[64];
            snprintf(text, sizeof text, "%s text=%s", pw_tasks[t]->name, texts[style]);
            if (pw_taskset_init(&set, text, NULL) != PW_OK)
                continue; /* the task has no such style, or needs a file */
            unsigned char *classes = calloc((size_t)set.vocab.n, 1);
            assert_non_null(classes);
            pw_taskset_classes(&set, classes);
            x.tokens = tokens;
            if (strcmp(pw_tasks[t]->name, "needle") == 0 || pw_tasks[t]->last_recurs ||
                strcmp(pw_tasks[t]->name, "recall") == 0) { /* the token that ends a prompt is in it, too */
                assert_null(memchr(classes, PW_TOKEN_LAST, (size_t)set.vocab.n));
                free(classes);
                pw_taskset_fini(&set);
                continue;
            }
            for (uint64_t i = 0; i < 200; i++) {
                int at = 0;
                pw_taskset_sample(&set, 3, PW_SPLIT_TRAIN, i, 0, 0, &x);
                while (at < x.n && classes[tokens[at]] != PW_TOKEN_LAST)
                    at++;
                if (at != x.n_prompt - 1)
                    fail_msg("%s: sample %d: token %d is the first of class last of a prompt of %d", text,
                             (int)i, at, x.n_prompt);
            }
            n++;
            free(classes);
            pw_taskset_fini(&set);
        }
    assert_true(n >= 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_last)};
    return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
