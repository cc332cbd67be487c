/* encoding.c - an encoding that a formula defines: `pe expr 'm = slopes()[h]; bias = -m * d'`.
 *
 * The formula's fixed parts fill the same tables as those of built-in encodings, on the host in double
 * precision: `bias` by distance, `embed`, and `angle` with `gain`. Whatever it can't compute is refused
 * before anything changes: learned parameters, a bias that depends on more than the distance, and the stages
 * scale, score and mask.
 *
 * Every formula has a descriptor of its own, because its class decides which tables it uses. Descriptors are
 * kept until the process ends and are shared by equal texts, so struct pw_pe_use_opts stays a plain value
 * that can be copied and compared. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/maths.h"
#include "model/expr/expr.h"
#include "model/pe.h"

enum { MOST_TEXT = 200 }; /* it must fit into the line that names an arm's encoding */

struct formula {
    struct pw_pe pe;
    struct pw_expr *x;
    struct pw_str text;
    struct formula *next;
};

struct options {
    const struct formula *formula;
};

static struct formula *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct formula *formula_of(const void *opts)
{
    return ((const struct options *)opts)->formula;
}

/* ---- tables */

struct inputs {
    double vars[PW_VARS], *regs;
};

static struct inputs inputs_of(const struct pw_config *cfg, const struct pw_expr *x)
{
    struct inputs in = {.vars = {[PW_VAR_CONTEXT] = cfg->context,
                                 [PW_VAR_HEADS] = cfg->heads,
                                 [PW_VAR_LAYERS] = cfg->layers,
                                 [PW_VAR_PAIRS] = cfg->head_width / 2,
                                 [PW_VAR_CHANNELS] = cfg->width,
                                 [PW_VAR_WIDTH] = cfg->head_width}};
    in.regs = pw_alloc((size_t)pw_expr_n_nodes(x), sizeof *in.regs);
    return in;
}

static double value_of(const struct pw_expr *x, enum pw_stage stage, struct inputs *in)
{
    return pw_expr_eval(x, stage, in->vars, NULL, in->regs);
}

static void fill_bias(const struct pw_expr *x, const struct pw_config *cfg, struct pw_pe_tables *t,
                      struct inputs *in)
{
    for (int h = 0; h < cfg->heads; h++) {
        float *origin = t->bias + (size_t)h * (2 * t->P - 1) + t->P - 1;
        in->vars[PW_VAR_HEAD] = h;
        for (int r = cfg->causal ? 0 : -(t->P - 1); r < t->P; r++) {
            in->vars[PW_VAR_DISTANCE] = r * t->step;
            origin[r] = (float)value_of(x, PW_STAGE_BIAS, in);
        }
    }
}

static void fill_rows(const struct pw_expr *x, const struct pw_config *cfg, struct pw_pe_tables *t,
                      struct inputs *in)
{
    int pairs = cfg->head_width / 2, C = cfg->width;
    for (int pos = 0; pos < t->P; pos++) {
        in->vars[PW_VAR_I] = t->from + pos * t->step;
        for (int c = 0; t->add[0] != NULL && c < C; c++) {
            in->vars[PW_VAR_CHANNEL] = c;
            t->add[0][(size_t)pos * C + c] = (float)value_of(x, PW_STAGE_EMBED, in);
        }
        for (int p = 0; t->cosine != NULL && p < pairs; p++) {
            in->vars[PW_VAR_PAIR] = p;
            double gain = pw_expr_has(x, PW_STAGE_GAIN) ? value_of(x, PW_STAGE_GAIN, in) : 1;
            double angle = pw_expr_has(x, PW_STAGE_ANGLE) ? value_of(x, PW_STAGE_ANGLE, in) : 0;
            t->cosine[(size_t)pos * pairs + p] = (float)(gain * pw_cos(angle));
            t->sine[(size_t)pos * pairs + p] = (float)(gain * pw_sin(angle));
        }
    }
}

static void build(const void *opts, const struct pw_config *cfg, struct pw_pe_tables *t)
{
    const struct pw_expr *x = formula_of(opts)->x;
    struct inputs in = inputs_of(cfg, x);
    if (t->bias != NULL)
        fill_bias(x, cfg, t, &in);
    fill_rows(x, cfg, t, &in);
    free(in.regs);
}

static int pairs(const void *opts, const struct pw_config *cfg)
{
    (void)opts;
    return cfg->head_width / 2;
}

static enum pw_pairing pairing(const void *opts)
{
    (void)opts;
    return PW_PAIRING_HALF;
}

/* ---- checks */

