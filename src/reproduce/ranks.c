/* ranks.c - the study `ranks`: the mean reciprocal rank of each encoding over tasks and seeds (Kazemnejad et
 * al. 2023, Figures 1 and 2).
 *
 * On every task and seed the encodings are ranked by their mean exact match on longer inputs. Tied encodings
 * share the mean of their ranks. The released code gives the better rank to the row that comes first, and
 * ties at 0 and 1 are common on these tasks. The encodings have the paper's settings (T5 32/128, rotary on a
 * quarter of the head). A task counts if all five learned its trained lengths; the others are listed.
 *
 * Comparisons use equal sets of tasks. The paper prints a mean over its 17 tasks and one for each group, so
 * these are compared only if every one of their tasks counts. Otherwise the paper's ranks are computed from
 * its mean accuracies on those tasks that count and for which its figures print all five. Ours are then the
 * ranks of our means on the same tasks. A pair of encodings is ordered if the sign-flip test over tasks is
 * significant (p < 0.05, base/stats.h). This takes at least six tasks, each with PW_ORDER_SEEDS seeds. */
#include <math.h>
#include <stdio.h>

#include "base/stats.h"
#include "reproduce/lengths.h"
#include "reproduce/study.h"

#define P 0.05 /* of the sign-flip test over tasks; fewer than six tasks can't reach it */

/* The paper's means over (task, seed): of all 17 tasks, and of each group. */
static const float paper[][PW_PAPER_PES] = {
    [PW_SUITE_PRIMITIVE] = {0.799f, 0.597f, 0.434f, 0.243f, 0.211f},
    [PW_SUITE_REASONING] = {0.613f, 0.449f, 0.593f, 0.404f, 0.225f},
    [PW_SUITE_CLASSIC] = {0.500f, 0.708f, 0.458f, 0.417f, 0.200f},
    [PW_SUITE_ALL] = {0.687f, 0.549f, 0.502f, 0.330f, 0.215f},
};

struct options {
    int group, protocol, seeds;
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {"group", PW_OPT_CHOICE, AT(group), "quick", 0, 0, pw_suite_groups + 1, 0,
     "group of the paper's tasks, as in `reproduce lengths`"},
    {"protocol", PW_OPT_CHOICE, AT(protocol), "toy", 0, 0, pw_protocols, 0, "as in `reproduce lengths`"},
    {"seeds", PW_OPT_INT, AT(seeds), PW_STUDY_SEEDS, 1, PW_MAX_REPLICAS, NULL, 0, "replicas per encoding"},
    {0},
};
#undef AT

static int group_of(const struct options *o)
{
    return o->group + 1; /* skips "one" */
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    pw_str_add(out, "reproduce lengths group=%s protocol=%s seeds=%d figure=off\n",
               pw_suite_groups[group_of(o)], pw_protocols[o->protocol], o->seeds);
}

/* The tasks that count, and their reciprocal ranks. */
struct tally {
    /* number of tasks that count, and of the group's tasks; tasks times seeds; tasks with five numbers in
     * the paper */
    int tasks, asked, cases, printed;
    double by_seed[PW_PAPER_PES];                 /* means over tasks and seeds */
    double ours[PW_MAX_FINDINGS][PW_PAPER_PES];   /* of the mean over seeds, on each task */
    double theirs[PW_MAX_FINDINGS][PW_PAPER_PES]; /* of the paper's accuracies; NaN: not printed */
};

static void rank(const double x[PW_PAPER_PES], double out[PW_PAPER_PES])
{
    for (int i = 0; i < PW_PAPER_PES; i++)
        out[i] = pw_reciprocal_rank(x, PW_PAPER_PES, i);
}

