/* notice.h - notices: whoever changes something says what changes, and those who keep something that depends
 * on it listen. Lab thread.
 *
 * The table of listeners is in loop/lab.c. Its order is the order of the events that they emit. */
#ifndef PW_NOTICE_H
#define PW_NOTICE_H
#include <stdbool.h>

#include "lab/core/job.h"

struct pw_lab;

struct pw_notice {
    unsigned what; /* enum pw_change */
    int arm;       /* id of the arm; 0: all, or none in particular */
    bool live;     /* set by pw_lab_changes: a job that ran for a viewer was cancelled */
};

struct pw_listener { /* any member may be NULL */
    void (*changes)(struct pw_lab *lab, const struct pw_notice *n);
    void (*changed)(struct pw_lab *lab, const struct pw_notice *n);
    /* cancelled: by a command or a change; false: it is done, or it failed */
    void (*job_ended)(struct pw_lab *lab, enum pw_job_place place, bool cancelled);
};

/* The change takes place: cancel the jobs that read what changes, then tell the listeners. */
void pw_lab_changes(struct pw_lab *lab, struct pw_notice *n);
/* The change is complete, and its events were emitted: what is shown of the lab can be computed again. */
void pw_lab_changed(struct pw_lab *lab, const struct pw_notice *n);

#endif
