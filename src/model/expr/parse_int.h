/* parse_int.h - the parser of formulas: parse.c reads statements, parse_terms.c and parse_calls.c
 * expressions.
 */
#ifndef PW_PARSE_INT_H
#define PW_PARSE_INT_H
#include "model/expr/expr_int.h"

/* A name that the formula defines; at and length are its place in the text. */
struct pw_parse_name {
    int at, length;
    int node, param; /* an expression; or a parameter, -1 otherwise */
    bool option;     /* the expression is an option's value */
    bool used;
};

/* The state of the parser of one formula. */
struct pw_parser {
    struct pw_expr *x;
    struct pw_token t; /* the token to be read next */
    struct pw_err *err;
    int depth, error_at;
    bool failed;
    struct pw_parse_name names[PW_EXPR_NAMES];
    int n_names;
    int counter_at[PW_EXPR_SUMS], counter_length[PW_EXPR_SUMS]; /* names of the open sums' counters */
    bool counter_open[PW_EXPR_SUMS];
    int position_at;         /* where the expression of stage position begins */
    bool for_key;            /* reading that expression for the key: i is j */
    int stage;               /* of the statement that is read; -1: none */
    int stage_at[PW_STAGES]; /* where the statement of a stage begins */
    const double *values;    /* [n_values] of the options, instead of their defaults */
    int n_values;
};

/* The parser keeps the first error. After it no token is read, and all functions return at once. */

/* Reports an error at an offset of the text. Returns 0, a node that exists. */
int pw_parse_fail(struct pw_parser *p, int at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void pw_parse_advance(struct pw_parser *p); /* reads the next token */
const char *pw_parse_text(const struct pw_parser *p);
/* Is the token this word or sign? take: and advances. expect: an error if it is not. */
bool pw_parse_is(const struct pw_parser *p, const char *word);
bool pw_parse_take(struct pw_parser *p, const char *word);
void pw_parse_expect(struct pw_parser *p, const char *word, const char *place);
/* The index in a NULL-terminated list, or -1. */
int pw_parse_find(const char *const *list, const char *text, int length);
extern const char *const pw_parse_variables[PW_VARS + 1];

/* ---- parse_option.c: reads an option behind the word `option` */
void pw_parse_option(struct pw_parser *p, struct pw_parse_name *name);

/* ---- parse_token.c: what only `position` can read */
/* Reads what follows a name at offset `at` if it is one of these words, and sets *node; false: it is none. */
bool pw_parse_token(struct pw_parser *p, const char *text, int length, int at, int *node);
/* The words, k from 0 on; NULL at the end. */
const char *pw_parse_token_word(int k);
bool pw_parse_token_calls(int k); /* is it written with brackets? */
/* Does the position read tokens or chance? */
bool pw_parse_is_by_data(const struct pw_expr *x);
/* Call after the last statement: checks that no other stage reads tokens or, if the position does, indices.
 */
void pw_parse_check_data(struct pw_parser *p);

/* ---- parse_terms.c: each returns a node, 0 after an error */
int pw_parse_expression(struct pw_parser *p);
int pw_parse_node(struct pw_parser *p, struct pw_node node);
int pw_parse_number(struct pw_parser *p, double value);
int pw_parse_variable(struct pw_parser *p, enum pw_expr_var v);
int pw_parse_call(struct pw_parser *p, const char *name, int a, int b, int c); /* -1: no argument */

/* ---- parse_calls.c: each reads the brackets behind a name at offset `at`, and returns the node */
int pw_parse_function(struct pw_parser *p, int f, int at);
int pw_parse_entry(struct pw_parser *p, int param, int at);
int pw_parse_slopes(struct pw_parser *p);
int pw_parse_list(struct pw_parser *p);
int pw_parse_sum(struct pw_parser *p);
int pw_parse_network(struct pw_parser *p);
/* Reads the indices behind the name of an array, [a, b, ...]. */
int pw_parse_numbers(struct pw_parser *p, const char *name, int length, int at);
/* Reads a whole number that is written as such, for a size. */
int pw_parse_whole(struct pw_parser *p, const char *of, int lo, int hi);
/* Adds a learned number; NULL after an error. */
struct pw_expr_param *pw_parse_param(struct pw_parser *p, const char *name, int length, int at);

#endif
