#include "study/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "study/child.h"

#define WARM 4 /* the first steps take memory, so they don't count */

/* Times of steps, as the events have them. */
struct clock {
    int n; /* steps so far */
    double warm, last;
};

static void take_step(void *arg, const char *line)
{
    struct clock *c = arg;
    const char *time = strstr(line, "\"time\":");
    if (time == NULL || strstr(line, "\"kind\":\"step\"") == NULL)
        return;
    c->last = strtod(time + strlen("\"time\":"), NULL);
    if (++c->n == WARM)
        c->warm = c->last;
}

enum pw_code pw_study_measure(const struct pw_study *s, int arm, int task, int threads,
                              struct pw_study_time *time, struct pw_err *err)
{
    struct pw_str script = {0};
    struct clock clock = {0};
    char number[12], why[PW_CHILD_WHY];
    int status = 0;
    pw_study_cell_setup(s, arm, task, 0, &script);
    pw_str_add(&script, "train %d\n", PW_STUDY_MEASURED);
    pw_study_cell_measure(s, &script);
    snprintf(number, sizeof number, "%d", threads);
    const char *const args[] = {"--no-session", "--threads", number, "--json", "-c", script.s, NULL};
    double begin = pw_now();
    enum pw_code code = pw_child_run(args, take_step, &clock, &status, why, err);
    double wall = pw_now() - begin;
    pw_str_fini(&script);
    if (code == PW_OK && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        code =
            pw_fail(err, PW_EUSER, "%.60s with task %.60s: %.300s", s->arms[arm], s->tasks.items[task], why);
    if (code == PW_OK && clock.n <= WARM)
        code = pw_fail(err, PW_EUSER, "%.60s with task %.60s: too few steps to measure", s->arms[arm],
                       s->tasks.items[task]);
    if (code != PW_OK)
        return code;
    time->step = (clock.last - clock.warm) / (clock.n - WARM);
    time->other = wall - time->step * clock.n;
    return PW_OK;
}
