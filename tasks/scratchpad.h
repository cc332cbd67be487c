/* scratchpad.h - the steps that lead to an answer, written between prompt and answer (Nye et al. 2021; in the
 * format of Kazemnejad et al. 2023, section 6, and the released code).
 *
 * A step has up to five parts, each of which can be left out: what it reads (in), what it computes from that
 * (comp), the result (out), the variables after it (vars), and what is left to do (re).
 *
 *   text=paper   Compute 9 7 + 5 ? | Thinking step by step:  in 7, 5 comp 7 + 5 + carry = 12 + 0 = 12 out 2
 *                [ carry: 1 ] re 9 + 0  # in 9, 0 comp ... re  +   . Thus,  The answer is 1 0 2.
 *   text=short   addition 9 7 + 5 > | in 7 5 comp 7 5 0 = 1 2 out 2 var 1 re 9 + 0 # in 9 0 comp ... so 1 0 2
 *
 * (The paper's data have no line breaks, but its double blanks are real.) A task says what the parts of its
 * steps are; which of them are written, and what stands around them, is decided here. The task's answer
 * follows as it would without a scratchpad; it alone counts (pw_taskset_right). The appendix shows no
 * scratchpad, so text=seed has none. */
#ifndef PW_SCRATCHPAD_H
#define PW_SCRATCHPAD_H
#include "tasks/task.h"

enum pw_part { PW_PART_IN, PW_PART_COMP, PW_PART_OUT, PW_PART_VARS, PW_PART_RE, PW_PARTS };

/* A task's own half, beside its descriptor. */
struct pw_scratch_task {
    bool vars; /* do its steps have variables? */
    /* Adds the tokens of the parts that its prompts and answers haven't got; NULL: there are none. */
    void (*words)(const void *opts, struct pw_vocab *v);
    /* Writes the steps of an item: fills s->part and calls pw_scratch_step, once a step. */
    void (*steps)(const void *opts, const struct pw_item *item, struct pw_scratch *s);
    /* Is this text, read as what it says and not by its spelling, the item's answer? */
    bool (*says)(const void *opts, const struct pw_item *item, const char *answer);
};

/* A scratchpad that is being written. */
struct pw_scratch {
    struct pw_str part[PW_PARTS]; /* of the next step: tokens with the blank before each, or nothing */
    /* private */
    const struct pw_task_opts *opts;
    struct pw_str *out;
    int n;
};

/* The parts as the next step. They are empty again. */
void pw_scratch_step(struct pw_scratch *s);
/* What stands for nothing within a part: the paper's texts have a blank there that others don't. */
const char *pw_scratch_nothing(const struct pw_task_opts *opts);

/* What stands in the option scratchpad becomes its shortest form, and opts->parts. */
enum pw_code pw_scratch_init(struct pw_task_use *use, struct pw_err *err);
void pw_scratch_words(const struct pw_task_use *use, struct pw_vocab *v);
void pw_scratch_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *answer);

/* Tokens of an answer before what it says, the end of the scratchpad included; 0: it has none. */
int pw_scratch_tokens(const struct pw_task_use *use, const struct pw_vocab *v, const int *answer, int n);

#endif
