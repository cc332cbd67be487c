/* expr_int.h - internals of src/model/expr: tokens, nodes of a parsed formula, and the table of functions. */
#ifndef PW_EXPR_INT_H
#define PW_EXPR_INT_H
#include "kernels/backend.h"
#include "model/config.h"
#include "model/expr/expr.h"
#include "model/expr/numbers.h"

/* The axis along which a learned parameter has entries, besides layers. */
enum pw_axis { PW_AXIS_NONE, PW_AXIS_HEAD, PW_AXIS_CHANNEL, PW_AXIS_PAIR, PW_AXIS_MIX, PW_AXES };
extern const char *const pw_axis_names[PW_AXES + 1]; /* as after "per"; NULL-terminated */
extern const char *const pw_axis_letters[PW_AXES];   /* the variable that counts along it */
/* Returns the number of entries along the axis in a model; 1 without an axis. expr.c */
int pw_axis_size(const struct pw_expr *x, enum pw_axis axis, const struct pw_config *cfg);

/* A learned parameter, in the order of declaration. */
struct pw_expr_param {
    char name[32];
    enum pw_axis axis;
    bool per_layer;
    int size;     /* entries of a table; 1: a number */
    double value; /* initial value; of a drawn one the standard deviation */
    bool drawn;   /* initial values are normal with standard deviation `value` */
    bool weight;  /* a weight matrix of mlp: AdamW decays it */
};

/* An option, in the order of declaration. */
struct pw_expr_option {
    char name[32], help[96];
    double value, def, lo, hi;
    bool whole;      /* takes whole numbers only */
    int at, def_end; /* of the text of its default in the formula */
};

/* ---- lex.c */
enum pw_tok { PW_TOK_END, PW_TOK_NUMBER, PW_TOK_NAME, PW_TOK_SIGN, PW_TOK_BREAK /* ";" or newlines */ };
struct pw_token {
    enum pw_tok kind;
    int at, length; /* offset and bytes in the text */
    double value;   /* NUMBER */
};
/* Reads the token at offset `at`, after blanks and comments (# to the end of the line). Fails at a character
 * that begins no token; the token then has its place. */
enum pw_code pw_expr_lex(const char *text, int at, struct pw_token *out, struct pw_err *err);

/* ---- nodes. Node k reads nodes below k only. */
enum pw_node_op {
    PW_NODE_NUMBER,  /* value */
    PW_NODE_VAR,     /* variable `index`; value 1: I or J that was written as position(i) or position(j) */
    PW_NODE_BOUND,   /* the counter of sum `index` */
    PW_NODE_PARAM,   /* parameter `index` */
    PW_NODE_ENTRY,   /* entry arg[0], rounded, of parameter `index` */
    PW_NODE_BETWEEN, /* parameter `index` interpolated at arg[0] */
    PW_NODE_CALL,    /* function `index` of arg[] */
    PW_NODE_SELECT,  /* arg[0] != 0 ? arg[1] : arg[2] */
    PW_NODE_SUM,     /* sum `index`: arg[2] for counters arg[0]..arg[1] */
    PW_NODE_DATA,    /* number arg[0], counted through the whole array, of array `index` */
    PW_NODE_NETWORK, /* mlp of arg[0]; its parameters are index..index+3 */
    PW_NODE_SAMPLE,  /* draw `index`: sample(arg[0], arg[1], arg[2]) */
};
struct pw_node {
    enum pw_node_op op;
    int index, arg[3]; /* arg: -1 if unused */
    unsigned counters; /* bit k: it depends on the counter of sum k */
    uint64_t vars;     /* bit v: it depends on variable v */
    double value;
};

enum { PW_NETWORK_PARAMS = 4 }; /* of mlp: weights and biases [hidden], weights [hidden] and bias of a head */
enum { PW_EXPR_SUMS = 16, PW_SUM_MOST = 65536 /* most terms of an evaluation; with more it is NaN */ };

