/* encoding.c - an encoding that a formula defines: `pe expr 'm = slopes()[h]; bias = -m * d'`.
 *
 * Every formula has a descriptor of its own, because its class decides which tables it uses, and so has every
 * set of values of its options. Descriptors are kept until the process ends and are shared by equal texts, so
 * struct pw_pe_use_opts stays a plain value that can be copied and compared. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"
#include "model/expr/library.h"

/* The options of the encoding: the formula, and the values that the table of options sets. */
struct options {
    const struct pw_formula *formula;
    union {
        double real;
        int whole;
    } value[PW_EXPR_OPTIONS];
    int trained; /* L; 0: not given yet, or not read */
};
_Static_assert(sizeof(struct options) <= PW_PE_OPTS_MAX, "a formula's options don't fit");

static struct pw_formula *kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

const struct pw_formula *pw_formula_of(const void *opts)
{
    return ((const struct options *)opts)->formula;
}

int pw_formula_trained(const void *opts)
{
    return ((const struct options *)opts)->trained;
}

static int pairs(const void *opts, const struct pw_config *cfg)
{
    return pw_expr_pairs(pw_formula_of(opts)->x, cfg);
}

static enum pw_pairing pairing(const void *opts)
{
    bool interleaved = pw_formula_of(opts)->x->pairing == PW_FORMULA_INTERLEAVED;
    return interleaved ? PW_PAIRING_INTERLEAVED : PW_PAIRING_HALF;
}

static void print(const void *opts, struct pw_str *out)
{
    pw_str_add(out, "%s", pw_formula_of(opts)->text.s);
}

static bool by_layer(const struct pw_expr *x, enum pw_stage a, enum pw_stage b)
{
    bool read[PW_EXPR_PARAMS] = {0}, learns = false;
    pw_expr_mark_params(x, a, read);
    pw_expr_mark_params(x, b, read);
    for (int k = 0; k < x->n_params; k++)
        learns = learns || (read[k] && x->param[k].per_layer);
    return learns || pw_expr_reads(x, a, PW_VAR_LAYER) || pw_expr_reads(x, b, PW_VAR_LAYER);
}

unsigned pw_formula_uses(const struct pw_expr *x)
{
    bool biases = pw_expr_has(x, PW_STAGE_BIAS) || pw_expr_has(x, PW_STAGE_MASK);
    bool dense = !pw_expr_by_distance(x, PW_STAGE_BIAS) || !pw_expr_by_distance(x, PW_STAGE_MASK);
    bool turns = pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN);
    return (biases ? dense ? PW_PE_DENSE : PW_PE_BIAS : 0u) | (turns ? PW_PE_ROTATION : 0u) |
           (pw_expr_has(x, PW_STAGE_EMBED) ? PW_PE_ADDED : 0u) |
           (pw_expr_has(x, PW_STAGE_SCALE) ? PW_PE_GAIN : 0u) |
           (pw_expr_has(x, PW_STAGE_SCORE) ? PW_PE_SCORE : 0u) |
           (pw_expr_has(x, PW_STAGE_GATE) ? PW_PE_TERMS : 0u) |
           (pw_expr_has(x, PW_STAGE_MIX) ? PW_PE_MIXES : 0u) | (x->scan != 0 ? PW_PE_SCAN : 0u);
}

unsigned pw_formula_by_layer(const struct pw_expr *x)
{
    return (by_layer(x, PW_STAGE_BIAS, PW_STAGE_MASK) ? PW_PE_BIASES : 0u) |
           (by_layer(x, PW_STAGE_ANGLE, PW_STAGE_GAIN) ? PW_PE_ROTATION : 0u) |
           (by_layer(x, PW_STAGE_SCALE, PW_STAGE_SCALE) ? PW_PE_GAIN : 0u) |
           (by_layer(x, PW_STAGE_MIX, PW_STAGE_MIX) ? PW_PE_MIXES : 0u) |
           (pw_expr_learns(x, PW_STAGE_SCORE) && by_layer(x, PW_STAGE_SCORE, PW_STAGE_SCORE) ? PW_PE_SCORE
                                                                                             : 0u);
}

unsigned pw_formula_computed(const struct pw_expr *x)
{
    bool turns = pw_expr_learns(x, PW_STAGE_ANGLE) || pw_expr_learns(x, PW_STAGE_GAIN);
    return pw_formula_uses(x) &
           ((pw_expr_learns(x, PW_STAGE_BIAS) ? PW_PE_BIASES : 0u) | (turns ? PW_PE_ROTATION : 0u) |
            (pw_expr_learns(x, PW_STAGE_EMBED) ? PW_PE_ADDED : 0u) |
            (pw_expr_learns(x, PW_STAGE_SCALE) ? PW_PE_GAIN : 0u) |
            (pw_expr_learns(x, PW_STAGE_SCORE) ? PW_PE_SCORE : 0u) | PW_PE_MIXES);
}

