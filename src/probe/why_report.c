/* why_report.c - builds the finding of the probe why: the length curve, the first errors, and the candidates
 * by the exact match that they recover. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/why.h"

enum { SHOWN = 16, NAMED = 3 }; /* most rows of candidates; most causes that have a remark */

static double share(const struct pw_why_pass *x)
{
    int n = 0;
    for (int i = 0; i < x->n; i++)
        n += x->right[i];
    return x->n > 0 ? (double)n / x->n : NAN;
}

static void add_curve(const struct pw_why_state *s, struct pw_finding *f)
{
    if (s->n_shorter == 0)
        return;
    int b = pw_finding_plot(f, "exact match by length", "length", "exact match", s->n_shorter + 1, 1, false);
    pw_finding_name(f, b, 0, "as it is");
    for (int i = 0; i <= s->n_shorter; i++) {
        const struct pw_why_pass *x = &s->passes[i < s->n_shorter ? i + 1 : 0];
        pw_finding_x(f, b, i, x->length);
        pw_finding_y(f, b, i, 0, share(x));
    }
}

static void add_errors(const struct pw_why_state *s, struct pw_finding *f)
{
    static const char *const kinds[] = {"end mark too early", "end mark missing", "wrong token"};
    int last = 0, most = 0, failed = 0;
    for (int k = 0; k < s->place_cap; k++) {
        failed += s->place[k];
        last = s->place[k] > 0 ? k : last;
        most = s->place[k] > s->place[most] ? k : most;
    }
    if (failed == 0)
        return;
    int b = pw_finding_table(f, "first error of the failing samples, by kind", PW_WHY_ERRORS, 1);
    f->blocks[b].decimals = 0;
    pw_finding_col(f, b, 0, "samples");
    for (int e = 0; e < PW_WHY_ERRORS; e++) {
        pw_finding_row(f, b, e, "%s", kinds[e]);
        pw_finding_put(f, b, e, 0, s->error[e]);
    }
    b = pw_finding_plot(f, "first error of the failing samples, by token of the answer",
                        "token of the answer", "samples", last + 1, 1, false);
    pw_finding_name(f, b, 0, "samples");
    for (int k = 0; k <= last; k++) {
        pw_finding_x(f, b, k, k + 1);
        pw_finding_y(f, b, k, 0, s->place[k]);
    }
    pw_finding_remark(f,
                      "%d of %d samples fail; the first error is most often at token %d of the answer (%d)",
                      failed, s->passes[0].n, most + 1, s->place[most]);
}

/* ---- what training did not contain, and the gold pointers */

static void add_unseen(const struct pw_why_state *s, const struct pw_model *m, struct pw_finding *f)
{
    struct pw_why_seen seen = pw_why_unseen(m, s->tokens);
    if (seen.steps == 0) {
        pw_finding_remark(f, "no training of this model was counted, so what it has never seen is not known");
        return;
    }
    int b = pw_finding_table(f, "what the encoding reads at this length", 2, 2);
    f->blocks[b].decimals = 0;
    pw_finding_col(f, b, 0, "read");
    pw_finding_col(f, b, 1, "never seen");
    pw_finding_row(f, b, 0, "positions");
    pw_finding_row(f, b, 1, "distances");
    for (int i = 0; i < 2; i++) {
        pw_finding_put(f, b, i, 0, s->tokens);
        pw_finding_put(f, b, i, 1, i == 0 ? seen.positions : seen.distances);
    }
    if (seen.distances > 0)
        pw_finding_remark(f, "never seen in training: %d of %d distances, from %d on", seen.distances,
                          s->tokens, seen.first);
}

static double mass(const struct pw_why_gold *g, int where)
{
    return g->queries[where] > 0 ? g->mass[where] / g->queries[where] : NAN;
}

