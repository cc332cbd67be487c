/* reading.h - a study with its results, read from its folder, also again and again while it runs.
 *
 * Any thread; one struct belongs to one thread at a time. */
#ifndef PW_STUDY_READING_H
#define PW_STUDY_READING_H
#include "study/place.h"
#include "study/results.h"
#include "study/slurm.h"

struct pw_study_reading {
    bool asks; /* by the caller: cells in the queue of a cluster have their own state */
    struct pw_study s;
    struct pw_results r; /* those that are there */
    char *text;          /* of the study */
    struct pw_slurm q;   /* with asks: as of the last answer */
    double asked;        /* time of that answer; 0: none */
};
/* Read all. x: zero but for asks. Fails like pw_study_open, or for a damaged record of submissions; then x is
 * empty. */
enum pw_code pw_study_reading_open(struct pw_study_reading *x, const char *folder, struct pw_err *err);
/* Look again: at new results, and at a text that was changed, for example by `study add`. The scheduler
 * serves a whole cluster, so it is asked every 30 seconds at most. x: filled in. */
enum pw_code pw_study_reading_again(struct pw_study_reading *x, const char *folder, struct pw_err *err);
void pw_study_reading_close(struct pw_study_reading *x); /* empty x: a no-op */

#endif
