/* xdg.c - two variables and their fallbacks. */
#include "ui/xdg.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum pw_code find(struct pw_str *path, const char *what, const char *variable, const char *fallback,
                    const char *name, struct pw_err *err)
{
    const char *folder = getenv(variable);
    const char *home = getenv("HOME");
    if (folder && *folder == '/') /* relative ones are to be ignored, says the standard */
        pw_str_add(path, "%s/pewter/%s", folder, name);
    else if (home && *home == '/')
        pw_str_add(path, "%s/%s/pewter/%s", home, fallback, name);
    else
        return pw_fail(err, PW_EUSER, "%s: neither %s nor HOME is set", what, variable);
    return PW_OK;
}

enum pw_code pw_xdg_config(struct pw_str *path, const char *what, struct pw_err *err)
{
    return find(path, what, "XDG_CONFIG_HOME", ".config", "pewterrc", err);
}

enum pw_code pw_xdg_state(struct pw_str *path, const char *what, const char *name, struct pw_err *err)
{
    return find(path, what, "XDG_STATE_HOME", ".local/state", name, err);
}

void pw_xdg_make_folders(const char *path)
{
    struct pw_str p = {0};
    pw_str_add(&p, "%s", path);
    for (char *slash = strchr(p.s + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(p.s, 0700);
        *slash = '/';
    }
    pw_str_fini(&p);
}
