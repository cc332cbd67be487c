/* gather.h - all results of a study in one SQLite file, for programs that read SQL (pandas, DuckDB, R). */
#ifndef PW_STUDY_GATHER_H
#define PW_STUDY_GATHER_H
#include "study/results.h"

/* Write a study, its cells, their lengths and the comparisons to a file, which is replaced as a whole. The
 * database is built in memory and written once, because SQLite's locks fail on shared file systems. Equal
 * results give equal bytes, except for seconds. text: of the study. Fails with PW_EIO. Any thread. */
enum pw_code pw_study_gather(const char *path, const struct pw_results *r, const char *text,
                             struct pw_err *err);

#endif
