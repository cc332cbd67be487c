/* saved.h - the file `saved` beside a session's database: the number of the last event on disk. It detects a
 * loss of committed events.
 *
 * The functions never fail; writing is best effort. */
#ifndef PW_SAVED_H
#define PW_SAVED_H
#include <stdbool.h>
#include <stdint.h>

/* Write the number after a commit. sync: also fsync, because a stale file would hold a larger number. */
void pw_saved_write(const char *folder, uint64_t seq, bool sync);
/* Remove the file when the session was closed; the database then has the last number. */
void pw_saved_remove(const char *folder);
/* Read the number from an open folder; 0 if the file is missing or damaged. */
uint64_t pw_saved_read(int folder);

#endif
