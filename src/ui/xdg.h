/* xdg.h - where files of the user's lie, by the XDG Base Directory Specification. */
#ifndef PW_XDG_H
#define PW_XDG_H
#include "base/err.h"
#include "base/text.h"

/* $XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc. PW_EUSER: "WHAT: neither XDG_CONFIG_HOME
 * nor HOME is set". */
enum pw_code pw_xdg_config(struct pw_str *path, const char *what, struct pw_err *err);
/* $XDG_STATE_HOME/pewter/NAME, else ~/.local/state/pewter/NAME. */
enum pw_code pw_xdg_state(struct pw_str *path, const char *what, const char *name, struct pw_err *err);
/* Makes the folder of path and those above it, for the user alone. What fails here fails again, with a message,
 * when the file is opened. */
void pw_xdg_make_folders(const char *path);

#endif
