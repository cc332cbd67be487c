/* jobs.h - the part of lab_int.h about jobs: work that runs in slices between typed lines and can be
 * cancelled. Evaluation is a job too; see evals.h. */
#ifndef PW_JOBS_H
#define PW_JOBS_H
#include "lab/core/lab_int.h"

struct pw_probe; /* probe/probe.h */

/* ---- activations.c: the job `export activations` of the current arm */
enum pw_code pw_lab_dump(struct pw_lab *lab, const char *path, const struct pw_args *args,
                         struct pw_err *err);
extern const struct pw_opt pw_dump_opts[];

/* ---- export_data.c: the job `export data` */
enum pw_code pw_lab_write_data(struct pw_lab *lab, const char *path, const struct pw_args *args,
                               struct pw_err *err);
extern const struct pw_opt pw_data_opts[];

/* ---- ablate.c: ablated heads, and the job that measures the values that replace their outputs */
bool pw_lab_heads_off(const struct pw_arm *arm); /* is any head of this replica ablated? */
/* Check that a model from a file replaces heads only in modes that this program supports. */
enum pw_code pw_lab_check_heads(const struct pw_arm *arm, const char *what, struct pw_err *err);
void pw_lab_tell_heads(struct pw_lab *lab, const struct pw_arm *arm);

#endif
