/* pcfg.h - what pcfg.c and pcfg_draw.c share: the codes of a source's tokens, and its drawing. */
#ifndef PW_PCFG_H
#define PW_PCFG_H
#include "tasks/task.h"

#define PW_PCFG_SYMBOLS   520 /* A1..Z20 are the codes below this */
#define PW_PCFG_COMMA     520
#define PW_PCFG_FUNCTION  521 /* and the functions from here on: six of one argument, four of two */
#define PW_PCFG_UNARY     6
#define PW_PCFG_BINARY    4
#define PW_PCFG_FUNCTIONS 35  /* that a source can have */
#define PW_PCFG_RELEASE   71  /* tokens of the release's longest source */
#define PW_PCFG_TOKENS    250 /* as many as 35 functions can take: 35 commas and 36 strings of 5 */
#define PW_PCFG_ANSWER    500

struct pw_pcfg_opts {
    struct pw_task_opts common;
    int tokens, answer; /* most of them */
};

/* Where in the source each symbol of the answer stands: out [room]. Returns how many, or -1 where they, or
 * those of a function on the way, are more than room. */
int pw_pcfg_solve(const struct pw_item *item, int *out, int room);

/* The hooks of struct pw_task. */
void pw_pcfg_draw(const void *opts, struct pw_rng *rng, int length, struct pw_item *item);
bool pw_pcfg_has(const void *opts, int length);
double pw_pcfg_weight(const void *opts, int length);
double pw_pcfg_inputs(const void *opts, struct pw_pair at);

#endif
