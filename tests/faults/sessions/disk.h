/* disk.h - a model of a disk that loses power. It tracks which data is durable, which is not synced, and
 * which states a loss of power could leave.
 *
 * The caller feeds it with the logged operations of a process (shim_log.h). Two models of what a sync
 * guarantees:
 *
 * - ext4, a journal: the sync of any file or folder makes all earlier changes of names durable. A rename is
 *   atomic.
 * - posix, no more than the standard guarantees: the sync of a file covers its content, that of a folder the
 *   names in it. Changes within a folder arrive in order; folders are independent. After a rename a file may
 *   have both names.
 *
 * Any part of the unsynced data may be on the disk, in any order, torn at 512 bytes. */
#ifndef PW_TESTS_DISK_H
#define PW_TESTS_DISK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../shim_log.h"

enum disk_model { DISK_EXT4, DISK_POSIX };

/* Mutants: syncs that the process is assumed to omit. The harness must detect each. */
enum disk_mutant {
    MUTANT_NONE,
    MUTANT_FILES,  /* syncs of files under files/ */
    MUTANT_NAMES,  /* syncs of folders */
    MUTANT_NORMAL, /* as SQLite's synchronous=NORMAL: of the log, except before a checkpoint of the log */
    MUTANT_OFF,    /* as synchronous=OFF: of the database and its logs */
    MUTANTS
};

struct disk;
struct disk *disk_new(enum disk_model model, enum disk_mutant mutant, uint64_t seed);
void disk_free(struct disk *d);

/* Applies one logged operation. The disk borrows paths and data; they must outlive it. */
void disk_do(struct disk *d, const struct pw_log_op *op, const char *path, const char *to, const void *data);
/* Draws a state that a loss of power could leave of folder `root`, and writes it to the folder `state`, which
 * is created. */
void disk_lose_power(struct disk *d, const char *root, const char *state);

#endif
