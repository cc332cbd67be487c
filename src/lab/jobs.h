/* jobs.h - the part of lab_int.h about jobs: what takes a while, a slice at a time between typed lines, and
 * ends when somebody cancels it. (Evaluation, which is one, too, is in evals.h.) */
#ifndef PW_JOBS_H
#define PW_JOBS_H
#include "lab/lab_int.h"

struct pw_probe; /* probe/probe.h */

/* ---- activations.c: the job of `export activations`, of the current arm */
enum pw_code pw_lab_dump(struct pw_lab *lab, const char *path, const struct pw_args *args,
                         struct pw_err *err);
extern const struct pw_opt pw_dump_opts[];
void pw_lab_dump_slice(struct pw_lab *lab);  /* at most 50 ms, and then an array to disk at a time */
void pw_lab_dump_cancel(struct pw_lab *lab); /* nothing is written */

/* ---- export_data.c: the job of `export data` */
enum pw_code pw_lab_write_data(struct pw_lab *lab, const char *path, const struct pw_args *args,
                               struct pw_err *err);
extern const struct pw_opt pw_data_opts[];
void pw_lab_data_slice(struct pw_lab *lab);  /* at most 50 ms, and in the end the file to disk */
void pw_lab_data_cancel(struct pw_lab *lab); /* nothing is written */

/* ---- ablate.c: heads that are off, and the job that measures what stands in for them */
/* Marks the heads of a list "0.1,1.*" in chosen [L,H]; who: the command that asks. */
enum pw_code pw_lab_read_heads(const struct pw_arm *arm, const char *who, const char *text, uint8_t *chosen,
                               struct pw_err *err);
/* Of one replicate, 0: of all. mode is not PW_ABLATE_NONE; samples: of the probe set, for mean and resample.
 * Both are refused while heads are being measured for. */
enum pw_code pw_lab_ablate(struct pw_lab *lab, struct pw_arm *arm, int replicate, const uint8_t *chosen,
                           enum pw_ablation mode, int samples, struct pw_err *err);
/* chosen NULL: all */
enum pw_code pw_lab_restore(struct pw_lab *lab, struct pw_arm *arm, int replicate, const uint8_t *chosen,
                            struct pw_err *err);
bool pw_lab_heads_off(const struct pw_arm *arm); /* any, of this replicate? */
/* Of a model that came from a file: is it replaced by what there is? */
enum pw_code pw_lab_check_heads(const struct pw_arm *arm, const char *what, struct pw_err *err);
void pw_lab_tell_heads(struct pw_lab *lab, const struct pw_arm *arm);
void pw_lab_ablate_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_ablate_cancel(struct pw_lab *lab);

/* ---- patch.c: activation patching, a job. layer, head, pos: -1 where not said, `patch` has the rest. */
enum pw_code pw_lab_patch(struct pw_lab *lab, struct pw_arm *arm, enum pw_patch_kind kind, int layer,
                          int head, int pos, const char *from, struct pw_err *err);
void pw_lab_patch_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_patch_cancel(struct pw_lab *lab);

/* ---- probe.c: a measurement, a job. who: the command that asks, for messages; NULL: "probe NAME". args: the
 * arms that it is about, and its options. watch: of one that is repeated; NULL. */
enum pw_code pw_lab_probe(struct pw_lab *lab, const struct pw_probe *probe, const char *who,
                          const struct pw_args *args, const struct pw_watch *watch, struct pw_err *err);
void pw_lab_probe_slice(struct pw_lab *lab); /* at most 50 ms */
void pw_lab_probe_cancel(struct pw_lab *lab);
/* Tells a finding (and takes it) as of an arm; NULL: of none alone. */
void pw_lab_tell_finding(struct pw_lab *lab, const struct pw_arm *arm, struct pw_finding *f);

#endif
