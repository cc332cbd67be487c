/* lengths_judge.c - the verdict of the study `lengths` on one task: are the encodings in the paper's order,
 * and is NoPE in the same league as the best in range?
 *
 * Two orders are judged, both fixed in advance. The first uses the paper's encodings: T5 with 32 buckets up
 * to distance 128, rotary on a quarter of the head (the released code; the paper's text says the whole head).
 * At toy size, the second uses T5's table scaled to the toy's lengths (pw_suite_t5). Rotary on the whole head
 * is shown but not judged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "reproduce/lengths.h"

#define LEAGUE 0.10 /* NoPE in range: the same league if it is at most this far below the best encoding */
#define OTHER  0.25 /* another league if it is more than this far below */

/* The label of an arm: "t5 32/128", "rotary 2 of 8", or the encoding's name. dims=0 is the whole head. */
static void short_name(char out[PW_FINDING_LABEL], const struct pw_arm_view *a)
{
    int x, y, dims = 0, head = a->info.heads > 0 ? a->info.width / a->info.heads : 0;
    bool rotary = strcmp(a->info.name, "rotary") == 0;
    const char *turns = rotary ? strstr(a->info.pe, " dims=") : NULL;
    if (sscanf(a->info.pe, "t5 buckets=%d distance=%d", &x, &y) == 2)
        snprintf(out, PW_FINDING_LABEL, "t5 %d/%d", x, y);
    else if (turns != NULL && sscanf(turns, " dims=%d", &dims) == 1 && dims > 0 && dims != head)
        snprintf(out, PW_FINDING_LABEL, "rotary %d of %d", dims, head);
    else if (rotary)
        snprintf(out, PW_FINDING_LABEL, "rotary, whole head");
    else
        pw_text_copy(out, PW_FINDING_LABEL, a->info.name);
}

/* Is this the label of the encoding with the paper's settings? */
static bool is_papers(const char *label, int pe)
{
    int dims, width;
    if (pe == PW_PAPER_T5)
        return strcmp(label, "t5 32/128") == 0;
    if (pe == PW_PAPER_ROTARY)
        return sscanf(label, "rotary %d of %d", &dims, &width) == 2 &&
               dims == (width >= 8 ? width / 8 * 2 : 2);
    return strcmp(label, pw_paper_pe_names[pe]) == 0;
}

int pw_length_row(const struct pw_finding *f, int pe)
{
    const struct pw_block *b = &f->blocks[1];
    for (int i = 0; i < b->rows; i++)
        if (is_papers(pw_finding_row_name(f, b, i), pe))
            return i;
    return -1;
}

bool pw_length_learned(const struct pw_finding *f, char name[PW_FINDING_LABEL])
{
    const struct pw_block *b = &f->blocks[1];
    for (int pe = 0; pe < PW_PAPER_PES; pe++) {
        int row = pw_length_row(f, pe);
        if (row >= 0 && pw_finding_cell(f, b, row, PW_LENGTHS_IN) >= 100 * PW_ORDER_LEARNED)
            continue;
        snprintf(name, PW_FINDING_LABEL, "%s", pw_paper_pe_names[pe]);
        return false;
    }
    return true;
}

struct result {
    int n;
    const struct pw_arm_view *arm[PW_MAX_ARMS];
    struct pw_runs runs[PW_MAX_ARMS];
    char name[PW_MAX_ARMS][PW_FINDING_LABEL];
};

static struct result collect(const struct pw_length_study *o, const struct pw_snapshot *s)
{
    struct result r = {.n = 0};
    r.n = pw_evaluated(s, r.arm);
    for (int i = 0; i < r.n; i++) {
        pw_suite_runs(s, r.arm[i], pw_checkpoint_points(o->checkpoint, o->protocol), &r.runs[i]);
        short_name(r.name[i], r.arm[i]);
    }
    return r;
}

/* ---- the measurements */

static void draw_lengths(struct pw_finding *f, const struct result *r)
{
    const struct pw_ev_eval *e = &r->arm[0]->rep[0].eval;
    int plot = pw_finding_plot(f, "exact match by length after the last step, median and range over replicas",
                               "length", "exact match", e->n, r->n, true);
    for (int k = 0; k < r->n; k++)
        pw_finding_name(f, plot, k, "%s", r->name[k]);
    for (int i = 0; i < e->n; i++) {
        pw_finding_x(f, plot, i, e->rows[i].length);
        for (int k = 0; k < r->n; k++) {
            struct pw_spread x = pw_spread_at(r->arm[k], e->rows[i].task, e->rows[i].length);
            pw_finding_band(f, plot, i, k, (double)x.median, (double)x.lo, (double)x.hi);
        }
    }
}

