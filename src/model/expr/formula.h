/* formula.h - inside of src/model/expr: the encoding that a formula defines, in some files. encoding.c has
 * the descriptors, formula_tables.c the fixed tables, formula_check.c the checks against a model,
 * formula_ids.c positions that are read from tokens. */
#ifndef PW_FORMULA_H
#define PW_FORMULA_H
#include "model/expr/expr.h"
#include "model/pe.h"

/* A formula and its descriptor. Constant; lives until the process ends. */
struct pw_formula {
    struct pw_pe pe; /* first: a descriptor is cast to its formula */
    struct pw_expr *x;
    struct pw_str text; /* canonical, with the declared defaults of its options */
    char name[PW_PE_NAME];
    struct pw_opt rows[PW_EXPR_OPTIONS + 2]; /* with L, and the end */
    char defaults[PW_EXPR_OPTIONS][32];
    struct pw_formula *next;
};

/* Returns the formula of an encoding's options. */
const struct pw_formula *pw_formula_of(const void *opts);
/* Returns L, the longest trained length. It is set with the encoding; 0: the formula does not read it. */
int pw_formula_trained(const void *opts);

/* The variables of an evaluation, and its scratch. Index r stands for position from + r * step. opts NULL: L
 * is the context. fini frees the scratch. */
struct pw_formula_inputs {
    const struct pw_expr *x;
    double from, step, vars[PW_VARS], *regs; /* regs: of the last value; owned by `last` */
    const double *const *param; /* of stages with learned parameters; call pw_formula_inputs_forget after a
                                   change */
    struct {
        double vars[PW_VARS], *regs; /* of the last value of this stage; regs NULL: there was none */
        bool partial;                /* regs has old values of other positions */
    } last[PW_STAGES];
};
struct pw_formula_inputs pw_formula_inputs_of(const struct pw_expr *x, const void *opts,
                                              const struct pw_config *cfg, double from, double step);
void pw_formula_inputs_fini(struct pw_formula_inputs *in);
void pw_formula_inputs_forget(struct pw_formula_inputs *in);

/* The place of a value: members that the stage does not read are ignored. */
struct pw_formula_at {
    int layer, head, query,
        key;     /* query and key: indices; of a bias by distance, any pair at this distance */
    int part;    /* pair, channel, or function of a mix */
    int length;  /* n, in a rotation; 0: the query is the last token */
    bool of_key; /* of a rotation */
};
/* Returns the value of a stage. Repeats only what depends on variables that changed since the stage's last
 * value. Afterwards in->regs has the values of all nodes of the stage. */
double pw_formula_value(struct pw_formula_inputs *in, enum pw_stage stage, const struct pw_formula_at *at);
/* Is it certain that a stage, which the formula has, is finite at positions first..last of every layer, head
 * and part? false: it is not known. formula_check.c */
bool pw_formula_within(const struct pw_formula_inputs *in, const struct pw_config *cfg, enum pw_stage stage,
                       int first, int last);
/* The number of layers, or heads, whose values of these stages can differ. */
int pw_formula_layers(const struct pw_expr *x, const struct pw_config *cfg, enum pw_stage a, enum pw_stage b);
int pw_formula_heads(const struct pw_expr *x, const struct pw_config *cfg, enum pw_stage a, enum pw_stage b);

/* Returns the tables that a formula needs, and those that have a part for each layer: bits of enum pw_pe_use.
 * encoding.c */
unsigned pw_formula_uses(const struct pw_expr *x);
unsigned pw_formula_by_layer(const struct pw_expr *x);

/* Do the rows of a rotation depend on the length of the sequence? formula_lengths.c */
bool pw_formula_by_length(const struct pw_expr *x);
/* rows_by_length of pe.h. The check must have passed. */
int pw_formula_lengths(const void *opts, const struct pw_config *cfg, int *first);
/* Fails if the rows of all lengths need too much memory, or have a value that no table can hold. */
enum pw_code pw_formula_check_lengths(const void *opts, const struct pw_config *cfg, double from, double step,
                                      struct pw_err *err);
/* Fails if angle or gain has such a value at a position of a sequence of this length. formula_check.c */
enum pw_code pw_formula_check_turns(struct pw_formula_inputs *in, const struct pw_config *cfg, int length,
                                    struct pw_err *err);

/* Fails if the stages score and gate can't be computed in this model: formula_score.c. */
enum pw_code pw_formula_check_functions(const void *opts, const struct pw_config *cfg, double from,
                                        double step, struct pw_err *err);

