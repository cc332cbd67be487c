/* scratchpad.h - scratchpads: intermediate steps between prompt and answer (Nye et al. 2021), in the format
 * of Kazemnejad et al. 2023, section 6, and its released code.
 *
 * A step has up to five parts, each of which can be omitted: its input (in), the computation (comp), the
 * result (out), the variables after it (vars), and the remaining input (re).
 *
 *   text=paper   Compute 9 7 + 5 ? | Thinking step by step:  in 7, 5 comp 7 + 5 + carry = 12 + 0 = 12 out 2
 *                [ carry: 1 ] re 9 + 0  # in 9, 0 comp ... re  +   . Thus,  The answer is 1 0 2.
 *   text=short   addition 9 7 + 5 > | in 7 5 comp 7 5 0 = 1 2 out 2 var 1 re 9 + 0 # in 9 0 comp ... so 1 0 2
 *
 * (The paper's data have no line breaks; its double blanks are real.) The task supplies the content of the
 * parts; this module chooses the parts and writes the words around them. The task's answer follows as it
 * would without a scratchpad, and only the answer is graded (pw_taskset_right). The appendix of the paper
 * shows no scratchpad, so text=appendix has none.
 *
 * Functions are pure apart from their output, for any thread. */
#ifndef PW_SCRATCHPAD_H
#define PW_SCRATCHPAD_H
#include "tasks/task.h"

/* The parts of a step, in their order. */
enum pw_scratch_part { PW_PART_IN, PW_PART_COMP, PW_PART_OUT, PW_PART_VARS, PW_PART_RE, PW_PARTS };

/* The task's half of a scratchpad, beside its descriptor. */
struct pw_scratch_task {
    bool vars; /* its steps have variables */
    /* Adds tokens of the parts that prompts and answers do not have; NULL: there are none. */
    void (*words)(const void *opts, struct pw_vocab *v);
    /* Writes the steps of an item: fills s->part and calls pw_scratch_step once per step. */
    void (*steps)(const void *opts, const struct pw_item *item, struct pw_scratch *s);
    /* Returns true if this text, read for its meaning and not its spelling, is the item's answer. */
    bool (*says)(const void *opts, const struct pw_item *item, const char *answer);
};

/* A scratchpad that is being written. */
struct pw_scratch {
    struct pw_str part[PW_PARTS]; /* of the next step: tokens with their leading blanks, or nothing */
    /* private */
    const struct pw_task_opts *opts;
    struct pw_str *out;
    int n;
};

/* Writes the parts as the next step and clears them. */
void pw_scratch_step(struct pw_scratch *s);
/* Returns the text for an empty list within a part: a blank in the paper's texts, otherwise nothing. */
const char *pw_scratch_nothing(const struct pw_task_opts *opts);

/* Replaces the option scratchpad by its shortest form and sets opts->parts. A value that
 * is not allowed is PW_EUSER. */
enum pw_code pw_scratch_init(struct pw_task_use *use, struct pw_err *err);
/* Adds the tokens of the task's scratchpads to v; nothing without scratchpad. */
void pw_scratch_words(const struct pw_task_use *use, struct pw_vocab *v);
/* Appends the scratchpad of an item to its answer; nothing without scratchpad. */
void pw_scratch_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *answer);

/* Returns the number of answer tokens up to and including the end of the
 * scratchpad; 0: the answer has none. */
int pw_scratch_tokens(const struct pw_task_use *use, const struct pw_vocab *v, const int *answer, int n);

#endif