/* Add a task whose trained lengths all encodings learned. */
static void add_task(struct tally *y, const struct pw_suite_task *t, const struct pw_finding *f)
{
    const struct pw_block *b = &f->blocks[1];
    double x[PW_PAPER_PES], r[PW_PAPER_PES];
    bool printed = t->from != NULL;
    for (int k = PW_LENGTHS_SEEDS; k < b->cols; k++, y->cases++) {
        for (int i = 0; i < PW_PAPER_PES; i++)
            x[i] = pw_finding_cell(f, b, pw_length_row(f, i), k);
        rank(x, r);
        for (int i = 0; i < PW_PAPER_PES; i++)
            y->by_seed[i] += r[i];
    }
    for (int i = 0; i < PW_PAPER_PES; i++) {
        x[i] = pw_finding_cell(f, b, pw_length_row(f, i), PW_LENGTHS_BEYOND);
        printed = printed && t->beyond[i] >= 0;
    }
    rank(x, y->ours[y->tasks]);
    for (int i = 0; i < PW_PAPER_PES; i++)
        x[i] = (double)t->beyond[i];
    rank(x, y->theirs[y->tasks]);
    for (int i = 0; i < PW_PAPER_PES && !printed; i++)
        y->theirs[y->tasks][i] = NAN;
    y->printed += printed;
    y->tasks++;
}

/* Fails unless the task was measured with the settings of `reproduce ranks`. */
static enum pw_code check_made(const struct options *o, const struct pw_finding *f, struct pw_err *err)
{
    struct pw_length_study as_asked, made;
    pw_opt_defaults(pw_study_opts("lengths"), &as_asked);
    as_asked.protocol = o->protocol;
    as_asked.seeds = o->seeds;
    pw_length_as_made(&as_asked, f->topic, &made);
    return pw_finding_made_so(f, "lengths", &made, err);
}

/* Add the tasks that count; add a remark with the reason for each of the others. */
static enum pw_code collect(const struct options *o, const struct pw_snapshot *s, struct tally *y,
                            struct pw_finding *f, struct pw_err *err)
{
    char name[PW_FINDING_LABEL];
    enum pw_code code = PW_OK;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL && code == PW_OK; t++) {
        const struct pw_finding_view *v = pw_finding_of(s, "lengths", t->name);
        if (!pw_suite_has(t, group_of(o)))
            continue;
        y->asked++;
        if (v == NULL)
            pw_finding_remark(f, "%s is left out: it has not been measured", t->name);
        else if ((code = check_made(o, &v->f, err)) != PW_OK)
            break;
        else if (!pw_length_learned(&v->f, name))
            pw_finding_remark(f, "%s is left out: %s has not learned the trained lengths, or was not trained",
                              t->name, name);
        else
            add_task(y, t, &v->f);
    }
    for (int i = 0; i < PW_PAPER_PES && y->cases > 0; i++)
        y->by_seed[i] /= y->cases;
    return code;
}

static double mean_over(double x[][PW_PAPER_PES], int n, int pe)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i][pe];
    return sum / n;
}

/* Is the first encoding's reciprocal rank greater (1), less (-1) or undecided (0)? Tasks are the unit of the
 * test. */
static int order_of(const struct tally *y, int first, int second)
{
    double d[PW_MAX_FINDINGS], sum = 0;
    for (int i = 0; i < y->tasks; i++)
        sum += d[i] = y->ours[i][first] - y->ours[i][second];
    double p = pw_sign_flip(d, y->tasks);
    return !(p < P) ? 0 : sum > 0 ? 1 : -1;
}

static void claim_order(struct pw_finding *f, const struct options *o, const struct tally *y,
                        const double theirs[PW_PAPER_PES], const char *of)
{
    struct pw_order order = {0};
    char text[PW_FINDING_TEXT];
    for (int i = 0; i < PW_PAPER_PES; i++)
        for (int k = i + 1; k < PW_PAPER_PES; k++) {
            double apart = theirs[i] - theirs[k];
            int ours = order_of(y, i, k);
            if (isnan(apart) || fabs(apart) < PW_ORDER_PAPER)
                continue;
            order.pairs++;
            order.alike += ours != 0 && (ours > 0) == (apart > 0);
            order.opposite += ours != 0 && (ours > 0) != (apart > 0);
        }
    snprintf(text, sizeof text,
             "of %d pairs that differ by %g or more in the paper, %d are in its order, %d in the opposite "
             "order, %d undecided",
             order.pairs, PW_ORDER_PAPER, order.alike, order.opposite,
             order.pairs - order.alike - order.opposite);
    bool enough = y->cases >= PW_ORDER_SEEDS * y->tasks;
    pw_finding_claim(
        f, enough ? pw_order_verdict(&order, o->protocol) : PW_CLAIM_INCONCLUSIVE,
        "Kazemnejad et al. 2023, Figures 1 and 2: the order of the encodings by mean reciprocal rank",
        "%d of %d tasks count, %d replicas each; against the paper's %s: %s (sign-flip test over tasks, p < "
        "%g)",
        y->tasks, y->asked, y->cases / y->tasks, of, text, P);
}

