#include "study/verbs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "study/child.h"
#include "study/report.h"
#include "study/run.h"

/* Options KEY=VALUE behind the name. */
struct options {
    const char *out;
    long jobs, threads, seeds;
};

static enum pw_code read_options(struct options *o, int n, char **words, const char *allowed,
                                 struct pw_err *err)
{
    *o = (struct options){0};
    for (int i = 0; i < n; i++) {
        char *value = strchr(words[i], '=');
        size_t key = value != NULL ? (size_t)(value - words[i]) : 0;
        bool known = value != NULL && key > 0 && memmem(allowed, strlen(allowed), words[i], key + 1) != NULL;
        long *number = !known                                  ? NULL
                       : strncmp(words[i], "jobs=", 5) == 0    ? &o->jobs
                       : strncmp(words[i], "threads=", 8) == 0 ? &o->threads
                       : strncmp(words[i], "seeds=", 6) == 0   ? &o->seeds
                                                               : NULL;
        if (!known)
            return pw_fail(err, PW_EUSER, "'%s': allowed are %s", words[i],
                           allowed[0] != '\0' ? allowed : "no options");
        if (number == NULL)
            o->out = value + 1;
        else if (!pw_text_int(value + 1, 1, PW_STUDY_SEEDS, number))
            return pw_fail(err, PW_EUSER, "%s: must be 1..%d", words[i], PW_STUDY_SEEDS);
    }
    return PW_OK;
}

/* ---- new */

/* Does pewter accept the lines of every arm and task? A mistake should show before hours of training. */
static enum pw_code try_lines(const struct pw_study *s, struct pw_err *err)
{
    for (int task = 0; task < s->tasks.n; task++)
        for (int arm = 0; arm < s->n_arms; arm++) {
            struct pw_str script = {0};
            char why[PW_CHILD_WHY];
            int status;
            pw_study_cell_setup(s, arm, task, 0, &script);
            const char *const args[] = {"--no-session", "--threads", "1", "-c", script.s, NULL};
            enum pw_code code = pw_child_run(args, NULL, NULL, &status, why, err);
            pw_str_fini(&script);
            if (code != PW_OK)
                return code;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return pw_fail(err, PW_EUSER, "%.60s with task %.60s: %.300s", s->arms[arm],
                               s->tasks.items[task], strncmp(why, "pewter: ", 8) == 0 ? why + 8 : why);
        }
    return PW_OK;
}

/* The text of a study: a file, if there is one of this name, else the words themselves. */
static enum pw_code text_of(struct pw_str *text, int n, char **words, struct pw_err *err)
{
    char *read = NULL;
    size_t size;
    struct stat st;
    if (n == 1 && stat(words[0], &st) == 0 && S_ISREG(st.st_mode)) {
        enum pw_code code = pw_file_read(words[0], 1 << 20, &read, &size, err);
        if (code == PW_OK)
            pw_str_add(text, "%s", read);
        free(read);
        return code;
    }
    for (int i = 0; i < n; i++)
        pw_str_add(text, "%s%s", i > 0 ? " " : "", words[i]);
    return n > 0 ? PW_OK : pw_fail(err, PW_EUSER, "new NAME needs the text of the study, or a file with it");
}

static enum pw_code make(const char *folder, int n, char **words, FILE *out, struct pw_err *err)
{
    struct pw_str text = {0};
    struct pw_study s = {0};
    enum pw_code code = text_of(&text, n, words, err);
    if (code == PW_OK)
        code = pw_study_read(&s, pw_str_text(&text), err);
    if (code == PW_OK)
        code = try_lines(&s, err);
    if (code == PW_OK)
        code = pw_study_create(folder, text.s, err);
    if (code == PW_OK)
        fprintf(out, "%s: %d arms, %d tasks, %d comparisons of each task, %d to %d seeds: %d to %d runs\n",
                folder, s.n_arms, s.tasks.n, s.n_ask, s.seeds_min, s.seeds_max,
                s.n_arms * s.tasks.n * s.seeds_min, s.n_arms * s.tasks.n * s.seeds_max);
    pw_study_fini(&s);
    pw_str_fini(&text);
    return code;
}

/* ---- verbs that read results */

struct reading {
    struct pw_study s;
    struct pw_results r;
    char *text;
};

static enum pw_code open_results(struct reading *x, const char *folder, struct pw_err *err)
{
    enum pw_code code = pw_study_open(&x->s, folder, &x->text, err);
    if (code != PW_OK)
        return code;
    pw_results_init(&x->r, &x->s);
    pw_results_read(&x->r, folder);
    return PW_OK;
}

static void close_results(struct reading *x)
{
    pw_results_fini(&x->r);
    pw_study_fini(&x->s);
    free(x->text);
}

