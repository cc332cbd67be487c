/* place.h - the folder of a study, which several processes and machines share:
 *
 *   study.txt       the text of the study (study.h)
 *   cells/ID.json   the result of a cell; it appears complete or not at all
 *   cells/ID.safetensors  its weights, with `keep weights`; there before the result
 *   cells/ID.txt    why a cell failed, in its own words
 *   cells/ID.lock   locked by the process that computes the cell
 *   cells/ID.pewter its session while it is computed, from which an interrupted cell continues
 *   run.lock        locked by `study run`, with the number of its process
 *
 * There is no list of what is done, which a crash could leave wrong: a cell is done if its result is there.
 * All functions fail with PW_EUSER or PW_EIO, and may be called by any thread. */
#ifndef PW_STUDY_PLACE_H
#define PW_STUDY_PLACE_H
#include "study/study.h"

#define PW_STUDY_PATH 2048 /* bytes of a path */

/* The folder of the study NAME: $XDG_STATE_HOME/pewter/studies/NAME, or NAME itself if it has a '/'. */
enum pw_code pw_study_folder(char dst[PW_STUDY_PATH], const char *name, struct pw_err *err);
/* The name for titles: of a path, its last part. Points into name. */
const char *pw_study_title(const char *name);
/* Make a study. Fails if it is there already. */
enum pw_code pw_study_create(const char *folder, const char *text, struct pw_err *err);
/* Replace its text. */
enum pw_code pw_study_write(const char *folder, const char *text, struct pw_err *err);
/* Read a study from its folder. *text: its text, which the caller frees; NULL: not wanted. */
enum pw_code pw_study_open(struct pw_study *s, const char *folder, char **text, struct pw_err *err);

/* Append the path of a file of a cell: ending is ".json", ".safetensors", ".txt", ".lock" or
 * ".pewter". */
void pw_study_cell_path(struct pw_str *out, const char *folder, const char *id, const char *ending);
/* Remove this file, if it is there. */
void pw_study_cell_unlink(const char *folder, const char *id, const char *ending);
/* Lock a file, and write the process number into it. Returns the descriptor, which keeps the lock until it
 * and its copies in child processes are closed; -1: another process has it; -2: failed, see err. */
int pw_study_lock(const char *path, struct pw_err *err);
/* The number in a lock that is held; 0: it is free. */
long pw_study_locked(const char *path);

#endif