static void judge_tally(const struct options *o, const struct tally *y, struct pw_finding *f)
{
    int group = group_of(o) == PW_SUITE_QUICK ? PW_SUITE_ALL : group_of(o);
    bool whole = y->tasks == y->asked && group_of(o) != PW_SUITE_QUICK, same = y->printed == y->tasks;
    double theirs[PW_PAPER_PES], ours;
    int table = pw_finding_table(f, "mean reciprocal rank; tied encodings share the mean of their ranks",
                                 PW_PAPER_PES, 4);
    f->blocks[table].decimals = 3;
    pw_finding_col(f, table, 0, "over tasks and seeds");
    pw_finding_col(f, table, 1, "of the means");
    pw_finding_col(f, table, 2, "paper, same tasks");
    pw_finding_col(f, table, 3, "paper, %s", pw_suite_groups[group]);
    for (int i = 0; i < PW_PAPER_PES; i++) {
        ours = mean_over((double(*)[PW_PAPER_PES])y->ours, y->tasks, i);
        theirs[i] =
            whole ? (double)paper[group][i] : mean_over((double(*)[PW_PAPER_PES])y->theirs, y->tasks, i);
        pw_finding_row(f, table, i, "%s", pw_paper_pe_names[i]);
        pw_finding_put(f, table, i, 0, y->by_seed[i]);
        pw_finding_put(f, table, i, 1, ours);
        pw_finding_put(f, table, i, 2, whole ? NAN : theirs[i]);
        pw_finding_put(f, table, i, 3, (double)paper[group][i]);
    }
    if (whole || same)
        claim_order(f, o, y, theirs,
                    whole ? "printed means over these tasks"
                          : "ranks by printed accuracies on the same tasks");
    else
        pw_finding_claim(
            f, PW_CLAIM_INCONCLUSIVE,
            "Kazemnejad et al. 2023, Figures 1 and 2: the order of the encodings by mean reciprocal rank",
            "%d of %d tasks count, but the paper prints the accuracies of all five encodings for only %d of "
            "them, so there is no comparison",
            y->tasks, y->asked, y->printed);
    if (y->cases < PW_ORDER_SEEDS * y->tasks)
        pw_finding_remark(f, "with %d replica%s per encoding, no claim is decided: at least %d are needed",
                          y->cases / y->tasks, y->cases == y->tasks ? "" : "s", PW_ORDER_SEEDS);
    if (!whole)
        pw_finding_remark(
            f, "the paper's printed means are over all its %s tasks, so they aren't compared with these",
            group == PW_SUITE_ALL ? "17" : pw_suite_groups[group]);
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    struct tally y = {0};
    struct pw_finding listed = {0};
    pw_finding_init(&listed, "ranks", "", " ");
    enum pw_code code = collect(o, s, &y, &listed, err);
    if (code == PW_OK && y.tasks > 0) {
        pw_finding_init(
            f, "ranks", "",
            "mean reciprocal rank beyond the trained lengths: %d of %d tasks, %d pairs of task and seed",
            y.tasks, y.asked, y.cases);
        judge_tally(o, &y, f);
        for (int i = 0; i < listed.n_remarks; i++)
            pw_finding_remark(f, "%s", listed.remarks[i].text);
        pw_finding_remark(f, "the released code breaks ties by the order of rows; here, tied encodings share "
                             "the mean of their ranks");
    }
    pw_finding_fini(&listed);
    if (code == PW_OK && y.tasks == 0)
        code = pw_fail(err, PW_EUSER,
                       "judge ranks: no task of the group was learned by all five encodings: run 'reproduce "
                       "ranks', which trains them");
    return code;
}

const struct pw_study pw_study_ranks = {
    .name = "ranks",
    .document = "Kazemnejad et al. 2023, Figures 1 and 2",
    .summary = "order of the encodings by mean reciprocal rank over tasks and seeds",
    .detail = "Runs `reproduce lengths` on the tasks of a group first. `judge ranks group=all` ranks the "
              "encodings by\nall results that `reproduce lengths` with these options has measured so far.",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .judge = judge,
    .finding = "ranks",
};