static void add_gold(const struct pw_why_state *s, const struct pw_config *cfg, struct pw_finding *f)
{
    int n = cfg->layers * cfg->heads, best = 0;
    if (s->gold == NULL || s->works != 0 || s->reference == 0)
        return;
    int b = pw_finding_table(f, "attention on the gold pointers, by head", n, PW_WHY_PLACES);
    f->blocks[b].decimals = 3;
    pw_finding_col(f, b, PW_WHY_WORKS, "length %d", s->reference);
    pw_finding_col(f, b, PW_WHY_FAILS, "length %d", s->passes[0].length);
    pw_finding_col(f, b, PW_WHY_AT_ERROR, "at first errors");
    for (int h = 0; h < n; h++) {
        pw_finding_row(f, b, h, "head %d.%d", h / cfg->heads, h % cfg->heads);
        for (int c = 0; c < PW_WHY_PLACES; c++)
            pw_finding_put(f, b, h, c, mass(&s->gold[h], c));
        if (mass(&s->gold[h], PW_WHY_WORKS) > mass(&s->gold[best], PW_WHY_WORKS))
            best = h;
    }
    const struct pw_why_gold *g = &s->gold[best];
    if (g->queries[PW_WHY_WORKS] > 0 && g->queries[PW_WHY_AT_ERROR] > 0)
        pw_finding_remark(
            f,
            "head %d.%d has most attention on gold pointers: %.2f at length %d, %.2f at the first "
            "wrong tokens of length %d",
            best / cfg->heads, best % cfg->heads, mass(g, PW_WHY_WORKS), s->reference,
            mass(g, PW_WHY_AT_ERROR), s->passes[0].length);
}

/* ---- the candidates */

/* Adds the row of candidate k. */
static void add_row(const struct pw_why_state *s, struct pw_finding *f, int b, int row, int k,
                    const struct pw_why_effect *e)
{
    int n = s->passes[0].n;
    double low, high;
    pw_why_interval(e->right - e->fixed, e->fixed, e->broken, n, &low, &high);
    pw_finding_row(f, b, row, "%s", s->list[k].name);
    pw_finding_put(f, b, row, 0, 100.0 * e->right / n);
    pw_finding_put(f, b, row, 1, 100.0 * (e->fixed - e->broken) / n);
    pw_finding_put(f, b, row, 2, 100.0 * low);
    pw_finding_put(f, b, row, 3, 100.0 * high);
    pw_finding_put(f, b, row, 4, e->fixed);
    pw_finding_put(f, b, row, 5, e->broken);
    pw_finding_put(f, b, row, 6, e->adjusted);
}

static void add_candidates(const struct pw_why_state *s, struct pw_finding *f, const int *order, int n,
                           const struct pw_why_effect *effect, int arm)
{
    static const char *const heads[] = {"exact %",  "recovered %", "low",     "high",
                                        "repaired", "broken",      "p (Holm)"};
    int rows = n < SHOWN ? n : SHOWN;
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title, "candidates by recovered exact match: %d of %d, best first", rows, n);
    int b = pw_finding_table(f, title, rows, 7);
    for (int c = 0; c < 7; c++)
        pw_finding_col(f, b, c, "%s", heads[c]);
    for (int i = 0; i < rows; i++) {
        const char *line = s->list[order[i]].line;
        add_row(s, f, b, i, order[i], &effect[order[i]]);
        if (line[0] != '\0') {
            char commands[PW_FINDING_TEXT];
            snprintf(commands, sizeof commands, "arm %d; %s", arm, line);
            pw_finding_action(f, b, i, commands);
        }
    }
}

/* Says what the best candidate recovers on samples that had no part in choosing it. */
static void remark_fresh(const struct pw_why_state *s, struct pw_finding *f)
{
    const struct pw_why_pass *before = &s->passes[s->n_passes - 2], *after = &s->passes[s->n_passes - 1];
    double low, high;
    if (before->n == 0) {
        pw_finding_remark(f, "the task has no further samples of this length on which the first one could be "
                             "measured again");
        return;
    }
    struct pw_why_effect e = pw_why_compare(before->right, after->right, after->n);
    pw_why_interval(e.right - e.fixed, e.fixed, e.broken, after->n, &low, &high);
    pw_finding_remark(
        f,
        "on %d further samples '%s' recovers %.1f points of exact match [%.1f, %.1f], from %.1f %% "
        "to %.1f %%",
        after->n, s->list[s->best].name, 100.0 * (e.fixed - e.broken) / after->n, 100 * low, 100 * high,
        100 * share(before), 100 * share(after));
}

