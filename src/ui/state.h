/* state.h - where pewter keeps what it remembers and what the user configures: $XDG_STATE_HOME/pewter, else
 * ~/.local/state/pewter, and $XDG_CONFIG_HOME/pewter, else ~/.config/pewter. */
#ifndef PW_STATE_H
#define PW_STATE_H
#include "base/err.h"
#include "base/text.h"

/* Appends the path of name in there, and makes the folders that it lies in. PW_EUSER: neither XDG_STATE_HOME
 * nor HOME is set. PW_EIO: a folder can't be made, and why. */
enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err);
/* The same for what is configured. */
enum pw_code pw_config_path(const char *name, struct pw_str *path, struct pw_err *err);

#endif
