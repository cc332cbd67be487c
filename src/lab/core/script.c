/* script.c - queues of waiting lines, and failures, which drop the waiting script. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"

void pw_lines_push(struct pw_lines *q, const char *text)
{
    if (q->n == q->cap) {
        q->cap = q->cap > 0 ? 2 * q->cap : 16;
        q->line = pw_grow(q->line, (size_t)q->cap, sizeof *q->line);
    }
    q->line[q->n++] = pw_text_dup(text);
}

char *pw_lines_take(struct pw_lines *q)
{
    if (q->n == 0)
        return NULL;
    char *first = q->line[0];
    memmove(q->line, q->line + 1, (size_t)--q->n * sizeof *q->line);
    return first;
}

void pw_lines_drop_first(struct pw_lines *q)
{
    free(pw_lines_take(q));
}

static void lines_clear(struct pw_lines *q)
{
    for (int i = 0; i < q->n; i++)
        free(q->line[i]);
    q->n = 0;
}

void pw_lines_fini(struct pw_lines *q)
{
    lines_clear(q);
    free(q->line);
}

enum pw_code pw_lines_queue(void *arg, const char *text, int line)
{
    (void)line;
    pw_lines_push(arg, text);
    return PW_OK;
}

struct pw_lines *pw_lab_script(struct pw_lab *lab)
{
    return lab->follow != NULL ? &lab->rerun.script : &lab->script;
}

void pw_lab_emit_error(struct pw_lab *lab, const char *msg)
{
    struct pw_event *e = pw_lab_event(PW_EV_ERROR, NULL);
    pw_text_copy(e->u.text, sizeof e->u.text, msg);
    pthread_mutex_lock(&lab->lock);
    lab->failures++;
    pthread_mutex_unlock(&lab->lock);
    pw_lab_emit(lab, e);
}

void pw_lab_drop_script(struct pw_lab *lab)
{
    if (lab->keeps_script)
        return;
    pthread_mutex_lock(&lab->lock);
    lines_clear(pw_lab_script(lab));
    pthread_mutex_unlock(&lab->lock);
}

void pw_lab_trouble(struct pw_lab *lab, const struct pw_err *err)
{
    struct pw_err at = *err;
    pw_err_at(&at, lab->place);
    pw_lab_emit_error(lab, at.msg);
    pw_lab_drop_script(lab);
}
