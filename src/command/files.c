/* files.c - complete file names. */
#include "command/lex.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

/* A folder "a/b" is offered as "a/b/", so that completion can continue. */
static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void pw_complete_files(const char *typed, void (*each)(void *arg, const char *path), void *arg)
{
    const char *slash = strrchr(typed, '/'), *name = slash != NULL ? slash + 1 : typed;
    struct pw_str folder = {0};
    struct dirent **found = NULL;
    pw_str_put(&folder, typed, (size_t)(name - typed));
    int n = scandir(folder.len > 0 ? folder.s : ".", &found, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *entry = found[i]->d_name;
        bool hidden = *entry == '.' && *name != '.',
             itself = strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0;
        if (!hidden && !itself && strncmp(entry, name, strlen(name)) == 0 &&
            pw_utf8_valid(entry, strlen(entry))) {
            struct pw_str path = {0};
            pw_str_add(&path, "%s%s", pw_str_text(&folder), entry);
            if (is_folder(path.s))
                pw_str_add(&path, "/");
            each(arg, path.s);
            pw_str_fini(&path);
        }
        free(found[i]);
    }
    free(found);
    pw_str_fini(&folder);
}
