/* saved.h - how far a session's record had come, told by a file beside its database. */
#ifndef PW_SAVED_H
#define PW_SAVED_H
#include <stdbool.h>
#include <stdint.h>

/* After a commit, as well as the disk allows; sync: an old file has a larger number. */
void pw_saved_write(const char *folder, uint64_t seq, bool sync);
/* The session has come to its end, which its database says. */
void pw_saved_remove(const char *folder);
/* Of an open folder; 0: nobody knows, because the file is missing or damaged. */
uint64_t pw_saved_read(int folder);

#endif