/* Is this the first candidate of its cause? */
static bool is_new_cause(const struct pw_why_state *s, const int *order, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(s->list[order[k]].cause, s->list[order[i]].cause) == 0)
            return false;
    return true;
}

/* Names a change that recovers exact match significantly: as a cause, or as a help if it recovers less than
 * half of what is missing. */
static void remark_change(const struct pw_why_state *s, struct pw_finding *f, const char *what, int k,
                          const struct pw_why_effect *e)
{
    const struct pw_why_candidate *c = &s->list[k];
    int n = s->passes[0].n, right = e->right - e->fixed + e->broken;
    pw_finding_remark(f, "%s: %s: '%s' recovers %.1f of %.1f missing points of exact match, p = %.2g%s%s",
                      what, c->cause, c->name, 100.0 * (e->fixed - e->broken) / n, 100.0 * (n - right) / n,
                      e->adjusted,
                      c->line[0] != '\0'    ? "; as an arm: "
                      : pw_why_is_oracle(c) ? "; it uses the right answer"
                                            : "; no command makes it an arm",
                      c->line);
}

static void remark_none(const struct pw_why_state *s, struct pw_finding *f, const int *order, int n,
                        const struct pw_why_effect *effect)
{
    const struct pw_why_effect *e = n > 0 ? &effect[order[0]] : NULL;
    if (e == NULL || e->fixed <= e->broken)
        pw_finding_remark(f, "none of these: no candidate recovers exact match");
    else if (pw_why_significant(e))
        pw_finding_remark(
            f, "none of these: no change that a model can have recovers half of the missing exact match");
    else
        pw_finding_remark(f,
                          "none of these: no candidate recovers exact match significantly; the best, '%s': "
                          "%.1f points, p = %.2g over %d candidates",
                          s->list[order[0]].name, 100.0 * (e->fixed - e->broken) / s->passes[0].n,
                          e->adjusted, n);
}

static void remark_causes(const struct pw_why_state *s, struct pw_finding *f, const int *order, int n,
                          const struct pw_why_effect *effect)
{
    int causes = 0, helps = 0;
    for (int i = 0; i < n && causes < NAMED; i++)
        if (pw_why_is_cause(s, order[i], &effect[order[i]]) && is_new_cause(s, order, i)) {
            char what[32];
            snprintf(what, sizeof what, "cause %d", ++causes);
            remark_change(s, f, what, order[i], &effect[order[i]]);
        }
    if (causes == 0)
        remark_none(s, f, order, n, effect);
    for (int i = 0; i < n && causes + helps < NAMED; i++)
        if (pw_why_significant(&effect[order[i]]) && !pw_why_is_cause(s, order[i], &effect[order[i]]) &&
            is_new_cause(s, order, i)) {
            helps++;
            remark_change(s, f, "helps, but is no cause", order[i], &effect[order[i]]);
        }
    if (causes + helps > 0)
        remark_fresh(s, f);
}

void pw_why_report(struct pw_probing_at *p, struct pw_finding *f)
{
    const struct pw_probe_in *in = p->in;
    const struct pw_why_state *s = p->state;
    const struct pw_why_pass *x = &s->passes[0];
    pw_finding_init(f, "why", in->topic, "arm %s at length %d: %.1f %% exact match of %d samples",
                    in->subject[0].name, x->length, 100 * share(x), x->n);
    if (s->works) {
        add_curve(s, f);
        add_errors(s, f);
        pw_finding_remark(f, "none of these: the model works at length %d, so no candidate was tested",
                          x->length);
        return;
    }
    struct pw_why_effect *effect = pw_why_effects(s);
    int *order = pw_alloc((size_t)s->n, sizeof *order), n = pw_why_rank(order, s, effect);
    add_candidates(s, f, order, n, effect, in->subject[0].arm); /* the answer, so it is the first page */
    add_curve(s, f);
    add_errors(s, f);
    add_unseen(s, in->subject[0].model, f);
    add_gold(s, pw_model_config(in->subject[0].model), f);
    remark_causes(s, f, order, n, effect);
    free(order);
    free(effect);
}
