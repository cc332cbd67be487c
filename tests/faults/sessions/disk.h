/* disk.h - a disk whose power may fail: what is on it for sure, what is on its way, and what could be left.
 *
 * It is fed with what a process did (shim_log.h). Two models of what a sync promises:
 *
 *   ext4   a journal: the sync of any file or folder takes everything that happened to names before it to the
 * disk, and a rename is there or isn't; posix  no more than the standard says: the sync of a file is about
 * its content, that of a folder about the names in it; each folder's changes arrive in their order, in
 * whichever order of folders, and after a rename a file may have both names.
 *
 * Of what wasn't synced any part may be there, in any order, torn at 512 bytes. */
#ifndef PW_TESTS_DISK_H
#define PW_TESTS_DISK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../shim_log.h"

enum disk_model { DISK_EXT4, DISK_POSIX };

/* Syncs that the process has forgotten, to see that it is noticed. */
enum disk_mutant {
    MUTANT_NONE,
    MUTANT_FILES,  /* of files under files/ */
    MUTANT_NAMES,  /* of folders */
    MUTANT_NORMAL, /* SQLite's synchronous=NORMAL: of the log, but before it is folded in */
    MUTANT_OFF,    /* synchronous=OFF: of the database and its logs */
    MUTANTS
};

struct disk;
struct disk *disk_new(enum disk_model model, enum disk_mutant mutant, uint64_t seed);
void disk_free(struct disk *d);

/* Paths and data are borrowed for the disk's lifetime. */
void disk_do(struct disk *d, const struct pw_log_op *op, const char *path, const char *to, const void *data);
/* What a loss of power now could leave of the folder `root` goes to the folder `state`, which is made. */
void disk_lose_power(struct disk *d, const char *root, const char *state);

#endif
