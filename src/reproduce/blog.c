/* blog.c - see blog.h. */
#include "reproduce/blog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct pw_opt pw_blog_opts[] = {
    {"steps", PW_OPT_INT, offsetof(struct pw_blog, steps), "600", 1, 1e6, NULL, 0,
     "of training, each encoding"},
    {"seed", PW_OPT_INT, offsetof(struct pw_blog, seed), "1", 0, 1e9, NULL, 0, "of models, data and probes"},
    {0},
};

static int count_arms(const struct pw_blog_plan *plan)
{
    int arms = 1;
    for (const char *p = plan->pes; *p != '\0'; p++)
        arms += *p == ',';
    return arms;
}

/* The encoding of arm 1, 2, ... and how long its name is. */
static const char *pe_of(const struct pw_blog_plan *plan, int arm, int *length)
{
    const char *p = plan->pes;
    while (--arm > 0)
        p = strchr(p, ',') + 1;
    *length = (int)strcspn(p, ",");
    return p;
}

void pw_blog_script(const struct pw_blog_plan *plan, const struct pw_blog *o, struct pw_str *out)
{
    pw_str_add(out, "seed %d\ntask copy variant=rdc\nmodel tiny\noptim steps=%d\nrace %s\ntrain %d\n",
               o->seed, o->steps, plan->pes, o->steps);
    for (int arm = 1; arm <= count_arms(plan); arm++)
        pw_str_add(out, "probe %s arm=%d\n", plan->probe, arm);
}

/* ---- the arms side by side */

static const struct pw_block *block_of(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strncmp(f->blocks[i].title, title, strlen(title)) == 0)
            return &f->blocks[i];
    return NULL;
}

static double number_of(const struct pw_finding *f, const struct pw_blog_number *n)
{
    const struct pw_block *b = block_of(f, n->block);
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

static void copy_plot(struct pw_finding *f, const struct pw_finding *from, const char *plot, const char *pe,
                      int length)
{
    const struct pw_block *b = block_of(from, plot);
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

static void add_claims(struct pw_finding *f, const struct pw_finding *from)
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

enum pw_code pw_blog_judge(const struct pw_blog_plan *plan, const struct pw_blog *o,
                           const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    int arms = count_arms(plan), n = 0, length;
    while (plan->numbers != NULL && plan->numbers[n].name != NULL)
        n++;
    pw_finding_init(f, plan->name, plan->pes,
                    "probe %s of arms after %d steps of copying random tokens, seed %d", plan->probe,
                    o->steps, o->seed);
    int b = n > 0 ? pw_finding_table(f, "the arms side by side", arms, n) : -1;
    for (int k = 0; k < n; k++)
        pw_finding_col(f, b, k, "%s", plan->numbers[k].name);
    for (int arm = 1; arm <= arms; arm++) {
        const char *pe = pe_of(plan, arm, &length);
        char topic[16];
        snprintf(topic, sizeof topic, "%d", arm);
        const struct pw_finding_view *v = pw_finding_of(s, plan->probe, topic);
        if (v == NULL)
            return pw_fail(
                err, PW_EUSER,
                "judge %s: there is no finding '%s' about arm %d; 'reproduce %s' measures all it takes",
                plan->name, plan->probe, arm, plan->name);
        for (int k = 0; k < n; k++) {
            pw_finding_row(f, b, arm - 1, "%d %.*s", arm, length, pe);
            pw_finding_put(f, b, arm - 1, k, number_of(&v->f, &plan->numbers[k]));
        }
        copy_plot(f, &v->f, plan->plot, pe, length);
        add_claims(f, &v->f);
    }
    return PW_OK;
}
