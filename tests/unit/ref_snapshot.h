/* ref_snapshot.h - are two snapshots the same, through all of their arrays? */
#ifndef PW_TESTS_REF_SNAPSHOT_H
#define PW_TESTS_REF_SNAPSHOT_H
#include "sessions/fold.h"

/* NULL, or the first part that differs. Without what is kept of attention over training, and without what a
 * session says of itself. */
const char *same_snapshot(const struct pw_snapshot *a, const struct pw_snapshot *b);

#endif
