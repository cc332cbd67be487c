/* lengths.h - between the study `lengths` (lengths.c) and its verdict on one task (lengths_judge.c). */
#ifndef PW_LENGTHS_H
#define PW_LENGTHS_H
#include "base/err.h"
#include "base/finding.h"
#include "reproduce/suite.h"
#include "sessions/fold.h"

struct pw_lengths {
    char task[256], pes[256];
    int group, protocol, seeds, steps, samples, seed, checkpoint;
};

/* The options that say how one task is measured, of those of a group. */
void pw_length_as_made(const struct pw_lengths *o, const char *task, struct pw_lengths *out);

/* ---- the finding of one task. Block 0: the curves by length; block 1: a table with an arm a row and the
 * columns below, then one for each seed. */
enum pw_lengths_col {
    PW_LENGTHS_IN,        /* in range: median of the seeds */
    PW_LENGTHS_IN_LEAST,  /* and the least of them */
    PW_LENGTHS_BEYOND,    /* longer: mean of the seeds */
    PW_LENGTHS_BEYOND_LO, /* and its 95 % interval */
    PW_LENGTHS_BEYOND_HI,
    PW_LENGTHS_PAPER,
    PW_LENGTHS_SEEDS /* longer, seed 1, 2, ... */
};
/* The row of an encoding of the paper, as the paper has it (T5 32/128, rotary on a quarter of the head); -1:
 * none. */
int pw_length_row(const struct pw_finding *f, int pe);
/* Did every one of the paper's encodings learn the trained lengths, by suite.h's rule? name gets one that
 * didn't. */
bool pw_length_learned(const struct pw_finding *f, char name[PW_FINDING_LABEL]);

enum pw_code pw_length_judge(const struct pw_lengths *o, const struct pw_snapshot *s, struct pw_finding *f,
                             struct pw_err *err);

#endif
