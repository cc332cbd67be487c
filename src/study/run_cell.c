/* run_cell.c - computes one cell: a pewter without a screen trains and measures, and its events become the
 * result. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "sessions/record.h"
#include "sessions/store.h"
#include "study/run.h"

/* A cell while it is computed. */
struct computing {
    const char *folder, *program;
    const struct pw_study_cell *cell;
    int threads;
    struct pw_str session; /* its path */
    struct pw_result_reader reader;
};

/* Replaces the process by pewter. The parent's death ends it in order. */
static void become(const struct computing *c, const char *script, int out, int errors, pid_t parent)
{
    char threads[12];
    snprintf(threads, sizeof threads, "%d", c->threads);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before prctl */
        _exit(127);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(out);
    close(errors);
    execl(c->program, c->program, "--threads", threads, "--session", c->session.s, "--json", "-c", script,
          (char *)NULL);
    fprintf(stderr, "pewter: %s: %s\n", c->program, strerror(errno));
    _exit(127);
}

/* Writes the last line of a text to dst: the message of a run that failed. */
static void last_line(char *dst, size_t size, char *text)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    char *line = strrchr(text, '\n');
    pw_text_copy(dst, size, line != NULL ? line + 1 : text);
}

/* Runs a script in the cell's session. The events of its output go to the reader. *status is wait's; `why`
 * gets the last line of its messages. */
