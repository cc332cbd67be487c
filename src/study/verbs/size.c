/* size - how much work a study is: runs, operations and memory; and hours, measured or at a rate. */
#include <stdio.h>

#include "study/size.h"
#include "study/try.h"
#include "study/verbs/verbs_int.h"

struct options {
    bool measure;
    double rate; /* sustained TFLOPS; 0: none */
    int jobs, threads;
};

static const struct pw_opt table[] = {{.name = "measure",
                                       .type = PW_OPT_SWITCH,
                                       .offset = offsetof(struct options, measure),
                                       .def = "off",
                                       .help = "run 20 steps of each arm and task on this machine"},
                                      {.name = "rate",
                                       .type = PW_OPT_DOUBLE,
                                       .offset = offsetof(struct options, rate),
                                       .def = "0",
                                       .max = 1e6,
                                       .help = "10^12 operations a second of one device; 0: no hours"},
                                      {.name = "jobs",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, jobs),
                                       .def = "1",
                                       .min = 1,
                                       .max = 10000,
                                       .help = "runs at once"},
                                      {.name = "threads",
                                       .type = PW_OPT_INT,
                                       .offset = offsetof(struct options, threads),
                                       .def = "1",
                                       .min = 1,
                                       .max = PW_STUDY_THREADS,
                                       .help = "threads of each run, with measure=on"},
                                      {.name = NULL}};

/* One seed of all arms and tasks. */
struct sums {
    double operations, seconds, bytes; /* bytes: of the largest run */
};

static void print_row(FILE *out, const char *arm, int width, const struct pw_study_work *w,
                      const struct pw_study_time *time)
{
    fprintf(out, "  %s%*s", arm, width - pw_text_cells(arm), "");
    if (w->steps > 0.0)
        fprintf(out, "  %11.0f %15.3e %8.0f %12.0f %12.3e", w->parameters, w->operations,
                w->bytes / 1048576.0, w->steps, w->operations * w->steps);
    else
        fprintf(out, "  its model comes from a file: not counted");
    if (time != NULL)
        fprintf(out, " %8.4f %8.1f", time->step, time->other + w->steps * time->step);
    fputc('\n', out);
}

/* Counts, measures and prints the arms of a task. */
static enum pw_code size_task(const struct pw_study_call *call, const struct pw_study *s, int task,
                              struct sums *sums, struct pw_err *err)
{
    const struct options *o = call->opts;
    struct pw_study_work work[PW_STUDY_ARMS];
    int width = pw_study_arm_width(s);
    enum pw_code code = pw_study_work_of(s, task, work, err);
    if (code != PW_OK)
        return code;
    fprintf(call->out, "%s\n  %*s  %11s %15s %8s %12s %12s%s\n", s->tasks.items[task], width, "",
            "parameters", "operations/step", "MiB", "steps", "operations",
            o->measure ? "   s/step    s/run" : "");
    for (int arm = 0; arm < s->n_arms; arm++) {
        struct pw_study_time time = {0};
        const struct pw_study_work *w = &work[arm];
        if (o->measure)
            code = pw_study_measure(s, arm, task, o->threads, &time, err);
        if (code != PW_OK)
            return code;
        print_row(call->out, s->arms[arm], width, w, o->measure ? &time : NULL);
        fflush(call->out);
        sums->operations += w->operations * w->steps;
        sums->seconds += time.other + w->steps * time.step;
        sums->bytes = w->bytes > sums->bytes ? w->bytes : sums->bytes;
    }
    return PW_OK;
}

static void print_sum(FILE *out, const struct pw_study *s, int seeds, const struct options *o,
                      const struct sums *sums)
{
    fprintf(out, "%d seed%s: %d runs, %.3g operations", seeds, seeds == 1 ? "" : "s",
            s->n_arms * s->tasks.n * seeds, sums->operations * seeds);
    if (o->rate > 0.0)
        fprintf(out, "; %.3g hours of a device with %.3g TFLOPS", sums->operations * seeds / o->rate / 3.6e15,
                o->rate);
    if (o->measure)
        fprintf(out, "; %.3g hours here with jobs=%d threads=%d", sums->seconds * seeds / o->jobs / 3600.0,
                o->jobs, o->threads);
    fputc('\n', out);
}

static enum pw_code run(const struct pw_study_call *call, struct pw_err *err)
{
    struct pw_study s;
    struct sums sums = {0};
    enum pw_code code = pw_study_open(&s, call->folder, NULL, err);
    if (code != PW_OK)
        return code;
    for (int task = 0; code == PW_OK && task < s.tasks.n; task++)
        code = size_task(call, &s, task, &sums, err);
    if (code == PW_OK && s.seeds_min < s.seeds_max)
        print_sum(call->out, &s, s.seeds_min, call->opts, &sums);
    if (code == PW_OK) {
        print_sum(call->out, &s, s.seeds_max, call->opts, &sums);
        fprintf(call->out,
                "Operations are those of training, forward and backward: a multiply-add is two, the "
                "backward pass twice the forward pass (Kaplan et al. 2020, section 2.1).\n"
                "A run takes at most the MiB above, with one thread.\n");
    }
    pw_study_fini(&s);
    return code;
}

const struct pw_study_verb pw_study_verb_size = {
    .name = "size", .opts = table, .opts_size = sizeof(struct options), .run = run};
