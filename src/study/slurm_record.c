/* slurm_record.c - the files of a study's submissions. slurm/jobs is a text of lines:
 *
 *   token NAME      the part of the jobs' names that belongs to this study
 *   since N         the first submission since a user ran the study
 *   stopped         `study stop` was the last verb
 *   array N JOB     submission N is in the queue, as far as recorded; JOB 0: sbatch has not answered
 *   ended N JOB     it has left the queue */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "study/slurm.h"

#define FILE_MAX  (8 << 20)
#define PATIENCE  120.0 /* seconds to wait for the lock; a submission takes a few */
#define PAUSE_NS  50000000
#define LOCK_FILE "lock"

void pw_slurm_path(struct pw_str *out, const char *folder, const char *file)
{
    pw_str_add(out, "%s/slurm/%s", folder, file);
}

void pw_slurm_fini(struct pw_slurm *q)
{
    for (int i = 0; i < q->n; i++) {
        for (int task = 0; task < q->arrays[i].n; task++)
            free(q->arrays[i].cells[task]);
        free(q->arrays[i].cells);
        free(q->arrays[i].states);
    }
    free(q->arrays);
    free(q->next);
    *q = (struct pw_slurm){0};
}

/* ---- reading */

static void cells_path(struct pw_str *out, const char *folder, int number)
{
    char file[32];
    snprintf(file, sizeof file, "%d.cells", number);
    pw_slurm_path(out, folder, file);
}

static struct pw_slurm_array *add_array(struct pw_slurm *q, int number)
{
    q->arrays = pw_grow(q->arrays, (size_t)q->n + 1, sizeof *q->arrays);
    q->arrays[q->n] = (struct pw_slurm_array){.number = number};
    return &q->arrays[q->n++];
}

static void add_task(struct pw_slurm_array *a, const char *cells)
{
    a->cells = pw_grow(a->cells, (size_t)a->n + 1, sizeof *a->cells);
    a->states = pw_grow(a->states, (size_t)a->n + 1, sizeof *a->states);
    a->states[a->n] = PW_SLURM_GONE;
    a->cells[a->n++] = pw_text_dup(cells);
}

/* Calls each(arg, line) for every line of a text, without its line break. */
static bool each_line(char *text, bool (*each)(void *arg, const char *line), void *arg)
{
    for (char *line = text, *end; *line != '\0'; line = end) {
        end = strchr(line, '\n');
        if (end == NULL)
            return false; /* files appear complete, so this one was edited */
        *end++ = '\0';
        if (!each(arg, line))
            return false;
    }
    return true;
}

const char *pw_slurm_next_cell(const char *line, char id[PW_STUDY_ID], int64_t *step)
{
    line += strspn(line, " ");
    size_t all = strcspn(line, " "), name = strcspn(line, " @");
    if (all == 0 || name >= PW_STUDY_ID)
        return NULL;
    memcpy(id, line, name);
    id[name] = '\0';
    *step = name < all ? strtoll(line + name + 1, NULL, 10) : 0;
    return line + all;
}

static bool take_cells(void *arg, const char *line)
{
    add_task(arg, line);
    return true;
}

static bool take_line(void *arg, const char *line)
{
    struct pw_slurm *q = arg;
    char word[16], rest[PW_SLURM_TOKEN];
    long number, job;
    if (strcmp(line, "stopped") == 0) {
        q->stopped = true;
        return true;
    }
    if (sscanf(line, "%15s %39s", word, rest) != 2)
        return false;
    if (strcmp(word, "token") == 0) {
        pw_text_copy(q->token, sizeof q->token, rest);
        return true;
    }
    if (!pw_text_int(rest, 1, 1000000000, &number))
        return false;
    if (strcmp(word, "since") == 0) {
        q->since = (int)number;
        return true;
    }
    if ((strcmp(word, "array") != 0 && strcmp(word, "ended") != 0) || sscanf(line, "%*s %*s %ld", &job) != 1)
        return false;
    struct pw_slurm_array *a = add_array(q, (int)number);
    a->job = job;
    a->ended = word[0] == 'e';
    return true;
}

