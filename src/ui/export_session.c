/* export_session.c - see export_session.h.
 *
 * The session is opened for reading once more, by the thread that writes the file: reading takes as long as
 * the session is, and drawing a film up to half a minute. The film is drawn by a copy of the workbench's
 * state. */
#include "ui/export_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "ui/cast.h"
#include "ui/replay.h"

#define LATE_POLLS 60 /* of 20 ms each: the latest events are on disk within a second */

struct job {
    const struct form *form;
    char *path, *session;               /* the file to write, and the session's folder or file */
    uint64_t seq;                       /* the latest event, which a script's next line possibly needs */
    const struct pw_commands *commands; /* for a script */
    struct pw_cast_options o;           /* for a film, as is ui */
    struct pw_ui ui;
};

/* ---- on the disk's thread */

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static enum pw_code write_film(struct job *j, struct pw_str *missing, struct pw_err *err)
{
    struct pw_player *p;
    enum pw_code code = pw_player_open(&p, j->session, err);
    (void)missing;
    if (code != PW_OK)
        return code;
    for (int i = 0; i < LATE_POLLS && pw_player_last(p) < j->seq; i++) {
        wait_a_moment();
        pw_player_poll(p);
    }
    code = pw_cast_write(j->path, &j->ui, p, &j->o, err);
    j->ui.transport.player = NULL;
    pw_player_close(p);
    return code;
}

static enum pw_code print_events(const struct job *j, FILE *out, struct pw_record *r, struct pw_str *missing,
                                 struct pw_err *err)
{
    (void)j;
    return pw_replay_print(out, r, true, missing, err);
}

static enum pw_code print_script(const struct job *j, FILE *out, struct pw_record *r, struct pw_str *missing,
                                 struct pw_err *err)
{
    return pw_replay_script(out, r, j->commands, missing, err);
}

static const struct form {
    const char *what, *ending;
    enum pw_code (*print)(const struct job *j, FILE *out, struct pw_record *r, struct pw_str *missing,
                          struct pw_err *err); /* NULL: the film */
} forms[] = {
    {"cast", ".cast", NULL}, {"events", ".jsonl", print_events}, {"session", ".pewter", print_script}};

static uint64_t last_of(struct pw_record *r)
{
    struct pw_record_info info;
    pw_record_info(r, &info);
    return info.last;
}

static enum pw_code write_text(struct job *j, struct pw_str *missing, struct pw_err *err)
{
    struct pw_record *r;
    struct pw_file *file;
    enum pw_code code = pw_record_open(&r, j->session, err);
    if (code != PW_OK)
        return code;
    for (int i = 0; i < LATE_POLLS && last_of(r) < j->seq; i++) {
        wait_a_moment();
        pw_record_poll(r);
    }
    code = pw_file_create(&file, j->path, err);
    if (code == PW_OK) {
        code = j->form->print(j, pw_file_stream(file), r, missing, err);
        if (code == PW_OK)
            code = pw_file_commit(file, err);
        else
            pw_file_abandon(file);
    }
    pw_record_close(r);
    return code;
}

static enum pw_code write_file(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct job *j = arg;
    struct pw_str missing = {0};
    enum pw_code code = j->form->print != NULL ? write_text(j, &missing, err) : write_film(j, &missing, err);
    pw_str_add(said, "wrote %s%s%s", j->path, missing.len > 0 ? "; " : "", pw_str_text(&missing));
    pw_str_fini(&missing);
    return code;
}

static void free_job(void *arg)
{
    struct job *j = arg;
    pw_ui_fini(&j->ui);
    free(j->path);
    free(j->session);
    free(j);
}

/* ---- on the UI thread */

static const struct form *form_of(const struct pw_args *args)
{
    const char *word = pw_args_word(args, 0);
    for (size_t i = 0; word != NULL && i < sizeof forms / sizeof *forms; i++)
        if (strcmp(word, forms[i].what) == 0)
            return &forms[i];
    return NULL;
}

bool pw_export_is_session(const struct pw_args *args)
{
    return form_of(args) != NULL;
}

/* Sets the session to read: the one that is replayed, or the one that is being recorded. */
static enum pw_code find_session(struct job *j, const struct pw_app *app, struct pw_err *err)
{
    const struct pw_ev_session *s = &pw_time_end(&app->ui)->session;
    const struct pw_transport *t = &app->ui.transport;
    if (t->alone)
        j->session = pw_text_dup(pw_record_path(pw_player_record(t->player)));
    else if (s->how != PW_REC_NONE && s->folder[0])
        j->session = pw_text_dup(s->folder);
    else
        return pw_fail(
            err, PW_EUSER,
            "export %s: nothing is recorded here; the workbench records, and headless --session NAME",
            j->form->what);
    j->seq = t->alone ? 0 : pw_time_end(&app->ui)->seq;
    return PW_OK;
}

static enum pw_code read_options(struct job *j, const struct pw_app *app, const struct pw_args *args,
                                 struct pw_err *err)
{
    if (j->form->print != NULL)
        return pw_args_opts(args, NULL, NULL, err);
    pw_opt_defaults(pw_cast_opts, &j->o);
    enum pw_code code = pw_args_opts(args, pw_cast_opts, &j->o, err);
    j->o.width = j->o.width > 0 ? j->o.width : app->screen ? app->ui.cols : 100;
    j->o.height = j->o.height > 0 ? j->o.height : app->screen ? app->ui.rows : 30;
    pw_app_pose(app, &j->ui);
    pw_ui_detach(&j->ui);
    return code;
}

enum pw_code pw_export_session(struct pw_app *app, const struct pw_args *args, struct pw_err *err)
{
    const struct form *form = form_of(args);
    const char *path = pw_args_word(args, 1), *dot = path != NULL ? strrchr(path, '.') : NULL;
    if (pw_args_words(args) != 2)
        return pw_fail(err, PW_EUSER, "usage: export %s FILE%s%s", form->what, form->ending,
                       form->print != NULL ? "" : " [key=value]");
    if (dot == NULL || strcmp(dot, form->ending) != 0)
        return pw_fail(err, PW_EUSER, "export %s: '%s': the file name must end in %s", form->what, path,
                       form->ending);
    struct job *j = pw_alloc(1, sizeof *j);
    *j = (struct job){.form = form, .path = pw_text_dup(path), .commands = app->commands};
    enum pw_code code = read_options(j, app, args, err);
    if (code == PW_OK)
        code = find_session(j, app, err);
    if (code == PW_OK)
        return pw_app_write(app, &(struct pw_disk_job){.work = write_file, .free = free_job, .arg = j}, err);
    free_job(j);
    return code;
}
