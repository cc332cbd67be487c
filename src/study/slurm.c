/* slurm.c - which cells are submitted to Slurm, and how they are cancelled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "study/child.h"
#include "study/slurm_int.h"

/* ---- which cells */

/* Marks submissions that have left the queue. Returns the number of the others. */
static int end_missing(struct pw_slurm *q)
{
    int open = 0;
    for (int i = 0; i < q->n; i++) {
        q->arrays[i].ended = true;
        for (int task = 0; task < q->arrays[i].n; task++)
            if (q->arrays[i].states[task] != PW_SLURM_GONE)
                q->arrays[i].ended = false;
        open += !q->arrays[i].ended;
    }
    return open;
}

/* Fills x->wanted with the cells to submit. */
static enum pw_code choose_cells(struct pw_submitting *x, struct pw_err *err)
{
    bool typed = !x->o->follows;
    pw_slurm_ask(&x->q, false);
    if (!x->q.asked)
        return pw_fail(err, PW_EIO, "on=slurm: %s", x->q.silent);
    end_missing(&x->q);
    for (int i = 0; i < x->q.n; i++)
        if (!x->q.arrays[i].ended)
            pw_str_add(&x->jobs, ":%ld", x->q.arrays[i].job);
    pw_results_read(&x->r, x->folder);
    pw_slurm_mark(&x->q, &x->r);
    x->n_wanted = pw_results_wanted(&x->r, typed, x->wanted);
    if (!typed)
        return pw_slurm_give_up(x, err);
    x->q.since = x->q.n > 0 ? x->q.arrays[x->q.n - 1].number + 1 : 1;
    x->q.stopped = false;
    return PW_OK;
}

/* ---- the verbs */

/* The program and the folder by absolute paths: a job begins in another folder, on another machine. */
static enum pw_code find_places(struct pw_submitting *x, struct pw_err *err)
{
    ssize_t n = readlink("/proc/self/exe", x->program, sizeof x->program - 1);
    if (n <= 0)
        return pw_fail(err, PW_EIO, "/proc/self/exe: %s", strerror(errno));
    x->program[n] = '\0';
    if (access(x->program, X_OK) != 0)
        return pw_fail(err, PW_EUSER, "on=slurm: %s: %s; start pewter again", x->program, strerror(errno));
    char *place = realpath(x->folder, NULL);
    if (place == NULL || strlen(place) >= sizeof x->place) {
        free(place);
        return pw_fail(err, PW_EIO, "%s: %s", x->folder, strerror(errno));
    }
    strcpy(x->place, place);
    free(place);
    return PW_OK;
}

/* The token: the name of the study, for readers of squeue, and a number that no other study has. */
static void make_token(struct pw_submitting *x)
{
    const char *name = strrchr(x->place, '/') + 1;
    unsigned char random[4] = {0};
    char plain[25] = "";
    size_t n = 0;
    if (x->q.token[0] != '\0')
        return;
    for (; *name != '\0' && n < sizeof plain - 1; name++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *name) != NULL)
            plain[n++] = *name;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        memcpy(random, &(pid_t){getpid()}, sizeof random);
    snprintf(x->q.token, sizeof x->q.token, "%s-%02x%02x%02x%02x", n > 0 ? plain : "study", random[0],
             random[1], random[2], random[3]);
}

enum pw_code pw_slurm_run(const char *folder, const struct pw_slurm_options *o, FILE *out, struct pw_err *err)
{
    struct pw_submitting x = {.folder = folder, .o = o, .out = out};
    enum pw_code code = pw_study_open(&x.s, folder, NULL, err);
    if (code != PW_OK)
        return code;
    pw_results_init(&x.r, &x.s);
    x.wanted = pw_alloc((size_t)x.r.n, sizeof *x.wanted);
    int lock = -1;
    if (!pw_child_has("sbatch"))
        code =
            pw_fail(err, PW_EUSER, "on=slurm: no program 'sbatch' in PATH; allowed are on=local, on=slurm");
    else if ((lock = pw_slurm_lock(folder, err)) < 0)
        code = PW_EUSER;
    else
        code = pw_slurm_read(&x.q, folder, err);
    if (code == PW_OK)
        code = find_places(&x, err);
    if (code == PW_OK && o->follows && x.q.stopped) {
        fprintf(out, "the study was stopped; 'study run' continues\n");
    } else if (code == PW_OK) {
        make_token(&x);
        code = choose_cells(&x, err);
        if (code == PW_OK)
            code = pw_slurm_submit(&x, err);
        if (code == PW_OK && x.n_wanted == 0)
            fprintf(out, "nothing to submit: %d of at most %d runs done, %d running, %d queued, %d failed\n",
                    x.r.there, x.r.n, x.r.running, x.r.queued, x.r.broken);
    }
    pw_slurm_fini(&x.q);
    if (lock >= 0)
        close(lock);
    pw_str_fini(&x.jobs);
    free(x.wanted);
    pw_results_fini(&x.r);
    pw_study_fini(&x.s);
    return code;
}

/* Cancels all that is in the queue, the following jobs first: the end of an array would start them. */
static enum pw_code cancel(struct pw_slurm *q, struct pw_err *err)
{
    int n = 0, most = q->n + q->n_next;
    char(*numbers)[24] = pw_alloc((size_t)most, sizeof *numbers);
    enum pw_code code = PW_OK;
    for (int i = 0; i < q->n_next; i++)
        snprintf(numbers[n++], sizeof *numbers, "%ld", q->next[i]);
    for (int i = 0; i < q->n; i++)
        if (!q->arrays[i].ended)
            snprintf(numbers[n++], sizeof *numbers, "%ld", q->arrays[i].job);
    for (int from = 0; from < n && code == PW_OK;) {
        const char *words[32] = {"scancel"};
        for (int k = 1; from < n && k < 31; k++)
            words[k] = numbers[from++];
        code = pw_slurm_program(words, NULL, NULL, err);
    }
    free(numbers);
    return code;
}

enum pw_code pw_slurm_stop(const char *folder, FILE *out, struct pw_err *err)
{
    struct pw_slurm q;
    int lock, jobs;
    enum pw_code code = pw_slurm_read(&q, folder, err);
    if (code != PW_OK || q.n == 0)
        return code;
    pw_slurm_fini(&q);
    lock = pw_slurm_lock(folder, err);
    code = lock < 0 ? PW_EUSER : pw_slurm_read(&q, folder, err);
    if (code == PW_OK) {
        pw_slurm_ask(&q, true);
        q.stopped = true; /* for a following job that begins meanwhile */
        code = q.asked ? pw_slurm_write(&q, folder, err) : pw_fail(err, PW_EIO, "on=slurm: %s", q.silent);
    }
    if (code == PW_OK) {
        jobs = end_missing(&q);
        code = cancel(&q, err);
    }
    if (code == PW_OK) {
        for (int i = 0; i < q.n; i++)
            q.arrays[i].ended = true;
        code = pw_slurm_write(&q, folder, err);
        fprintf(out, "%d jobs of the cluster were cancelled\n", jobs + q.n_next);
    }
    pw_slurm_fini(&q);
    if (lock >= 0)
        close(lock);
    return code;
}
