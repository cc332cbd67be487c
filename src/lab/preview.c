/* preview.c - reads a formula in a line that is being typed. The line is half-typed, so it is read with the
 * lexer and not parsed. */
#include "lab/preview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "command/lex.h"
#include "model/expr/curve.h"
#include "model/expr/formula_text.h"

enum { MOST_LENGTH = 256, LEAST_LENGTH = 2, MOST_ROW_ENTRIES = 32768 /* a key is drawn within 16 ms */ };
static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"; /* of names */

/* Where a line has its formula. */
struct place {
    size_t begin, end; /* bytes of the formula, without quotes; equal: there is none yet */
    bool open;         /* a quote begins it, and none ends it */
    int arm;           /* as in arm=K; 0: the current one */
};

static bool is_word(const char *s, const struct pw_lex_word *w, const char *text)
{
    size_t n = strlen(text);
    return w->end - w->begin == n && strncmp(s + w->begin, text, n) == 0;
}

/* Sets the bounds of the formula at line[at], in the command that has *c. Blanks behind a formula without
 * quotes belong to it: a cursor behind them is still in it. */
static void find_bounds(const char *line, size_t at, const struct pw_lex_command *c, struct place *p)
{
    size_t stop = pw_lex_tail(line, at, c->end);
    p->open = c->quote == at;
    bool quoted = p->open || pw_lex_enclosed(line, at, stop);
    p->begin = quoted ? at + 1 : at;
    p->end = p->open ? c->end : quoted ? stop - 1 : c->comment ? c->end : c->next;
}

static bool find_formula(const char *line, struct place *p)
{
    struct pw_lex_command c;
    struct pw_lex_word w;
    *p = (struct place){0};
    if (!pw_lex_command(line, 0, &c) || !pw_lex_word(line, c.begin, c.end, &w) || !is_word(line, &w, "pe"))
        return false;
    while (pw_lex_word(line, w.end, c.end, &w)) {
        if (w.equals == w.begin + 3 && strncmp(line + w.begin, "arm", 3) == 0)
            p->arm = (int)strtol(line + w.equals + 1, NULL, 10);
        if (w.equals != PW_NOWHERE)
            continue;
        if (!is_word(line, &w, "expr"))
            return false;
        size_t at = w.end + strspn(line + w.end, " \t");
        if (at < c.end)
            find_bounds(line, at, &c, p);
        else
            p->begin = p->end = at; /* the first key of a formula is still to come */
        return true;
    }
    return false;
}

static const struct pw_arm_view *arm_of(const struct place *p, const struct pw_snapshot *s)
{
    int id = p->arm > 0 ? p->arm : s->current;
    return id >= 1 && id <= PW_MAX_ARMS && s->arms[id - 1].used ? &s->arms[id - 1] : NULL;
}

/* ---- the curve */

static const char *describe_curve(enum pw_formula_curve kind, bool learns, bool mixes)
{
    switch (kind) {
    case PW_CURVE_BIAS: return learns ? "bias (initial values)" : "bias";
    case PW_CURVE_ROTATION: return "mean cosine of the turns";
    case PW_CURVE_ADDED: return "cosine of the added rows";
    case PW_CURVE_NONE: break;
    }
    return mixes ? "no curve: each token mixes its own" : "no stage that acts by distance";
}

static void draw_curve(struct pw_preview *p, const struct pw_expr *x, const struct pw_arm_view *arm)
{
    const struct pw_ev_arm *info = &arm->info;
    struct pw_config cfg = {.layers = info->layers,
                            .width = info->width,
                            .heads = info->heads,
                            .head_width = info->heads > 0 ? info->width / info->heads : 0,
                            .context = info->context,
                            .causal = true};
    int length = arm->has_table ? arm->table.length : info->context;
    length = length > MOST_LENGTH ? MOST_LENGTH : length < LEAST_LENGTH ? LEAST_LENGTH : length;
    if (pw_expr_has(x, PW_STAGE_EMBED) && length * cfg.width > MOST_ROW_ENTRIES)
        length = cfg.width < MOST_ROW_ENTRIES / LEAST_LENGTH ? MOST_ROW_ENTRIES / cfg.width : LEAST_LENGTH;
    size_t n = (size_t)length * (size_t)cfg.heads;
    free(p->curve.kernel);
    p->curve = (struct pw_ev_table){.length = length,
                                    .heads = cfg.heads,
                                    .layers = cfg.layers,
                                    .trained = arm->has_table ? arm->table.trained : 0,
                                    .kernel = pw_alloc(n + 1, sizeof *p->curve.kernel)};
    struct pw_err err;
    p->refused = pw_expr_fits(x, &cfg, &err) != PW_OK;
    if (p->refused)
        pw_text_copy(p->why, sizeof p->why, err.msg);
    enum pw_formula_curve kind = pw_expr_curve(x, &cfg, length, p->curve.kernel);
    snprintf(p->shows, sizeof p->shows, "%s%s%s",
             describe_curve(kind, pw_expr_learns(x, PW_STAGE_BIAS), pw_expr_has(x, PW_STAGE_MIX)),
             pw_expr_by_data(x) ? "; " : "", pw_expr_by_data(x) ? pw_expr_positions(x) : "");
    for (size_t i = 0; i < n && p->why[0] == '\0'; i++)
        if (!isfinite(p->curve.kernel[i]) && !pw_expr_has(x, PW_STAGE_MASK))
            snprintf(p->why, sizeof p->why, "not finite at distance %zu, head %zu", i % (size_t)length,
                     i / (size_t)length);
}