/* A character for each seed: done, running, failed, missing; '-' if the rule to stop needs no such cell. */
static void print_cells(FILE *out, const struct pw_results *r, int task)
{
    int seeds = pw_results_seeds(r, task), width = 8;
    for (int arm = 0; arm < r->s->n_arms; arm++) {
        int n = pw_text_cells(r->s->arms[arm]);
        width = n > width ? n : width;
    }
    for (int arm = 0; arm < r->s->n_arms; arm++) {
        fprintf(out, "  %s%*s  ", r->s->arms[arm], width - pw_text_cells(r->s->arms[arm]), "");
        for (int seed = 0; seed < r->s->seeds_max; seed++) {
            enum pw_study_cell_state state = r->state[pw_results_at(r, arm, task, seed)];
            fputc(state == PW_CELL_MISSING && seed >= seeds ? '-' : ".*x#"[state], out);
        }
        fputc('\n', out);
    }
}

static void print_failures(FILE *out, const struct pw_results *r, const char *folder)
{
    for (int i = 0; i < r->n; i++) {
        const struct pw_study_cell *c = &r->cells[i];
        struct pw_str path = {0};
        char *text = NULL;
        size_t size;
        struct pw_err err;
        if (r->state[i] != PW_CELL_BROKEN)
            continue;
        pw_study_cell_path(&path, folder, c->id, ".txt");
        if (pw_file_read(path.s, 1 << 16, &text, &size, &err) == PW_OK)
            text[strcspn(text, "\n")] = '\0';
        fprintf(out, "failed: %s, %s, seed %d: %s\n", r->s->arms[c->arm], r->s->tasks.items[c->task],
                r->s->first + c->seed, text != NULL ? text : "its result can't be read");
        free(text);
        pw_str_fini(&path);
    }
}

static enum pw_code status(const char *folder, FILE *out, struct pw_err *err)
{
    struct reading x = {0};
    char lock[PW_STUDY_PATH + 16];
    enum pw_code code = open_results(&x, folder, err);
    if (code != PW_OK)
        return code;
    snprintf(lock, sizeof lock, "%s/run.lock", folder);
    long pid = pw_study_locked(lock);
    int *wanted = pw_alloc((size_t)x.r.n, sizeof *wanted), n = pw_results_wanted(&x.r, false, wanted);
    fprintf(
        out,
        "%d of at most %d runs done, %d running, %d failed, %d wanted now; %lld steps, %.0f s of computing\n",
        x.r.there, x.r.n, x.r.running, x.r.broken, n, (long long)x.r.steps, x.r.seconds);
    if (pid != 0)
        fprintf(out, "process %ld runs it\n", pid);
    else
        fprintf(out, "%s\n",
                n > 0 ? "nothing runs it here; 'study run' continues" : "nothing is left to run");
    for (int task = 0; task < x.s.tasks.n; task++) {
        struct pw_finding f;
        fprintf(out, "%s   (# done, * runs, x failed, . missing, - not needed)\n", x.s.tasks.items[task]);
        print_cells(out, &x.r, task);
        pw_study_finding(&f, &x.r, "study", task);
        for (int i = 0; i < f.n_remarks; i++)
            fprintf(out, "  %s\n", f.remarks[i].text);
        pw_finding_fini(&f);
    }
    print_failures(out, &x.r, folder);
    free(wanted);
    close_results(&x);
    return PW_OK;
}

static enum pw_code report(const char *folder, const char *name, const char *to, FILE *out,
                           struct pw_err *err)
{
    struct reading x = {0};
    enum pw_code code = open_results(&x, folder, err);
    if (code != PW_OK)
        return code;
    struct pw_study_report made;
    pw_study_report_init(&made, &x.r, name, x.text);
    pw_study_print(out, &made);
    if (to != NULL)
        code = pw_study_files(to, &made, err);
    if (code == PW_OK && to != NULL)
        fprintf(out, "\nwrote %s/report.html, report.txt, cells.csv, and task1.svg and .pdf of each task\n",
                to);
    pw_study_report_fini(&made);
    close_results(&x);
    return code;
}

/* ---- add: the statement `seeds` is replaced by a range, so that the test counts the looks */

static enum pw_code add_seeds(const char *folder, long more, FILE *out, struct pw_err *err)
{
    struct pw_study s, changed;
    char *text;
    struct pw_str with = {0};
    enum pw_code code = pw_study_open(&s, folder, &text, err);
    if (code != PW_OK)
        return code;
    pw_str_add(&with, "%s", text);
    while (with.len > 0 && with.s[with.len - 1] == '\n')
        with.s[--with.len] = '\0';
    pw_str_add(&with, "\nseeds %d..%ld\n", s.seeds_min, s.seeds_max + more);
    code = pw_study_read(&changed, with.s, err);
    if (code == PW_OK) {
        code = pw_study_write(folder, with.s, err);
        fprintf(out, "seeds %d..%d; 'study run' computes them\n", changed.seeds_min, changed.seeds_max);
        pw_study_fini(&changed);
    }
    pw_str_fini(&with);
    free(text);
    pw_study_fini(&s);
    return code;
}

