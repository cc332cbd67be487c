/* slurm_submit.c - submits arrays of cells, and the job that follows them, by sbatch. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "study/child.h"
#include "study/run.h"
#include "study/slurm_int.h"

#define SECONDS     60   /* for a program of the scheduler */
#define ARRAY_SIZE  1001 /* Slurm's own default of MaxArraySize */
#define NEXT_LIMIT  15   /* minutes of the following job: ten tries, one minute apart */
#define LONG_NOTICE 60   /* seconds before the limit of time at which a cell is asked to end */
#define NOTICE      20   /* the same for limits below LONG_LIMIT */
#define LONG_LIMIT  5    /* minutes */

/* ---- programs of the scheduler */

static void take_size(void *arg, const char *line)
{
    int *size = arg, n;
    if (sscanf(line, "MaxArraySize = %d", &n) == 1 && n > 1)
        *size = n;
}

/* The largest number of tasks of an array. Their numbers begin with 1, and are below MaxArraySize. */
static int most_tasks(void)
{
    static const char *const words[] = {"scontrol", "show", "config", NULL};
    char why[PW_CHILD_WHY];
    struct pw_err err;
    int size = ARRAY_SIZE, status;
    pw_child_program(words, SECONDS, take_size, &size, &status, why, &err); /* else the default is tried */
    return size - 1;
}

/* A program that failed says why in the last line of its messages. */
static enum pw_code fail_program(const char *name, int status, const char *why, struct pw_err *err)
{
    if (WIFSIGNALED(status))
        return pw_fail(err, PW_EIO, "on=slurm: %s did not answer in %d s", name, SECONDS);
    const char *says = strstr(why, ": error: "), *fatal = strstr(why, ": fatal: "); /* behind the name */
    says = says != NULL ? says : fatal;
    return pw_fail(err, PW_EUSER, "on=slurm: %s: %s", name, says != NULL ? says + 9 : why);
}

enum pw_code pw_slurm_program(const char *const *words, void (*each)(void *arg, const char *line), void *arg,
                              struct pw_err *err)
{
    char why[PW_CHILD_WHY];
    int status;
    struct pw_err none;
    enum pw_code code = pw_child_program(words, SECONDS, each, arg, &status, why, &none);
    if (code == PW_EUSER)
        return pw_fail(err, code, "on=slurm: %s; allowed are on=local, on=slurm", none.msg);
    if (code != PW_OK)
        return pw_fail(err, code, "on=slurm: %s", none.msg);
    return status == 0 ? PW_OK : fail_program(words[0], status, why, err);
}

static void take_job(void *arg, const char *line)
{
    long *job = arg;
    if (*job == 0)
        *job = strtol(line, NULL, 10); /* "123", or "123;CLUSTER" */
}

/* Submits a script that is in the study's folder. options [n] are more words of sbatch. */
static enum pw_code submit_script(const struct pw_submitting *x, const char *name, const char *script, int n,
                                  const char *const *options, long *job, struct pw_err *err)
{
    struct pw_str at = {0}, label = {0}, account = {0}, partition = {0};
    const char *words[32] = {"sbatch", "--parsable", "--nodes=1", "--ntasks=1", "--open-mode=append"};
    int k = 5;
    pw_str_add(&at, "--chdir=%s/slurm", x->place);
    pw_str_add(&label, "--job-name=%s-%s", x->q.token, name);
    words[k++] = at.s;
    words[k++] = label.s;
    if (x->o->partition != NULL) {
        pw_str_add(&partition, "--partition=%s", x->o->partition);
        words[k++] = partition.s;
    }
    if (x->o->account != NULL) {
        pw_str_add(&account, "--account=%s", x->o->account);
        words[k++] = account.s;
    }
    for (int i = 0; i < n; i++)
        words[k++] = options[i];
    struct pw_str path = {0};
    pw_str_add(&path, "%s/slurm/%s", x->place, script);
    words[k] = path.s;
    *job = 0;
    enum pw_code code = pw_slurm_program(words, take_job, job, err);
    if (code == PW_OK && *job <= 0)
        code = pw_fail(err, PW_EIO, "on=slurm: sbatch printed no number of a job");
    pw_str_fini(&at);
    pw_str_fini(&label);
    pw_str_fini(&account);
    pw_str_fini(&partition);
    pw_str_fini(&path);
    return code;
}

/* ---- a submission */

/* Minutes of "90" or "1:30:00". */
static long minutes_of(const char *time)
{
    long hours = 0, minutes = 0;
    if (strchr(time, ':') == NULL)
        return strtol(time, NULL, 10);
    sscanf(time, "%ld:%ld", &hours, &minutes);
    return hours * 60 + minutes;
}

static enum pw_code write_script(const struct pw_submitting *x, const char *file, const struct pw_str *text,
                                 struct pw_err *err)
{
    struct pw_str path = {0};
    pw_slurm_path(&path, x->folder, file);
    enum pw_code code = pw_file_replace(path.s, text->s, text->len, err);
    pw_str_fini(&path);
    return code;
}

