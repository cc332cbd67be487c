/* options.c - the option tables of tasks: the common options, the scratchpad option for tasks with
 * scratchpads, then the task's own options.
 *
 * The common rows exist once; a descriptor gives its default lengths and their unit. The joined tables are
 * made once, at the first call, and never change, because completion and the lab read them on two threads. A
 * task without default lengths (file) has its own rows only. */
#include "tasks/task.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define MOST_TASKS 24
#define MOST_ROWS  16

static const char *const text_styles[] = {"short", "paper", "appendix", NULL};
static const char *const dists[] = {"uniform", "geometric", "pairs", "natural", NULL};
static const char *const stream[] = {"stream", NULL};

/* The task sets the defaults and limits of lengths and test, the styles of text, and the
 * defaults of dist and held. */
static const struct pw_opt common[] = {
    {"lengths", PW_OPT_RANGE, offsetof(struct pw_task_opts, lengths), NULL, 0, 0, NULL, 0, NULL},
    {"test", PW_OPT_RANGE, offsetof(struct pw_task_opts, test), "0", 0, 0, NULL, 0,
     "longer lengths, only evaluated; 0: up to twice the longest trained"},
    {"text", PW_OPT_CHOICE, offsetof(struct pw_task_opts, text), "short", 0, 0, text_styles, 0,
     "short: few tokens; paper: the sentences of its data; appendix: those of its appendix"},
    {"dist", PW_OPT_TEXT, offsetof(struct pw_task_opts, dist), "uniform", 0, 0, dists,
     sizeof((struct pw_task_opts *)0)->dist,
     "distribution of trained lengths: uniform, each half as often as the last, uniform over pairs, as in "
     "the source; or a file"},
    {"data", PW_OPT_INT, offsetof(struct pw_task_opts, data), "stream", 1, PW_MAX_DATA, stream, 0,
     "training samples: always new, or a fixed set of N, used in epochs"},
    {"held", PW_OPT_SWITCH, offsetof(struct pw_task_opts, held), "off", 0, 0, NULL, 0,
     "keep one input in ten from training, for validation and evaluation"},
};

/* For tasks with scratchpads. */
static const char *const scratchpads[] = {"off", "full", "minimal", "bare", NULL};
static const struct pw_opt scratchpad = {
    "scratchpad",
    PW_OPT_TEXT,
    offsetof(struct pw_task_opts, scratchpad),
    "off",
    0,
    0,
    scratchpads,
    sizeof((struct pw_task_opts *)0)->scratchpad,
    "steps before the answer: all parts, computation and output, only marks; or letters of icovr"};

enum { LENGTHS, TEST, TEXT, DIST, DATA, HELD, N_COMMON = sizeof common / sizeof *common };

static struct joined {
    struct pw_opt rows[MOST_ROWS];
    char help[64]; /* of lengths */
} tables[MOST_TASKS];

static void join(const struct pw_task *task, struct joined *t)
{
    int n = N_COMMON;
    for (int i = 0; i < n; i++)
        t->rows[i] = common[i];
    snprintf(t->help, sizeof t->help, "trained lengths, in %s", task->unit);
    t->rows[LENGTHS].def = task->lengths;
    t->rows[LENGTHS].help = t->help;
    t->rows[DIST].def = task->weight != NULL ? "natural" : "uniform";
    t->rows[HELD].def = task->held ? "on" : "off";
    t->rows[TEXT].choices = task->texts != NULL ? task->texts : text_styles;
    t->rows[LENGTHS].min = task->length_limits.lo;
    t->rows[LENGTHS].max = t->rows[TEST].max = task->length_limits.hi;
    if (task->scratch != NULL)
        t->rows[n++] = scratchpad;
    for (const struct pw_opt *own = task->opts; own != NULL && own->name != NULL; own++) {
        assert(n < MOST_ROWS - 1);
        t->rows[n++] = *own;
    }
}

static void join_all(void)
{
    for (int i = 0; pw_tasks[i] != NULL; i++) {
        assert(i < MOST_TASKS);
        if (pw_tasks[i]->lengths != NULL)
            join(pw_tasks[i], &tables[i]);
    }
}

const struct pw_opt *pw_task_options(const struct pw_task *task)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int i = 0;
    pthread_once(&once, join_all);
    while (pw_tasks[i] != task)
        i++;
    return task->lengths != NULL ? tables[i].rows : task->opts;
}
