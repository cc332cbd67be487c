/* store_worth.c - decide which events a session records.
 *
 * Recorded are all actions and requests of the user, and everything that training measured. Not recorded are
 * events about this process: SESSION; STATE, except when training starts, ends or changes its goal; and JOB
 * between start and end. Pictures emitted during training are the answer, which is decoded again at each
 * inspection, and the encoding's table. They are recorded once every 2 seconds, and at steps 1, 2, 3, 4, 6,
 * 8, 12, 16, ... Between these they hardly change.
 *
 * An answer is recorded as a whole: its PROMPT decides for its TOKENs, and for the ATTENTION and LOOK that
 * follow automatically. After a command everything is recorded until the next step. */
#include "sessions/store_int.h"

#define BESIDE_NS INT64_C(2000000000)

/* Is the step one of 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: a power of two, or three times one? */
static bool is_round(int64_t step)
{
    int64_t odd = step % 3 == 0 ? step / 3 : step;
    return step > 0 && (odd & (odd - 1)) == 0;
}

static bool is_due(const struct pw_worth *w, const struct pw_event *e, int64_t *last_ns)
{
    bool due = !w->training || w->asked || is_round(e->step) || e->t_ns < *last_ns ||
               e->t_ns - *last_ns >= BESIDE_NS;
    if (due)
        *last_ns = e->t_ns;
    return due;
}

static bool state_changed(struct pw_worth *w, const struct pw_ev_state *e)
{
    bool changed = !w->told || e->run != w->run || e->until != w->until;
    w->told = true;
    w->training = e->run == PW_RUN_TRAINING;
    w->run = e->run;
    w->until = e->until;
    return changed;
}

bool pw_worth_beside(const struct pw_worth *w, const struct pw_event *e)
{
    bool picture = e->kind == PW_EV_LOOK || e->kind == PW_EV_TABLE ||
                   (e->kind == PW_EV_ATTENTION && !e->u.attention.asked);
    return picture && w->training && !w->asked;
}

bool pw_worth_recording(struct pw_worth *w, const struct pw_event *e)
{
    switch (e->kind) {
    case PW_EV_SESSION: return false;
    case PW_EV_STATE: return state_changed(w, &e->u.state);
    case PW_EV_JOB: return e->u.job.state != PW_JOB_RUNNING || e->u.job.done == 0;
    case PW_EV_COMMAND: w->asked = true; return true;
    case PW_EV_STEP: w->asked = false; return true;
    case PW_EV_PROMPT: w->answer = e->u.prompt.id == 0 || is_due(w, e, &w->answer_ns); return w->answer;
    case PW_EV_TOKEN: return w->answer;
    case PW_EV_LOOK: return w->answer || w->asked;
    case PW_EV_ATTENTION: return w->answer || w->asked || e->u.attention.asked;
    case PW_EV_TABLE: return is_due(w, e, &w->table_ns);
    default: return true;
    }
}
