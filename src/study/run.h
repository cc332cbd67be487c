/* run.h - compute the cells of a study: one cell in this process, or all of them in child processes.
 *
 * A cell is a run of pewter without a screen that records a session, so a cell that was interrupted, by any
 * signal or by a loss of power, continues from its last checkpoint with the same bits. The children get
 * SIGTERM when their parent ends in any way (PR_SET_PDEATHSIG), and end in order. The processes are
 * single-threaded; call these functions from the main thread. */
#ifndef PW_STUDY_RUN_H
#define PW_STUDY_RUN_H
#include <stdio.h>

#include "study/place.h"
#include "study/results.h"

#define PW_STUDY_JOBS 64 /* most cells at once on a machine */

/* The end of a cell's run. */
enum pw_study_cell_end {
    PW_CELL_DONE,        /* its result is there now */
    PW_CELL_WAS_DONE,    /* its result was there before */
    PW_CELL_ELSEWHERE,   /* another process computes it */
    PW_CELL_INTERRUPTED, /* by a signal: it continues when it is run again */
    PW_CELL_FAILED       /* cells/ID.txt has the reason */
};

/* Compute a cell. threads: 0 all processors. backend: as the option --backend, such as "cuda mode=ref". */
enum pw_study_cell_end pw_study_cell_run(const char *folder, const struct pw_study *s,
                                         const struct pw_study_cell *cell, int threads, const char *backend,
                                         struct pw_err *err);
/* The step of the checkpoint from which a cell continues; 0: it has none. */
int64_t pw_study_cell_step(const char *folder, const char *id);
/* Remove what a cell with a result no longer needs: its session, message and lock. */
void pw_study_cell_tidy(const char *folder, const char *id);

/* How `study run` computes. */
struct pw_study_run {
    int jobs, threads; /* cells at once, and threads of each; 0: chosen from the number of processors */
    FILE *out;         /* a line for each cell */
};
/* Compute cells until nothing is wanted (results.h), in the order of seeds. *failed: cells that failed. A
 * second run of the same study is refused. Returns PW_ECANCEL after SIGTERM, SIGINT or SIGHUP. */
enum pw_code pw_study_run(const char *folder, const struct pw_study_run *run, int *failed,
                          struct pw_err *err);
/* End `study run` of this folder on this machine. *pid: its process; 0: none ran. */
enum pw_code pw_study_stop(const char *folder, long *pid, struct pw_err *err);

#endif