/* Submits the newest array of the record. */
static enum pw_code submit_array(struct pw_submitting *x, struct pw_err *err)
{
    struct pw_slurm_array *a = &x->q.arrays[x->q.n - 1];
    const struct pw_slurm_options *o = x->o;
    struct pw_str text = {0};
    char name[16], script[24], tasks[32], log[32], threads[32], signal[32], limit[64], devices[32];
    bool brief = o->time != NULL && minutes_of(o->time) < LONG_LIMIT;
    int n = 0;
    const char *options[10];
    snprintf(name, sizeof name, "%d", a->number);
    snprintf(script, sizeof script, "%d.sh", a->number);
    snprintf(tasks, sizeof tasks, "--array=1-%d", a->n);
    snprintf(log, sizeof log, "--output=%d.log", a->number);
    snprintf(threads, sizeof threads, "--cpus-per-task=%d", o->threads > 0 ? o->threads : 1);
    snprintf(signal, sizeof signal, "--signal=B:TERM@%d", brief ? NOTICE : LONG_NOTICE);
    options[n++] = "--requeue";
    options[n++] = tasks;
    options[n++] = log;
    options[n++] = threads;
    options[n++] = signal;
    if (o->time != NULL) {
        snprintf(limit, sizeof limit, "--time=%s", o->time);
        options[n++] = limit;
    }
    if (o->gpus > 0) {
        snprintf(devices, sizeof devices, "--gres=gpu:%d", o->gpus);
        options[n++] = devices;
    }
    pw_slurm_cells_script(&text, x->program, x->place, a->number, o);
    enum pw_code code = write_script(x, script, &text, err);
    if (code == PW_OK)
        code = submit_script(x, name, script, n, options, &a->job, err);
    pw_str_fini(&text);
    return code;
}

/* Submits the job that continues the study when the jobs (":1:2") have ended. */
static enum pw_code submit_next(struct pw_submitting *x, const char *jobs, struct pw_err *err)
{
    struct pw_str text = {0}, after = {0};
    char script[24], limit[32], log[32];
    long job;
    int number = x->q.arrays[x->q.n - 1].number;
    snprintf(script, sizeof script, "%d.next.sh", number);
    snprintf(limit, sizeof limit, "--time=%d", NEXT_LIMIT);
    snprintf(log, sizeof log, "--output=%d.log", number);
    pw_str_add(&after, "--dependency=afterany%s", jobs);
    const char *const options[] = {limit, log, "--cpus-per-task=1", after.s};
    pw_slurm_next_script(&text, x->program, x->place, x->o);
    enum pw_code code = write_script(x, script, &text, err);
    if (code == PW_OK)
        code = submit_script(x, "next", script, sizeof options / sizeof *options, options, &job, err);
    if (code == PW_OK)
        fprintf(x->out, "job %ld continues the study when they have ended\n", job);
    pw_str_fini(&text);
    pw_str_fini(&after);
    return code;
}

/* Removes what a cell that failed left, so that its next failure is seen as one. */
static void forget_failure(const struct pw_submitting *x, int cell)
{
    if (x->r.state[cell] != PW_CELL_BROKEN)
        return;
    pw_study_cell_unlink(x->folder, x->r.cells[cell].id, ".txt");
    pw_study_cell_unlink(x->folder, x->r.cells[cell].id, ".json"); /* the result can't be read */
}

/* Submits the wanted cells from number `from`, as many as an array may have. Returns in *to the first that is
 * left. The record is written before, so that a job whose number is lost has a line. */
static enum pw_code submit_some(struct pw_submitting *x, int from, int most, int *to, struct pw_err *err)
{
    int each = x->o->cells > 0 ? x->o->cells : 1, n = 0;
    char **tasks = pw_alloc((size_t)most, sizeof *tasks);
    *to = from;
    for (; n < most && *to < x->n_wanted; n++) {
        struct pw_str line = {0};
        for (int i = 0; i < each && *to < x->n_wanted; i++, ++*to) {
            const char *id = x->r.cells[x->wanted[*to]].id;
            int64_t step = pw_study_cell_step(x->folder, id);
            pw_str_add(&line, "%s%s", i > 0 ? " " : "", id);
            if (step > 0)
                pw_str_add(&line, "@%lld", (long long)step);
            forget_failure(x, x->wanted[*to]);
        }
        tasks[n] = line.s;
    }
    enum pw_code code = pw_slurm_add(&x->q, x->folder, n, tasks, err);
    if (code == PW_OK)
        code = pw_slurm_write(&x->q, x->folder, err);
    if (code == PW_OK)
        code = submit_array(x, err);
    if (code == PW_OK) {
        long job = x->q.arrays[x->q.n - 1].job;
        pw_str_add(&x->jobs, ":%ld", job);
        fprintf(x->out, "job %ld: %d cells in %d tasks\n", job, *to - from, n);
        code = pw_slurm_write(&x->q, x->folder, err);
    }
    for (int i = 0; i < n; i++)
        free(tasks[i]);
    free(tasks);
    return code;
}

/* Submits the following job, unless one waits already for all jobs that are in the queue. */
static enum pw_code follow(struct pw_submitting *x, size_t queued, struct pw_err *err)
{
    if (x->jobs.len > queued)
        return submit_next(x, x->jobs.s + queued, err);
    return queued > 0 && !x->q.next_waits ? submit_next(x, x->jobs.s, err) : PW_OK;
}

enum pw_code pw_slurm_submit(struct pw_submitting *x, struct pw_err *err)
{
    struct pw_err second;
    size_t queued = x->jobs.len;
    enum pw_code code = PW_OK;
    for (int i = 0, most = x->n_wanted > 0 ? most_tasks() : 0; i < x->n_wanted && code == PW_OK;)
        code = submit_some(x, i, most, &i, err);
    enum pw_code more = follow(x, queued, &second);
    if (more == PW_OK && x->q.n > 0)
        more = pw_slurm_write(&x->q, x->folder, &second);
    if (code == PW_OK && more != PW_OK)
        *err = second;
    return code != PW_OK ? code : more;
}
