/* blog.c - write the script of a study of Su 2024, and judge one of its models; blog.h has the contract. */
#include "reproduce/blog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/blog_int.h"
#include "reproduce/suite.h"

const struct pw_opt pw_blog_opts[] = {
    {"steps", PW_OPT_INT, offsetof(struct pw_blog, steps), "600", 1, 1e6, NULL, 0,
     "training steps of each encoding"},
    {"seeds", PW_OPT_INT, offsetof(struct pw_blog, seeds), "0", 0, PW_BLOG_MOST, NULL, 0,
     "models per encoding, each with its own data; 0: the number of the study, 12 or 20"},
    {"seed", PW_OPT_INT, offsetof(struct pw_blog, seed), PW_BLOG_SEED, 0, 1e9, NULL, 0,
     "seed of the first model, its data and its probes; each further model uses the next seed"},
    {"model", PW_OPT_INT, offsetof(struct pw_blog, model), "0", 0, PW_BLOG_MOST, NULL, 0,
     "record the numbers of this model, directly after its probes; 0: judge all models"},
    {0},
};

int pw_blog_arms(const struct pw_blog_plan *plan)
{
    int arms = 1;
    for (const char *p = plan->pes; *p != '\0'; p++)
        arms += *p == ',';
    return arms;
}

/* Number of encodings that are trained for this model. */
static int arms_of(const struct pw_blog_plan *plan, const struct pw_blog *o, int model)
{
    return model == o->seeds ? pw_blog_arms(plan) : plan->judged;
}

/* Return the encoding of arm 1, 2, ... and set *length to the length of its text. */
static const char *pe_of(const struct pw_blog_plan *plan, int arm, int *length)
{
    const char *p = plan->pes;
    while (--arm > 0)
        p = strchr(p, ',') + 1;
    *length = (int)strcspn(p, ",");
    return p;
}

/* Return the length of the text that names the first `arms` encodings of the plan. */
static int pes_length(const struct pw_blog_plan *plan, int arms)
{
    int length;
    const char *last = pe_of(plan, arms, &length);
    return (int)(last - plan->pes) + length;
}

int pw_blog_numbers(const struct pw_blog_plan *plan)
{
    int n = 0;
    while (plan->numbers != NULL && plan->numbers[n].name != NULL)
        n++;
    return n;
}

int pw_blog_claims(const struct pw_blog_plan *plan)
{
    int n = 0;
    while (plan->claims != NULL && plan->claims[n].claim != NULL)
        n++;
    return n;
}

static struct pw_blog with_seeds(const struct pw_blog_plan *plan, const struct pw_blog *o)
{
    struct pw_blog all = *o;
    all.seeds = o->seeds > 0 ? o->seeds : plan->seeds;
    return all;
}

bool pw_blog_plan_model(const struct pw_blog_plan *plan, const struct pw_blog *given, struct pw_plan *out)
{
    const struct pw_blog o = with_seeds(plan, given);
    if (o.model == 0)
        return false;
    *out = (struct pw_plan){.task = "copy variant=rdc",
                            .model = "tiny",
                            .seed = (uint64_t)(o.seed + o.model - 1),
                            .seeds = 1,
                            .points = 1};
    snprintf(out->optim, sizeof out->optim, "steps=%d", o.steps);
    snprintf(out->race, sizeof out->race, "%.*s", pes_length(plan, arms_of(plan, &o, o.model)), plan->pes);
    return true;
}

