/* order.c - are encodings in the paper's order, by more than the variation between seeds? suite.h has the
 * rule. */
#include <math.h>
#include <stdio.h>

#include "base/stats.h"
#include "reproduce/suite.h"

double pw_runs_mean(const double *x, int n)
{
    return pw_mean_interval(x, n).mean;
}

struct pw_spread pw_runs_spread(const double *x, int n)
{
    float v[PW_MAX_REPLICAS];
    for (int i = 0; i < n; i++)
        v[i] = (float)x[i];
    return pw_spread_of(v, n);
}

/* The mean chance level of the rows in range, or of those beyond. */
static double chance_of(const struct pw_ev_lab *lab, const struct pw_ev_eval *e, bool beyond)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < e->n; i++)
        if ((e->rows[i].length > lab->tasks[e->rows[i].task].train_hi) == beyond) {
            sum += (double)e->rows[i].chance;
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* The checkpoint of a run that is best in range, as an index into its track; -1: none was evaluated. */
static int best_point(const struct pw_track *t, int64_t steps, int points)
{
    int best = -1;
    for (int k = 1, at = 0; k <= points; k++) {
        while (at < t->n && t->step[at] < steps * k / points)
            at++;
        if (at < t->n && t->step[at] == steps * k / points &&
            (best < 0 || t->in_range[at] > t->in_range[best]))
            best = at;
    }
    return best;
}

void pw_suite_runs(const struct pw_snapshot *s, const struct pw_arm_view *arm, int points,
                   struct pw_runs *out)
{
    *out = (struct pw_runs){.n = arm->info.replicas,
                            .chance_beyond = chance_of(&s->lab, &arm->rep[0].eval, true)};
    for (int r = 0; r < out->n; r++) {
        const struct pw_replica_view *rep = &arm->rep[r];
        int best = points > 1 ? best_point(&rep->track, arm->info.step, points) : -1;
        out->in_range[r] =
            (double)(best >= 0 ? rep->track.in_range[best] : pw_eval_mean(&s->lab, &rep->eval, -1, false));
        out->beyond[r] =
            (double)(best >= 0 ? rep->track.beyond[best] : pw_eval_mean(&s->lab, &rep->eval, -1, true));
    }
}

/* Are there enough seeds, all evaluated, and is their median in range high enough? */
static bool is_learned(const struct pw_runs *r)
{
    for (int i = 0; i < r->n; i++)
        if (isnan(r->in_range[i]) || isnan(r->beyond[i]))
            return false;
    return r->n >= PW_ORDER_SEEDS && (double)pw_runs_spread(r->in_range, r->n).median >= PW_ORDER_LEARNED;
}

int pw_protocol_size(int protocol, int steps)
{
    return protocol == PW_PROTOCOL_PAPER && (steps == 0 || steps == PW_PAPER_STEPS) ? PW_PROTOCOL_PAPER
                                                                                    : PW_PROTOCOL_TOY;
}

static bool is_at_chance(const struct pw_runs *r)
{
    return pw_runs_mean(r->beyond, r->n) <= r->chance_beyond + PW_ORDER_OURS;
}

enum pw_pair_order pw_order_pair(const struct pw_runs *first, const struct pw_runs *second)
{
    if (!is_learned(first) || !is_learned(second) || (is_at_chance(first) && is_at_chance(second)))
        return PW_PAIR_INCOMPARABLE;
    if (fabs(pw_runs_mean(first->beyond, first->n) - pw_runs_mean(second->beyond, second->n)) < PW_ORDER_OURS)
        return PW_PAIR_UNDECIDED;
    struct pw_spread a = pw_runs_spread(first->beyond, first->n);
    struct pw_spread b = pw_runs_spread(second->beyond, second->n);
    return a.lo > b.hi ? PW_PAIR_FIRST : b.lo > a.hi ? PW_PAIR_SECOND : PW_PAIR_UNDECIDED;
}

/* Adds one pair. Its numbers in the paper are in per cent (< 0: none). */
static void compare_pair(struct pw_order *o, const struct pw_runs *first, const struct pw_runs *second,
                         float in_paper, float second_in_paper)
{
    double theirs = (double)(in_paper - second_in_paper) / 100;
    if (in_paper < 0 || second_in_paper < 0 || fabs(theirs) < PW_ORDER_PAPER)
        return;
    enum pw_pair_order ours = pw_order_pair(first, second);
    o->pairs++;
    o->incomparable += ours == PW_PAIR_INCOMPARABLE;
    o->alike += ours == (theirs > 0 ? PW_PAIR_FIRST : PW_PAIR_SECOND);
    o->opposite += ours == (theirs > 0 ? PW_PAIR_SECOND : PW_PAIR_FIRST);
}

void pw_order_compare_all(struct pw_order *o, const struct pw_runs runs[PW_PAPER_PES], const float *paper)
{
    for (int i = 0; i < PW_PAPER_PES; i++)
        for (int k = i + 1; k < PW_PAPER_PES; k++)
            compare_pair(o, &runs[i], &runs[k], paper[i], paper[k]);
}

void pw_order_text(const struct pw_order *o, char *out, size_t size)
{
    snprintf(out, size,
             "of %d pairs that differ by %g points or more in the paper, %d are in its order, %d in the "
             "opposite order, %d undecided, %d not comparable",
             o->pairs, 100 * PW_ORDER_PAPER, o->alike, o->opposite,
             o->pairs - o->alike - o->opposite - o->incomparable, o->incomparable);
}

enum pw_claim_verdict pw_order_verdict(const struct pw_order *o, int protocol)
{
    if (o->opposite > o->alike)
        return PW_CLAIM_CONTRADICTED;
    if (o->pairs == 0 || o->opposite > 0 || 4 * o->alike < 3 * o->pairs)
        return PW_CLAIM_INCONCLUSIVE;
    return protocol == PW_PROTOCOL_PAPER ? PW_CLAIM_REPRODUCED : PW_CLAIM_TOY;
}
