/* run_cell.c - computes one cell: a pewter without a screen trains and measures, and its events become the
 * result. */
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "sessions/record.h"
#include "sessions/store.h"
#include "study/child.h"
#include "study/run.h"

/* A cell while it is computed. */
struct computing {
    const char *folder;
    const struct pw_study_cell *cell;
    int threads;
    const char *backend;
    struct pw_str session; /* its path */
    struct pw_result_reader reader;
};

static void take_line(void *arg, const char *line)
{
    struct computing *c = arg;
    pw_result_line(&c->reader, line);
}

/* Runs a script in the cell's session. The events of its output go to the reader. */
static enum pw_code run_script(struct computing *c, const char *script, int *status, char *why,
                               struct pw_err *err)
{
    char threads[12];
    snprintf(threads, sizeof threads, "%d", c->threads);
    const char *const args[] = {"--threads",  threads,  "--backend", c->backend, "--session",
                                c->session.s, "--json", "-c",        script,     NULL};
    return pw_child_run(args, take_line, c, status, why, err);
}

/* ---- a session of an earlier process */

/* Calls take(arg, e) for the recorded events, until it returns false. A session that can't be opened has
 * none. */
static void each_event(const char *session, bool (*take)(void *arg, struct pw_event *e), void *arg)
{
    struct pw_err err;
    struct pw_record *r;
    struct pw_record_info info;
    if (pw_record_open(&r, session, &err) != PW_OK)
        return;
    pw_record_info(r, &info);
    pw_record_events(r, 1, info.last, take, arg, &err);
    pw_record_close(r);
}

/* Looks for the command `train`. */
static bool take_command(void *arg, struct pw_event *e)
{
    bool *trains = arg;
    *trains = e->kind == PW_EV_COMMAND && strcmp(e->u.command.text, "train") == 0;
    return !*trains;
}

/* Has the session come to the training, so that it continues? Otherwise it is deleted: preparing a model
 * again takes no time. */
static bool continues(const struct computing *c)
{
    struct stat st;
    bool trains = false;
    if (stat(c->session.s, &st) != 0)
        return false;
    each_event(c->session.s, take_command, &trains);
    if (!trains)
        pw_session_remove(c->session.s);
    return trains;
}

static bool take_step(void *arg, struct pw_event *e)
{
    if (e->kind == PW_EV_STEP)
        *(double *)arg = e->u.step.flops;
    return true;
}

int64_t pw_study_cell_step(const char *folder, const char *id)
{
    struct pw_str path = {0};
    struct pw_err err;
    struct pw_record *r = NULL;
    struct pw_record_info info;
    struct pw_event *last = NULL;
    pw_study_cell_path(&path, folder, id, ".pewter");
    if (access(path.s, F_OK) == 0 && pw_record_open(&r, path.s, &err) == PW_OK) {
        pw_record_info(r, &info);
        last = pw_record_last(r, PW_EV_CHECKPOINT, -1, -1, info.last);
    }
    int64_t step = last != NULL ? last->step : 0;
    pw_event_free(last);
    pw_record_close(r);
    pw_str_fini(&path);
    return step;
}

/* ---- the cell */

/* The lines after the training. The path of the weights is no part of the cell's name. */
static void add_end(const struct computing *c, const struct pw_study *s, struct pw_str *out)
{
    struct pw_str path = {0};
    pw_study_cell_measure(s, out);
    if (s->keep_weights) {
        pw_study_cell_path(&path, c->folder, c->cell->id, ".safetensors");
        pw_str_add(out, "export weights ");
        pw_str_quote(out, path.s);
        pw_str_add(out, "\n");
        pw_str_fini(&path);
    }
}