/* Reads the cells of submissions that still matter. */
static enum pw_code read_cells(struct pw_slurm *q, const char *folder, struct pw_err *err)
{
    struct pw_str path = {0};
    enum pw_code code = PW_OK;
    for (int i = 0; i < q->n && code == PW_OK; i++) {
        struct pw_slurm_array *a = &q->arrays[i];
        char *text = NULL;
        size_t size;
        if (a->ended && a->number < q->since)
            continue;
        pw_str_clear(&path);
        cells_path(&path, folder, a->number);
        code = pw_file_read(path.s, FILE_MAX, &text, &size, err);
        if (code == PW_OK && !each_line(text, take_cells, a))
            code = pw_fail(err, PW_EUSER, "%.300s is damaged: it must end with a line break", path.s);
        free(text);
    }
    pw_str_fini(&path);
    return code;
}

enum pw_code pw_slurm_read(struct pw_slurm *q, const char *folder, struct pw_err *err)
{
    struct pw_str path = {0};
    char *text = NULL;
    size_t size;
    enum pw_code code = PW_OK;
    *q = (struct pw_slurm){.since = 1};
    pw_slurm_path(&path, folder, "jobs");
    if (access(path.s, F_OK) == 0) {
        code = pw_file_read(path.s, FILE_MAX, &text, &size, err);
        if (code == PW_OK && (!each_line(text, take_line, q) || q->token[0] == '\0'))
            code = pw_fail(err, PW_EUSER,
                           "%.300s is damaged; if no job of this study is in the queue, delete it", path.s);
        if (code == PW_OK)
            code = read_cells(q, folder, err);
    }
    free(text);
    pw_str_fini(&path);
    if (code != PW_OK)
        pw_slurm_fini(q);
    return code;
}

/* ---- writing */

enum pw_code pw_slurm_write(const struct pw_slurm *q, const char *folder, struct pw_err *err)
{
    struct pw_str path = {0}, text = {0};
    pw_slurm_path(&path, folder, "jobs");
    pw_str_add(&text, "token %s\nsince %d\n%s", q->token, q->since, q->stopped ? "stopped\n" : "");
    for (int i = 0; i < q->n; i++)
        pw_str_add(&text, "%s %d %ld\n", q->arrays[i].ended ? "ended" : "array", q->arrays[i].number,
                   q->arrays[i].job);
    enum pw_code code = pw_file_replace(path.s, text.s, text.len, err);
    pw_str_fini(&path);
    pw_str_fini(&text);
    return code;
}

enum pw_code pw_slurm_add(struct pw_slurm *q, const char *folder, int n, char **cells, struct pw_err *err)
{
    struct pw_str path = {0}, text = {0};
    int number = q->n > 0 ? q->arrays[q->n - 1].number + 1 : 1;
    for (int i = 0; i < n; i++)
        pw_str_add(&text, "%s\n", cells[i]);
    cells_path(&path, folder, number);
    enum pw_code code = pw_file_replace(path.s, text.s, text.len, err);
    if (code == PW_OK) {
        struct pw_slurm_array *a = add_array(q, number);
        for (int i = 0; i < n; i++)
            add_task(a, cells[i]);
    }
    pw_str_fini(&path);
    pw_str_fini(&text);
    return code;
}

int pw_slurm_lock(const char *folder, struct pw_err *err)
{
    struct pw_str path = {0};
    double until = pw_now() + PATIENCE;
    int fd;
    pw_slurm_path(&path, folder, LOCK_FILE);
    if (pw_folder_make_above(path.s, err) != PW_OK) {
        pw_str_fini(&path);
        return -1;
    }
    while ((fd = pw_study_lock(path.s, err)) == -1 && pw_now() < until)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    if (fd == -1)
        pw_fail(err, PW_EUSER, "process %ld submits cells of this study; try again later",
                pw_study_locked(path.s));
    pw_str_fini(&path);
    return fd >= 0 ? fd : -1;
}
