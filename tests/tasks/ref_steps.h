/* ref_steps.h - a second implementation of scratchpad steps, which reads only the text of a prompt. Tests
 * compare the tasks' scratchpads with it. */
#ifndef REF_STEPS_H
#define REF_STEPS_H
#include "base/text.h"
#include <stdbool.h>

enum { STEPS_MAX = 64, STEPS_TEXT = 1024 };

struct steps {
    int n;
    char part[STEPS_MAX][5][STEPS_TEXT]; /* input, computation, output, variables, remaining input */
};

/* Computes the steps of a prompt. task: its name, "sort multi" if the task sorts multi-digit numbers. brief:
 * short texts; otherwise those of Kazemnejad et al. 2023. */
void steps_of(struct steps *s, const char *task, const char *prompt, bool brief);
/* Appends the scratchpad with the parts that `letters` ("icovr") name, in the format of the reference texts.
 * A blank follows every part and its mark; " # " joins the steps. */
void steps_join(const struct steps *s, const char *letters, bool brief, struct pw_str *out);

#endif