static enum pw_code run_script(struct computing *c, const char *script, int *status, char why[512],
                               struct pw_err *err)
{
    int ends[2], scratch;
    char *name, *line = NULL, text[4096];
    size_t cap = 0;
    struct pw_str path = {0};
    pw_study_cell_path(&path, c->folder, c->cell->id, ".messages");
    enum pw_code code = pw_file_scratch(&scratch, &name, path.s, err);
    pw_str_fini(&path);
    if (code != PW_OK)
        return code;
    unlink(name);
    free(name);
    pid_t parent = getpid(), pid = pipe(ends) == 0 ? fork() : -1;
    if (pid == 0) {
        close(ends[0]);
        become(c, script, ends[1], scratch, parent);
    }
    if (pid < 0) {
        close(scratch);
        return pw_fail(err, PW_EIO, "no process for the cell: %s", strerror(errno));
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    while (getline(&line, &cap, in) > 0)
        pw_result_line(&c->reader, line);
    free(line);
    fclose(in);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    off_t size = lseek(scratch, 0, SEEK_END),
          from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    ssize_t n = pread(scratch, text, sizeof text - 1, from);
    text[n > 0 ? n : 0] = '\0';
    last_line(why, 512, text);
    close(scratch);
    return PW_OK;
}

/* ---- a session of an earlier process */

struct progress {
    int commands;
    bool trains; /* `train` has begun */
};

static bool take_command(void *arg, struct pw_event *e)
{
    struct progress *p = arg;
    if (e->kind == PW_EV_COMMAND) {
        p->commands++;
        p->trains = p->trains || strcmp(e->u.command.text, "train") == 0;
    }
    return !p->trains;
}

/* Has the session come to the training, so that it continues? Otherwise it is deleted: preparing a model
 * again takes no time. */
static bool continues(const struct computing *c)
{
    struct stat st;
    struct pw_err err;
    struct pw_record *r;
    struct pw_record_info info;
    struct progress p = {0};
    if (stat(c->session.s, &st) != 0)
        return false;
    if (pw_record_open(&r, c->session.s, &err) == PW_OK) {
        pw_record_info(r, &info);
        pw_record_events(r, 1, info.last, take_command, &p, &err);
        pw_record_close(r);
    }
    if (!p.trains)
        pw_session_remove(c->session.s);
    return p.trains;
}

/* ---- the cell */

static enum pw_study_cell_end fail(const struct computing *c, const char *why)
{
    struct pw_str path = {0};
    struct pw_file *f;
    struct pw_err err;
    pw_study_cell_path(&path, c->folder, c->cell->id, ".txt");
    if (pw_file_create(&f, path.s, &err) == PW_OK) {
        fprintf(pw_file_stream(f), "%s\n", why);
        pw_file_commit(f, &err);
    }
    pw_str_fini(&path);
    return PW_CELL_FAILED;
}

/* Was the run ended from outside? 128 + N is the status of shells. */
static bool interrupted(int status)
{
    return WIFSIGNALED(status);
}

/* Trains, or continues to train, to the end of the schedule. */
static enum pw_study_cell_end train(struct computing *c, const struct pw_study *s, char why[512])
{
    struct pw_err err;
    struct pw_str script = {0};
    int status;
    bool more = continues(c);
    if (!more)
        pw_study_cell_setup(s, c->cell->arm, c->cell->task, c->cell->seed, &script);
    pw_str_add(&script, "train\n");
    if (!more)
        pw_study_cell_measure(s, &script);
    enum pw_code code = run_script(c, script.s, &status, why, &err);
    pw_str_clear(&script);
    /* Training that was interrupted continues when its session is opened. Then `train` fails, because nothing
     * is left to train, so the measurement is a run of its own. */
    if (code == PW_OK && more && !interrupted(status)) {
        pw_str_add(&script, "task %s\n", s->tasks.items[c->cell->task]); /* emits the trained lengths */
        pw_study_cell_measure(s, &script);
        code = run_script(c, script.s, &status, why, &err);
    }
    pw_str_fini(&script);
    if (code != PW_OK) {
        pw_text_copy(why, 512, err.msg);
        return PW_CELL_FAILED;
    }
    if (interrupted(status))
        return PW_CELL_INTERRUPTED;
    if (WEXITSTATUS(status) != 0)
        return PW_CELL_FAILED;
    if (c->reader.r->n > 0 && c->reader.r->digest[0] != '\0' && c->reader.r->steps > 0)
        return PW_CELL_DONE;
    snprintf(why, 512, "it printed no evaluation");
    return PW_CELL_FAILED;
}

static enum pw_study_cell_end compute(struct computing *c, const struct pw_study *s, struct pw_err *err)
{
    struct pw_result *r = pw_alloc(1, sizeof *r);
    struct pw_str path = {0};
    char why[512] = "";
    double begin = pw_now();
    pw_text_copy(r->id, sizeof r->id, c->cell->id);
    c->reader = (struct pw_result_reader){.r = r};
    enum pw_study_cell_end end = train(c, s, why);
    r->seconds = pw_now() - begin;
    if (end == PW_CELL_DONE && pw_result_write(c->folder, r, err) != PW_OK) {
        pw_text_copy(why, sizeof why, err->msg);
        end = PW_CELL_FAILED;
    }
    pw_study_cell_path(&path, c->folder, c->cell->id, ".txt");
    if (end == PW_CELL_DONE) {
        pw_session_remove(c->session.s);
        unlink(path.s);
    } else if (end == PW_CELL_FAILED) {
        fail(c, why);
        pw_fail(err, PW_EUSER, "%s", why);
    }
    pw_str_fini(&path);
    pw_result_fini(r);
    free(r);
    return end;
}

enum pw_study_cell_end pw_study_cell_run(const char *folder, const struct pw_study *s,
                                         const struct pw_study_cell *cell, const char *program, int threads,
                                         struct pw_err *err)
{
    struct computing c = {.folder = folder, .program = program, .cell = cell, .threads = threads};
    struct pw_str lock = {0};
    struct pw_result there = {0};
    struct pw_err unread;
    enum pw_study_cell_end end = PW_CELL_DONE;
    pw_study_cell_path(&lock, folder, cell->id, ".lock");
    pw_study_cell_path(&c.session, folder, cell->id, ".pewter");
    int fd = pw_study_lock(lock.s, err);
    if (fd == -1)
        end = PW_CELL_ELSEWHERE;
    else if (fd < 0)
        end = PW_CELL_FAILED;
    else if (pw_result_read(&there, folder, cell->id, &unread) != PW_OK) /* missing or damaged */
        end = compute(&c, s, err);
    if (end == PW_CELL_DONE)
        unlink(lock.s); /* one that waits for it looks for the result next */
    if (fd >= 0)
        close(fd);
    pw_result_fini(&there);
    pw_str_fini(&lock);
    pw_str_fini(&c.session);
    return end;
}