static void name_columns(struct pw_finding *f, int table, const struct result *r)
{
    pw_finding_col(f, table, PW_LENGTHS_IN, "in range, median");
    pw_finding_col(f, table, PW_LENGTHS_IN_LEAST, "least");
    pw_finding_col(f, table, PW_LENGTHS_BEYOND, "longer, mean");
    pw_finding_col(f, table, PW_LENGTHS_BEYOND_LO, "95 %% from");
    pw_finding_col(f, table, PW_LENGTHS_BEYOND_HI, "to");
    pw_finding_col(f, table, PW_LENGTHS_PAPER, "paper");
    for (int k = 0; k < r->runs[0].n; k++)
        pw_finding_col(f, table, PW_LENGTHS_SEEDS + k, "longer, seed %d", (int)r->arm[0]->info.seed + k);
}

static void tabulate(struct pw_finding *f, const struct pw_length_study *o, const struct result *r,
                     const struct pw_suite_task *t)
{
    char title[PW_FINDING_TEXT];
    snprintf(title, sizeof title, "mean exact match over lengths, per cent, %s",
             pw_checkpoint_text(pw_checkpoint_points(o->checkpoint, o->protocol)));
    int table = pw_finding_table(f, title, r->n, PW_LENGTHS_SEEDS + r->runs[0].n);
    f->blocks[table].decimals = 1;
    name_columns(f, table, r);
    for (int i = 0; i < r->n; i++) {
        const struct pw_runs *x = &r->runs[i];
        struct pw_interval beyond = pw_mean_interval(x->beyond, x->n);
        struct pw_spread in_range = pw_runs_spread(x->in_range, x->n);
        pw_finding_row(f, table, i, "%s", r->name[i]);
        pw_finding_put(f, table, i, PW_LENGTHS_IN, 100 * (double)in_range.median);
        pw_finding_put(f, table, i, PW_LENGTHS_IN_LEAST, 100 * (double)in_range.lo);
        pw_finding_put(f, table, i, PW_LENGTHS_BEYOND, 100 * beyond.mean);
        pw_finding_put(f, table, i, PW_LENGTHS_BEYOND_LO, 100 * beyond.lo);
        pw_finding_put(f, table, i, PW_LENGTHS_BEYOND_HI, 100 * beyond.hi);
        for (int pe = 0; pe < PW_PAPER_PES && t != NULL; pe++)
            if (is_papers(r->name[i], pe) && t->beyond[pe] >= 0)
                pw_finding_put(f, table, i, PW_LENGTHS_PAPER, (double)t->beyond[pe]);
        for (int k = 0; k < x->n && k < r->runs[0].n; k++)
            pw_finding_put(f, table, i, PW_LENGTHS_SEEDS + k, 100 * x->beyond[k]);
    }
}

/* ---- order */

/* Choose the runs of the paper's encodings; for T5 those with the table `t5`. */
static void choose(const struct result *r, const char *t5, struct pw_runs out[PW_PAPER_PES])
{
    for (int pe = 0; pe < PW_PAPER_PES; pe++) {
        out[pe] = (struct pw_runs){.n = 0};
        for (int i = 0; i < r->n; i++)
            if (pe == PW_PAPER_T5 ? strcmp(r->name[i], t5) == 0 : is_papers(r->name[i], pe))
                out[pe] = r->runs[i];
    }
}

static enum pw_claim_verdict claim_order(struct pw_finding *f, const struct pw_length_study *o,
                                         const struct result *r, const struct pw_suite_task *t,
                                         const char *t5, bool scaled)
{
    struct pw_order order = {0};
    struct pw_runs runs[PW_PAPER_PES];
    char claim[PW_FINDING_TEXT], found[PW_FINDING_TEXT];
    choose(r, t5, runs);
    pw_order_compare_all(&order, runs, t->beyond);
    pw_order_text(&order, found, sizeof found);
    snprintf(claim, sizeof claim, "Kazemnejad et al. 2023, %s: the order of the encodings on %s%s%s%s",
             t->from, t->name,
             scaled ? ", T5's table scaled to the lengths at toy size ("
                    : ", encodings with the paper's settings (",
             t5, scaled ? ")" : ", rotary on a quarter of the head)");
    enum pw_claim_verdict verdict = pw_order_verdict(&order, pw_protocol_size(o->protocol, o->steps));
    pw_finding_claim(f, verdict, claim, "%d replicas from seed %d, %d steps, %s: %s", r->runs[0].n,
                     (int)r->arm[0]->info.seed, (int)r->arm[0]->info.step,
                     pw_checkpoint_points(o->checkpoint, o->protocol) > 1 ? "best checkpoint in range"
                                                                          : "last step",
                     found);
    return verdict;
}