/* Fails if a stage reads a variable that it has no value of: formula_variables.c. */
enum pw_code pw_formula_check_variables(const struct pw_expr *x, const struct pw_config *cfg,
                                        struct pw_err *err);

/* ---- formula_mix.c: the stage mix */
/* Returns the number of distances that its bank has. */
int pw_formula_mix_end(const struct pw_expr *x, const struct pw_config *cfg);
/* Fails if a formula has such a mix in no model. */
enum pw_code pw_formula_check_mix(const struct pw_expr *x, struct pw_err *err);
/* Fails if its bank is too large in this model, or has a value that is not finite. */
enum pw_code pw_formula_check_bank(struct pw_formula_inputs *in, const void *opts,
                                   const struct pw_config *cfg, struct pw_err *err);

/* ---- formula_scan.c: how heads read their keys */
/* Fails if a formula has such a scan in no model. */
enum pw_code pw_formula_check_scan(const struct pw_expr *x, struct pw_err *err);

/* Sets *use to the formula in text, shown as `name` (NULL: expr). On failure *at is the offset of the error.
 */
enum pw_code pw_formula_read(struct pw_pe_use_opts *use, const char *text, const char *name, int *at,
                             struct pw_err *err);
/* Appends the path of the user's formula files; false: neither XDG_CONFIG_HOME nor HOME is set. library.c */
bool pw_library_user_folder(struct pw_str *path);

/* Fails if positions that read tokens or chance are no whole numbers below the context, on sequences like
 * those of tasks: formula_ids.c. */
enum pw_code pw_formula_check_ids(const void *opts, const struct pw_config *cfg, struct pw_err *err);
/* Has a bias values for keys at later positions too? A causal query sees such a key if positions are read
 * from tokens. */
bool pw_formula_both(const struct pw_expr *x, const struct pw_config *cfg);

/* Members of struct pw_pe (model/pe.h). */
void pw_formula_ids(const void *opts, const struct pw_config *cfg, const struct pw_pe_sequence *s, int n,
                    int *ids);
void pw_formula_score(const void *opts, const struct pw_config *cfg, double from, double step,
                      struct pw_score *out);
void pw_formula_gate(const void *opts, const struct pw_config *cfg, double from, double step,
                     struct pw_score *out);
int pw_formula_mixes(const void *opts);
int pw_formula_scan_rows(const void *opts);
int pw_formula_reach(const void *opts, const struct pw_config *cfg);
void pw_formula_build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t);
enum pw_code pw_formula_check(const void *opts, const struct pw_config *cfg, struct pw_err *err);
enum pw_code pw_formula_check_at(const void *opts, const struct pw_config *cfg, double from, double step,
                                 struct pw_err *err);
int pw_formula_params(const void *opts, const struct pw_config *cfg, struct pw_pe_param *out);
void pw_formula_fill(const struct pw_pe_pass *x, float *table, const float *param);
void pw_formula_fill_bwd(const struct pw_pe_pass *x, float *d_param, float *d_table, const float *param);
enum pw_code pw_formula_code(const void *opts, const struct pw_config *cfg, enum pw_pe_table which,
                             struct pw_expr_code **out, struct pw_err *err);

/* Are keys rotated otherwise than queries? encoding.c */
bool pw_formula_key_turns(const struct pw_expr *x);
/* Returns the uses (enum pw_pe_use) of a formula whose tables the backend computes, because they depend on
 * learned parameters or, of MIXES, always. encoding.c */
unsigned pw_formula_computed(const struct pw_expr *x);
/* A learned table of a model as a formula in which the model's numbers are constants and sums are written
 * out; its stage is bias. A bias includes the mask; by distance, i is d and j is 0. In other tables i is d
 * too, and the channel or pair is h. The caller frees it. Fails if it becomes too long. */
enum pw_code pw_formula_flat(const void *opts, const struct pw_config *cfg, enum pw_pe_table which,
                             struct pw_expr **out, struct pw_err *err);
/* Fails if nothing uses a parameter, or if a learned table has no program. */
enum pw_code pw_formula_check_learned(const void *opts, const struct pw_config *cfg, struct pw_err *err);
/* Returns initial values of all parameters for pw_expr_eval. A drawn one is its standard deviation times
 * draw(arg, parameter, entry), called in order. Sets param [PW_EXPR_PARAMS]. The caller frees the result. */
double *pw_formula_first(const struct pw_expr *x, double (*draw)(void *arg, int param, int entry), void *arg,
                         const double **param);
/* A draw for pw_formula_first: 1 or -1, the int at arg, for all entries. */
double pw_formula_sign(void *arg, int param, int entry);

#endif