/* Fails at the first value that is not finite, with its place. */
static enum pw_code check_finite(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err)
{
    struct inputs in = inputs_of(cfg, x);
    enum pw_code code = PW_OK;
    for (int d = cfg->causal ? 0 : 1 - cfg->context;
         code == PW_OK && pw_expr_has(x, PW_STAGE_BIAS) && d < cfg->context; d++)
        for (int h = 0; code == PW_OK && h < cfg->heads; h++) {
            in.vars[PW_VAR_HEAD] = h;
            in.vars[PW_VAR_DISTANCE] = d;
            if (!isfinite((float)value_of(x, PW_STAGE_BIAS, &in)))
                code = pw_fail(err, PW_EUSER, "expr: bias is not finite at d=%d, head %d", d, h);
        }
    for (int i = 0; code == PW_OK && i < cfg->context; i++) {
        static const enum pw_stage stages[] = {PW_STAGE_EMBED, PW_STAGE_ANGLE, PW_STAGE_GAIN};
        in.vars[PW_VAR_I] = i;
        for (int k = 0; k < 3; k++)
            for (int c = 0; code == PW_OK && pw_expr_has(x, stages[k]) &&
                            c < (k == 0 ? cfg->width : cfg->head_width / 2);
                 c++) {
                in.vars[k == 0 ? PW_VAR_CHANNEL : PW_VAR_PAIR] = c;
                double v = value_of(x, stages[k], &in);
                if (!isfinite((float)v) || (k == 1 && fabs(v) >= 1e6))
                    code = pw_fail(err, PW_EUSER, "expr: %s is %s at i=%d, %s=%d", pw_stage_names[stages[k]],
                                   isfinite(v) ? "too large (1e6)" : "not finite", i, k == 0 ? "c" : "p", c);
            }
    }
    free(in.regs);
    return code;
}

static enum pw_code check(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    static const enum pw_stage refused[] = {PW_STAGE_POSITION, PW_STAGE_SCALE, PW_STAGE_SCORE, PW_STAGE_MASK};
    static const struct {
        enum pw_expr_var var;
        const char *name;
    } absent[] = {{PW_VAR_N, "n"}, {PW_VAR_TRAINED, "L"}, {PW_VAR_LAYER, "l"}, {PW_VAR_J, "j"}};
    const struct pw_expr *x = formula_of(opts)->x;
    for (int k = 0; k < 4; k++)
        if (pw_expr_has(x, refused[k]))
            return pw_fail(err, PW_EUSER, "expr: no '%s' yet: a formula has embed, angle, gain and bias",
                           pw_stage_names[refused[k]]);
    for (int s = 0; s < PW_STAGES; s++) {
        if (pw_expr_learns(x, s))
            return pw_fail(err, PW_EUSER, "expr: %s: no learned parameters yet: write numbers",
                           pw_stage_names[s]);
        for (int k = 0; k < 4; k++)
            if (pw_expr_reads(x, s, absent[k].var))
                return pw_fail(err, PW_EUSER, "expr: %s: no '%s' yet", pw_stage_names[s], absent[k].name);
    }
    if (pw_expr_reads(x, PW_STAGE_BIAS, PW_VAR_I))
        return pw_fail(err, PW_EUSER, "expr: bias: no 'i' yet: a bias depends on d and h");
    if ((pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN)) && cfg->head_width % 2 != 0)
        return pw_fail(err, PW_EUSER, "expr: %d entries of a head can't form pairs", cfg->head_width);
    return check_finite(x, cfg, err);
}

/* ---- text */

static void print(const void *opts, struct pw_str *out)
{
    pw_str_add(out, "%s", formula_of(opts)->text.s);
}

/* Takes ownership of x. */
static const struct formula *keep(struct pw_expr *x)
{
    struct pw_str text = {0};
    struct formula *f;
    pw_expr_print(x, &text);
    pthread_mutex_lock(&lock);
    for (f = kept; f != NULL && strcmp(f->text.s, text.s) != 0;)
        f = f->next;
    if (f == NULL) {
        bool turns = pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN);
        bool adds = pw_expr_has(x, PW_STAGE_EMBED);
        f = pw_alloc(1, sizeof *f);
        memcpy(f,
               &(struct formula){.pe = {.name = "expr",
                                        .summary = "a formula that the user typed",
                                        .opts_size = sizeof(struct options),
                                        .uses = (pw_expr_has(x, PW_STAGE_BIAS) ? PW_PE_BIAS : 0u) |
                                                (turns ? PW_PE_ROTATION : 0u) | (adds ? PW_PE_ADDED : 0u),
                                        .by = {adds ? PW_PE_BY_POSITION : PW_PE_NO_TABLE},
                                        .pairs = pairs,
                                        .pairing = pairing,
                                        .check = check,
                                        .build = build,
                                        .print = print},
                                 .x = x,
                                 .text = text,
                                 .next = kept},
               sizeof *f);
        kept = f;
        x = NULL;
        text = (struct pw_str){0};
    }
    pthread_mutex_unlock(&lock);
    pw_str_fini(&text);
    pw_expr_free(x);
    return f;
}

enum pw_code pw_pe_formula(struct pw_pe_use_opts *use, const char *text, struct pw_err *err)
{
    struct pw_expr *x;
    int at;
    if (strlen(text) > MOST_TEXT)
        return pw_fail(err, PW_EUSER, "expr: a formula of %zu characters: at most %d", strlen(text),
                       MOST_TEXT);
    enum pw_code code = pw_expr_parse(&x, text, &at, err);
    if (code != PW_OK) {
        pw_err_at(err, "expr");
        return code;
    }
    const struct formula *f = keep(x);
    use->pe = &f->pe;
    memcpy(use->o.bytes, &(struct options){f}, sizeof(struct options));
    return PW_OK;
}
