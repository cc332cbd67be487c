/* formula_ids.c - positions that a formula reads from the tokens of a sequence, or from chance, and their
 * check.
 *
 * The draws of a sequence are functions of its key (base/rng.h), so they have the same bits in any order of
 * sequences and on any number of threads. sample(k, n, m) selects a subset of 0..m-1 in one pass, where each
 * number is taken with the share of those still needed (Knuth, TAOCP 2, 3.4.2, algorithm S). All subsets are
 * equally likely. The subset is kept while a sequence asks for the same n and m. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "model/expr/expr_int.h"
#include "model/expr/formula.h"

enum { MOST_SAMPLED = 1 << 20 };

/* The subset of a use of sample. */
struct subset {
    int *of, cap; /* [n] ascending */
    int n, m;     /* 0: not drawn */
};

struct walk {
    struct pw_formula_inputs in;
    double *regs; /* [pw_expr_n_nodes] */
    uint64_t key;
    struct subset subset[PW_EXPR_DRAWS];
};

static void walk_begin(struct walk *w, const void *opts, const struct pw_config *cfg)
{
    *w = (struct walk){.in = pw_formula_inputs_of(pw_formula_of(opts)->x, opts, cfg, 0, 1)};
    w->regs = pw_alloc((size_t)pw_expr_n_nodes(w->in.x), sizeof *w->regs);
}

static void walk_end(struct walk *w)
{
    for (int k = 0; k < PW_EXPR_DRAWS; k++)
        free(w->subset[k].of);
    free(w->regs);
    pw_formula_inputs_fini(&w->in);
}

/* ---- chance */

static void draw_subset(struct subset *s, uint64_t key, int draw, int n, int m)
{
    struct pw_rng rng;
    pw_rng_init(&rng, key, PW_STREAM_POSITION, (uint64_t)draw);
    if (n > s->cap) {
        s->of = pw_grow(s->of, (size_t)n, sizeof *s->of);
        s->cap = n;
    }
    s->n = n;
    s->m = m;
    for (int v = 0, taken = 0; taken < n; v++)
        if ((int)pw_rng_below(&rng, (uint32_t)(m - v)) < n - taken)
            s->of[taken++] = v;
}

static int whole(double x, int most)
{
    return (int)fmin(fmax(nearbyint(x), 0), most);
}

static double sorted(void *arg, int draw, double k, double n, double m)
{
    struct walk *w = arg;
    struct subset *s = &w->subset[draw];
    int most = whole(m, MOST_SAMPLED), count = whole(n, most), at = whole(k, MOST_SAMPLED);
    if (isnan(k) || isnan(n) || isnan(m) || most == 0)
        return NAN;
    if (at >= count)
        return most - 1;
    if (s->n != count || s->m != most)
        draw_subset(s, w->key, draw, count, most);
    return s->of[at];
}

static void draw_all(struct walk *w, uint64_t key)
{
    const struct pw_expr *x = w->in.x;
    w->key = key;
    for (int k = 0; k < x->n_draws; k++) {
        struct pw_rng rng;
        w->subset[k].n = w->subset[k].m = 0;
        pw_rng_init(&rng, key, PW_STREAM_POSITION, (uint64_t)k);
        w->in.vars[PW_VAR_DRAW + k] = x->normal[k] ? pw_rng_normal(&rng) : pw_rng_unit(&rng);
    }
}

/* ---- tokens */

static int class_of(const struct pw_config *cfg, int token)
{
    return cfg->classes != NULL ? cfg->classes[token] : PW_CLASS_WORD;
}

static int prompt_of(const struct pw_config *cfg, const struct pw_pe_sequence *s)
{
    for (int t = 0; t < s->T; t++)
        if (class_of(cfg, s->tokens[t]) == PW_CLASS_LAST)
            return t + 1;
    return s->T;
}

/* Returns the number of digits from token t on, before token `end`. */
static int digits_from(const struct pw_config *cfg, const struct pw_pe_sequence *s, int t, int end)
{
    int n = 0;
    while (t + n < end && class_of(cfg, s->tokens[t + n]) == PW_CLASS_DIGIT)
        n++;
    return n;
}

/* Writes the value of each token's position, [T]. */
static void evaluate(struct walk *w, const struct pw_config *cfg, const struct pw_pe_sequence *s, double *out)
{
    double *v = w->in.vars, run = 0, length = 0;
    int index = 0, prompt = prompt_of(cfg, s);
    v[PW_VAR_PROMPT] = prompt;
    v[PW_VAR_TRAINING] = s->train;
    for (int t = 0; t < s->T; t++) {
        int class = class_of(cfg, s->tokens[t]);
        bool digit = class == PW_CLASS_DIGIT;
        index = digit ? index + 1 : 0;
        run += index == 1;
        if (index == 1)
            length = digits_from(cfg, s, t, prompt);
        v[PW_VAR_I] = t;
        v[PW_VAR_N] = t + 1;
        v[PW_VAR_TOKEN] = class;
        v[PW_VAR_RUN] = digit ? run : 0;
        v[PW_VAR_INDEX] = index;
        v[PW_VAR_LENGTH] = digit ? length : 0;
        out[t] = pw_expr_eval_position(w->in.x, v, w->regs, sorted, w);
    }
}

