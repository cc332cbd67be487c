/* saved.c - list the weights that `export weights` wrote into a folder; saved_sessions.c adds sessions. */
#include "lab/saved.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/text.h"

/* Add a file, or count it as foreign if it is broken or pewter did not write it. */
static void add_saved(struct pw_saved_list *list, const char *folder, const char *name)
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
    struct pw_folder files;
    *list = (struct pw_saved_list){0};
    enum pw_code code = pw_folder_list(&files, folder, ".safetensors", err);
    if (code != PW_OK)
        return code;
    list->at = pw_alloc(PW_MOST_SAVED, sizeof *list->at);
    for (int i = 0; i < files.n && i < PW_MOST_SAVED; i++)
        add_saved(list, folder, files.names[i]);
    list->unread = files.n > PW_MOST_SAVED ? files.n - PW_MOST_SAVED : 0;
    pw_folder_free(&files);
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
