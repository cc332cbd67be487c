/* folder.c - see folder.h. Not scandir's alphasort: another locale would list in another order. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

enum pw_code pw_folder_list(struct pw_folder *f, const char *folder, const char *ending, struct pw_err *err)
{
    struct dirent **all;
    *f = (struct pw_folder){0};
    int n = scandir(folder, &all, NULL, by_bytes);
    if (n < 0)
        return pw_fail(err, PW_EUSER, "%.240s: can't list this folder: %s", folder, strerror(errno));
    f->names = pw_alloc((size_t)n + 1, sizeof *f->names);
    for (int i = 0; i < n; i++) {
        const char *name = all[i]->d_name;
        if (pw_text_ends(name, ending) && strcmp(name, ending) != 0)
            f->names[f->n++] = pw_text_dup(name);
        free(all[i]);
    }
    free(all);
    return PW_OK;
}

void pw_folder_free(struct pw_folder *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->names[i]);
    free(f->names);
    *f = (struct pw_folder){0};
}
