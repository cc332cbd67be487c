/* figure4.h - the study of Figure 4: what is trained (figure4.c), and what is said of it (figure4_judge.c).
 */
#ifndef PW_FIGURE4_H
#define PW_FIGURE4_H
#include "base/err.h"
#include "base/finding.h"
#include "sessions/fold.h"

struct pw_figure4 {
    char task[256], load[256], save[256];
    int protocol, model, steps, samples, seed;
};

/* The study's judge. Arms 1 to 6 are NoPE, NoPE*, T5, ALiBi, rotary and sinusoidal. */
enum pw_code pw_figure4_judge(const void *opts, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err);

#endif
