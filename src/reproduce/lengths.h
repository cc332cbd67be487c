/* lengths.h - interface between the study `lengths` (lengths.c) and its verdict on one task
 * (lengths_judge.c). */
#ifndef PW_LENGTHS_H
#define PW_LENGTHS_H
#include "base/err.h"
#include "base/finding.h"
#include "reproduce/suite.h"
#include "sessions/fold.h"

/* Options of the study; lengths.c has their table. */
struct pw_length_study {
    /* For group PW_SUITE_ONE the arguments of `task`; encodings as in `race`, "": the paper's five. */
    char task[256], pes[256];
    /* enum pw_suite_group; enum pw_protocol; replicas of each encoding; training steps (0: the task's);
     * samples of each length; seed of the first replica and of the data; enum pw_checkpoint_choice. */
    int group, protocol, seeds, steps, samples, seed, checkpoint;
};

/* Set *out to the options that the finding of one task records (pw_finding_made): those of o, with this task
 * and the default group. */
void pw_length_as_made(const struct pw_length_study *o, const char *task, struct pw_length_study *out);

/* ---- the finding of one task. Block 0: the curves by length; block 1: a table with a row per arm and the
 * columns below, then a column per seed. */
enum pw_lengths_col {
    PW_LENGTHS_IN,        /* in range: median over seeds */
    PW_LENGTHS_IN_LEAST,  /* in range: minimum over seeds */
    PW_LENGTHS_BEYOND,    /* longer: mean over seeds */
    PW_LENGTHS_BEYOND_LO, /* lower end of its 95 % interval */
    PW_LENGTHS_BEYOND_HI,
    PW_LENGTHS_PAPER,
    PW_LENGTHS_SEEDS /* longer, seed 1, 2, ... */
};
/* The row of one of the paper's encodings with the paper's settings (T5 32/128, rotary on a quarter of the
 * head); -1: none. */
int pw_length_row(const struct pw_finding *f, int pe);
/* Did every encoding of the paper learn the trained lengths, by suite.h's rule? If not, name is set to one
 * that did not. */
bool pw_length_learned(const struct pw_finding *f, char name[PW_FINDING_LABEL]);

/* Make the finding of one task (o->task) from the evaluated arms. Fails if no arm was evaluated. */
enum pw_code pw_length_judge(const struct pw_length_study *o, const struct pw_snapshot *s,
                             struct pw_finding *f, struct pw_err *err);

#endif
