/* suite.c - see suite.h.
 *
 * Numbers of formats without a scratchpad are read off the vector figures E.7 to E.13 (mean over unseen
 * lengths and three seeds), those of copying off Figure 3. The figures print none for the other copies, for
 * reversing, SCAN and PCFG; for copying random tokens the released results of a longer training have three.
 */
#include "reproduce/suite.h"

#include <math.h>
#include <string.h>

const char *const pw_paper_pe_names[PW_PAPER_PES] = {"none", "t5", "alibi", "rotary", "sinusoidal"};
const char *const pw_suite_groups[] = {"one", "quick", "primitive", "reasoning", "classic", "all", NULL};
const char *const pw_protocols[] = {"toy", "paper", NULL};

#define NOTHING -1, -1, -1, -1, -1
#define BINS    " text=paper data=100000"

/* clang-format off */
const struct pw_suite_task pw_suite[] = {
    {"copy rsc", PW_SUITE_PRIMITIVE, true, "copy variant=rsc",
     "copy variant=rsc alphabet=62 lengths=2..20" BINS, 800, "Figure 3", {98.6f, 77, 29, 0, 0}},
    {"copy rsc2x", PW_SUITE_PRIMITIVE, false, "copy variant=rsc2x",
     "copy variant=rsc2x alphabet=62 lengths=2..20" BINS, 1500, NULL, {NOTHING}},
    {"copy rdc", PW_SUITE_PRIMITIVE, false, "copy variant=rdc",
     "copy variant=rdc alphabet=62 lengths=2..20" BINS, 800, "Figure 3", {97, 94, 17, 2, 0}},
    {"copy cmc", PW_SUITE_PRIMITIVE, true, "copy variant=cmc alphabet=10",
     "copy variant=cmc alphabet=62 lengths=2..20" BINS, 2000, "released results", {63.5f, 92.5f, -1, -1, 4.9f}},
    {"copy cmc2x", PW_SUITE_PRIMITIVE, false, "copy variant=cmc2x alphabet=10",
     "copy variant=cmc2x alphabet=62 lengths=2..20" BINS, 2000, NULL, {NOTHING}},
    {"reverse mc", PW_SUITE_PRIMITIVE, false, "reverse variant=mc alphabet=10",
     "reverse variant=mc alphabet=62 lengths=2..20" BINS, 2000, NULL, {NOTHING}},
    {"reverse mc2x", PW_SUITE_PRIMITIVE, false, "reverse variant=mc2x alphabet=10",
     "reverse variant=mc2x alphabet=62 lengths=2..20" BINS, 2000, NULL, {NOTHING}},
    {"reverse mcrv", PW_SUITE_PRIMITIVE, false, "reverse variant=mcrv alphabet=10",
     "reverse variant=mcrv alphabet=62 lengths=2..20" BINS, 2000, NULL, {NOTHING}},
    {"addition", PW_SUITE_REASONING, false, "addition lengths=1..4 test=5..8",
     "addition lengths=1..8" BINS, 2000, "Figure E.7", {8.4f, 7.2f, 7.7f, 0, 0.4f}},
    {"summation", PW_SUITE_REASONING, false, "summation", "summation lengths=2..8" BINS, 1500, "Figure E.8",
     {30.1f, 22, 23, 8.6f, 10.9f}},
    {"parity", PW_SUITE_REASONING, false, "parity", "parity lengths=3..8" BINS, 1000, "Figure E.9",
     {74.9f, 68.1f, 61.7f, 51.2f, 52.9f}},
    {"sort single", PW_SUITE_REASONING, true, "sort", "sort alphabet=50 lengths=2..8" BINS, 1000,
     "Figure E.10", {99.5f, 98.7f, 62.3f, 48.9f, 10.2f}},
    {"sort multi", PW_SUITE_REASONING, false, "sort variant=multi", "sort variant=multi lengths=2..8" BINS, 2000,
     "Figure E.11", {26.4f, 37.1f, 29.5f, 75.1f, 11.2f}},
    {"polynomial", PW_SUITE_REASONING, false, "polynomial lengths=1..4 test=5..8", "polynomial lengths=1..8" BINS,
     2000, "Figure E.12", {38.7f, 36, 63.1f, 48.1f, 21.3f}},
    {"lego", PW_SUITE_REASONING, false, "lego", "lego lengths=4..8" BINS, 2000, "Figure E.13",
     {64.6f, 70.5f, 79.7f, 74.8f, 61}},
    {"scan", PW_SUITE_CLASSIC, false, "scan", "scan text=paper", 3000, NULL, {NOTHING}},
    {"pcfg", PW_SUITE_CLASSIC, false, "pcfg", "pcfg text=paper", 3000, NULL, {NOTHING}},
    {.name = NULL},
};
/* clang-format on */

