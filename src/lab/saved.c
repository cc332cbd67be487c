#include "lab/saved.h"
#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int is_weights(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot != NULL && dot != d->d_name && strcmp(dot, ".safetensors") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds a file, or counts it where it isn't one of pewter's. */
static void add(struct pw_saved_list *list, const char *folder, const char *name)
{
    struct pw_str path = {0};
    struct pw_checkpoint *c;
    struct pw_err err;
    pw_str_add(&path, "%s/%s", folder, name);
    enum pw_code code = pw_checkpoint_open_header(&c, path.s, &err);
    if (code == PW_OK && !pw_checkpoint_info(c)->has_config)
        code = pw_fail(&err, PW_EUSER, "%s: has no pewter.config", path.s);
    pw_str_fini(&path);
    if (code == PW_OK) {
        list->at[list->n].c = c;
        list->at[list->n++].name = pw_text_dup(name);
        return;
    }
    pw_checkpoint_close(c);
    if (list->other++ == 0)
        pw_text_copy(list->why, sizeof list->why, err.msg);
}

enum pw_code pw_saved_list(struct pw_saved_list *list, const char *folder, struct pw_err *err)
{
    struct dirent **names;
    *list = (struct pw_saved_list){0};
    int n = scandir(folder, &names, is_weights, by_bytes);
    if (n < 0)
        return pw_fail(err, PW_EUSER, "%.240s: can't list this folder: %s", folder, strerror(errno));
    list->at = pw_alloc(PW_MOST_SAVED, sizeof *list->at);
    for (int i = 0; i < n; i++) {
        if (i < PW_MOST_SAVED)
            add(list, folder, names[i]->d_name);
        free(names[i]);
    }
    list->unread = n > PW_MOST_SAVED ? n - PW_MOST_SAVED : 0;
    free(names);
    return PW_OK;
}

void pw_saved_free(struct pw_saved_list *list)
{
    for (int i = 0; i < list->n; i++) {
        free(list->at[i].name);
        pw_checkpoint_close(list->at[i].c);
    }
    free(list->at);
    *list = (struct pw_saved_list){0};
}
