/* study.c - costs of studies: a cell beyond its training, and files, gathering and report of many cells.
 *
 * usage: bench_study PEWTER [cells=1000] [lengths=20] [steps=1000]
 *
 * A cell is compared with a pewter that runs the same script without recording: the fastest of some runs of
 * each, in turn, with one thread. Cells of one step have the same costs beside training (processes, session,
 * checkpoint, result), and show them more precisely than the ratio of long ones. Recording costs extra for
 * each step: `./dev bench --record`.
 * The results of the cells are made up, because only their number counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "study/gather.h"
#include "study/place.h"
#include "study/report.h"

enum { RUNS = 5, SHORT_RUNS = 20 };

static char folder[64] = "/tmp/pewter-study-XXXXXX";

static void check(enum pw_code code, const struct pw_err *err)
{
    if (code == PW_OK)
        return;
    fprintf(stderr, "bench_study: %s\n", err->msg);
    exit(1);
}

/* ---- a cell */

/* Runs a program, without its output, and returns the seconds. */
static double time_of(const char *const *words)
{
    int status;
    double begin = pw_now();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL)
            execv(words[0], (char *const *)words);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench_study: %s fails\n", words[0]);
        exit(1);
    }
    return pw_now() - begin;
}

/* Times a cell and its script. Writes the fastest of `runs` runs of each. */
static void time_cells(const char *pewter, int steps, int runs, double *cell_s, double *plain_s)
{
    struct pw_study s;
    struct pw_err err;
    char text[160];
    *cell_s = *plain_s = INFINITY;
    snprintf(text, sizeof text, "race t5; task sort; optim steps=%d; seeds %d", steps, runs);
    check(pw_study_read(&s, text, &err), &err);
    check(pw_study_write(folder, text, &err), &err);
    for (int seed = 0; seed < runs; seed++) {
        struct pw_study_cell cell = pw_study_cell_of(&s, 0, 0, seed);
        struct pw_str script = {0};
        pw_study_cell_setup(&s, 0, 0, seed, &script);
        pw_str_add(&script, "train\n");
        pw_study_cell_measure(&s, &script);
        const char *const plain[] = {pewter, "--threads", "1", "--no-session", "-c", script.s, NULL};
        const char *const as_cell[] = {pewter, "study", "cell", folder, cell.id, "threads=1", NULL};
        *plain_s = fmin(*plain_s, time_of(plain));
        *cell_s = fmin(*cell_s, time_of(as_cell));
        pw_str_fini(&script);
    }
    pw_study_fini(&s);
}

static void print_cells(const char *pewter, int steps)
{
    double cell_s, plain_s, short_s, short_plain_s;
    time_cells(pewter, 1, SHORT_RUNS, &short_s, &short_plain_s);
    time_cells(pewter, steps, RUNS, &cell_s, &plain_s);
    printf("| a cell beyond its script, whatever its steps | %.3f | s |\n", short_s - short_plain_s);
    printf("| the same, of a script of %d steps | %.2f | %% |\n", steps,
           100.0 * (short_s - short_plain_s) / plain_s);
    printf("| the same by the times of %d steps | %.2f | %% |\n", steps, 100.0 * (cell_s / plain_s - 1.0));
}

/* ---- many cells */

static void make_up(struct pw_result *r, const struct pw_study_cell *cell, int lengths)
{
    struct pw_rng rng;
    pw_rng_init(&rng, (uint64_t)cell->seed, (uint32_t)cell->arm, 1);
    *r = (struct pw_result){.steps = 1000, .seconds = 1.0, .n = lengths};
    memcpy(r->id, cell->id, sizeof r->id);
    snprintf(r->digest, sizeof r->digest, "%032x", cell->seed);
    r->rows = pw_alloc((size_t)lengths, sizeof *r->rows);
    for (int i = 0; i < lengths; i++) {
        bool trained = i < lengths / 2;
        int64_t exact = trained ? 128 : (int64_t)(pw_rng_unit(&rng) * 100) + 5 * cell->arm;
        r->rows[i] = (struct pw_result_row){.length = i + 1,
                                            .trained = trained,
                                            .samples = 128,
                                            .exact = exact,
                                            .wrong = 128 - exact,
                                            .loss = (double)NAN};
    }
}

static void time_many(int cells, int lengths)
{
    struct pw_study s;
    struct pw_err err;
    struct pw_results r;
    struct pw_study_report report;
    char text[160], path[sizeof folder + 24];
    snprintf(text, sizeof text, "race none,t5,alibi,rotary,sinusoidal; task sort; seeds %d", cells / 5);
    check(pw_study_read(&s, text, &err), &err);
    check(pw_study_write(folder, text, &err), &err);
    pw_results_init(&r, &s);
    for (int i = 0; i < r.n; i++) {
        struct pw_result x;
        make_up(&x, &r.cells[i], lengths);
        check(pw_result_write(folder, &x, &err), &err);
        pw_result_fini(&x);
    }
    double begin = pw_now();
    pw_results_read(&r, folder);
    printf("| reading %d cells of %d lengths | %.3f | s |\n", r.there, lengths, pw_now() - begin);
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    check(pw_study_gather(path, &r, text, &err), &err);
    printf("| gathering them into a SQLite file, with reading | %.3f | s |\n", pw_now() - begin);
    begin = pw_now();
    pw_study_report_init(&report, &r, "bench", text);
    snprintf(path, sizeof path, "%s/report", folder);
    check(pw_study_files(path, &report, &err), &err);
    printf("| their report with all files | %.3f | s |\n", pw_now() - begin);
    pw_study_report_fini(&report);
    pw_results_fini(&r);
    pw_study_fini(&s);
}

int main(int argc, char **argv)
{
    char cells_folder[sizeof folder + 8];
    int cells = 1000, lengths = 20, steps = 1000;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_study PEWTER [cells=1000] [lengths=20] [steps=1000]\n");
        return 1;
    }
    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i], "cells=%d", &cells) != 1 && sscanf(argv[i], "lengths=%d", &lengths) != 1 &&
            sscanf(argv[i], "steps=%d", &steps) != 1) {
            fprintf(stderr, "bench_study: '%s': allowed are cells= lengths= steps=\n", argv[i]);
            return 1;
        }
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    printf("| cost of studies | value | unit |\n|---|---|---|\n");
    fflush(stdout);
    snprintf(cells_folder, sizeof cells_folder, "%s/cells", folder);
    if (mkdir(cells_folder, 0700) != 0) {
        perror(cells_folder);
        return 1;
    }
    print_cells(argv[1], steps);
    time_many(cells, lengths);
    const char *const words[] = {"/bin/rm", "-r", folder, NULL};
    time_of(words);
    return 0;
}
