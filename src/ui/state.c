/* state.c - see state.h. */
#include "ui/state.h"
#include <stdlib.h>
#include <sys/stat.h>

/* The folders that path lies in. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            mkdir(path, 0700); /* what fails here fails again, with a message, when the file is opened */
            *p = '/';
        }
}

enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state && *state == '/') /* relative ones are to be ignored, says the standard */
        pw_str_add(path, "%s/pewter/%s", state, name);
    else if (home && *home == '/')
        pw_str_add(path, "%s/.local/state/pewter/%s", home, name);
    else
        return pw_fail(err, PW_EUSER, "neither XDG_STATE_HOME nor HOME is set");
    make_folders(path->s);
    return PW_OK;
}
