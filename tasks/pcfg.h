/* pcfg.h - codes of the tokens of a PCFG source, shared by pcfg.c (meaning and text) and pcfg_draw.c
 * (sampling). Any thread. */
#ifndef PW_PCFG_H
#define PW_PCFG_H
#include "tasks/task.h"

#define PW_PCFG_SYMBOLS   520 /* codes below this are the symbols A1..Z20 */
#define PW_PCFG_COMMA     520
#define PW_PCFG_FUNCTION  521 /* first code of a function: six take one argument, four take two */
#define PW_PCFG_UNARY     6
#define PW_PCFG_BINARY    4
#define PW_PCFG_FUNCTIONS 35  /* most functions of a source */
#define PW_PCFG_RELEASE   71  /* tokens of the longest source in the release of Hupkes et al. 2020 */
#define PW_PCFG_TOKENS    250 /* enough for 35 functions: 35 commas and 36 strings of 5 */
#define PW_PCFG_ANSWER    500

/* The options of the task. */
struct pw_pcfg_opts {
    struct pw_task_opts common;
    int tokens, answer; /* most of either */
};

/* Evaluates a source. out [room] gets, for each symbol of the answer, its position in the source. Returns the
 * number of symbols; -1 if the answer or an intermediate value needs more than room. */
int pw_pcfg_solve(const struct pw_item *item, int *out, int room);

/* The hooks of struct pw_task. */
void pw_pcfg_draw(const void *opts, struct pw_rng *rng, int length, struct pw_item *item);
bool pw_pcfg_has(const void *opts, int length);
double pw_pcfg_weight(const void *opts, int length);
double pw_pcfg_inputs(const void *opts, struct pw_pair at);

#endif
