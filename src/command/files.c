/* files.c - complete file names. */
#include "command/lex.h"

#include <string.h>

#include "base/recall.h"
#include "base/text.h"

void pw_complete_files(const char *typed, void (*each)(void *arg, const char *path), void *arg)
{
    const char *slash = strrchr(typed, '/'), *name = slash != NULL ? slash + 1 : typed;
    struct pw_str folder = {0};
    struct pw_folder found;
    pw_str_put(&folder, typed, (size_t)(name - typed));
    pw_recall_list(&found, folder.len > 0 ? folder.s : ".", "");
    for (int i = 0; i < found.n; i++) {
        const char *entry = found.names[i]; /* a folder is "b/", so that completion can continue */
        bool hidden = *entry == '.' && *name != '.';
        if (!hidden && strncmp(entry, name, strlen(name)) == 0 && pw_utf8_valid(entry, strlen(entry))) {
            struct pw_str path = {0};
            pw_str_add(&path, "%s%s", pw_str_text(&folder), entry);
            each(arg, path.s);
            pw_str_fini(&path);
        }
    }
    pw_folder_free(&found);
    pw_str_fini(&folder);
}
