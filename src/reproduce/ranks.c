/* ranks.c - the mean reciprocal rank of each encoding over tasks and seeds (Kazemnejad et al. 2023, Figures 1
 * and 2).
 *
 * On every task and seed the encodings are ranked by their mean exact match on longer inputs. Encodings that
 * tie share the mean of their ranks: the released code gives ties to the row that comes first, and on these
 * tasks ties at 0 and 1 are common. Of encodings that have two arms the first one counts, and a task counts
 * where all five were trained. */
#include <math.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

/* The paper's means over (task, seed): all 17 tasks, and by group. */
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
static const struct pw_opt opts[] = {{.name = "group",
                                      .type = PW_OPT_CHOICE,
                                      .offset = AT(group),
                                      .def = "quick",
                                      .choices = pw_suite_groups + 1,
                                      .help = "of the paper's tasks, as `reproduce lengths` takes it"},
                                     {.name = "protocol",
                                      .type = PW_OPT_CHOICE,
                                      .offset = AT(protocol),
                                      .def = "toy",
                                      .choices = pw_protocols,
                                      .help = "as `reproduce lengths` takes it"},
                                     {.name = "seeds",
                                      .type = PW_OPT_INT,
                                      .offset = AT(seeds),
                                      .def = "3",
                                      .min = 1,
                                      .max = PW_MAX_REPLICATES,
                                      .help = "of each encoding"},
                                     {.name = NULL}};
#undef AT

static int group_of(const struct options *o)
{
    return o->group + 1; /* without "one" */
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    pw_str_add(out, "reproduce lengths group=%s protocol=%s seeds=%d figure=off\n",
               pw_suite_groups[group_of(o)], pw_protocols[o->protocol], o->seeds);
}

/* The row of an encoding in a table of lengths; -1: it has none. */
static int row_of(const struct pw_finding *f, const struct pw_block *b, const char *pe)
{
    size_t n = strlen(pe);
    for (int i = 0; i < b->rows; i++) {
        const char *name = pw_finding_row_name(f, b, i);
        if (strncmp(name, pe, n) == 0 && (name[n] == '\0' || name[n] == ' '))
            return i;
    }
    return -1;
}

/* 1 over the rank of entry i of n, ties at the mean of their ranks. */
static double reciprocal_rank(const double *x, int n, int i)
{
    int better = 0, same = 0;
    for (int k = 0; k < n; k++) {
        better += x[k] > x[i];
        same += x[k] == x[i];
    }
    return 1 / (better + (same + 1) / 2.0);
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    double sum[PW_PAPER_PES] = {0};
    int cases = 0, tasks = 0;
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++) {
        const struct pw_finding_view *v = pw_finding_of(s, "lengths", t->name);
        int row[PW_PAPER_PES];
        bool whole = v != NULL && pw_suite_has(t, group_of(o));
        const struct pw_block *b = whole ? &v->f.blocks[1] : NULL; /* the table of lengths.c */
        for (int i = 0; whole && i < PW_PAPER_PES; i++)
            whole = (row[i] = row_of(&v->f, b, pw_paper_pe_names[i])) >= 0;
        tasks += whole;
        for (int k = 3; whole && k < b->cols; k++, cases++) {
            double x[PW_PAPER_PES];
            for (int i = 0; i < PW_PAPER_PES; i++)
                x[i] = pw_finding_cell(&v->f, b, row[i], k);
            for (int i = 0; i < PW_PAPER_PES; i++)
                sum[i] += reciprocal_rank(x, PW_PAPER_PES, i);
        }
    }
    if (cases == 0)
        return pw_fail(err, PW_EUSER, "judge ranks: no task was measured; 'reproduce ranks' does it all");
    pw_finding_init(f, "ranks", "",
                    "mean reciprocal rank beyond the trained lengths: %d tasks, %d cases of task and "
                    "seed",
                    tasks, cases);
    int group = group_of(o) == PW_SUITE_QUICK ? PW_SUITE_ALL : group_of(o);
    int table = pw_finding_table(f, "mean reciprocal rank, ties at the mean of their ranks", PW_PAPER_PES, 2);
    struct pw_order order = {0};
    double ours[PW_PAPER_PES];
    float theirs[PW_PAPER_PES];
    f->blocks[table].decimals = 3;
    pw_finding_col(f, table, 0, "here");
    pw_finding_col(f, table, 1, "paper, %s", pw_suite_groups[group]);
    for (int i = 0; i < PW_PAPER_PES; i++) {
        ours[i] = sum[i] / cases;
        theirs[i] = 100 * paper[group][i];
        pw_finding_row(f, table, i, "%s", pw_paper_pe_names[i]);
        pw_finding_put(f, table, i, 0, ours[i]);
        pw_finding_put(f, table, i, 1, (double)paper[group][i]);
    }
    pw_order_add(&order, ours, theirs);
    pw_finding_claim(
        f, pw_order_verdict(&order, o->protocol),
        "Kazemnejad et al. 2023, Figures 1 and 2: the encodings by mean reciprocal rank",
        "of %d pairs that the paper parts by 0.1 or more %d are in its order, %d in the opposite one",
        order.pairs, order.alike, order.opposite);
    pw_finding_remark(
        f, "the released code breaks ties by the order of rows; here they share the mean of their ranks");
    return PW_OK;
}

const struct pw_study pw_study_ranks = {
    .name = "ranks",
    .document = "Kazemnejad et al. 2023, Figures 1 and 2",
    .summary = "the encodings by mean reciprocal rank over tasks and seeds",
    .detail = "It runs `reproduce lengths` on the tasks of a group first. `judge ranks group=all` ranks by "
              "whatever\n"
              "was measured so far.",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .judge = judge,
    .finding = "ranks",
};