bool pw_formula_key_turns(const struct pw_expr *x)
{
    return pw_expr_reads(x, PW_STAGE_ANGLE, PW_VAR_KEY) || pw_expr_reads(x, PW_STAGE_GAIN, PW_VAR_KEY);
}

/* ---- options */

static bool reads(const struct pw_expr *x, enum pw_expr_var var)
{
    bool any = false;
    for (int s = 0; s < PW_STAGES; s++)
        any = any || pw_expr_reads(x, (enum pw_stage)s, var);
    return any;
}

/* L keeps the value that it has when the encoding is set, so that a later change of the training lengths
 * changes no trained model. */
static void set_trained(void *opts, const struct pw_config *cfg)
{
    struct options *o = opts;
    if (o->trained == 0 && reads(o->formula->x, PW_VAR_TRAINED))
        o->trained = cfg->trained > 0 ? cfg->trained : cfg->context;
}

/* Builds the rows for the declared options of a formula, and for L if it is read. */
static void make_rows(struct pw_formula *f)
{
    for (int k = 0; k < f->x->n_options; k++) {
        const struct pw_expr_option *o = &f->x->option[k];
        struct pw_opt *row = &f->rows[k];
        pw_expr_number(o->def, f->defaults[k], sizeof f->defaults[k]);
        *row = (struct pw_opt){.name = o->name,
                               .type = o->whole ? PW_OPT_INT : PW_OPT_DOUBLE,
                               .offset = offsetof(struct options, value) + sizeof(double) * (size_t)k,
                               .def = f->defaults[k],
                               .min = o->lo,
                               .max = o->hi,
                               .help = o->help[0] != '\0' ? o->help : "a constant of the formula"};
    }
    if (reads(f->x, PW_VAR_TRAINED))
        f->rows[f->x->n_options] =
            (struct pw_opt){.name = "L",
                            .type = PW_OPT_INT,
                            .offset = offsetof(struct options, trained),
                            .min = 1,
                            .max = 1 << 20,
                            .help = "trained length; default: that of the task when the encoding is set"};
}

static bool has_values(const struct pw_expr *x, const double *values)
{
    for (int k = 0; k < x->n_options; k++)
        if (x->option[k].value != values[k])
            return false;
    return true;
}

static void read_values(const struct pw_expr *x, const struct options *o, double *values)
{
    for (int k = 0; k < x->n_options; k++)
        values[k] = x->option[k].whole ? o->value[k].whole : o->value[k].real;
}

static void write_values(const struct pw_expr *x, struct options *o)
{
    for (int k = 0; k < x->n_options; k++)
        if (x->option[k].whole)
            o->value[k].whole = (int)x->option[k].value;
        else
            o->value[k].real = x->option[k].value;
}

/* ---- descriptors */

static struct pw_formula *make_formula(struct pw_expr *x, const char *text, const char *name)
{
    struct pw_formula *f = pw_alloc(1, sizeof *f);
    bool adds = pw_expr_has(x, PW_STAGE_EMBED), computes = pw_formula_computed(x) != 0,
         gates = pw_expr_has(x, PW_STAGE_GATE), mixes = pw_expr_has(x, PW_STAGE_MIX);
    int number[PW_EXPR_NODES];
    f->x = x;
    pw_str_add(&f->text, "%s", text);
    snprintf(f->name, sizeof f->name, "%s", name != NULL ? name : "expr");
    make_rows(f);
    struct pw_pe pe = {.name = f->name,
                       .summary = "a formula that the user typed",
                       .opts = f->rows[0].name != NULL ? f->rows : NULL,
                       .opts_size = sizeof(struct options),
                       .uses = pw_formula_uses(x),
                       .by_layer = pw_formula_by_layer(x),
                       .head_gains =
                           pw_expr_reads(x, PW_STAGE_SCALE, PW_VAR_HEAD) || pw_expr_learns(x, PW_STAGE_SCALE),
                       .key_turns = pw_formula_key_turns(x),
                       .by = {adds ? PW_PE_BY_POSITION : PW_PE_NO_TABLE},
                       .pairs = pairs,
                       .pairing = pairing,
                       .resolve = set_trained,
                       .check = pw_formula_check,
                       .check_at = pw_formula_check_at,
                       .build = pw_formula_build,
                       .score = pw_formula_score,
                       .numbers = pw_expr_numbers(x, number),
                       .gate = pw_formula_gate,
                       .mixes = mixes ? pw_formula_mixes : NULL,
                       .reach = mixes ? pw_formula_reach : NULL,
                       .scan = x->scan,
                       .scan_rows = pw_formula_scan_rows,
                       .needs_mask = gates || x->scan != 0,
                       .computed = pw_formula_computed(x),
                       .ids = pw_expr_by_data(x) ? pw_formula_ids : NULL,
                       .rows_by_length = pw_formula_by_length(x) ? pw_formula_lengths : NULL,
                       .params = computes || gates || x->scan == PW_SCAN_CONTEXT ? pw_formula_params : NULL,
                       .fill = computes ? pw_formula_fill : NULL,
                       .fill_bwd = computes ? pw_formula_fill_bwd : NULL,
                       .code = computes ? pw_formula_code : NULL,
                       .print = print};
    memcpy(&f->pe, &pe, sizeof pe); /* its members are constant */
    return f;
}

