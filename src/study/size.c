#include "study/size.h"

#include <stdio.h>

#include "base/clock.h"
#include "study/result.h"
#include "study/try.h"

#define WARM 4 /* the first steps take memory, so they don't count */

/* Times of steps, as the events have them. */
struct clock {
    int n; /* steps so far */
    double warm, last;
};

static void take_step(void *arg, const char *line)
{
    struct clock *c = arg;
    if (!pw_result_step(line, "time", &c->last))
        return;
    if (++c->n == WARM)
        c->warm = c->last;
}

enum pw_code pw_study_measure(const struct pw_study *s, int arm, int task, int threads,
                              struct pw_study_time *time, struct pw_err *err)
{
    struct pw_str script = {0};
    struct clock clock = {0};
    char place[160];
    pw_study_cell_setup(s, arm, task, 0, &script);
    pw_str_add(&script, "train %d\n", PW_STUDY_MEASURED);
    pw_study_cell_measure(s, &script);
    snprintf(place, sizeof place, "%.60s with task %.60s: ", s->arms[arm], s->tasks.items[task]);
    double begin = pw_now();
    enum pw_code code = pw_study_ask(script.s, threads, place, take_step, &clock, err);
    double wall = pw_now() - begin;
    pw_str_fini(&script);
    if (code == PW_OK && clock.n <= WARM)
        code = pw_fail(err, PW_EUSER, "%stoo few steps to measure", place);
    if (code != PW_OK)
        return code;
    time->step = (clock.last - clock.warm) / (clock.n - WARM);
    time->other = wall - time->step * clock.n;
    return PW_OK;
}
