/* print_int.h - internals of the printers of formulas (print_*.c). A printer scans the nodes of a stage,
 * gives each a text from the texts of its operands, and appends the text of the last one. One thread per
 * printer. */
#ifndef PW_PRINT_INT_H
#define PW_PRINT_INT_H
#include "model/expr/parse_int.h"
#include "model/expr/print.h"

/* A node of the stage that is printed, with its text: an expression, or the name of a local variable. */
struct pw_print_node {
    /* needed: the stage depends on it. fixed: it is a number in this model, `value`. */
    bool needed, fixed;
    bool truth; /* the text is a condition (true or false), not a number */
    /* The node that it always equals: the branch in effect of `? :`, or the undecided operand of && and ||;
     * -1: none. */
    int same_as;
    int uses;
    double value;
    struct pw_str text;
    int level; /* precedence of the text's outermost operator; a larger one binds more tightly */
};

/* The printer of a file. It owns node and tables, and borrows the rest. */
struct pw_print {
    const struct pw_expr_source *src;
    const struct pw_expr *x;
    struct pw_print_node *node; /* [x->n] */
    struct pw_str *out;
    const char *precision; /* torch: dtype of the function's numbers */
    int n_locals;          /* torch: variables t1, t2, ... of all functions */
    unsigned helpers;      /* torch: functions that the text calls, enum pw_print_help */
    struct pw_str tables;  /* torch: fixed tables that the text reads, as members of a dictionary */
};

/* Prepares the nodes of a stage. fold: settings of the model are numbers, and only the branches in effect are
 * needed. pw_print_fini frees the nodes. */
void pw_print_scan(struct pw_print *p, enum pw_stage stage, bool fold);
void pw_print_fini(struct pw_print *p);
/* Does a needed node of the stage read the variable? */
bool pw_print_reads(const struct pw_print *p, enum pw_expr_var var);
/* Does a needed node of the stage read the parameter? */
bool pw_print_reads_param(const struct pw_print *p, int param);
/* Returns the node that stands for node k: the branch in effect of a decided `? :`. */
int pw_print_follow(const struct pw_print *p, int k);
/* Is node k a number in this model, and which? */
bool pw_print_fixed(const struct pw_print *p, int k);
double pw_print_value(const struct pw_print *p, int k);
/* Returns the name that the formula gives to node k; NULL: none. */
const struct pw_expr_name *pw_print_name(const struct pw_expr *x, int k);
/* Is this word the name of an expression or a parameter? */
bool pw_print_is_name(const struct pw_expr *x, const char *word, int length);
/* Appends a number that reads back as the same double. */
void pw_print_number(struct pw_str *out, double v);

/* ---- Python: print_torch.c has the functions of stages, print_torch_calls.c operators and calls,
 * print_torch_file.c the file */
enum pw_print_bind { /* precedence of Python's operators */
                     PW_BIND_COMPARISON = 1,
                     PW_BIND_EITHER,
                     PW_BIND_BOTH,
                     PW_BIND_SUM,
                     PW_BIND_PRODUCT,
                     PW_BIND_SIGN,
                     PW_BIND_POWER,
                     PW_BIND_ATOM
};
enum pw_print_help { /* the helpers that a function calls */
                     PW_HELP_MOD = 1,
                     PW_HELP_ENTRY = 2,
                     PW_HELP_BETWEEN = 4,
                     PW_HELP_MLP = 8,
                     PW_HELP_SUM = 16,
                     PW_HELP_RANGE = 32, /* a sum whose ends are tensors, which can't be traced */
                     PW_HELP_SOFTPLUS = 64,
                     PW_HELP_ZERO = 128, /* the variable `zero`: a tensor of the result's shape */
                     PW_HELP_HEAD = 256, /* the variable `head`: h as a number, not as an index */
};
/* Appends node k as an operand: as a condition or as a number (truth), in brackets if its precedence is below
 * `level`. */
void pw_torch_put(struct pw_print *p, struct pw_str *out, int k, bool truth, int level);
/* Appends node k as a tensor, also if it is a number; a sum binds more. */
void pw_torch_tensor(struct pw_print *p, struct pw_str *out, int k);
void pw_torch_number(struct pw_str *out, double v);
/* Appends the index of an entry of a table: a whole number, inside of the table. */
void pw_torch_entry(struct pw_print *p, struct pw_str *out, int k, int size);
/* Writes the text of a number of an array. */
void pw_torch_data(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node);
/* Writes the text of a CALL. */
void pw_torch_call(struct pw_print *p, struct pw_print_node *n, const struct pw_node *node);
/* The head of a Python function. */
struct pw_torch_head {
    const char *arguments, *shape; /* shape: an expression that has the shape of the result */
    bool rows;                     /* the stage is a table by token: its variables are arguments */
};
/* Appends the function formula_STAGE. */
void pw_torch_function(struct pw_print *p, enum pw_stage stage, const struct pw_torch_head *head);

/* print_torch_reads.c: appends use_gates and use_mix, with which a file gets what a layer makes of its input
 * before a pass. */
void pw_torch_uses(const struct pw_print *p, struct pw_str *out);
/* Appends the function `attention`: a scan reads all scores of a query, so it replaces all of attention. */
void pw_torch_attention(const struct pw_print *p, struct pw_str *out);

/* ---- LaTeX: print_latex.c has the nodes, print_latex_file.c the equations */
extern const char *const pw_latex_variables[PW_VARS];
/* The symbol of a VAR node. */
const char *pw_latex_variable(const struct pw_node *node);
/* Appends a word of the formula as a symbol. */
void pw_latex_symbol(struct pw_str *out, const char *word, int length);
/* Writes the text of a node whose operands have theirs. */
void pw_latex_node(const struct pw_print *p, int k);
/* Appends the number that a DATA node reads, with the indices of the formula. print_latex_data.c */
void pw_latex_data(const struct pw_print *p, struct pw_str *out, const struct pw_node *node);
/* Appends node k as a number, or as a condition. */
void pw_latex_put(const struct pw_print *p, struct pw_str *out, int k, bool truth);

#endif