void pw_blog_script(const struct pw_blog_plan *plan, const struct pw_blog *given, struct pw_str *out)
{
    const struct pw_blog all = with_seeds(plan, given), *o = &all;
    for (int k = 1; k <= o->seeds; k++) {
        struct pw_blog one = *given;
        struct pw_plan of;
        one.model = k;
        pw_blog_plan_model(plan, &one, &of);
        pw_suite_start(&of, out);
        pw_str_add(out, "train\n");
        for (int arm = 1; arm <= arms_of(plan, o, k); arm++)
            pw_str_add(out, "probe %s arm=%d\n", plan->probe, arm);
        pw_str_add(out, "judge %s", plan->name);
        pw_opt_print(pw_blog_opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

/* ---- one model */

static const struct pw_block *find_block(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strncmp(f->blocks[i].title, title, strlen(title)) == 0)
            return &f->blocks[i];
    return NULL;
}

static double number_of(const struct pw_finding *f, const struct pw_blog_number *n)
{
    const struct pw_block *b = find_block(f, n->block);
    double least = INFINITY, most = -INFINITY, sum = 0;
    int cells = 0;
    for (int r = n->first; b != NULL && r<b->rows; r += n->every> 0 ? n->every : 1)
        for (int c = n->col < 0 ? 0 : n->col; c < (n->col < 0 ? b->cols : n->col + 1); c++) {
            double v = pw_finding_cell(f, b, r, c);
            if (isnan(v))
                continue;
            least = v < least ? v : least;
            most = v > most ? v : most;
            sum += v;
            cells++;
        }
    return cells == 0 ? NAN : n->of == PW_OF_LEAST ? least : n->of == PW_OF_MOST ? most : sum / cells;
}

/* Find the probe's finding about the present model of an arm, measured after `steps` steps. */
static enum pw_code find_arm(const struct pw_finding **f, const struct pw_blog_plan *plan, int steps, int arm,
                             const struct pw_snapshot *s, struct pw_err *err)
{
    char topic[16];
    snprintf(topic, sizeof topic, "%d", arm);
    const struct pw_finding_view *v = pw_finding_of(s, plan->probe, topic);
    if (v == NULL)
        return pw_fail(err, PW_EUSER,
                       "judge %s: no finding '%s' about arm %d: run 'reproduce %s', which measures it",
                       plan->name, plan->probe, arm, plan->name);
    if (v->f_seq < s->arms[arm - 1].pe_seq)
        return pw_fail(err, PW_EUSER, "judge %s: the finding '%s' is older than arm %d: measure it again",
                       plan->name, plan->probe, arm);
    if (v->step != steps)
        return pw_fail(err, PW_EUSER, "judge %s: arm %d was measured after %lld steps: the study needs %d",
                       plan->name, arm, (long long)v->step, steps);
    *f = &v->f;
    return PW_OK;
}

void pw_blog_add_claims(struct pw_finding *f, const struct pw_finding *from)
{
    for (int i = 0; i < from->n_claims; i++) {
        const struct pw_claim *c = &from->claims[i];
        int at = 0;
        while (at < f->n_claims && strcmp(f->claims[at].claim, c->claim) != 0)
            at++;
        if (at == f->n_claims)
            pw_finding_claim(f, (enum pw_claim_verdict)c->verdict, c->claim, "%s", c->found);
        else if (c->verdict > f->claims[at].verdict)
            f->claims[at] = *c;
    }
}

void pw_blog_model_name(const struct pw_blog_plan *plan, const struct pw_blog *o, int k,
                        char topic[PW_FINDING_TOPIC], char title[PW_FINDING_TEXT])
{
    snprintf(topic, PW_FINDING_TOPIC, "model %d", k);
    snprintf(title, PW_FINDING_TEXT, "probe %s of %.*s after %d steps of copying random tokens, seed %d",
             plan->probe, pes_length(plan, arms_of(plan, o, k)), plan->pes, o->steps, o->seed + k - 1);
}

static enum pw_code judge_model(const struct pw_blog_plan *plan, const struct pw_blog *o,
                                const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    char topic[PW_FINDING_TOPIC], title[PW_FINDING_TEXT];
    int arms = arms_of(plan, o, o->model), claims = pw_blog_claims(plan), numbers = pw_blog_numbers(plan),
        length;
    if (o->model > o->seeds)
        return pw_fail(err, PW_EUSER, "judge %s: model=%d: the study has %d models", plan->name, o->model,
                       o->seeds);
    pw_blog_model_name(plan, o, o->model, topic, title);
    pw_finding_init(f, plan->name, topic, "%s", title);
    int judged = pw_finding_table(f, "numbers for the claims", 1, claims + 1);
    int table = numbers > 0 ? pw_finding_table(f, "comparison of the arms", arms, numbers) : -1;
    pw_finding_row(f, judged, 0, "seed %d", o->seed + o->model - 1);
    for (int c = 0; c < claims; c++)
        pw_finding_col(f, judged, c, "%s", plan->claims[c].what);
    pw_finding_col(f, judged, claims, "control");
    for (int k = 0; k < numbers; k++)
        pw_finding_col(f, table, k, "%s", plan->numbers[k].name);
    for (int arm = 1; arm <= arms; arm++) {
        const struct pw_finding *of = NULL;
        enum pw_code code = find_arm(&of, plan, o->steps, arm, s, err);
        if (code != PW_OK)
            return code;
        const char *pe = pe_of(plan, arm, &length);
        for (int k = 0; k < numbers; k++) {
            pw_finding_row(f, table, arm - 1, "%d %.*s", arm, length, pe);
            pw_finding_put(f, table, arm - 1, k, number_of(of, &plan->numbers[k]));
        }
        for (int c = 0; c < claims; c++) {
            const struct pw_blog_claim *claim = &plan->claims[c];
            if (claim->arm == arm)
                pw_finding_put(f, judged, 0, c,
                               number_of(of, &claim->of) -
                                   (claim->before.block != NULL ? number_of(of, &claim->before) : 0));
        }
        if (plan->control != NULL) {
            double v = number_of(of, plan->control), most = pw_finding_cell(f, &f->blocks[judged], 0, claims);
            pw_finding_put(f, judged, 0, claims, v > most || isnan(most) ? v : most);
        }
        pw_blog_add_claims(f, of);
    }
    return PW_OK;
}

static void copy_plot(struct pw_finding *f, const struct pw_finding *from, const char *plot, const char *pe,
                      int length)
{
    const struct pw_block *b = find_block(from, plot);
    char title[PW_FINDING_TEXT];
    if (b == NULL)
        return;
    snprintf(title, sizeof title, "%.*s: %.200s", length, pe, b->title);
    int at = pw_finding_plot(f, title, b->x, b->y, b->rows, b->cols, b->band);
    struct pw_block *k = &f->blocks[at];
    k->log_x = b->log_x;
    k->log_y = b->log_y;
    k->n_reference = b->n_reference;
    memcpy(f->values + k->value, from->values + b->value, (size_t)b->n_values * sizeof *f->values);
    memcpy(f->labels + k->label, from->labels + b->label, (size_t)b->n_labels * sizeof *f->labels);
}

enum pw_code pw_blog_add_plots(const struct pw_blog_plan *plan, int steps, const struct pw_snapshot *s,
                               struct pw_finding *f, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int arm = 1; arm <= pw_blog_arms(plan) && code == PW_OK; arm++) {
        const struct pw_finding *of = NULL;
        int length;
        const char *pe = pe_of(plan, arm, &length);
        code = find_arm(&of, plan, steps, arm, s, err);
        if (code == PW_OK)
            copy_plot(f, of, plan->plot, pe, length);
    }
    return code;
}

enum pw_code pw_blog_judge(const struct pw_blog_plan *plan, const struct pw_blog *o,
                           const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_blog all = with_seeds(plan, o);
    return o->model > 0 ? judge_model(plan, &all, s, f, err) : pw_blog_judge_models(plan, &all, s, f, err);
}
