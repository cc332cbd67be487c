/* state.c - see state.h. */
#include "ui/state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folders that path lies in. */
static enum pw_code make_folders(char *path, struct pw_err *err)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            struct stat st;
            *p = '\0';
            if (mkdir(path, 0700) != 0 && errno != EEXIST) {
                const char *why = strerror(errno);
                if (stat(path, &st) != 0)
                    return pw_fail(err, PW_EIO, "%s can't be made: %s", path, why);
            }
            *p = '/';
        }
    return PW_OK;
}

static enum pw_code path_in(const char *variable, const char *fallback, const char *name, struct pw_str *path,
                            struct pw_err *err)
{
    const char *folder = getenv(variable);
    const char *home = getenv("HOME");
    if (folder && *folder == '/') /* relative ones are to be ignored, says the standard */
        pw_str_add(path, "%s/pewter/%s", folder, name);
    else if (home && *home == '/')
        pw_str_add(path, "%s/%s/pewter/%s", home, fallback, name);
    else
        return pw_fail(err, PW_EUSER, "neither %s nor HOME is set", variable);
    return make_folders(path->s, err);
}

enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return path_in("XDG_STATE_HOME", ".local/state", name, path, err);
}

enum pw_code pw_config_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return path_in("XDG_CONFIG_HOME", ".config", name, path, err);
}
