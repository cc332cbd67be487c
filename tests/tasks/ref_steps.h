/* ref_steps.h - a second implementation of the steps of scratchpads, which sees nothing but a prompt's text.
 */
#ifndef REF_STEPS_H
#define REF_STEPS_H
#include "base/text.h"
#include <stdbool.h>

enum { STEPS_MAX = 64, STEPS_TEXT = 1024 };

struct steps {
    int n;
    char part[STEPS_MAX][5][STEPS_TEXT]; /* input, computation, output, variables, what remains */
};

/* The steps from a prompt of the task ("sort multi" where numbers are sorted), in short or in paper's texts.
 */
void steps_of(struct steps *s, const char *task, const char *prompt, bool brief);
/* The scratchpad with the parts that letters ("icovr") name, as reference texts put it together: every part
 * and its mark are followed by a blank, steps are joined by " # ". */
void steps_join(const struct steps *s, const char *letters, bool brief, struct pw_str *out);

#endif
