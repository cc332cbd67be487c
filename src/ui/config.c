/* config.c - converts settings to lines and lines to settings. undo.c stores the same lines.
 *
 * The user's file is read on the UI thread, once, before the first frame: its settings decide how this frame
 * looks, and no key can wait for it yet. Later reads and writes are jobs of the disk. */
#include "ui/config.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "ui/state.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT "# below: written by `config save`; what stands above is yours\n"

/* ---- settings as lines */

/* Appends a line for each option of the table whose value differs between the two structs. */
static void print_changed(const struct pw_opt *table, const void *now, const void *begin, struct pw_str *out)
{
    for (; table->name != NULL; table++) {
        const struct pw_opt one[] = {*table, {.name = NULL}};
        struct pw_str a = {0}, b = {0};
        pw_opt_print(one, now, false, &a);
        pw_opt_print(one, begin, false, &b);
        if (strcmp(a.s, b.s) != 0)
            pw_str_add(out, "set%s\n", a.s);
        pw_str_fini(&a);
        pw_str_fini(&b);
    }
}

void pw_config_print(const struct pw_app *app, struct pw_str *out)
{
    struct pw_proportions begin;
    pw_opt_defaults(pw_split_opts, &begin);
    print_changed(pw_settings_opts, &app->settings, &app->begin, out);
    print_changed(pw_split_opts, &app->ui.split, &begin, out);
    pw_bindings_print(&app->ui.bindings, out);
}

void pw_config_reset(struct pw_app *app)
{
    app->settings = app->begin;
    app->ui.bindings.n = 0;
    pw_opt_defaults(pw_split_opts, &app->ui.split);
}

/* ---- reading */

struct check {
    const struct pw_commands *commands;
    bool skip; /* a command has no effect in plain mode */
    struct pw_err *err;
};

static enum pw_code may_stand_here(void *arg, const char *text, int line)
{
    (void)line;
    struct check *c = arg;
    struct pw_args args;
    const struct pw_command *cmd;
    enum pw_code code = pw_command_parse(c->commands, text, &args, &cmd, c->err);
    if (code != PW_OK)
        return code;
    bool begins =
        strcmp(cmd->name, "source") == 0 || strcmp(cmd->name, "present") == 0; /* both start a script */
    if (cmd->where != PW_AT_UI || begins || strcmp(cmd->name, "config") == 0)
        code =
            pw_fail(c->err, PW_EUSER,
                    "%s: only commands of the workbench are allowed here: set, bind, focus ...", cmd->name);
    c->skip = c->skip || strcmp(cmd->name, "set") != 0;
    pw_args_fini(&args);
    return code;
}

static enum pw_code run_line(struct pw_app *app, const char *line, struct pw_err *err)
{
    struct check c = {.commands = app->commands, .err = err};
    enum pw_code code = pw_commands_split(line, may_stand_here, &c, err);
    return code == PW_OK && (app->screen || !c.skip) ? pw_app_submit(app, line, PW_SEND_NOW, err) : code;
}

/* Cuts the line off the text, and returns the rest. */
static char *end_line(char *line)
{
    char *end = line + strcspn(line, "\n");
    if (*end != '\0')
        *end++ = '\0';
    return end;
}

void pw_config_run(struct pw_app *app, const char *path, char *text, struct pw_str *errors)
{
    int number = 1;
    for (char *line = text, *end; *line; line = end, number++) {
        struct pw_err why = {0};
        end = end_line(line);
        if (run_line(app, line, &why) != PW_OK)
            pw_str_add(errors, "%s:%d: %s\n", path, number, why.msg);
    }
}

enum pw_code pw_config_check_file(const struct pw_commands *commands, const char *path, struct pw_err *err)
{
    char *text = NULL;
    size_t size;
    int number = 1;
    enum pw_code code = pw_file_read(path, PW_CONFIG_LIMIT, &text, &size, err);
    if (code != PW_OK)
        return code;
    for (char *line = text, *end; *line != '\0' && code == PW_OK; line = end, number++) {
        struct pw_err why = {0};
        struct check c = {.commands = commands, .err = &why};
        end = end_line(line);
        code = pw_commands_split(line, may_stand_here, &c, &why);
        if (code != PW_OK)
            pw_fail(err, code, "line %d: %s", number, why.msg);
    }
    free(text);
    return code;
}

enum pw_code pw_config_load(struct pw_app *app, const char *path, struct pw_str *errors, struct pw_err *err)
{
    char *text;
    enum pw_code code = pw_app_text(path, PW_CONFIG_LIMIT, &text, err);
    if (code == PW_OK)
        pw_config_run(app, path, text, errors);
    free(text);
    return code;
}

void pw_config_begin(struct pw_app *app, struct pw_str *errors)
{
    struct pw_str path = {0};
    struct pw_err err = {0};
    if (pw_config_path("pewterrc", &path, &err) == PW_OK && access(path.s, F_OK) == 0 &&
        pw_config_load(app, path.s, errors, &err) != PW_OK)
        pw_str_add(errors, "%s\n", err.msg);
    pw_str_fini(&path);
}

/* ---- writing */

/* Appends the user's own text: everything above the generated line. */
static enum pw_code read_above(const char *path, struct pw_str *above, struct pw_err *err)
{
    char *text = NULL;
    size_t size;
    if (access(path, F_OK) != 0)
        return PW_OK; /* a new file */
    enum pw_code code = pw_file_read(path, PW_CONFIG_LIMIT, &text, &size, err);
    if (code != PW_OK)
        return code;
    const char *ours = strstr(text, KEPT);
    pw_str_put(above, text, ours != NULL ? (size_t)(ours - text) : size);
    if (above->len > 0 && above->s[above->len - 1] != '\n')
        pw_str_put(above, "\n", 1);
    free(text);
    return PW_OK;
}

struct saving {
    char *path;
    bool folders;
    struct pw_str lines;
};

static enum pw_code save_lines(void *arg, struct pw_str *said, struct pw_err *err)
{
    const struct saving *v = arg;
    struct pw_str text = {0};
    struct pw_file *f;
    enum pw_code code = v->folders ? pw_folder_make_above(v->path, err) : PW_OK;
    if (code == PW_OK)
        code = read_above(v->path, &text, err);
    if (code == PW_OK)
        code = pw_file_create(&f, v->path, err);
    if (code == PW_OK) {
        fprintf(pw_file_stream(f), "%s" KEPT "%s", pw_str_text(&text), pw_str_text(&v->lines));
        code = pw_file_commit(f, err);
    }
    pw_str_add(said, "config: saved in %s", v->path);
    pw_str_fini(&text);
    return code;
}

static void free_saving(void *arg)
{
    struct saving *v = arg;
    free(v->path);
    pw_str_fini(&v->lines);
    free(v);
}

enum pw_code pw_config_save(struct pw_app *app, const char *path, bool folders, struct pw_err *err)
{
    struct saving *v = pw_alloc(1, sizeof *v);
    v->path = pw_text_dup(path);
    v->folders = folders;
    pw_config_print(app, &v->lines);
    return pw_app_write(app, &(struct pw_disk_job){.work = save_lines, .free = free_saving, .arg = v}, err);
}
