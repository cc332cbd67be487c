/* notice.h - notices: announce a change of the lab, so that modules which keep derived data can react. Lab
 * thread.
 *
 * A module that keeps derived data (batches, the answer, an evaluation, watches) defines a struct
 * pw_listener. The table of listeners is in loop/lab.c; its order is the order in which they emit events.
 * Code that changes the lab calls pw_lab_changes before the change, and pw_lab_changed after the change and
 * its events. */
#ifndef PW_NOTICE_H
#define PW_NOTICE_H
#include <stdbool.h>

#include "lab/core/job.h"

struct pw_lab;

/* A change. */
struct pw_notice {
    unsigned what; /* enum pw_change */
    int arm;       /* the arm that changes; 0: all arms, or no particular one */
    bool live;     /* output of pw_lab_changes: a live job was cancelled */
};

/* The callbacks of a module; any member may be NULL. */
struct pw_listener {
    void (*changes)(struct pw_lab *lab, const struct pw_notice *n);
    void (*changed)(struct pw_lab *lab, const struct pw_notice *n);
    /* Called when a job has ended. cancelled: by a command or a change; false: it completed, or it failed. */
    void (*job_ended)(struct pw_lab *lab, enum pw_job_place place, bool cancelled);
};

/* Announce a change that is about to happen: cancels the jobs that read the changed state, then calls the
 * listeners' `changes`. */
void pw_lab_changes(struct pw_lab *lab, struct pw_notice *n);
/* Announce that the change is complete and its events were emitted: calls the listeners' `changed`, which may
 * recompute the displayed data. */
void pw_lab_changed(struct pw_lab *lab, const struct pw_notice *n);

#endif
