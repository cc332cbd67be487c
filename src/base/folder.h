/* folder.h - list the files of a folder, and create a folder.
 *
 * Any thread may call these functions. */
#ifndef PW_FOLDER_H
#define PW_FOLDER_H
#include "base/err.h"

/* A list of names in a folder. */
struct pw_folder {
    char **names;
    int n;
};

/* List the entries of `folder` whose names end in `ending` (such as ".pewter") and are longer than it, sorted
 * by bytes. The names are relative to the folder and belong to f; pw_folder_free frees them. Fails with
 * PW_EUSER if the folder can't be listed; f is empty then. */
enum pw_code pw_folder_list(struct pw_folder *f, const char *folder, const char *ending, struct pw_err *err);
/* List all entries but "." and ".." likewise. The name of a folder, or of a link to one, ends with '/'. */
enum pw_code pw_folder_entries(struct pw_folder *f, const char *folder, struct pw_err *err);
void pw_folder_free(struct pw_folder *f);

/* Create `path` and its missing parent folders with permissions 0700, like mkdir -p. Fails with PW_EIO; the
 * message names the folder that can't be created and why. Folders created before the failure remain. */
enum pw_code pw_folder_make(const char *path, struct pw_err *err);
/* Create the folders above a file's path, likewise. */
enum pw_code pw_folder_make_above(const char *path, struct pw_err *err);

#endif
