/* status - print the state of each cell, failures, and the verdicts so far. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "study/report.h"
#include "study/verbs/verbs_int.h"

/* A character for each seed: done, running, failed, missing, queued; '-' if the rule to stop needs no such
 * cell. */
static void print_cells(FILE *out, const struct pw_results *r, int task)
{
    int seeds = pw_results_seeds(r, task), width = pw_study_arm_width(r->s);
    for (int arm = 0; arm < r->s->n_arms; arm++) {
        fprintf(out, "  %s%*s  ", r->s->arms[arm], width - pw_text_cells(r->s->arms[arm]), "");
        for (int seed = 0; seed < r->s->seeds_max; seed++) {
            enum pw_study_cell_state state = r->state[pw_results_at(r, arm, task, seed)];
            fputc(state == PW_CELL_MISSING && seed >= seeds ? '-' : ".*x#q"[state], out);
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

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    const char *folder = call->folder;
    FILE *out = call->out;
    struct pw_study_reading x = {.asks = true};
    char lock[PW_STUDY_PATH + 16];
    enum pw_code code = pw_study_reading_open(&x, folder, err);
    if (code != PW_OK)
        return code;
    snprintf(lock, sizeof lock, "%s/run.lock", folder);
    long pid = pw_study_locked(lock);
    int *wanted = pw_alloc((size_t)x.r.n, sizeof *wanted), n = pw_results_wanted(&x.r, false, wanted);
    fprintf(out, "%d of at most %d runs done, %d running, ", x.r.there, x.r.n, x.r.running);
    if (x.q.n > 0)
        fprintf(out, "%d queued, ", x.r.queued);
    fprintf(out, "%d failed, %d wanted now; %lld steps, %.3g operations, %.0f s of computing\n", x.r.broken,
            n, (long long)x.r.steps, x.r.operations, x.r.seconds);
    bool cluster = pw_slurm_print(out, &x.q);
    if (x.r.there < x.r.n)
        pw_slurm_print_ended(out, &x.q);
    if (pid != 0)
        fprintf(out, "process %ld runs it\n", pid);
    else if (n > 0 && !cluster)
        fprintf(out, "nothing runs it here; 'study run' continues\n");
    else if (n == 0 && x.r.running + x.r.queued == 0)
        fprintf(out, "nothing is left to run\n");
    for (int task = 0; task < x.s.tasks.n; task++) {
        struct pw_finding f;
        fprintf(out, "%s   (# done, * runs, %sx failed, . missing, - not needed)\n", x.s.tasks.items[task],
                x.q.n > 0 ? "q queued, " : "");
        print_cells(out, &x.r, task);
        pw_study_finding(&f, &x.r, "study", task);
        for (int i = 0; i < f.n_remarks; i++)
            fprintf(out, "  %s\n", f.remarks[i].text);
        pw_finding_fini(&f);
    }
    print_failures(out, &x.r, folder);
    free(wanted);
    pw_study_reading_close(&x);
    return PW_OK;
}

const struct pw_study_verb pw_study_verb_status = {.name = "status", .run = run};
