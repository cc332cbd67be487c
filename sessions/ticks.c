/* ticks.c - entries of the timeline: evaluations, checkpoints, swaps of an encoding, marks.
 *
 * Evaluations during training come every 50 steps and would crowd out the user's actions. If an arm has too
 * many of them, every second one is removed. If the whole timeline is full, the oldest of them are removed
 * first. */
#include <string.h>

#include "base/text.h"
#include "sessions/fold_int.h"

#define LIVE_MOST 32 /* of an arm */

static void drop(struct pw_snapshot *s, int i)
{
    memmove(s->ticks + i, s->ticks + i + 1, (size_t)(--s->n_ticks - i) * sizeof *s->ticks);
}

/* Remove every second live evaluation of an arm, but keep the first. */
static void thin(struct pw_snapshot *s, int arm)
{
    int nth = 0;
    for (int i = 0; i < s->n_ticks;)
        if (s->ticks[i].live && s->ticks[i].arm == arm && nth++ % 2 == 1)
            drop(s, i);
        else
            i++;
}

void pw_ticks_add(struct pw_snapshot *s, enum pw_tick_kind kind, int arm, int64_t step, const char *text,
                  bool live)
{
    int n = 0, oldest = 0;
    for (int i = 0; live && i < s->n_ticks; i++)
        n += s->ticks[i].live && s->ticks[i].arm == arm;
    if (n >= LIVE_MOST)
        thin(s, arm);
    if (s->n_ticks == PW_MAX_TICKS) {
        while (oldest < s->n_ticks && !s->ticks[oldest].live)
            oldest++;
        drop(s, oldest < s->n_ticks ? oldest : 0);
    }
    struct pw_tick *t = &s->ticks[s->n_ticks++];
    *t = (struct pw_tick){.seq = s->seq, .step = step, .arm = arm, .kind = kind, .live = live};
    pw_text_copy(t->text, sizeof t->text, text);
}

void pw_ticks_drop(struct pw_snapshot *s, int arm)
{
    for (int i = s->n_ticks - 1; i >= 0; i--)
        if (s->ticks[i].arm == arm)
            drop(s, i);
}
