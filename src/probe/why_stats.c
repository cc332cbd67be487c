/* why_stats.c - the statistics of the probe why: how much a change recovers, and whether that can be chance.
 *
 * Every candidate answers the same samples as the unchanged model, so McNemar's test on the samples whose
 * outcome changes is exact. There are dozens of candidates, so their p-values are corrected by Holm. The
 * interval is that of a difference of paired proportions. Newcombe's method stays inside -1..1 and has a
 * width for 0 of n. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/stats.h"
#include "probe/why.h"

#define LEVEL 0.05
#define Z     1.959963984540054 /* 97.5 % quantile of the normal distribution */

struct pw_why_effect pw_why_compare(const uint8_t *before, const uint8_t *after, int n)
{
    struct pw_why_effect e = {.p = 1, .adjusted = 1};
    for (int i = 0; i < n; i++) {
        e.fixed += !before[i] && after[i];
        e.broken += before[i] && !after[i];
        e.right += after[i];
    }
    return e;
}

/* The pass of candidate k on the samples of pass 0. */
static const struct pw_why_pass *pass_of(const struct pw_why_state *s, int k)
{
    return &s->passes[s->n_shorter + k];
}

struct pw_why_effect *pw_why_effects(const struct pw_why_state *s)
{
    struct pw_why_effect *e = pw_alloc((size_t)s->n, sizeof *e);
    double *p = pw_alloc((size_t)s->n, sizeof *p), *holm = pw_alloc((size_t)s->n, sizeof *holm);
    int n = 0;
    for (int k = 1; k < s->n; k++) {
        e[k] = pw_why_compare(s->passes[0].right, pass_of(s, k)->right, s->passes[0].n);
        e[k].p = pw_mcnemar(e[k].fixed, e[k].broken);
        if (!s->list[k].refused)
            p[n++] = e[k].p;
    }
    pw_holm(holm, p, n);
    n = 0;
    for (int k = 1; k < s->n; k++)
        if (!s->list[k].refused)
            e[k].adjusted = holm[n++];
    free(p);
    free(holm);
    return e;
}

bool pw_why_is_oracle(const struct pw_why_candidate *c)
{
    return c->kind == PW_WHY_END || c->kind == PW_WHY_GOLD;
}

/* How weak a candidate is as an explanation, among those that recover as much: undoing a change is the
 * simplest one; patterns of another arm repair everything that acts before the attention; an oracle says
 * least. */
static int weakness(const struct pw_why_candidate *c)
{
    return c->undo ? 0 : pw_why_is_oracle(c) ? 3 : c->kind == PW_WHY_PATTERN ? 2 : 1;
}

/* Is candidate a before b? */
static bool is_before(const struct pw_why_state *s, const struct pw_why_effect *e, int a, int b)
{
    int more = (e[a].fixed - e[a].broken) - (e[b].fixed - e[b].broken);
    if (more != 0)
        return more > 0;
    return weakness(&s->list[a]) < weakness(&s->list[b]);
}

int pw_why_rank(int *order, const struct pw_why_state *s, const struct pw_why_effect *e)
{
    int n = 0;
    for (int k = 1; k < s->n; k++) {
        if (s->list[k].refused)
            continue;
        int at = n++;
        for (; at > 0 && is_before(s, e, k, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    return n;
}

bool pw_why_significant(const struct pw_why_effect *e)
{
    return e->fixed > e->broken && e->adjusted < LEVEL;
}

bool pw_why_is_cause(const struct pw_why_state *s, int candidate, const struct pw_why_effect *e)
{
    int missing = s->passes[0].n - (e->right - e->fixed + e->broken);
    return !pw_why_is_oracle(&s->list[candidate]) && pw_why_significant(e) &&
           2 * (e->fixed - e->broken) >= missing;
}

int pw_why_best(const struct pw_why_state *s, const int *order, int n, const struct pw_why_effect *effect)
{
    for (int oracle = 0; oracle < 2; oracle++)
        for (int i = 0; i < n; i++)
            if (pw_why_is_oracle(&s->list[order[i]]) == (oracle != 0) &&
                pw_why_significant(&effect[order[i]]))
                return order[i];
    return 0;
}

/* The 95 % interval of a proportion (Wilson 1927). */
static void bound_share(double p, double n, double *low, double *high)
{
    double z = Z * Z, middle = p + z / (2 * n), half = Z * sqrt((p * (1 - p) + z / (4 * n)) / n);
    *low = (middle - half) / (1 + z / n);
    *high = (middle + half) / (1 + z / n);
}

/* The correlation of the two outcomes, with Newcombe's correction for continuity. */
static double correlation(double both, double fixed, double broken, double neither, double n)
{
    double product = (both + broken) * (fixed + neither) * (both + fixed) * (broken + neither);
    double determinant = both * neither - fixed * broken;
    if (product <= 0)
        return 0;
    if (determinant > 0)
        determinant = determinant > n / 2 ? determinant - n / 2 : 0;
    return determinant / sqrt(product);
}

void pw_why_interval(int both, int fixed, int broken, int n, double *low, double *high)
{
    double after = (double)(both + fixed) / n, before = (double)(both + broken) / n, la, ha, lb, hb;
    double phi = correlation(both, fixed, broken, n - both - fixed - broken, n);
    bound_share(after, n, &la, &ha);
    bound_share(before, n, &lb, &hb);
    double da = after - la, ua = ha - after, db = before - lb, ub = hb - before;
    double under = da * da - 2 * phi * da * ub + ub * ub, over = ua * ua - 2 * phi * ua * db + db * db;
    *low = after - before - sqrt(under > 0 ? under : 0);
    *high = after - before + sqrt(over > 0 ? over : 0);
}
