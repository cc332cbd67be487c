/* export_data.c - `export data`: write samples as text, one per line. It is a job, because millions of
 * samples take a while.
 *
 * The splits train, valid and test are samples in the order in which they are drawn, n of each. `all` without
 * n is every input of the tasks once (tasks/every.c), with the split that it belongs to. For a fixed set
 * (data=N) it is all samples of the set. */
#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"

#define SLICE_S    0.04
#define MOST_LINES 10000000 /* most lines of a split, or of all inputs */

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
                                       .help = "split of the samples; 'all' without n=: every input once"},
                                      {.name = "n",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct data_opts, n),
                                       .min = 1,
                                       .max = MOST_LINES,
                                       .help = "samples of each split; default: 1000; all for a fixed set "
                                               "(data=N), for numbered inputs and for split=all"},
                                      {.name = NULL}};

struct pw_writing {
    struct pw_file *file;
    char path[PW_LINE];
    struct data_opts o;
    bool every; /* write every input, not samples */
    int task;   /* the task whose inputs are being written */
    struct pw_every input;
    int split, end;         /* the split that is being written; the split at which to end */
    int64_t k, lines, of;   /* of the split: index of the next sample, lines written, lines to write */
    int left[PW_MAX_TASKS]; /* samples left of each task in this split; 0: unlimited, -1: none */
    int64_t done, total;    /* lines of all splits */
};

/* ---- lines */

/* Write a sample as one line. split NULL: without the split's name. */
static void write_line(FILE *f, const struct pw_task_use *use, int length, struct pw_pair pair,
                       const struct pw_str *prompt, const struct pw_str *answer, const char *split)
{
    cJSON *o = cJSON_CreateObject();
    pw_json_str(o, "task", use->task->name);
    pw_json_num(o, "length", length);
    if (use->task->pairs != NULL) {
        pw_json_num(o, "length_a", pair.a);
        pw_json_num(o, "length_b", pair.b);
    }
    if (split != NULL)
        pw_json_str(o, "split", split);
    pw_json_str(o, "prompt", pw_str_text(prompt));
    pw_json_str(o, "answer", pw_str_text(answer));
    pw_json_line(f, o);
}

/* Write sample k of a split as one line. Returns false if its task has no such sample. Test samples go
 * round-robin through the tasks and their test lengths. */
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
    write_line(f, &set->use[x.task], x.length, x.pair, &prompt, &answer, NULL);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    return true;
}

/* Write the next input of all tasks as one line; false: it was the last. */
static bool input_line(const struct pw_lab *lab, struct pw_writing *w)
{
    struct pw_item item;
    struct pw_str prompt = {0}, answer = {0};
    while (!pw_every_next(&w->input, &item)) {
        if (++w->task >= lab->tasks.n)
            return false;
        pw_every_begin(&w->input, &lab->tasks.use[w->task]);
    }
    const struct pw_task_use *use = w->input.use;
    struct pw_range train = pw_task_train(use);
    bool trained = item.length >= train.lo && item.length <= train.hi;
    pw_item_write(use, &item, &prompt, &answer);
    write_line(pw_file_stream(w->file), use, item.length, pw_item_pair(use, &item), &prompt, &answer,
               splits[!trained                        ? DATA_TEST
                      : pw_task_holds_out(use, &item) ? DATA_VALID
                                                      : DATA_TRAIN]);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    return true;
}

/* Return the number of lines of a split: n, or by default 1000, or all samples of a fixed set (data=N) or of
 * numbered inputs. No sample of a fixed set is written twice. */
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

static void free_writing(void *state)
{
    struct pw_writing *w = state;
    pw_file_abandon(w->file);
    free(w);
}

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_writing *w = state;
    *total = w->total;
    return w->done;
}

static void begin_split(const struct pw_lab *lab, struct pw_writing *w, int split)
{
    w->split = split;
    w->k = w->lines = 0;
    if (split < w->end)
        w->of = lines_of(lab, (enum pw_split)split, w->o.n, w->left);
}

