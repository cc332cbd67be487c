/* config.h - the user's file of commands, and the settings as commands.
 *
 * The file is $XDG_CONFIG_HOME/pewter/pewterrc, else ~/.config/pewter/pewterrc. Its lines are commands that
 * run when the workbench or plain mode begins. Only commands of the workbench (`set`, `bind`, `focus`, ...)
 * are allowed, so that the lab's results never depend on a hidden file. Scripts and -c do not read it. */
#ifndef PW_CONFIG_H
#define PW_CONFIG_H
#include "ui/app.h"

/* Appends the commands that restore the current settings, bindings and borders: one line for each that
 * differs from the program's start. */
void pw_config_print(const struct pw_app *app, struct pw_str *out);
/* Resets settings, bindings and borders to their values at program start. */
void pw_config_reset(struct pw_app *app);

#define PW_CONFIG_LIMIT (1u << 20) /* largest size of such a file, in bytes */
/* Runs the lines of a file's text; modifies the text. A line with a mistake is skipped, and "FILE:3: set: no
 * option 'x'" is appended to errors, one per line. In plain mode only `set` lines run, because there are no
 * panes or keys. */
void pw_config_run(struct pw_app *app, const char *path, char *text, struct pw_str *errors);
/* Reads a file and runs it at once. Fails if the file cannot be read. */
enum pw_code pw_config_load(struct pw_app *app, const char *path, struct pw_str *errors, struct pw_err *err);
/* Runs the user's own file if it exists; *errors as above. The first frame waits for it. */
void pw_config_begin(struct pw_app *app, struct pw_str *errors);

/* Reads a file and parses its lines without running them. Fails if the file cannot be read, or with "line 3:
 * no command 'x'" for the first mistake. */
enum pw_code pw_config_check_file(const struct pw_commands *commands, const char *path, struct pw_err *err);

/* Writes the output of pw_config_print to the file, below a line that marks it as generated. Text above that
 * line stays. The work is a job of the disk (pw_app_write), whose text names the path. folders: create
 * missing folders. */
enum pw_code pw_config_save(struct pw_app *app, const char *path, bool folders, struct pw_err *err);

#endif
