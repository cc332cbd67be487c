/* state.c - see state.h. */
#include "ui/state.h"
#include "base/places.h"

enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return pw_place_state(path, name) ? PW_OK
                                      : pw_fail(err, PW_EUSER, "neither XDG_STATE_HOME nor HOME is set");
}

enum pw_code pw_config_path(const char *name, struct pw_str *path, struct pw_err *err)
{
    return pw_place_config(path, name) ? PW_OK
                                       : pw_fail(err, PW_EUSER, "neither XDG_CONFIG_HOME nor HOME is set");
}
