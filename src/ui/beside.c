/* beside.c - work of commands that reads or writes files, beside the screen.
 *
 * With a screen such work is a job of the disk's thread (ui/disk.h): a slow disk stops no key and no frame.
 * In a script the next command may need the file, so the script waits for the job, but not the screen.
 * Without a screen the job is done within the command. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/places.h"
#include "base/recall.h"
#include "ui/app.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Says what a job did, or uses its result. waited: the script waited for it, and fails if the job has failed.
 */
static enum pw_code take_result(struct pw_app *app, struct pw_disk_job *job, bool waited, enum pw_code code,
                                struct pw_err *err)
{
    bool dropped = job->orders && job->request > 0 && !waited; /* the script, meanwhile */
    if (code == PW_OK && job->done != NULL && !dropped) {
        bool script = app->script;
        app->script = script || waited;
        code = job->done(app, job->arg, err);
        app->script = script;
        job->free = NULL;
    } else if (code != PW_OK && job->failed != NULL) {
        job->failed(app, job->arg);
    }
    if (code == PW_OK && job->said.len > 0)
        pw_app_answer(app, "%s", job->said.s);
    pw_disk_job_fini(job);
    return code;
}

enum pw_code pw_app_write(struct pw_app *app, struct pw_disk_job *job, struct pw_err *err)
{
    if (app->disk == NULL) {
        enum pw_code code = pw_disk_do(job, err);
        return take_result(app, job, app->script, code, err);
    }
    if (app->script || (job->orders && !pw_script_busy(app))) {
        if (!app->script)
            pw_script_add(app, NULL, "", err); /* begins a script, which the rest of the line follows */
        job->request = ++app->jobs;
        app->todo.waiting = PW_WAIT_DISK;
        app->todo.request = job->request;
    }
    pw_disk_hand(app->disk, job);
    return PW_OK;
}

enum pw_code pw_app_take_written(struct pw_app *app, struct pw_err *err)
{
    enum pw_code code, last = PW_OK;
    struct pw_disk_job job;
    struct pw_err why;
    while (app->disk != NULL && pw_disk_result(app->disk, &job, &code, &why)) {
        struct pw_script *s = &app->todo;
        bool waited = s->waiting == PW_WAIT_DISK && s->request == job.request;
        if (waited)
            s->waiting = PW_WAIT_NOTHING;
        code = take_result(app, &job, waited, code, &why);
        if (code == PW_OK)
            continue;
        if (waited) {
            pw_err_at(&why, s->place);
            pw_script_end(app);
        }
        *err = why;
        last = code;
    }
    return last;
}

/* ---- text files */

enum pw_code pw_app_text(const char *path, size_t limit, char **text, struct pw_err *err)
{
    size_t size;
    enum pw_code code = pw_file_read(path, limit, text, &size, err);
    if (code == PW_OK && strlen(*text) != size) {
        free(*text);
        *text = NULL;
        code = pw_fail(err, PW_EUSER, "%s: has NUL bytes; it must be text", path);
    }
    return code;
}

struct reading {
    char *path, *text;
    pw_app_find *find;
    size_t limit;
    pw_app_use *use;
};

static enum pw_code read_text(void *arg, struct pw_str *said, struct pw_err *err)
{
    struct reading *r = arg;
    struct pw_str path = {0};
    (void)said;
    enum pw_code code = r->find != NULL ? r->find(r->path, &path, err) : PW_OK;
    if (path.len > 0) {
        free(r->path);
        r->path = pw_text_dup(path.s);
    }
    pw_str_fini(&path);
    return code == PW_OK ? pw_app_text(r->path, r->limit, &r->text, err) : code;
}

static void free_reading(void *arg)
{
    struct reading *r = arg;
    free(r->path);
    free(r->text);
    free(r);
}

static enum pw_code use_text(struct pw_app *app, void *arg, struct pw_err *err)
{
    struct reading *r = arg;
    enum pw_code code = r->use(app, r->path, r->text, err);
    free_reading(r);
    return code;
}

enum pw_code pw_app_read(struct pw_app *app, const char *path, pw_app_find *find, size_t limit,
                         pw_app_use *use, struct pw_err *err)
{
    struct reading *r = pw_alloc(1, sizeof *r);
    *r = (struct reading){.path = pw_text_dup(path), .find = find, .limit = limit, .use = use};
    struct pw_disk_job job = {
        .work = read_text, .done = use_text, .free = free_reading, .arg = r, .orders = true};
    return pw_app_write(app, &job, err);
}

/* ---- the last session */

static enum pw_code find_unended(void *arg, struct pw_str *said, struct pw_err *err)
{
    char name[PW_LINE];
    (void)arg, (void)err;
    if (!pw_lab_find_unended(name, sizeof name))
        return PW_OK;
    pw_str_add(said, "the last session was not ended; :open ");
    pw_str_word(said, name);
    pw_str_add(said, " continues it");
    return PW_OK;
}

void pw_app_show_unended(struct pw_app *app)
{
    pw_disk_hand(app->disk, &(struct pw_disk_job){.work = find_unended});
}

/* ---- answers from memory */

struct recalling {
    char *path;
    size_t limit;
};

static enum pw_code read_recalled(void *arg, struct pw_str *said, struct pw_err *err)
{
    const struct recalling *r = arg;
    (void)said, (void)err;
    pw_recall_read(r->path, r->limit);
    return PW_OK;
}

static void free_recalling(void *arg)
{
    struct recalling *r = arg;
    free(r->path);
    free(r);
}

static void ask_disk(void *app, const char *path, size_t limit)
{
    struct recalling *r = pw_alloc(1, sizeof *r);
    *r = (struct recalling){pw_text_dup(path), limit};
    struct pw_disk_job job = {.work = read_recalled, .free = free_recalling, .arg = r};
    pw_disk_hand(((struct pw_app *)app)->disk, &job);
}

void pw_app_begin_recall(struct pw_app *app)
{
    struct pw_str none = {0};
    pw_place_own(&none, "encodings");
    pw_place_own(&none, "lessons");
    pw_str_fini(&none);
    tzset(); /* reads the time zone */
    pw_recall_begin(ask_disk, app);
}
