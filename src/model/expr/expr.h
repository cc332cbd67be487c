/* expr.h - formulas of positional encodings: parsed into a register program, evaluated in double precision,
 * and differentiated with respect to their learned parameters.
 *
 *   formula   = statement { (";" | newline) statement }
 *   statement = stage "=" expression              what the encoding does: bias = -m * d
 *             | name "=" "learn" "(" init ["," size] ")" ["per" scope {"," scope}]
 *             | name "=" expression               a name for an expression: m = slopes()[h]
 *             | name "=" "option" "(" default "," low ".." high ")"
 *             | "pairing" "=" ("half" | "interleaved")
 *             | "rotary_dim" "=" number             the columns of a head that rotate
 *             | "mixes" "=" number                  the functions that stage mix has
 *             | "scan" "=" ("stick" | "context" "(" number ")")
 *   init      = expression of numbers | "normal" "(" deviation ")"
 *   scope     = "head" | "channel" | "pair" | "mix" | "layer"
 *
 * A learned parameter has one value, or one for each head (bias, scale and score can read it), channel
 * (embed), pair (angle and gain) or function of a mix (mix), and perhaps for each layer.
 *
 * A rotation pairs the columns p and p + D/2 of a head; with pairing = interleaved, 2p and 2p + 1. With
 * rotary_dim = N the first N columns rotate, in pairs p and p + N/2, and the others stay.
 *
 * An option is a constant that the user of the formula can set: a = option(1, 0.01..100). Its numbers are
 * constants. If all three are written as whole numbers, the option takes whole numbers only. A comment behind
 * it on its line is its help.
 *
 * Expressions have the operators of C, ** for powers, and `condition ? a : b`. A comparison is 1 or 0. A
 * learned table T of `size` entries is read as T[n], n rounded to a whole number, or T(x), interpolated
 * between entries; both clamp to the first and the last entry. So does list(A, B, ...)[n], whose entries are
 * expressions, and data_HASH[a, b, ...], the number at these indices of an array from a file (numbers.h).
 * sum(k=A..B, e) adds e for whole numbers k; an evaluation with more than 65,536 terms is NaN. mlp(x,
 * hidden=K) is a small learned network, 1 -> K -> 1 with a ReLU, whose first layer all heads share.
 *
 * In `angle` and `gain` n is the length of the whole sequence, elsewhere that up to the query. So a longer
 * sequence rotates all of its queries and keys by other angles, as dynamic NTK does; in decoding n is the
 * number of tokens so far.
 *
 * `mask` reads no learned parameters, because it has no gradient. `score` reads at most 16 learned numbers:
 * the largest parts of its expression that read parameters, but neither s, i, j nor d. Each head of each
 * layer computes them once. So a score can have a table T[h] and a network mlp(l), but not T[d]; a bias has
 * that.
 *
 * `gate` reads the token. g is a number of each token, layer and head: w . x + b of the layer's normed input
 * x, with learned w and b. A score gets the sum of the gates of all tokens after the key, up to the query. So
 * gate = log(sigmoid(g)) is the forgetting attention of fox. It has no positions, and no learned parameters
 * but w and b. It needs the causal mask, and no `score` beside it.
 *
 * `mix` is a bank of functions of the distance, m = 0..mixes-1, that all heads share. Each token, layer and
 * head has as many weights r = W x of the layer's normed input x, with a learned W. A score gets the sum over
 * m of r_m of the query's token times mix at d, for d from 0 on; `scale` multiplies it, too. So mix = P[d],
 * with a learned table P for each m and layer, is the bias of inkling. If the stage is `d < K ? e : 0` with a
 * number K, the bank has K distances, otherwise as many as the context. Beside it are no `gate` and
 * no learned `scale`.
 *
 * `scan` chooses how a head reads its keys. `stick` has stick-breaking weights in place of the softmax
 * (Tan et al. 2024): from the query back, each key takes the share sigmoid(s) of what later keys leave, with
 * s its finished score. context(n) counts keys (Golovneva et al. 2024): the position of a key is the sum of
 * sigmoid(s) from it to the query, at most n - 1, and the query times a learned table at this position is
 * added to s. Both need the causal mask. Beside them can be embed, scale and position, and beside `stick` a
 * rotation.
 *
 * The stage `position` can read the tokens of the sequence, and chance:
 *
 *   token(i)        class of token i, one of the numbers word, digit, separator, symbol and last
 *   run(i)          number of the run of consecutive digits, from 1 on; 0 if token i is no digit
 *   index(i)        place of the digit in its run, from 1 on; 0 if token i is no digit
 *   length(i)       digits of its run in the prompt; 0 in the answer, whose runs may go on
 *   prompt          tokens of the prompt, up to the first of class last, else of the sequence
 *   training        1 in an optimiser step, otherwise 0
 *   uniform(A, B)   a random number from A up to B
 *   normal(M, S)    a random number of mean M and standard deviation S
 *   sample(k, n, m) number k, from 0 on, of n different whole numbers below m in ascending order
 *
 * A symbol is a letter that tasks use; the token of class last ends every prompt. The arguments of sample are
 * rounded; from k = n on it is m - 1.
 *
 * A use of the last three is drawn once for a sequence. In an optimiser step the draw depends on the seed of
 * the batches and on the number of the sample. Everywhere else it is the same for all sequences, so that an
 * evaluation, a decoded prompt and an inspection have the same positions. The position of a token depends on
 * the prompt, on the tokens before it and on itself: a token that is appended to an answer changes none.
 *
 * Such a position is rounded and clamped to 0..context-1. It is the row of every table, so the other stages
 * read position(i), position(j) and d, where d can be negative under the causal mask; they read no i, j or n.
 * A formula can use these words as names of its own.
 *
 * Equal subexpressions are one node of the program, and an operation on constants is a constant. The bits
 * of a result depend on the formula and its inputs alone, on no machine (base/maths.h).
 *
 * A formula is constant after parsing: any thread may use it. It owns its memory. */
