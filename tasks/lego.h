/* lego.h - the clauses of a LEGO item, shared by lego.c and lego_read.c. Pure functions, for any thread. */
#ifndef PW_LEGO_H
#define PW_LEGO_H
#include "tasks/task.h"

#define PW_LEGO_LETTERS 26
#define PW_LEGO_ONE     (-1) /* in place of a variable: the value 1 */
#define PW_LEGO_EXAMPLE "a = -1, b = -a, c = +b, c ?"

/* The order of clauses in the prompt. */
enum pw_lego_order { PW_LEGO_CHAIN, PW_LEGO_SHUFFLED };

/* The options of the task. */
struct pw_lego_opts {
    struct pw_task_opts common;
    int sampling; /* enum pw_sampling */
    int clauses;  /* enum pw_lego_order */
};

/* The clause var = sign from. */
struct pw_lego_clause {
    int var, sign, from;
};

/* Returns clause i of an item; pw_lego_add appends one. */
struct pw_lego_clause pw_lego_clause(const struct pw_item *item, int i);
void pw_lego_add(struct pw_item *item, struct pw_lego_clause c);
/* Returns the index of the clause that defines a variable; -1: there is none. */
int pw_lego_clause_for(const struct pw_item *item, int var);
/* Writes the values of all variables; 0 for a variable without value. */
void pw_lego_solve(const struct pw_item *item, int value[PW_LEGO_LETTERS]);
/* Returns the letter of a variable: "a" for 0. */
const char *pw_lego_letter(int var);

/* The hooks payload and read of struct pw_task. */
enum pw_code pw_lego_payload(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);
enum pw_code pw_lego_read(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);

#endif
