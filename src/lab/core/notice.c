/* notice.c - tell the listeners. */
#include "lab/core/notice.h"

#include "lab/core/lab_int.h"

void pw_lab_changes(struct pw_lab *lab, struct pw_notice *n)
{
    n->live = pw_jobs_cancel(lab, n->what);
    for (const struct pw_listener *const *l = lab->listeners; *l != NULL; l++)
        if ((*l)->changes != NULL)
            (*l)->changes(lab, n);
}

void pw_lab_changed(struct pw_lab *lab, const struct pw_notice *n)
{
    for (const struct pw_listener *const *l = lab->listeners; *l != NULL; l++)
        if ((*l)->changed != NULL)
            (*l)->changed(lab, n);
}
