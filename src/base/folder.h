/* folder.h - what a folder holds, and one that isn't there yet. */
#ifndef PW_FOLDER_H
#define PW_FOLDER_H
#include "base/err.h"

struct pw_folder {
    char **names;
    int n;
};

/* The entries that end in `ending` (".pewter") and have something before it, in the order of their bytes.
 * PW_EUSER: the folder can't be listed; f is empty then. */
enum pw_code pw_folder_list(struct pw_folder *f, const char *folder, const char *ending, struct pw_err *err);
void pw_folder_free(struct pw_folder *f);

/* Makes this folder and those that it lies in, where they are missing, for their owner alone. PW_EIO: which
 * one can't be made, and why; those before it stay. */
enum pw_code pw_folder_make(const char *path, struct pw_err *err);

#endif