/* The word or sign at an error; at the end of the formula one cell behind it. */
static void mark_error(struct pw_preview *p, const char *line, const struct place *at, int offset)
{
    p->from = at->begin + (size_t)offset;
    if (p->from > at->end)
        p->from = at->end;
    size_t n = strspn(line + p->from, letters);
    p->to = p->from + (n > 0 ? n : 1);
}

bool pw_preview_read(struct pw_preview *p, const char *line, const struct pw_snapshot *s)
{
    struct place at;
    struct pw_str text = {0};
    struct pw_expr *x = NULL;
    struct pw_err err = {0};
    int offset = 0;
    const struct pw_arm_view *arm = find_formula(line, &at) ? arm_of(&at, s) : NULL;
    if (arm == NULL) {
        pw_preview_fini(p);
        return false;
    }
    p->arm = arm->info.id;
    p->why[0] = '\0';
    p->refused = false;
    p->from = p->to = 0;
    pw_str_put(&text, line + at.begin, at.end - at.begin);
    if (pw_expr_parse(&x, pw_str_text(&text), &offset, &err) == PW_OK) {
        draw_curve(p, x, arm);
    } else {
        p->refused = true;
        pw_text_copy(p->why, sizeof p->why, err.msg);
        mark_error(p, line, &at, offset);
    }
    pw_expr_free(x);
    pw_str_fini(&text);
    return true;
}

void pw_preview_fini(struct pw_preview *p)
{
    free(p->curve.kernel);
    *p = (struct pw_preview){0};
}

/* ---- the line */

bool pw_preview_asked(const char *line, const struct pw_snapshot *s, struct pw_str *begin)
{
    struct place at;
    if (!find_formula(line, &at) || at.open || at.begin < at.end || line[at.begin] != '\0')
        return false;
    const struct pw_arm_view *arm = arm_of(&at, s);
    if (arm == NULL)
        return false;
    pw_str_add(begin, "pe ");
    if (at.arm > 0)
        pw_str_add(begin, "arm=%d ", at.arm);
    pw_str_add(begin, "expr \"");
    pw_formula_current(arm->info.pe, begin);
    return true;
}

void pw_preview_close(struct pw_str *line)
{
    struct place at;
    if (find_formula(pw_str_text(line), &at) && at.open)
        pw_str_put(line, line->s + at.begin - 1, 1);
}

size_t pw_preview_begin(const char *line)
{
    struct place at;
    return find_formula(line, &at) ? at.begin : PW_NO_FORMULA;
}

/* ---- completion */

struct completion {
    const char *word;
    size_t n;
    void (*add)(void *arg, const char *candidate);
    void *arg;
};

static void offer_word(void *arg, const char *word)
{
    const struct completion *c = arg;
    if (strncmp(word, c->word, c->n) == 0)
        c->add(c->arg, word);
}

/* Offers the names that the formula has defined before the point: NAME = ... */
static void offer_own(const struct completion *c, const char *line, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        at += strspn(line + at, " ;\t");
        size_t n = strspn(line + at, letters), after = at + n + strspn(line + at + n, " ");
        char name[64];
        if (n > 0 && n < sizeof name && line[after] == '=' && line[after + 1] != '=') {
            memcpy(name, line + at, n);
            name[n] = '\0';
            offer_word((void *)c, name);
        }
        at += strcspn(line + at, ";");
    }
}

size_t pw_preview_complete(const char *line, size_t point, void (*add)(void *arg, const char *candidate),
                           void *arg)
{
    struct place at;
    if (!find_formula(line, &at) || point < at.begin || point > at.end)
        return PW_NO_FORMULA;
    size_t begin = point;
    while (begin > at.begin && strchr(letters, line[begin - 1]) != NULL)
        begin--;
    struct completion c = {line + begin, point - begin, add, arg};
    pw_expr_words(offer_word, &c);
    offer_own(&c, line, at.begin, begin);
    return begin;
}
