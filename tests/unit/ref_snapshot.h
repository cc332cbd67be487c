/* ref_snapshot.h - compares two snapshots, including all of their arrays. */
#ifndef PW_TESTS_REF_SNAPSHOT_H
#define PW_TESTS_REF_SNAPSHOT_H
#include "sessions/fold.h"

/* Returns NULL if they are equal, else the name of the first part that differs. It ignores the attention kept
 * over training and the status of the session. */
const char *same_snapshot(const struct pw_snapshot *a, const struct pw_snapshot *b);

#endif
