/* state.h - the folders of pewter's state and of the user's configuration: $XDG_STATE_HOME/pewter, else
 * ~/.local/state/pewter, and $XDG_CONFIG_HOME/pewter, else ~/.config/pewter. */
#ifndef PW_STATE_H
#define PW_STATE_H
#include "base/err.h"
#include "base/text.h"

/* Appends the path of name in the state folder. It reads no disk; the writer creates the folders
 * (pw_folder_make_above). PW_EUSER: neither XDG_STATE_HOME nor HOME is set. */
enum pw_code pw_state_path(const char *name, struct pw_str *path, struct pw_err *err);
/* The same for the configuration folder. */
enum pw_code pw_config_path(const char *name, struct pw_str *path, struct pw_err *err);

#endif