#ifndef PW_EXPR_H
#define PW_EXPR_H
#include "base/err.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    PW_EXPR_TEXT = 4000,    /* most bytes of a formula */
    PW_EXPR_DEPTH = 64,     /* most nested brackets and operators */
    PW_EXPR_NODES = 2048,   /* most registers */
    PW_EXPR_NAMES = 64,     /* most names of a formula */
    PW_EXPR_PARAMS = 24,    /* most learned parameters */
    PW_EXPR_TABLE = 4096,   /* most entries of a learned table */
    PW_EXPR_LIST = 256,     /* most entries of a list */
    PW_EXPR_OPTIONS = 7,    /* most options */
    PW_EXPR_DRAWS = 4,      /* most uses of uniform, normal and sample */
    PW_EXPR_MIXES = 64,     /* most functions of a mix */
    PW_EXPR_DIMS = 1024,    /* most columns of a partial rotation */
    PW_EXPR_COUNTED = 1024, /* most contextual positions */
};

/* The parts of attention that a formula can define. */
enum pw_stage {
    PW_STAGE_POSITION, /* the position of a token, instead of its index */
    PW_STAGE_EMBED,    /* the value added to channel c of an embedding */
    PW_STAGE_ANGLE,    /* the angle by which pair p of a query and a key is rotated, in radians */
    PW_STAGE_GAIN,     /* a factor on rotated queries and keys */
    PW_STAGE_BIAS,     /* added to a score */
    PW_STAGE_SCALE,    /* a factor on the scores of a query */
    PW_STAGE_SCORE,    /* the score that replaces the finished score s */
    PW_STAGE_MASK,     /* which causal pairs attend: not 0 */
    PW_STAGE_GATE,     /* of a token; a score gets the sum of those after the key, up to the query */
    PW_STAGE_MIX,      /* function m of the distance; a score gets their sum, weighted by the query's token */
    PW_STAGES
};
extern const char *const pw_stage_names[PW_STAGES + 1]; /* NULL-terminated */

/* Inputs of a formula. */
enum pw_expr_var {
    PW_VAR_I,        /* i: index of the query, from 0 */
    PW_VAR_J,        /* j: index of the key, from 0 */
    PW_VAR_DISTANCE, /* d: position(i) - position(j) */
    PW_VAR_N,        /* n: length of the sequence so far */
    PW_VAR_TRAINED,  /* L: longest trained length */
    PW_VAR_CONTEXT,  /* context: positions of the model */
    PW_VAR_HEAD,     /* h: head, from 0 */
    PW_VAR_HEADS,    /* H */
    PW_VAR_LAYER,    /* l: layer, from 0 */
    PW_VAR_LAYERS,   /* layers */
    PW_VAR_PAIR,     /* p: pair of rotated columns, from 0 */
    PW_VAR_PAIRS,    /* pairs */
    PW_VAR_CHANNEL,  /* c: column of the embedding, from 0 */
    PW_VAR_CHANNELS, /* C */
    PW_VAR_WIDTH,    /* D: width of a head */
    PW_VAR_SCORE,    /* s: the finished score; in `score` only */
    PW_VAR_KEY,      /* key: 1 where a key is rotated, 0 where a query is; in `angle` and `gain` only */
    PW_VAR_GATE,     /* g: a learned projection of the token's layer input; in `gate` only */
    PW_VAR_MIX,      /* m: number of a function of a mix, from 0; in `mix` only */
    /* Of `position` only. They are no names in pw_parse_variables. */
    PW_VAR_TOKEN,    /* token(i): enum pw_class */
    PW_VAR_RUN,      /* run(i) */
    PW_VAR_INDEX,    /* index(i) */
    PW_VAR_LENGTH,   /* length(i) */
    PW_VAR_PROMPT,   /* prompt */
    PW_VAR_TRAINING, /* training */
    PW_VAR_DRAW,     /* the first of PW_EXPR_DRAWS draws: uniform in [0,1), or standard normal */
    PW_VARS = PW_VAR_DRAW + PW_EXPR_DRAWS
};

