/* blog_models.c - judge all models of a study of Su 2024 together: means, intervals, and the claims that they
 * decide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "reproduce/blog_int.h"

/* The whole interval decides. With fewer than two numbers there is no interval and no decision. */
enum pw_claim_verdict pw_blog_verdict(const struct pw_blog_claim *claim, const double *x, int n)
{
    struct pw_interval i = pw_mean_interval(x, n);
    bool above = claim->side == PW_ABOVE;
    if (i.n < n || n < 2)
        return PW_CLAIM_INCONCLUSIVE;
    if (above ? i.lo > claim->holds : i.hi < claim->holds)
        return PW_CLAIM_TOY;
    if (above ? i.hi < claim->fails : i.lo > claim->fails) /* false if fails is NaN */
        return PW_CLAIM_CONTRADICTED;
    return PW_CLAIM_INCONCLUSIVE;
}

static enum pw_code find_models(const struct pw_finding *models[PW_BLOG_MOST],
                                const struct pw_blog_plan *plan, const struct pw_blog *o,
                                const struct pw_snapshot *s, struct pw_err *err)
{
    for (int k = 1; k <= o->seeds; k++) {
        char topic[PW_FINDING_TOPIC], title[PW_FINDING_TEXT];
        pw_blog_model_name(plan, o, k, topic, title);
        const struct pw_finding_view *v = pw_finding_of(s, plan->name, topic);
        if (v == NULL)
            return pw_fail(err, PW_EUSER,
                           "judge %s: model %d of %d is missing: run 'reproduce %s', which measures it",
                           plan->name, k, o->seeds, plan->name);
        if (strcmp(v->f.title, title) != 0)
            return pw_fail(err, PW_EUSER, "judge %s: model %d is '%.120s': the study needs '%.120s'",
                           plan->name, k, v->f.title, title);
        models[k - 1] = &v->f;
    }
    return PW_OK;
}

/* Add the table of judged numbers: a row per model, then the mean and the ends of its interval. */
static int add_judged(struct pw_finding *f, const struct pw_blog_plan *plan, const struct pw_blog *o,
                      const struct pw_finding *const *models)
{
    static const char *const heads[] = {"mean", "95 %, from", "95 %, to"};
    int claims = pw_blog_claims(plan), n = o->seeds;
    int b = pw_finding_table(f, "numbers for the claims, model by model", n + 3, claims);
    for (int r = 0; r < n + 3; r++)
        pw_finding_row(f, b, r, "%s",
                       r < n ? pw_finding_row_name(models[r], &models[r]->blocks[0], 0) : heads[r - n]);
    for (int c = 0; c < claims; c++) {
        double x[PW_BLOG_MOST];
        for (int k = 0; k < n; k++)
            pw_finding_put(f, b, k, c, x[k] = pw_finding_cell(models[k], &models[k]->blocks[0], 0, c));
        struct pw_interval i = pw_mean_interval(x, n);
        pw_finding_col(f, b, c, "%s", plan->claims[c].what);
        pw_finding_put(f, b, n, c, i.mean);
        pw_finding_put(f, b, n + 1, c, i.lo);
        pw_finding_put(f, b, n + 2, c, i.hi);
    }
    return b;
}

static void add_arms(struct pw_finding *f, const struct pw_blog_plan *plan, const struct pw_blog *o,
                     const struct pw_finding *const *models)
{
    int arms = pw_blog_arms(plan), numbers = pw_blog_numbers(plan);
    const struct pw_finding *last = models[o->seeds - 1];
    int b = pw_finding_table(f, "comparison of the arms: means over the models that have them", arms,
                             numbers + 1);
    for (int k = 0; k < numbers; k++)
        pw_finding_col(f, b, k, "%s", plan->numbers[k].name);
    pw_finding_col(f, b, numbers, "models");
    for (int arm = 0; arm < arms; arm++) {
        int first = arm < plan->judged ? 0 : o->seeds - 1;
        pw_finding_row(f, b, arm, "%s", pw_finding_row_name(last, &last->blocks[1], arm));
        pw_finding_put(f, b, arm, numbers, o->seeds - first);
        for (int k = 0; k < numbers; k++) {
            double x[PW_BLOG_MOST];
            for (int m = first; m < o->seeds; m++)
                x[m - first] = pw_finding_cell(models[m], &models[m]->blocks[1], arm, k);
            pw_finding_put(f, b, arm, k, pw_mean_interval(x, o->seeds - first).mean);
        }
    }
}

/* Is the control of every model within its bound? If the plan has a control, a NaN control counts as out of
 * bounds. */
static bool controls_hold(const struct pw_blog_plan *plan, const struct pw_finding *const *models, int n)
{
    bool hold = true;
    for (int k = 0; k < n && plan->control != NULL; k++)
        hold = hold && pw_finding_cell(models[k], &models[k]->blocks[0], 0, pw_blog_claims(plan)) <=
                           plan->control_most;
    return hold;
}

static void add_claim(struct pw_finding *f, const struct pw_blog_claim *claim, const double *x, int n,
                      bool controlled)
{
    struct pw_interval i = pw_mean_interval(x, n);
    const char *holds = claim->side == PW_ABOVE ? "above" : "below",
               *fails = claim->side == PW_ABOVE ? "below" : "above";
    char otherwise[48] = "";
    if (!isnan(claim->fails))
        snprintf(otherwise, sizeof otherwise, ", contradicted if %s %g", fails, claim->fails);
    pw_finding_claim(f, controlled ? pw_blog_verdict(claim, x, n) : PW_CLAIM_INCONCLUSIVE, claim->claim,
                     "%s: mean %.3g of %d trained models, 95 %% interval %.3g to %.3g (holds if %s %g%s)",
                     claim->what, i.mean, i.n, i.lo, i.hi, holds, claim->holds, otherwise);
}

enum pw_code pw_blog_judge_models(const struct pw_blog_plan *plan, const struct pw_blog *o,
                                  const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_finding *models[PW_BLOG_MOST];
    enum pw_code code = find_models(models, plan, o, s, err);
    if (code != PW_OK)
        return code;
    pw_finding_init(f, plan->name, plan->pes,
                    "probe %s of arms after %d steps of copying random tokens: %d models, seeds %d to %d",
                    plan->probe, o->steps, o->seeds, o->seed, o->seed + o->seeds - 1);
    int judged = pw_blog_claims(plan) > 0 ? add_judged(f, plan, o, models) : -1;
    if (pw_blog_numbers(plan) > 0)
        add_arms(f, plan, o, models);
    bool controlled = controls_hold(plan, models, o->seeds);
    code = pw_blog_add_plots(plan, o->steps, s, f, err);
    for (int k = 0; k < o->seeds; k++)
        pw_blog_add_claims(f, models[k]);
    for (int c = 0; c < pw_blog_claims(plan); c++) {
        double x[PW_BLOG_MOST];
        for (int k = 0; k < o->seeds; k++)
            x[k] = pw_finding_cell(f, &f->blocks[judged], k, c);
        add_claim(f, &plan->claims[c], x, o->seeds, controlled);
    }
    if (pw_blog_claims(plan) > 0)
        pw_finding_remark(
            f,
            "the models differ in their initialisation and their data; the plots show the last one, seed %d",
            o->seed + o->seeds - 1);
    if (plan->control != NULL)
        pw_finding_remark(f, "the control, '%s', is %s %g in %s", plan->control->name,
                          controlled ? "at most" : "above", plan->control_most,
                          controlled ? "every model" : "at least one model, so no claim is decided");
    return code;
}