/* Returns the one descriptor of a formula, name and values. text: x printed. Takes ownership of x. */
static const struct pw_formula *keep(struct pw_expr *x, const char *text, const char *name)
{
    double values[PW_EXPR_OPTIONS];
    struct pw_formula *f;
    for (int k = 0; k < x->n_options; k++)
        values[k] = x->option[k].value;
    pthread_mutex_lock(&kept_lock);
    for (f = kept; f != NULL; f = f->next)
        if (strcmp(f->text.s, text) == 0 && strcmp(f->name, name != NULL ? name : "expr") == 0 &&
            has_values(f->x, values))
            break;
    if (f == NULL) {
        f = make_formula(x, text, name);
        f->next = kept;
        kept = f;
        x = NULL;
    }
    pthread_mutex_unlock(&kept_lock);
    pw_expr_free(x);
    return f;
}

static void use_formula(struct pw_pe_use_opts *use, const struct pw_formula *f)
{
    struct options o;
    memset(&o, 0, sizeof o); /* clears padding too: options are compared by their bytes */
    o.formula = f;
    write_values(f->x, &o);
    use->pe = &f->pe;
    memset(use->o.bytes, 0, sizeof use->o.bytes);
    memcpy(use->o.bytes, &o, sizeof o);
}

enum pw_code pw_formula_read(struct pw_pe_use_opts *use, const char *text, const char *name, int *at,
                             struct pw_err *err)
{
    struct pw_expr *x;
    struct pw_str printed = {0};
    enum pw_code code = pw_expr_parse(&x, text, at, err);
    if (code != PW_OK)
        return code;
    pw_expr_print(x, &printed);
    if (printed.len > PW_EXPR_TEXT) { /* it must be read again from an arm's text */
        code = pw_fail(err, PW_EUSER, "a formula of %zu characters: at most %d", printed.len, PW_EXPR_TEXT);
        pw_expr_free(x);
    } else {
        use_formula(use, keep(x, printed.s, name));
    }
    pw_str_fini(&printed);
    return code;
}

enum pw_code pw_pe_formula(struct pw_pe_use_opts *use, const char *text, struct pw_err *err)
{
    int at;
    enum pw_code code = pw_formula_read(use, text, NULL, &at, err);
    if (code != PW_OK)
        pw_err_at(err, "expr");
    return code;
}

/* Parses the formula of *use again, with these values. */
static enum pw_code choose_formula(struct pw_pe_use_opts *use, const double *values, const char *name,
                                   struct pw_err *err)
{
    const struct pw_formula *f = pw_formula_of(use->o.bytes);
    int trained = pw_formula_trained(use->o.bytes);
    struct pw_expr *x;
    enum pw_code code = pw_expr_parse_with(&x, f->x->text, values, f->x->n_options, NULL, err);
    if (code != PW_OK) {
        pw_err_at(err, f->name);
        return code;
    }
    struct pw_str text = {0};
    pw_expr_print(x, &text);
    use_formula(use, keep(x, text.s, name));
    pw_str_fini(&text);
    ((struct options *)(void *)use->o.bytes)->trained = trained;
    return PW_OK;
}

enum pw_code pw_pe_formula_name(struct pw_pe_use_opts *use, const char *name, struct pw_err *err)
{
    double values[PW_EXPR_OPTIONS];
    if (!pw_library_may_name(name))
        return pw_fail(err, PW_EUSER, "as=%.40s: " PW_LIBRARY_NAMES, name);
    if (pw_library_is_taken(name))
        return pw_fail(err, PW_EUSER, "as=%.40s: this name has another meaning", name);
    read_values(pw_formula_of(use->o.bytes)->x, (const struct options *)(const void *)use->o.bytes, values);
    return choose_formula(use, values, name, err);
}

enum pw_code pw_pe_formula_settle(struct pw_pe_use_opts *use, struct pw_err *err)
{
    double values[PW_EXPR_OPTIONS];
    if (use->pe->print == NULL)
        return PW_OK;
    const struct pw_formula *f = pw_formula_of(use->o.bytes);
    read_values(f->x, (const struct options *)(const void *)use->o.bytes, values);
    if (has_values(f->x, values))
        return PW_OK;
    return choose_formula(use, values, strcmp(f->name, "expr") == 0 ? NULL : f->name, err);
}

int pw_pe_trained(const struct pw_pe_use_opts *use)
{
    return use->pe->print != NULL ? pw_formula_trained(use->o.bytes) : 0;
}

bool pw_pe_alike(const struct pw_pe *a, const struct pw_pe *b)
{
    if (a->print == NULL || b->print == NULL)
        return a == b;
    return strcmp(((const struct pw_formula *)(const void *)a)->text.s,
                  ((const struct pw_formula *)(const void *)b)->text.s) == 0;
}
