/* config.h - the file of the user's commands, and the settings as commands.
 *
 * $XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc: lines of commands, run when the workbench
 * or plain mode begins. Only commands of the workbench may stand there (`set`, `bind`, `focus`, ...): what
 * the laboratory computes never depends on a file that nobody sees. Scripts and -c don't read it. */
#ifndef PW_CONFIG_H
#define PW_CONFIG_H
#include "ui/app.h"

/* Appends the commands that make the settings, bindings and borders what they are: a line for each that
 * differs from how the program began. */
void pw_config_print(const struct pw_app *app, struct pw_str *out);
/* Puts all of that back to how the program began. */
void pw_config_reset(struct pw_app *app);

/* Runs the lines of a file. One with a mistake is left out, the rest goes on: "FILE:3: set: no option 'x'" is
 * appended to errors, a line each. Fails if the file can't be read. In plain mode lines other than `set` are
 * passed over: there is nothing that they could move. */
enum pw_code pw_config_load(struct pw_app *app, const char *path, struct pw_str *errors, struct pw_err *err);
/* The user's own file, if there is one; *errors as above. */
void pw_config_begin(struct pw_app *app, struct pw_str *errors);

/* Writes pw_config_print into the file, below a line that says so; what stands above that line stays. */
enum pw_code pw_config_save(const struct pw_app *app, const char *path, struct pw_err *err);

#endif