/* A word of the formula's text: the name of an expression, or of the counter of a sum. */
struct pw_expr_name {
    int at, length; /* offset and bytes in the text */
    int node;       /* the expression; unused for a counter */
};

/* A parsed formula. It owns its text and its nodes. */
struct pw_expr {
    char *text;
    int n, cap, n_params, n_sums, n_options, n_names, n_numbers;
    struct pw_node *node; /* [n], room for cap */
    struct pw_expr_name name[PW_EXPR_NAMES],
        counter[PW_EXPR_SUMS]; /* for printing; nothing depends on them */
    struct pw_expr_param param[PW_EXPR_PARAMS];
    struct pw_expr_option option[PW_EXPR_OPTIONS];
    const struct pw_numbers *numbers[PW_PE_NUMBERS]; /* arrays that it reads */
    int root[PW_STAGES];                             /* -1: the formula has no such stage */
    /* The columns that a rotation pairs: p and p + pairs (half), or 2p and 2p + 1. 0: not said; half. */
    enum { PW_FORMULA_HALF = 1, PW_FORMULA_INTERLEAVED } pairing;
    int rotary_dim;         /* columns of a head that rotate, from the first on; 0: not said; all */
    int mixes;              /* functions of the stage mix; 0: not said */
    enum pw_scan_kind scan; /* how heads read their keys; NONE: a softmax */
    int scan_rows;          /* CONTEXT: its positions, 0..scan_rows-1 */
    bool by_data;           /* the position reads tokens or chance */
    int n_draws;
    bool normal[PW_EXPR_DRAWS]; /* the draw is standard normal */
};

bool pw_node_same(const struct pw_node *a, const struct pw_node *b);
/* Returns the number of an equal node, a folded constant, or a new node; -1 if there are too many. */
int pw_expr_node(struct pw_expr *x, struct pw_node node);
/* Is `loop` the innermost sum whose counter the node depends on? loop -1: does it depend on none? */
bool pw_node_in(const struct pw_node *node, int loop);

/* Returns the axis that the entries of a stage's table have besides positions. expr.c */
enum pw_axis pw_stage_axis(enum pw_stage stage);
/* Does the node itself read a learned parameter? expr.c */
bool pw_node_learns(const struct pw_node *node);
/* Sets read [n_params] for the parameters that the stage reads. */
void pw_expr_mark_params(const struct pw_expr *x, enum pw_stage stage, bool *read);

/* ---- expr.c: sets needed [PW_EXPR_NODES] for the nodes that node `root` reads, directly or not, and for
 * itself */
void pw_expr_mark(const struct pw_expr *x, int root, bool *needed);
/* Writes the number with 15 digits, or with 17 if it needs them. */
void pw_expr_number(double value, char *out, size_t size);

/* ---- score.c: lists in node [PW_EXPR_NODES] the learned numbers of the stage score: its largest parts that
 * read learned parameters and nothing of a pair. Returns how many; 0: the stage learns nothing. */
int pw_expr_numbers(const struct pw_expr *x, int *node);

/* ---- ranges.c */
struct pw_bounds {
    double lo, hi; /* NaN: no bounds are known */
};
/* Is it certain that the stage's value is finite and of a magnitude up to `most`, for all inputs within
 * vars [PW_VARS] and parameters up to their initial values? x must have the stage. */
bool pw_expr_within(const struct pw_expr *x, enum pw_stage stage, const struct pw_bounds *vars, double most);

/* ---- functions.c: operators and named functions of numbers */
struct pw_function {
    const char *name;
    int args;
    bool smooth; /* false: all derivatives are 0 */
};
extern const struct pw_function pw_functions[]; /* by enum pw_expr_function; ends with name NULL */
/* a: [3] arguments. slopes: writes the derivatives [3] with respect to them; y: the value. */
double pw_function_value(int f, const double *a);
void pw_function_slopes(int f, const double *a, double y, double *out);
int pw_function_find(const char *name, int length); /* -1: there is none */
/* Operators and other constructs that are not written as calls have names that no call can contain: "<=",
 * "-x", "slopes()[h]". */

#endif