/* Trains, or continues to train, to the end of the schedule. */
static enum pw_study_cell_end train(struct computing *c, const struct pw_study *s, char *why)
{
    struct pw_err err;
    struct pw_str script = {0};
    int status;
    bool more = continues(c);
    if (!more)
        pw_study_cell_setup(s, c->cell->arm, c->cell->task, c->cell->seed, &script);
    pw_str_add(&script, "train\n");
    if (!more)
        add_end(c, s, &script);
    enum pw_code code = run_script(c, script.s, &status, why, &err);
    pw_str_clear(&script);
    /* Training that was interrupted continues when its session is opened. Then `train` fails, because nothing
     * is left to train, so the measurement is a run of its own. */
    if (code == PW_OK && more && !WIFSIGNALED(status)) {
        pw_str_add(&script, "task %s\n", s->tasks.items[c->cell->task]); /* emits the trained lengths */
        add_end(c, s, &script);
        code = run_script(c, script.s, &status, why, &err);
    }
    pw_str_fini(&script);
    if (code != PW_OK) {
        pw_text_copy(why, PW_CHILD_WHY, err.msg);
        return PW_CELL_FAILED;
    }
    if (WIFSIGNALED(status)) /* ended from outside */
        return PW_CELL_INTERRUPTED;
    if (WEXITSTATUS(status) != 0)
        return PW_CELL_FAILED;
    if (c->reader.r->operations == 0.0) /* an earlier process computed the last step */
        each_event(c->session.s, take_step, &c->reader.r->operations);
    if (c->reader.r->n > 0 && c->reader.r->digest[0] != '\0' && c->reader.r->steps > 0)
        return PW_CELL_DONE;
    snprintf(why, PW_CHILD_WHY, "it printed no evaluation");
    return PW_CELL_FAILED;
}

static enum pw_study_cell_end compute(struct computing *c, const struct pw_study *s, struct pw_err *err)
{
    struct pw_result r = {0};
    struct pw_str path = {0};
    struct pw_err unwritten;
    char why[PW_CHILD_WHY + 1] = ""; /* with a line break */
    double begin = pw_now();
    pw_text_copy(r.id, sizeof r.id, c->cell->id);
    c->reader = (struct pw_result_reader){.r = &r};
    enum pw_study_cell_end end = train(c, s, why);
    r.seconds = pw_now() - begin;
    if (end == PW_CELL_DONE && pw_result_write(c->folder, &r, err) != PW_OK) {
        pw_text_copy(why, PW_CHILD_WHY, err->msg);
        end = PW_CELL_FAILED;
    }
    pw_study_cell_path(&path, c->folder, c->cell->id, ".txt");
    if (end == PW_CELL_FAILED) {
        pw_fail(err, PW_EUSER, "%s", why);
        strcat(why, "\n");
        pw_file_replace(path.s, why, strlen(why), &unwritten);
    }
    pw_str_fini(&path);
    pw_result_fini(&r);
    return end;
}

void pw_study_cell_tidy(const char *folder, const char *id)
{
    struct pw_str path = {0};
    pw_study_cell_path(&path, folder, id, ".pewter");
    pw_session_remove(path.s);
    pw_str_fini(&path);
    pw_study_cell_unlink(folder, id, ".txt");
    pw_study_cell_unlink(folder, id, ".lock"); /* a process that takes it then looks for the result next */
}

enum pw_study_cell_end pw_study_cell_run(const char *folder, const struct pw_study *s,
                                         const struct pw_study_cell *cell, int threads, const char *backend,
                                         struct pw_err *err)
{
    struct computing c = {.folder = folder, .cell = cell, .threads = threads, .backend = backend};
    struct pw_str lock = {0};
    struct pw_result there = {0};
    struct pw_err unread;
    enum pw_study_cell_end end = PW_CELL_WAS_DONE;
    pw_study_cell_path(&lock, folder, cell->id, ".lock");
    pw_study_cell_path(&c.session, folder, cell->id, ".pewter");
    int fd = pw_study_lock(lock.s, err);
    if (fd == -1)
        end = PW_CELL_ELSEWHERE;
    else if (fd < 0)
        end = PW_CELL_FAILED;
    else if (pw_result_read(&there, folder, cell->id, &unread) != PW_OK) /* missing or damaged */
        end = compute(&c, s, err);
    if (end == PW_CELL_DONE || end == PW_CELL_WAS_DONE)
        pw_study_cell_tidy(folder, cell->id);
    if (fd >= 0)
        close(fd);
    pw_result_fini(&there);
    pw_str_fini(&lock);
    pw_str_fini(&c.session);
    return end;
}