static void claim_orders(struct pw_finding *f, const struct pw_length_study *o, const struct result *r,
                         const struct pw_suite_task *t)
{
    int buckets, distance;
    char scaled[PW_FINDING_LABEL];
    if (t == NULL || t->from == NULL) {
        pw_finding_remark(
            f, "the paper's figures print no numbers for this task, so there is no claim about the order");
        return;
    }
    enum pw_claim_verdict papers = claim_order(f, o, r, t, "t5 32/128", false);
    if (o->protocol == PW_PROTOCOL_PAPER)
        return;
    pw_suite_t5(t, &buckets, &distance);
    snprintf(scaled, sizeof scaled, "t5 %d/%d", buckets, distance);
    if (buckets == 32 && distance == 128) {
        pw_finding_remark(f, "T5's table needs no scaling: the sequences are as long as the paper's");
        return;
    }
    enum pw_claim_verdict other = claim_order(f, o, r, t, scaled, true);
    pw_finding_remark(
        f, "T5 %d/%d is 32/128 scaled by %d/%d, the longest distances in training here and in the paper",
        buckets, distance, t->toy_far, t->paper_far);
    if (other == PW_CLAIM_TOY && papers != PW_CLAIM_TOY)
        pw_finding_remark(
            f, "the paper's order holds only with the scaled T5; with the paper's 32/128 the verdict is '%s'",
            pw_claim_verdicts[papers]);
}

/* ---- in range */

static void claim_league(struct pw_finding *f, const struct pw_length_study *o, const struct result *r)
{
    double none = NAN, best = NAN;
    const char *name = "";
    char claim[PW_FINDING_TEXT];
    int seeds = r->runs[0].n;
    for (int i = 0; i < r->n; i++) {
        double x = pw_runs_mean(r->runs[i].in_range, r->runs[i].n);
        if (strcmp(r->name[i], "none") == 0)
            none = x;
        else if (isnan(best) || x > best) {
            best = x;
            name = r->name[i];
        }
    }
    if (isnan(none) || isnan(best))
        return;
    snprintf(claim, sizeof claim,
             "Su 2024 (kexue.fm 10347): causal attention without an encoding is in the same league as with "
             "one, on %.80s",
             o->task);
    pw_finding_claim(f,
                     best < PW_ORDER_LEARNED || seeds < PW_ORDER_SEEDS ? PW_CLAIM_INCONCLUSIVE
                     : none >= best - LEAGUE                           ? PW_CLAIM_TOY
                     : none < best - OTHER                             ? PW_CLAIM_CONTRADICTED
                                                                       : PW_CLAIM_INCONCLUSIVE,
                     claim,
                     "in range, mean over %d replicas: none %.1f %%, the best encoding (%s) %.1f %% (same "
                     "league: within %g points; another league: more than %g)",
                     seeds, 100 * none, name, 100 * best, 100 * LEAGUE, 100 * OTHER);
}

/* ---- the finding */

static void remark_deviations(struct pw_finding *f, const struct pw_length_study *o,
                              const struct pw_snapshot *s, const struct result *r,
                              const struct pw_suite_task *t)
{
    for (int i = 0; i < r->n; i++) {
        double in = (double)pw_runs_spread(r->runs[i].in_range, r->runs[i].n).median;
        if (!(in >= PW_ORDER_LEARNED))
            pw_finding_remark(
                f,
                "%s hasn't learned the trained lengths (median %.1f %%, %g needed), so it isn't comparable",
                r->name[i], 100 * in, 100 * PW_ORDER_LEARNED);
    }
    if (r->runs[0].n < PW_ORDER_SEEDS)
        pw_finding_remark(f, "with %d replicas, no pair is comparable: at least %d are needed", r->runs[0].n,
                          PW_ORDER_SEEDS);
    if (r->runs[0].chance_beyond > 0)
        pw_finding_remark(f, "random guesses in the format of the answers reach %.1f %% on longer inputs",
                          100 * r->runs[0].chance_beyond);
    if (o->protocol == PW_PROTOCOL_TOY)
        pw_finding_remark(f,
                          "rotary rotates a quarter of the head in the released code, but the whole head by "
                          "the paper's text: the quarter is judged, the whole head is shown for comparison");
    if (t != NULL && t->tuned && o->protocol == PW_PROTOCOL_TOY)
        pw_finding_remark(
            f,
            "the settings of the toy size were tuned on this task, with seeds 0 to 4 and the encoding none");
    pw_finding_remark(
        f, "trained on lengths %d to %d; the text has the form of the paper's, with pewter's own vocabulary",
        s->lab.tasks[0].train_lo, s->lab.tasks[0].train_hi);
}

enum pw_code pw_length_judge(const struct pw_length_study *o, const struct pw_snapshot *s,
                             struct pw_finding *f, struct pw_err *err)
{
    const struct pw_suite_task *t = pw_suite_find(o->task);
    struct result r = collect(o, s);
    if (r.n == 0)
        return pw_fail(err, PW_EUSER, "judge lengths: no arm has been evaluated: run 'reproduce lengths'");
    pw_finding_init(f, "lengths", o->task,
                    "accuracy by length on %.80s: %d encodings, %d replicas from seed %d, %d steps, %s",
                    o->task, r.n, r.runs[0].n, (int)r.arm[0]->info.seed, (int)r.arm[0]->info.step,
                    r.arm[0]->info.model);
    draw_lengths(f, &r);
    tabulate(f, o, &r, t);
    claim_orders(f, o, &r, t);
    claim_league(f, o, &r);
    remark_deviations(f, o, s, &r, t);
    return PW_OK;
}