bool pw_suite_has(const struct pw_suite_task *t, int group)
{
    return group == PW_SUITE_ALL || group == t->group || (group == PW_SUITE_QUICK && t->quick);
}

const struct pw_suite_task *pw_suite_find(const char *name)
{
    for (const struct pw_suite_task *t = pw_suite; t->name != NULL; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

void pw_suite_script(const struct pw_race_plan *p, const char *task, const struct pw_suite_task *t,
                     struct pw_str *out)
{
    static const char *const all[] = {
        "none,t5(buckets=8,distance=16),t5(buckets=32,distance=128),alibi,rotary,sinusoidal",
        "none,t5,alibi,rotary,sinusoidal"};
    bool paper = p->protocol == PW_PROTOCOL_PAPER;
    int steps = p->steps > 0 ? p->steps : t != NULL && !paper ? t->steps : 0;
    pw_str_add(out, "seed %d\ntask %s\nmodel %s%s%s\n", p->seed,
               task != NULL ? task
               : paper      ? t->paper
                            : t->toy,
               paper ? "paper" : "tiny", p->model != NULL ? " " : "", p->model != NULL ? p->model : "");
    if (steps > 0)
        pw_str_add(out, "optim steps=%d\n", steps);
    if (p->optim != NULL)
        pw_str_add(out, "optim %s\n", p->optim);
    pw_str_add(out, "race %s seeds=%d\ntrain\neval samples=%d\n",
               p->pes[0] != '\0' ? p->pes : all[p->protocol], p->seeds, p->samples);
}

int pw_evaluated(const struct pw_snapshot *s, const struct pw_arm_view *arms[PW_MAX_ARMS])
{
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used && s->arms[i].rep[0].eval.n > 0)
            arms[n++] = &s->arms[i];
    return n;
}

int pw_right_table(struct pw_finding *f, const char *title, const struct pw_snapshot *s,
                   const struct pw_arm_view *const *arms, int n, int more)
{
    int table = pw_finding_table(f, title, n, 2 + more);
    f->blocks[table].decimals = 1;
    pw_finding_col(f, table, 0, "in range");
    pw_finding_col(f, table, 1, "longer");
    for (int i = 0; i < n; i++) {
        pw_finding_row(f, table, i, "%s", arms[i]->info.name);
        pw_finding_put(f, table, i, 0, 100 * (double)pw_spread_mean(&s->lab, arms[i], false).median);
        pw_finding_put(f, table, i, 1, 100 * (double)pw_spread_mean(&s->lab, arms[i], true).median);
    }
    return table;
}

void pw_order_add_pair(struct pw_order *o, double ours, float first, float second)
{
    double theirs = (double)(first - second) / 100;
    if (first < 0 || second < 0 || fabs(theirs) < PW_ORDER_PAPER)
        return;
    o->pairs++;
    if (isnan(ours) || fabs(ours) < PW_ORDER_OURS)
        return;
    o->alike += (ours > 0) == (theirs > 0);
    o->opposite += (ours > 0) != (theirs > 0);
}

void pw_order_add(struct pw_order *o, const double *ours, const float *paper)
{
    for (int i = 0; i < PW_PAPER_PES; i++)
        for (int k = i + 1; k < PW_PAPER_PES; k++)
            pw_order_add_pair(o, ours[i] - ours[k], paper[i], paper[k]);
}

enum pw_claim_verdict pw_order_verdict(const struct pw_order *o, int protocol)
{
    if (o->opposite > o->alike)
        return PW_CLAIM_CONTRADICTED;
    if (o->pairs == 0 || o->opposite > 0 || 4 * o->alike < 3 * o->pairs)
        return PW_CLAIM_INCONCLUSIVE;
    return protocol == PW_PROTOCOL_PAPER ? PW_CLAIM_REPRODUCED : PW_CLAIM_TOY;
}
