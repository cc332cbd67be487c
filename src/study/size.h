/* size.h - how long the cells of a study take on this machine, measured with a few steps of each.
 *
 * Functions start child processes. Any thread. */
#ifndef PW_STUDY_SIZE_H
#define PW_STUDY_SIZE_H
#include "study/study.h"

#define PW_STUDY_MEASURED 20 /* steps */

/* A cell's time in seconds: `other` + its steps * `step`. other: preparing, measuring, and the program's
 * start and end. */
struct pw_study_time {
    double step, other;
};

/* Run the script of a cell with PW_STUDY_MEASURED steps in place of all. Fails with PW_EUSER if it fails. */
enum pw_code pw_study_measure(const struct pw_study *s, int arm, int task, int threads,
                              struct pw_study_time *time, struct pw_err *err);

#endif
