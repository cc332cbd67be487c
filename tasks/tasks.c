/* tasks.c - the table of tasks: one file and one line each. */
#include "tasks/task.h"
#include <string.h>

extern const struct pw_task pw_task_sort, pw_task_copy, pw_task_lego, pw_task_reverse, pw_task_addition,
    pw_task_summation, pw_task_parity, pw_task_polynomial, pw_task_scan, pw_task_pcfg, pw_task_session,
    pw_task_needle, pw_task_flipflop, pw_task_recall, pw_task_file, pw_task_text, pw_task_ids;

/* clang-format off */
const struct pw_task *const pw_tasks[] = {
    &pw_task_sort,
    &pw_task_copy,
    &pw_task_lego,
    &pw_task_reverse,
    &pw_task_addition,
    &pw_task_summation,
    &pw_task_parity,
    &pw_task_polynomial,
    &pw_task_scan,
    &pw_task_pcfg,
    &pw_task_session,
    &pw_task_needle,
    &pw_task_flipflop,
    &pw_task_recall,
    &pw_task_file,
    &pw_task_text,
    &pw_task_ids,
    NULL,
};
/* clang-format on */

const struct pw_task *pw_task_find(const char *name)
{
    for (const struct pw_task *const *t = pw_tasks; *t != NULL; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}
