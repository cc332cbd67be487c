/* run - compute the cells that are wanted, here or on a cluster. */
#include <string.h>

#include "study/run.h"
#include "study/slurm.h"
#include "study/verbs/verbs_int.h"

enum engine { LOCAL, SLURM };

struct options {
    int on, jobs, threads, gpus, cells;
    char partition[64], account[64], time[24];
    bool follow;
};

static const char *const engines[] = {"local", "slurm", NULL};
static const char *const nothing[] = {"none", NULL};
static const struct pw_opt table[] = {{.name = "on",
                                       .type = PW_OPT_CHOICE,
                                       .offset = offsetof(struct options, on),
                                       .def = "local",
                                       .choices = engines,
                                       .help = "where: processes of this machine, or jobs of a cluster"},
                                      PW_STUDY_AUTO(jobs, PW_STUDY_JOBS, "cells at once"),
                                      PW_STUDY_AUTO(threads, PW_STUDY_THREADS, "threads of each cell"),
                                      PW_STUDY_TEXT(partition, "of the cluster"),
                                      PW_STUDY_TEXT(account, "that the cluster charges"),
                                      PW_STUDY_TEXT(time, "limit of a task: MINUTES or H:MM:SS"),
                                      {.name = "gpus",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, gpus),
                                       .def = "none",
                                       .min = 1,
                                       .max = 16,
                                       .choices = nothing,
                                       .help = "devices of a task"},
                                      {.name = "cells",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, cells),
                                       .def = "1",
                                       .min = 1,
                                       .max = 1000,
                                       .help = "cells of a task, one after the other"},
                                      {.name = "follow",
                                       .type = PW_OPT_SWITCH,
                                       .offset = offsetof(struct options, follow),
                                       .def = "off",
                                       .help = "for the job that continues a study"},
                                      {.name = NULL}};

/* ---- this machine */

static enum pw_code check_here(const struct options *o, struct pw_err *err)
{
    const char *other = o->partition[0] != '\0' ? "partition"
                        : o->account[0] != '\0' ? "account"
                        : o->time[0] != '\0'    ? "time"
                        : o->gpus != 0          ? "gpus"
                        : o->cells != 1         ? "cells"
                        : o->follow             ? "follow"
                                                : NULL;
    return other == NULL ? PW_OK
                         : pw_fail(err, PW_EUSER,
                                   "run: %s= needs on=slurm; of on=local allowed are jobs=, threads=", other);
}

static enum pw_code run_here(const struct pw_study_call *call, const struct options *o, struct pw_err *err)
{
    struct pw_study_run how = {.jobs = o->jobs, .threads = o->threads, .out = call->out};
    int failed = 0;
    enum pw_code code = pw_study_run(call->folder, &how, &failed, err);
    if (code == PW_OK && failed > 0)
        return pw_fail(err, PW_EUSER, "%d runs failed; 'study status' says why", failed);
    return code;
}

/* ---- a cluster */

/* Is it a limit of time: minutes, or H:MM:SS? */
static bool is_limit(const char *time)
{
    int hours, minutes, seconds, n = 0;
    long all;
    if (pw_text_int(time, 1, 1000000, &all))
        return true;
    return strspn(time, "0123456789:") == strlen(time) &&
           sscanf(time, "%5d:%2d:%2d%n", &hours, &minutes, &seconds, &n) == 3 && time[n] == '\0' &&
           minutes < 60 && seconds < 60 && hours + minutes > 0;
}

static const char *given(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static enum pw_code check_there(const struct options *o, struct pw_err *err)
{
    if (o->jobs != 0)
        return pw_fail(
            err, PW_EUSER,
            "run: jobs= needs on=local; of on=slurm allowed are partition=, account=, time=, gpus=, "
            "threads=, cells=");
    if (o->time[0] != '\0' && !is_limit(o->time))
        return pw_fail(err, PW_EUSER, "run: time=%s: allowed are minutes, such as 90, or H:MM:SS", o->time);
    return PW_OK;
}

static enum pw_code run_there(const struct pw_study_call *call, const struct options *o, struct pw_err *err)
{
    struct pw_slurm_options how = {.partition = given(o->partition),
                                   .account = given(o->account),
                                   .time = given(o->time),
                                   .gpus = o->gpus,
                                   .threads = o->threads,
                                   .cells = o->cells,
                                   .follows = o->follow};
    return pw_slurm_run(call->folder, &how, call->out, err);
}

static enum pw_code check(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    return o->on == SLURM ? check_there(o, err) : check_here(o, err);
}

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const struct options *o = call->opts;
    return o->on == SLURM ? run_there(call, o, err) : run_here(call, o, err);
}

const struct pw_study_verb pw_study_verb_run = {
    .name = "run", .opts = table, .opts_size = sizeof(struct options), .check = check, .run = run};
