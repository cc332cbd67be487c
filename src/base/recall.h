/* recall.h - folders and short files as they were read last, for a thread that must not wait for the disk.
 *
 * Completion and hints ask for names of files at each key. The functions that find these names serve the lab
 * thread too, which reads the disk. So pw_recall_list and pw_recall_text read at once on most threads. On a
 * thread that has called pw_recall_begin they answer from memory, and hand over what has to be read: another
 * thread reads it (pw_recall_read), and then the caller asks again.
 *
 * Any thread may call these functions. The memory belongs to the process. */
#ifndef PW_RECALL_H
#define PW_RECALL_H
#include "base/err.h"
#include "base/folder.h"
#include <stdbool.h>
#include <stddef.h>

/* From now on the calling thread gets answers from memory. ask(arg, path, limit) hands over a path to read by
 * pw_recall_read; it must not call functions of this header. ask NULL: the thread reads again. */
void pw_recall_begin(void (*ask)(void *arg, const char *path, size_t limit), void *arg);
/* The calling thread asks for what was read at `since` or later (CLOCK_MONOTONIC seconds). An older answer is
 * given too, and its path handed over. */
void pw_recall_since(double since);
/* Was an answer older, or missing, since the calling thread's last call of pw_recall_since or
 * pw_recall_again? pw_recall_again keeps the time, and forgets these answers. */
bool pw_recall_missed(void);
void pw_recall_again(void);

/* List the entries of a folder like pw_folder_list; the list is empty if the folder can't be listed, or is
 * not in memory. ending "": all entries but "." and "..", and the names of folders end with '/'. */
void pw_recall_list(struct pw_folder *f, const char *folder, const char *ending);
/* Is there an entry of this name? */
bool pw_recall_has(const char *folder, const char *name);
/* Read a file like pw_file_read_as. Fails with PW_EUSER if it is not in memory. */
enum pw_code pw_recall_text(const char *name, const char *path, size_t limit, char **data, size_t *size,
                            struct pw_err *err);

/* Read a path that was handed over: a folder (limit 0), or a file of at most `limit` bytes. */
void pw_recall_read(const char *path, size_t limit);

#endif
