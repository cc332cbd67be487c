/* encoding.c - an encoding that a formula defines: `pe expr 'm = slopes()[h]; bias = -m * d'`.
 *
 * Every formula has a descriptor of its own, because its class decides which tables it uses. Descriptors are
 * kept until the process ends and are shared by equal texts, so struct pw_pe_use_opts stays a plain value
 * that can be copied and compared. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expr/formula.h"

enum { MOST_TEXT = 200 }; /* it must fit into the line that names an arm's encoding */

struct options {
    const struct pw_formula *formula;
};

static struct pw_formula *kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

const struct pw_formula *pw_formula_of(const void *opts)
{
    return ((const struct options *)opts)->formula;
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

static void print(const void *opts, struct pw_str *out)
{
    pw_str_add(out, "%s", pw_formula_of(opts)->text.s);
}

static bool by_layer(const struct pw_expr *x, enum pw_stage a, enum pw_stage b)
{
    return pw_expr_reads(x, a, PW_VAR_LAYER) || pw_expr_reads(x, b, PW_VAR_LAYER);
}

/* The tables that a formula needs: bits of enum pw_pe_use. */
static unsigned uses_of(const struct pw_expr *x)
{
    bool biases = pw_expr_has(x, PW_STAGE_BIAS) || pw_expr_has(x, PW_STAGE_MASK);
    bool dense = !pw_expr_by_distance(x, PW_STAGE_BIAS) || !pw_expr_by_distance(x, PW_STAGE_MASK);
    bool turns = pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN);
    return (biases ? dense ? PW_PE_DENSE : PW_PE_BIAS : 0u) | (turns ? PW_PE_ROTATION : 0u) |
           (pw_expr_has(x, PW_STAGE_EMBED) ? PW_PE_ADDED : 0u) |
           (pw_expr_has(x, PW_STAGE_SCALE) ? PW_PE_GAIN : 0u) |
           (pw_expr_has(x, PW_STAGE_SCORE) ? PW_PE_SCORE : 0u);
}

static unsigned by_layer_of(const struct pw_expr *x)
{
    return (by_layer(x, PW_STAGE_BIAS, PW_STAGE_MASK) ? PW_PE_BIASES : 0u) |
           (by_layer(x, PW_STAGE_ANGLE, PW_STAGE_GAIN) ? PW_PE_ROTATION : 0u) |
           (by_layer(x, PW_STAGE_SCALE, PW_STAGE_SCALE) ? PW_PE_GAIN : 0u);
}

/* Takes ownership of x. */
static const struct pw_formula *keep(struct pw_expr *x)
{
    struct pw_str text = {0};
    struct pw_formula *f;
    pw_expr_print(x, &text);
    pthread_mutex_lock(&kept_lock);
    for (f = kept; f != NULL && strcmp(f->text.s, text.s) != 0;)
        f = f->next;
    if (f == NULL) {
        bool adds = pw_expr_has(x, PW_STAGE_EMBED);
        f = pw_alloc(1, sizeof *f);
        memcpy(f,
               &(struct pw_formula){.pe = {.name = "expr",
                                           .summary = "a formula that the user typed",
                                           .opts_size = sizeof(struct options),
                                           .uses = uses_of(x),
                                           .by_layer = by_layer_of(x),
                                           .by = {adds ? PW_PE_BY_POSITION : PW_PE_NO_TABLE},
                                           .pairs = pairs,
                                           .pairing = pairing,
                                           .check = pw_formula_check,
                                           .check_at = pw_formula_check_at,
                                           .build = pw_formula_build,
                                           .score = pw_formula_score,
                                           .print = print},
                                    .x = x,
                                    .text = text,
                                    .next = kept},
               sizeof *f);
        kept = f;
        x = NULL;
        text = (struct pw_str){0};
    }
    pthread_mutex_unlock(&kept_lock);
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
    const struct pw_formula *f = keep(x);
    use->pe = &f->pe;
    memcpy(use->o.bytes, &(struct options){f}, sizeof(struct options));
    return PW_OK;
}