struct pw_expr;
struct pw_config;

/* Parses text. On failure: PW_EUSER with one line that names the column, and *at is the offset of the error
 * in bytes (at may be NULL). pw_expr_free accepts NULL. */
enum pw_code pw_expr_parse(struct pw_expr **out, const char *text, int *at, struct pw_err *err);
/* The same, with values of the first n options instead of their defaults. Fails if one is out of range. */
enum pw_code pw_expr_parse_with(struct pw_expr **out, const char *text, const double *values, int n, int *at,
                                struct pw_err *err);
void pw_expr_free(struct pw_expr *x);

/* Appends the formula with one space between words, statements separated by "; ". Parsing this text gives an
 * equal program. */
void pw_expr_print(const struct pw_expr *x, struct pw_str *out);
/* The same with the values of the options as their defaults. */
void pw_expr_print_values(const struct pw_expr *x, struct pw_str *out);
/* The same with a statement on each line. The values of the options stand as their defaults, with their help
 * as comments. */
void pw_expr_print_lines(const struct pw_expr *x, struct pw_str *out);
/* Do both have the same stages, parameters, options and nodes? */
bool pw_expr_same(const struct pw_expr *a, const struct pw_expr *b);

/* Calls each with every word of the language, for completion: stages and variables by name, functions with
 * their opening bracket ("log1p("). */
void pw_expr_words(void (*each)(void *arg, const char *word), void *arg);

bool pw_expr_has(const struct pw_expr *x, enum pw_stage stage);
/* Does the stage depend on the variable, directly or through names? */
bool pw_expr_reads(const struct pw_expr *x, enum pw_stage stage, enum pw_expr_var var);
/* Does the stage depend on a learned parameter? */
bool pw_expr_learns(const struct pw_expr *x, enum pw_stage stage);
/* Does the stage depend on positions only by the distance i - j? Also true without such a stage. False also
 * if the analysis (shift.c) cannot decide. */
bool pw_expr_by_distance(const struct pw_expr *x, enum pw_stage stage);
/* Returns the number of functions of the stage mix; 0 without it. */
int pw_expr_mixes(const struct pw_expr *x);
/* Returns the number of pairs of a head that a rotation has in a model. */
int pw_expr_pairs(const struct pw_expr *x, const struct pw_config *cfg);
/* Is the position a function of the tokens, or of chance? Then i and j of the other stages are positions. */
bool pw_expr_by_data(const struct pw_expr *x);
/* The same in words: "positions by tokens", "positions by chance", "positions by tokens and chance"; NULL:
 * neither. */
const char *pw_expr_positions(const struct pw_expr *x);
int pw_expr_n_nodes(const struct pw_expr *x);
/* Fails if a model of this shape can't have the formula because of a variable, a learned parameter or the
 * size of a table. Evaluates nothing, so it does not find values that are not finite. formula_check.c */
enum pw_code pw_expr_fits(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err);

/* Evaluates a stage. vars: [PW_VARS]. param[k] points to the entries of parameter k for this head and layer.
 * regs: [pw_expr_n_nodes] scratch, afterwards the value of every node. */
double pw_expr_eval(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                    const double *const *param, double *regs);
/* The same after an evaluation with the same regs, after which only the variables in `changed` changed: bits
 * 1 << enum pw_expr_var. */
double pw_expr_eval_changed(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                            const double *const *param, double *regs, uint64_t changed);
/* Lists in nodes [pw_expr_n_nodes] what must be evaluated again when only the variables in `changed` change,
 * and returns their number. regs: of an evaluation. A branch that is not chosen is left out, if its condition
 * can't change, so regs is then no start for pw_expr_eval_changed. */
int pw_expr_plan(const struct pw_expr *x, enum pw_stage stage, const double *regs, uint64_t changed,
                 int *nodes);
double pw_expr_follow(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                      const double *const *param, double *regs, const int *nodes, int n);
/* Evaluates a position that reads tokens or chance. sorted(arg, draw, k, n, m) is sample(k, n, m). */
typedef double pw_expr_sorted(void *arg, int draw, double k, double n, double m);
double pw_expr_eval_position(const struct pw_expr *x, const double *vars, double *regs,
                             pw_expr_sorted *sorted, void *arg);
/* After pw_expr_eval with the same arguments: adds grad times the derivative of the stage with respect to
 * every entry of parameter k to d_param[k]. adjoint: [pw_expr_n_nodes] scratch. */
void pw_expr_gradient(const struct pw_expr *x, enum pw_stage stage, const double *vars,
                      const double *const *param, double *regs, double grad, double *const *d_param,
                      double *adjoint);

#endif