void pw_formula_ids(const void *opts, const struct pw_config *cfg, const struct pw_pe_sequence *s, int n,
                    int *ids)
{
    struct walk w;
    double *value = NULL;
    int cap = 0;
    walk_begin(&w, opts, cfg);
    for (int k = 0; k < n; ids += s[k++].T) {
        if (s[k].T > cap) {
            cap = s[k].T;
            value = pw_grow(value, (size_t)cap, sizeof *value);
        }
        draw_all(&w, s[k].key);
        evaluate(&w, cfg, &s[k], value);
        for (int t = 0; t < s[k].T; t++)
            ids[t] = isnan(value[t]) ? 0 : whole(value[t], cfg->context - 1);
    }
    free(value);
    walk_end(&w);
}

/* ---- the check, on sequences like those of tasks */

enum { TRIES = 3, LEAST_TRIED = 8, MOST_TRIED = 4096 };

/* A word, a number, a separator, a number, the prompt's end and a number; the try decides how long the first
 * is. */
static void invent(int *tokens, int T, int try)
{
    int digits = T - 3, first = digits * (try + 1) / (TRIES + 2), second = (digits - first) / 2, at = 0;
    tokens[at++] = PW_CLASS_WORD;
    for (int i = 0; i < first; i++)
        tokens[at++] = PW_CLASS_DIGIT;
    tokens[at++] = PW_CLASS_SEPARATOR;
    for (int i = 0; i < second; i++)
        tokens[at++] = PW_CLASS_DIGIT;
    tokens[at++] = PW_CLASS_LAST;
    while (at < T)
        tokens[at++] = PW_CLASS_DIGIT;
}

/* Sets uniform draws to the ends of their range and normal ones to three deviations. */
static void draw_extreme(struct walk *w, int side)
{
    const struct pw_expr *x = w->in.x;
    draw_all(w, (uint64_t)side);
    for (int k = 0; k < x->n_draws; k++)
        w->in.vars[PW_VAR_DRAW + k] = x->normal[k] ? (side == 0 ? -3 : 3) : side == 0 ? 0 : 1 - 0x1p-32;
}

static enum pw_code check_values(const double *value, int T, const struct pw_config *cfg, struct pw_err *err)
{
    for (int t = 0; t < T; t++) {
        if (!isfinite(value[t]) || value[t] != floor(value[t]))
            return pw_fail(
                err, PW_EUSER,
                "expr: position is %.12g at token %d of %d: a position that reads tokens or chance "
                "is a whole number: use floor()",
                value[t], t, T);
        if (value[t] < 0 || value[t] > cfg->context - 1)
            return pw_fail(err, PW_EUSER,
                           "expr: position can be %.0f at token %d of %d: a model of context=%d has 0..%d",
                           value[t], t, T, cfg->context, cfg->context - 1);
    }
    return PW_OK;
}

/* Does the prompt's end matter, without a token that shows it? */
static enum pw_code check_end(const struct pw_expr *x, const struct pw_config *cfg, struct pw_err *err)
{
    bool reads = pw_expr_reads(x, PW_STAGE_POSITION, PW_VAR_PROMPT) ||
                 pw_expr_reads(x, PW_STAGE_POSITION, PW_VAR_LENGTH);
    if (!reads || !cfg->causal || cfg->classes == NULL ||
        memchr(cfg->classes, PW_CLASS_LAST, (size_t)cfg->vocab) != NULL)
        return PW_OK;
    return pw_fail(
        err, PW_EUSER,
        "expr: position reads 'prompt' or 'length(i)', but the prompts of this task do not end with "
        "a token of their own");
}

enum pw_code pw_formula_check_ids(const void *opts, const struct pw_config *cfg, struct pw_err *err)
{
    static const unsigned char itself[] = {PW_CLASS_WORD, PW_CLASS_DIGIT, PW_CLASS_SEPARATOR, PW_CLASS_SYMBOL,
                                           PW_CLASS_LAST};
    int L = pw_formula_trained(opts) > 0 ? pw_formula_trained(opts) : cfg->trained;
    int T = L > 0 && L < cfg->context ? L : cfg->context / 2;
    struct pw_config invented = *cfg;
    struct walk w;
    enum pw_code code = check_end(pw_formula_of(opts)->x, cfg, err);
    T = T < LEAST_TRIED ? LEAST_TRIED : T > MOST_TRIED ? MOST_TRIED : T;
    if (T > cfg->context)
        T = cfg->context;
    invented.classes = itself;
    if (code != PW_OK || T < 4)
        return code;
    int *tokens = pw_alloc((size_t)T, sizeof *tokens);
    double *value = pw_alloc((size_t)T, sizeof *value);
    walk_begin(&w, opts, cfg);
    for (int k = 0; k < 4 * TRIES && code == PW_OK; k++) {
        struct pw_pe_sequence s = {.tokens = tokens, .T = T, .train = k % 2 == 0};
        invent(tokens, T, k / 4);
        draw_extreme(&w, k / 2 % 2);
        evaluate(&w, &invented, &s, value);
        code = check_values(value, T, cfg, err);
    }
    walk_end(&w);
    free(tokens);
    free(value);
    return code;
}