/* Count the inputs of all tasks. PW_EUSER: they can't be listed, or there are too many. */
static enum pw_code count_inputs(const struct pw_lab *lab, int64_t *total, struct pw_err *err)
{
    double sum = 0;
    for (int i = 0; i < lab->tasks.n; i++) {
        double n = pw_every_count(&lab->tasks.use[i]);
        const char *name = lab->tasks.use[i].task->name;
        if (n < 0)
            return pw_fail(err, PW_EUSER,
                           "export data: split=all: the inputs of %s cannot be listed; use "
                           "split=train|valid|test, or n=N samples of each",
                           name);
        sum += n;
        if (sum > MOST_LINES)
            return pw_fail(err, PW_EUSER,
                           "export data: split=all: %s has %.3g inputs of these lengths, and the limit is "
                           "%d; use fewer lengths, or n=N samples of each split",
                           name, n, MOST_LINES);
    }
    *total = (int64_t)sum;
    return PW_OK;
}

/* Do all tasks have fixed sets, so that all samples are written? */
static bool is_fixed(const struct pw_lab *lab)
{
    for (int i = 0; i < lab->tasks.n; i++)
        if (lab->tasks.use[i].pool == NULL)
            return false;
    return true;
}

static void run_slice(struct pw_lab *lab);

enum pw_code pw_lab_write_data(struct pw_lab *lab, const char *path, const struct pw_args *args,
                               struct pw_err *err)
{
    struct data_opts o = {0};
    struct pw_file *file;
    const struct pw_writing *before = pw_job_state(lab, PW_JOB_DATA);
    pw_opt_defaults(pw_data_opts, &o);
    if (before != NULL)
        return pw_fail(err, PW_EUSER, "export data: %s is still being written", before->path);
    int64_t inputs = 0;
    enum pw_code code = pw_args_opts(args, pw_data_opts, &o, err);
    bool every = o.split == DATA_ALL && o.n == 0 && !is_fixed(lab);
    if (code == PW_OK && every)
        code = count_inputs(lab, &inputs, err);
    if (code == PW_OK)
        code = pw_file_create(&file, path, err);
    if (code != PW_OK)
        return code;
    struct pw_writing *w = pw_alloc(1, sizeof *w);
    int first = o.split == DATA_ALL ? 0 : o.split;
    w->every = every;
    w->file = file;
    w->o = o;
    w->end = o.split == DATA_ALL ? DATA_ALL : o.split + 1;
    pw_text_copy(w->path, sizeof w->path, path);
    w->total = inputs;
    pw_every_begin(&w->input, &lab->tasks.use[0]);
    for (int s = first; s < w->end && !every; s++)
        w->total += lines_of(lab, (enum pw_split)s, o.n, w->left);
    begin_split(lab, w, first);
    /* It reads only the task. But it ends as well when models are replaced, and recorded sessions have it. */
    pw_job_begin(lab, PW_JOB_DATA,
                 &(struct pw_job){.name = "data",
                                  .cancelled = "export data; no file was written",
                                  .reads = PW_CHANGE_MODELS | PW_CHANGE_TASK,
                                  .state = w,
                                  .free_state = free_writing,
                                  .progress = progress,
                                  .slice = run_slice});
    return PW_OK;
}

static void finish(struct pw_lab *lab, struct pw_writing *w)
{
    struct pw_err err;
    enum pw_code code = pw_file_commit(w->file, &err);
    w->file = NULL; /* pw_file_commit has closed it, whether it failed or not */
    if (code != PW_OK) {
        pw_job_fail(lab, PW_JOB_DATA, &err);
        return;
    }
    pw_job_tell(lab, PW_JOB_DATA, PW_JOB_DONE);
    pw_lab_note(lab, "wrote %s", w->path);
    pw_job_end(lab, PW_JOB_DATA);
}

/* At the end this writes the file. */
static void run_slice(struct pw_lab *lab)
{
    struct pw_writing *w = pw_job_state(lab, PW_JOB_DATA);
    for (double end = pw_now() + SLICE_S; w->split < w->end && pw_now() < end;) {
        if (w->every) {
            bool more = input_line(lab, w);
            w->done += more;
            w->split = more ? w->split : w->end;
            continue;
        }
        bool told = w->lines < w->of &&
                    data_line(lab, pw_file_stream(w->file), (enum pw_split)w->split, w->k++, w->left);
        w->lines += told;
        w->done += told;
        if (w->lines == w->of)
            begin_split(lab, w, w->split + 1);
    }
    if (w->split < w->end)
        pw_job_tell(lab, PW_JOB_DATA, PW_JOB_RUNNING);
    else
        finish(lab, w);
}