static enum pw_code list(FILE *out, struct pw_err *err)
{
    char folder[PW_STUDY_PATH];
    struct dirent *e;
    enum pw_code code = pw_study_folder(folder, "x", err);
    if (code != PW_OK)
        return code;
    *strrchr(folder, '/') = '\0';
    DIR *d = opendir(folder);
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct reading x = {0};
        struct pw_err why;
        struct pw_str path = {0};
        if (e->d_name[0] == '.')
            continue;
        pw_str_add(&path, "%s/%s", folder, e->d_name);
        if (open_results(&x, path.s, &why) == PW_OK) {
            fprintf(out, "%s  %d of at most %d runs\n", e->d_name, x.r.there, x.r.n);
            close_results(&x);
        }
        pw_str_fini(&path);
    }
    if (d != NULL)
        closedir(d);
    return PW_OK;
}

/* ---- run and cell */

static enum pw_code run(const char *folder, const struct options *o, FILE *out, struct pw_err *err)
{
    struct pw_study_run how = {.jobs = (int)o->jobs, .threads = (int)o->threads, .out = out};
    int failed = 0;
    enum pw_code code = pw_study_run(folder, &how, &failed, err);
    if (code == PW_OK && failed > 0)
        return pw_fail(err, PW_EUSER, "%d runs failed; 'study status' says why", failed);
    return code;
}

/* Computes one cell: the script of a cluster calls this. */
static enum pw_code run_cell(const char *folder, const char *id, struct pw_err *err)
{
    struct pw_study s;
    struct pw_study_cell cell;
    enum pw_code code = pw_study_open(&s, folder, NULL, err);
    if (code != PW_OK)
        return code;
    if (!pw_study_cell_find(&s, id, &cell))
        code = pw_fail(err, PW_EUSER, "no cell %s in this study", id);
    else if (pw_study_cell_run(folder, &s, &cell, 0, err) == PW_CELL_FAILED)
        code = PW_EUSER;
    pw_study_fini(&s);
    return code;
}

enum pw_code pw_study_verb(int n, char **words, FILE *out, struct pw_err *err)
{
    static const char *const verbs[] = {"new", "run",  "status", "stop", "report",
                                        "add", "cell", "list",   NULL};
    char folder[PW_STUDY_PATH];
    const char *verb = n > 0 ? words[0] : "";
    struct options o;
    long pid;
    int known = 0;
    while (verbs[known] != NULL && strcmp(verbs[known], verb) != 0)
        known++;
    if (verbs[known] == NULL) {
        const char *near = pw_text_nearest(verb, verbs);
        return near != NULL ? pw_fail(err, PW_EUSER, "study: no verb '%s'; did you mean '%s'?", verb, near)
                            : pw_fail(err, PW_EUSER,
                                      "study: allowed are new, run, status, stop, report, add and list");
    }
    if (strcmp(verb, "list") == 0)
        return list(out, err);
    if (n < 2)
        return pw_fail(err, PW_EUSER, "study %s: the name of the study is missing", verb);
    enum pw_code code = pw_study_folder(folder, words[1], err);
    const char *allowed = strcmp(verb, "run") == 0      ? "jobs= threads="
                          : strcmp(verb, "report") == 0 ? "out="
                          : strcmp(verb, "add") == 0    ? "seeds="
                                                        : "";
    if (code == PW_OK && strcmp(verb, "new") != 0 && strcmp(verb, "cell") != 0)
        code = read_options(&o, n - 2, words + 2, allowed, err);
    if (code != PW_OK)
        return code;
    if (strcmp(verb, "new") == 0)
        return make(folder, n - 2, words + 2, out, err);
    if (strcmp(verb, "run") == 0)
        return run(folder, &o, out, err);
    if (strcmp(verb, "status") == 0)
        return status(folder, out, err);
    if (strcmp(verb, "report") == 0)
        return report(folder, words[1], o.out, out, err);
    if (strcmp(verb, "add") == 0)
        return o.seeds > 0 ? add_seeds(folder, o.seeds, out, err)
                           : pw_fail(err, PW_EUSER, "study add NAME needs seeds=N");
    if (strcmp(verb, "cell") == 0)
        return n == 3 ? run_cell(folder, words[2], err)
                      : pw_fail(err, PW_EUSER, "study cell NAME needs the name of a cell");
    code = pw_study_stop(folder, &pid, err);
    if (code == PW_OK)
        fprintf(out,
                pid > 0 ? "process %ld ends; 'study run' continues\n" : "no process runs this study here\n",
                pid);
    return code;
}
