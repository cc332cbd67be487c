/* ref_text.c - evaluations of running text for the screens of ref_screen.h: five arms, contexts of 16 to 256,
 * the loss by position, and the held-out loss over training. */
#include <math.h>

#include "base/maths.h"
#include "ref_screen_int.h"

enum { TRAINED = 64, LONGEST = 256, N_LENGTHS = 8 };

static const int lengths[N_LENGTHS] = {16, 32, 64, 96, 128, 160, 192, 256};

/* The loss of an arm after `step` steps at a position, from 1. Encodings differ in how it grows beyond the
 * trained context. */
static float loss_at(int arm, int64_t step, int place)
{
    static const float floors[6] = {0, 1.5f, 1.3f, 1.25f, 1.28f, 1.4f},
                       grows[6] = {0, 1.1f, 0.02f, 0.2f, 1.6f, 2.2f};
    float loss = floors[arm] + 2.5f / (1 + (float)step / 90) + 1.2f / sqrtf((float)place);
    if (place > TRAINED)
        loss += grows[arm] * (float)pw_log((double)place / TRAINED);
    return loss + 0.05f * screen_noise((uint32_t)arm, (uint32_t)place);
}

static void eval_text(struct pw_snapshot *s, int arm, int64_t step)
{
    struct pw_event *e = pw_event_new(PW_EV_EVAL);
    struct pw_ev_eval *v = &e->u.eval;

    e->arm = arm, e->step = step;
    *v = (struct pw_ev_eval){.n = N_LENGTHS, .draw = 11, .n_losses = TRAINED + LONGEST};
    v->rows = screen_array(N_LENGTHS, sizeof *v->rows);
    v->losses = screen_array(TRAINED + LONGEST, sizeof *v->losses);
    for (int i = 0, at = 0; i < N_LENGTHS; i++) {
        struct pw_eval_row *row = &v->rows[i];
        double sum = 0;
        *row = (struct pw_eval_row){.length = lengths[i], .samples = 16, .tokens = 16 * lengths[i]};
        for (int k = 1; k <= lengths[i]; k++)
            sum += (double)loss_at(arm, step, k);
        row->loss = (float)(sum / lengths[i]);
        if (lengths[i] != TRAINED && lengths[i] != LONGEST)
            continue;
        row->first_loss = at, row->n_losses = lengths[i];
        for (int k = 1; k <= lengths[i]; k++)
            v->losses[at++] = loss_at(arm, step, k);
    }
    screen_fold(s, e);
}

void screen_set_text(struct pw_snapshot *s)
{
    struct pw_event *e = pw_event_new(PW_EV_LAB);
    e->u.lab = s->lab;
    e->u.lab.tasks[0] = (struct pw_task_view){.name = "text",
                                              .train_lo = TRAINED,
                                              .train_hi = TRAINED,
                                              .test_lo = TRAINED + 1,
                                              .test_hi = LONGEST,
                                              .prompt = "In the year",
                                              .runs = true};
    pw_text_copy(e->u.lab.task, sizeof e->u.lab.task, "text lengths=64..64 test=65..256");
    screen_fold(s, e);
    for (int64_t step = 40; step <= 640; step += 40)
        for (int arm = 1; arm <= 5; arm++)
            eval_text(s, arm, step);
}
