/* test_prompts.c - tests the prompt that the screen suggests, for every task and every named value of every
 * option. It must run as a command, and its right answer must be known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ref_lab.h"
#include "tasks/task.h"

/* Lines with characters that have a meaning on the command line. */
static const char lines[] = "what is 1+1\ttwo\nsay; it #1\tit\n\xc3\xa9 a b\tc\nred blue\tgreen\n";

static void suggestion_runs(struct bench *b, const char *task)
{
    char line[512];
    bench_run(b, task);
    if (b->errors > 0)
        return; /* these options exclude each other */
    for (int i = 0; i < b->s->lab.n_tasks; i++) {
        const char *prompt = b->s->lab.tasks[i].prompt;
        if (!prompt[0])
            fail_msg("%s: no prompt is suggested", task);
        snprintf(line, sizeof line, "prompt %s", prompt);
        bench_run(b, line);
        if (b->errors > 0)
            fail_msg("%s: '%s': %s", task, line, b->error);
        /* running text, and numbers, have no right answer */
        if (!b->s->has_prompt || (!b->s->prompt.has_answer && !b->s->lab.tasks[i].runs))
            fail_msg("%s: '%s': its answer is not known", task, line);
    }
}

static void test_every_task_suggests_a_prompt_that_runs(void **state)
{
    (void)state;
    char path[] = "/tmp/pewter-prompts-XXXXXX";
    int fd = mkstemp(path), tried = 0;
    assert_int_equal(write(fd, lines, strlen(lines)), (int)strlen(lines));
    close(fd);
    struct bench b;
    bench_open(&b, 1, false);
    bench_must(&b, "model layers=1 width=16 heads=2 head_width=8 ffn=16 context=1200");
    for (const struct pw_task *const *t = pw_tasks; *t != NULL; t++) {
        char own[128] = "", line[256];
        if ((*t)->open != NULL)
            snprintf(own, sizeof own, " path=%s lengths=1..4", path);
        snprintf(line, sizeof line, "task %s%s", (*t)->name, own);
        suggestion_runs(&b, line);
        tried++;
        for (const struct pw_opt *o = pw_task_options(*t); o->name != NULL; o++)
            for (const char *const *value = o->choices; value != NULL && *value != NULL; value++) {
                snprintf(line, sizeof line, "task %s%s %s=%s", (*t)->name, own, o->name, *value);
                suggestion_runs(&b, line);
                tried++;
            }
        static const char *const more[] = {"alphabet=2", "alphabet=10", "alphabet=62", "lengths=3",
                                           "lengths=1"};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
            snprintf(line, sizeof line, "task %s%s %s", (*t)->name, own, more[i]);
            suggestion_runs(&b, line);
        }
    }
    suggestion_runs(&b, "task sort,copy,lego");
    suggestion_runs(&b, "task copy variant=cmc alphabet=10"); /* from the lesson nope */
    assert_true(tried > 60);
    bench_close(&b);
    unlink(path);
}

static void test_a_task_that_is_not_trained_is_named(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, 1, false);
    bench_run(&b, "prompt lego a = -1, a ?");
    assert_int_equal(b.errors, 1);
    assert_non_null(strstr(b.error, "type ':task lego' first"));
    bench_run(&b, "prompt");
    assert_non_null(strstr(b.error, "such as 'prompt sort 3 1 4 1 5'"));
    bench_run(&b, "task copy alphabet=4; inspect");
    assert_null(strstr(b.error, "a b c")); /* not one of these four */
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_suggests_a_prompt_that_runs),
        cmocka_unit_test(test_a_task_that_is_not_trained_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
