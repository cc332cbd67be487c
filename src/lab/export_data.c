/* export_data.c - `export data`: samples as text, a line each. Millions take a while, so it is a job. */
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "lab/jobs.h"
#include "lab/lab_int.h"

#define SLICE_S 0.04

enum data_split { DATA_TRAIN, DATA_VALID, DATA_TEST, DATA_ALL };

struct data_opts {
    int split, n;
};

static const char *const splits[] = {"train", "valid", "test", "all", NULL};

const struct pw_opt pw_data_opts[] = {{.name = "split",
                                       .type = PW_OPT_CHOICE,
                                       .offset = offsetof(struct data_opts, split),
                                       .def = "train",
                                       .choices = splits,
                                       .help = "which samples"},
                                      {.name = "n",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct data_opts, n),
                                       .min = 1,
                                       .max = 10000000,
                                       .help = "samples of each split; 1000, or with data=N all"},
                                      {.name = NULL}};

struct pw_writing {
    struct pw_file *file;
    char path[PW_LINE];
    struct data_opts o;
    int split, end;         /* the one at hand, and that behind the last */
    int64_t k, lines, of;   /* of the split: next sample, lines so far, of how many */
    int left[PW_MAX_TASKS]; /* of its tasks' samples: 0: any number, -1: none */
    int64_t done, total;    /* lines of all splits */
};

/* ---- lines */

/* Sample k of a split as one line, unless its task has no more of them. Test samples go round the tasks and
 * their test lengths. */
static bool data_line(const struct pw_lab *lab, FILE *f, enum pw_split split, int64_t k, int *left)
{
    const struct pw_taskset *set = &lab->tasks;
    int task = 0, length = 0;
    int64_t index = k;
    if (split == PW_SPLIT_TEST) {
        task = (int)(k % set->n);
        struct pw_range r = pw_task_test(&set->use[task]);
        int64_t round = k / set->n, n = r.hi - r.lo + 1;
        length = r.lo + (int)(round % n);
        index = round / n;
        const struct pw_task_use *use = &set->use[task];
        if (!pw_task_has(use, length) || index >= pw_task_samples_at(use, length, INT_MAX))
            return false;
    }
    struct pw_sample x = {.tokens = pw_alloc((size_t)set->max_tokens, sizeof(int)), .cap = set->max_tokens};
    pw_taskset_sample(set, lab->seed, split, (uint64_t)index, task, length, &x);
    free(x.tokens);
    if (left[x.task] < 0)
        return false;
    if (left[x.task] > 0 && --left[x.task] == 0)
        left[x.task] = -1;
    struct pw_str prompt = {0}, answer = {0};
    pw_taskset_sample_text(set, lab->seed, split, (uint64_t)index, task, length, &prompt, &answer);
    cJSON *o = cJSON_CreateObject();
    pw_json_str(o, "task", set->use[x.task].task->name);
    pw_json_num(o, "length", x.length);
    if (set->use[x.task].task->pairs != NULL) {
        pw_json_num(o, "length_a", x.pair.a);
        pw_json_num(o, "length_b", x.pair.b);
    }
    pw_json_str(o, "prompt", pw_str_text(&prompt));
    pw_json_str(o, "answer", pw_str_text(&answer));
    pw_json_line(f, o);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    return true;
}

/* How many lines a split has: n, or with 0 a thousand, and of a fixed set (data=N) or numbered inputs all.
 * Those are never told twice. */
static int64_t lines_of(const struct pw_lab *lab, enum pw_split split, int64_t n, int *left)
{
    int64_t all = 0;
    bool fixed = true;
    for (int i = 0; i < lab->tasks.n; i++) {
        left[i] = pw_task_data(&lab->tasks.use[i], split);
        all += left[i];
        fixed = fixed && left[i] > 0;
    }
    if (n == 0)
        return fixed ? all : 1000;
    return fixed && n > all ? all : n;
}

/* ---- the job */

static void free_writing(struct pw_lab *lab)
{
    pw_file_abandon(lab->writing->file);
    free(lab->writing);
    lab->writing = NULL;
}

static void tell(struct pw_lab *lab, enum pw_job_state state)
{
    pw_lab_tell_job(lab, "data", state, lab->writing->done, lab->writing->total);
}

void pw_lab_data_cancel(struct pw_lab *lab)
{
    if (lab->writing == NULL)
        return;
    tell(lab, PW_JOB_CANCELLED);
    pw_lab_note(lab, "cancelled: export data; no file was written");
    free_writing(lab);
}

static void begin_split(const struct pw_lab *lab, struct pw_writing *w, int split)
{
    w->split = split;
    w->k = w->lines = 0;
    if (split < w->end)
        w->of = lines_of(lab, (enum pw_split)split, w->o.n, w->left);
}

enum pw_code pw_lab_write_data(struct pw_lab *lab, const char *path, const struct pw_args *args,
                               struct pw_err *err)
{
    struct data_opts o = {0};
    struct pw_file *file;
    pw_opt_defaults(pw_data_opts, &o);
    if (lab->writing != NULL)
        return pw_fail(err, PW_EUSER, "export data: %s is still being made", lab->writing->path);
    enum pw_code code = pw_args_opts(args, pw_data_opts, &o, err);
    if (code == PW_OK)
        code = pw_file_create(&file, path, err);
    if (code != PW_OK)
        return code;
    struct pw_writing *w = lab->writing = pw_alloc(1, sizeof *w);
    int first = o.split == DATA_ALL ? 0 : o.split;
    w->file = file;
    w->o = o;
    w->end = o.split == DATA_ALL ? DATA_ALL : o.split + 1;
    pw_text_copy(w->path, sizeof w->path, path);
    for (int s = first; s < w->end; s++)
        w->total += lines_of(lab, (enum pw_split)s, o.n, w->left);
    begin_split(lab, w, first);
    tell(lab, PW_JOB_RUNNING);
    return PW_OK;
}

static void finish(struct pw_lab *lab)
{
    struct pw_writing *w = lab->writing;
    struct pw_err err;
    enum pw_code code = pw_file_commit(w->file, &err);
    w->file = NULL; /* it is closed, however it went */
    tell(lab, code == PW_OK ? PW_JOB_DONE : PW_JOB_CANCELLED);
    if (code == PW_OK)
        pw_lab_note(lab, "wrote %s", w->path);
    else
        pw_lab_trouble(lab, &err);
    free_writing(lab);
}

void pw_lab_data_slice(struct pw_lab *lab)
{
    struct pw_writing *w = lab->writing;
    for (double end = pw_now() + SLICE_S; w->split < w->end && pw_now() < end;) {
        bool told = w->lines < w->of &&
                    data_line(lab, pw_file_stream(w->file), (enum pw_split)w->split, w->k++, w->left);
        w->lines += told;
        w->done += told;
        if (w->lines == w->of)
            begin_split(lab, w, w->split + 1);
    }
    if (w->split < w->end)
        tell(lab, PW_JOB_RUNNING);
    else
        finish(lab);
}
