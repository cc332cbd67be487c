/* state.c - see state.h. */
#include "ui/state.h"
#include <stdlib.h>

static enum pw_code path_in(const char *variable, const char *fallback, const char *name, struct pw_str *path,
                            struct pw_err *err)
{
    const char *folder = getenv(variable);
    const char *home = getenv("HOME");
    if (folder != NULL && *folder == '/') /* the XDG standard says to ignore relative paths */
        pw_str_add(path, "%s/pewter/%s", folder, name);
    else if (home != NULL && *home == '/')
        pw_str_add(path, "%s/%s/pewter/%s", home, fallback, name);
    else
        return pw_fail(err, PW_EUSER, "neither %s nor HOME is set", variable);
    return PW_OK;
}

enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return path_in("XDG_STATE_HOME", ".local/state", name, path, err);
}

enum pw_code pw_config_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return path_in("XDG_CONFIG_HOME", ".config", name, path, err);
}
