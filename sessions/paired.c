/* paired.c - compare arms by pairs: count right samples per run, test the runs, choose the best arm. */
#include "sessions/paired.h"

#include <math.h>
#include <stdio.h>

#include "base/stats.h"

/* Counts of the samples that both runs of a pair answered: right in each, and right in one only. Of running
 * text: lower loss in one; and the sums of the losses, as negative numbers, so that more is better. */
struct counts {
    int64_t samples, only_a, only_b;
    double right_a, right_b;
};

static void count_losses(struct counts *c, const struct pw_ev_eval *a, const struct pw_eval_row *ra,
                         const struct pw_ev_eval *b, const struct pw_eval_row *rb)
{
    int n = ra->samples < rb->samples ? ra->samples : rb->samples;
    if (ra->first_sampled + n > a->n_sampled || rb->first_sampled + n > b->n_sampled)
        return; /* missing, in an event from a file */
    for (int i = 0; i < n; i++) {
        float x = a->sampled[ra->first_sampled + i], y = b->sampled[rb->first_sampled + i];
        c->right_a -= (double)x;
        c->right_b -= (double)y;
        c->only_a += x < y;
        c->only_b += y < x;
    }
    c->samples += n;
}

static void count_row(struct counts *c, const struct pw_ev_eval *a, const struct pw_eval_row *ra,
                      const struct pw_ev_eval *b, const struct pw_eval_row *rb)
{
    int n = ra->samples < rb->samples ? ra->samples : rb->samples;
    for (int at = 0; at < n; at += 64) {
        int wa = ra->first_word + at / 64, wb = rb->first_word + at / 64;
        if (wa < 0 || wb < 0 || wa >= a->n_words || wb >= b->n_words)
            return; /* outcomes are missing, in an event from a file */
        uint64_t of = n - at < 64 ? (UINT64_C(1) << (n - at)) - 1 : ~UINT64_C(0);
        c->right_a += __builtin_popcountll(a->outcomes[wa] & of);
        c->right_b += __builtin_popcountll(b->outcomes[wb] & of);
        c->only_a += __builtin_popcountll(a->outcomes[wa] & ~b->outcomes[wb] & of);
        c->only_b += __builtin_popcountll(~a->outcomes[wa] & b->outcomes[wb] & of);
        c->samples += n - at < 64 ? n - at : 64;
    }
}

/* Rows that give the result of greedy decoding are comparable, however it was determined. */
static bool compares(const struct pw_eval_row *row)
{
    return row->judge != PW_JUDGE_TAUGHT;
}

static struct counts count(const struct pw_ev_eval *a, const struct pw_ev_eval *b, int task, int lo, int hi)
{
    struct counts c = {0};
    for (int i = 0; a->draw == b->draw && i < a->n; i++) {
        const struct pw_eval_row *row = &a->rows[i];
        const struct pw_eval_row *other = pw_eval_find(b, row->task, row->length);
        if (row->task == task && row->length >= lo && row->length <= hi && other != NULL && compares(row) &&
            compares(other) && (row->loss > 0) == (other->loss > 0)) {
            if (row->loss > 0)
                count_losses(&c, a, row, b, other);
            else
                count_row(&c, a, row, b, other);
        }
    }
    return c;
}

static void compare(struct pw_pair_test *t, const struct pw_arm_view *a, const struct pw_arm_view *b,
                    int task, int lo, int hi)
{
    double right_a[PW_MAX_REPLICAS], right_b[PW_MAX_REPLICAS], difference[PW_MAX_REPLICAS];
    bool own_batches = a->info.own_batches || b->info.own_batches;
    *t = (struct pw_pair_test){
        .a = a->info.id, .b = b->info.id, .shared = own_batches || a->info.seed == b->info.seed};
    for (int r = 0; r < a->info.replicas && r < b->info.replicas; r++) {
        struct counts c = count(&a->rep[r].eval, &b->rep[r].eval, task, lo, hi);
        if (c.samples == 0)
            continue;
        bool losses = pw_eval_runs(&a->rep[r].eval);
        right_a[t->seeds] = c.right_a / (double)c.samples;
        right_b[t->seeds] = c.right_b / (double)c.samples;
        difference[t->seeds] = losses ? right_a[t->seeds] - right_b[t->seeds]
                                      : (double)(c.only_a - c.only_b) / (double)c.samples;
        t->difference += difference[t->seeds++];
        t->samples += c.samples;
        t->only_a += c.only_a;
        t->only_b += c.only_b;
        t->ahead_a += losses ? c.right_a > c.right_b : c.only_a > c.only_b;
        t->ahead_b += losses ? c.right_b > c.right_a : c.only_b > c.only_a;
        t->networks += pw_mcnemar(c.only_a, c.only_b) < PW_SIGNIFICANCE;
    }
    t->difference /= t->seeds > 0 ? t->seeds : 1;
    t->p =
        t->shared ? pw_sign_flip(difference, t->seeds) : pw_two_sample(right_a, t->seeds, right_b, t->seeds);
}

static bool has_samples(const struct pw_arm_view *a, int task, int lo, int hi)
{
    for (int i = 0; i < a->rep[0].eval.n; i++) {
        const struct pw_eval_row *row = &a->rep[0].eval.rows[i];
        if (row->task == task && row->length >= lo && row->length <= hi && row->samples > 0 && compares(row))
            return true;
    }
    return false;
}

/* Return the draw that most arms were evaluated on (the first of equals); arms with another draw can't be
 * compared. */
static uint64_t common_draw(const struct pw_snapshot *s, const struct pw_paired *x)
{
    uint64_t best = 0;
    int most = 0;
    for (int i = 0; i < x->n_arms; i++) {
        uint64_t draw = s->arms[x->arms[i] - 1].rep[0].eval.draw;
        int n = 0;
        for (int k = 0; k < x->n_arms; k++)
            n += s->arms[x->arms[k] - 1].rep[0].eval.draw == draw;
        if (n > most)
            most = n, best = draw;
    }
    return best;
}

/* Is arm id significantly better than the other arm of t? */
static bool wins(const struct pw_pair_test *t, int id)
{
    return t->p < PW_SIGNIFICANCE && (id == t->a ? t->difference > 0 : t->difference < 0);
}

/* Holm's correction of the tests that have a p. */
static void correct(struct pw_paired *x)
{
    double p[PW_MAX_TESTS], corrected[PW_MAX_TESTS];
    int n = 0;
    for (int i = 0; i < x->n; i++)
        if (!isnan(x->tests[i].p))
            p[n++] = x->tests[i].p;
    pw_holm(corrected, p, n);
    n = 0;
    for (int i = 0; i < x->n; i++)
        x->tests[i].corrected = isnan(x->tests[i].p) ? (double)NAN : corrected[n++];
}

void pw_paired_find(struct pw_paired *out, const struct pw_snapshot *s, unsigned arms, int task, int lo,
                    int hi)
{
    *out = (struct pw_paired){0};
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used && (arms >> i & 1)) {
            if (has_samples(&s->arms[i], task, lo, hi))
                out->arms[out->n_arms++] = i + 1;
            else
                out->left_out++;
        }
    uint64_t draw = common_draw(s, out);
    int n = out->n_arms;
    out->n_arms = 0;
    for (int i = 0; i < n; i++) {
        int id = out->arms[i];
        if (s->arms[id - 1].rep[0].eval.draw == draw) {
            out->arms[out->n_arms++] = id;
            out->own_batches = out->own_batches || s->arms[id - 1].info.own_batches;
            out->losses = pw_eval_runs(&s->arms[id - 1].rep[0].eval);
        } else
            out->left_out++;
    }
    for (int i = 0; i < out->n_arms; i++)
        for (int k = i + 1; k < out->n_arms; k++)
            compare(&out->tests[out->n++], &s->arms[out->arms[i] - 1], &s->arms[out->arms[k] - 1], task, lo,
                    hi);
    correct(out);
    for (int i = 0; i < out->n_arms && out->n > 0; i++) {
        bool all = true;
        for (int k = 0; k < out->n; k++)
            if (out->tests[k].a == out->arms[i] || out->tests[k].b == out->arms[i])
                all = all && wins(&out->tests[k], out->arms[i]);
        out->best = all ? out->arms[i] : out->best;
    }
}

void pw_p_text(char dst[16], double p)
{
    if (isnan(p))
        snprintf(dst, 16, "-");
    else if (p < 0.001)
        snprintf(dst, 16, "<0.001");
    else
        snprintf(dst, 16, "%.3f", p);
}

const char *pw_paired_test_name(const struct pw_paired *x)
{
    int shared = 0;
    for (int i = 0; i < x->n; i++)
        shared += x->tests[i].shared;
    if (shared < x->n)
        return shared == 0 ? "exact permutation test over training runs" : "exact tests over training runs";
    return x->own_batches ? "exact sign-flip test over training runs, each pair on batches of its own"
                          : "exact sign-flip test over training runs";
}

/* Sum over an arm's pairs of its difference. */
static double lead(const struct pw_paired *x, int id)
{
    double sum = 0.0;
    for (int i = 0; i < x->n; i++)
        if (x->tests[i].a == id || x->tests[i].b == id)
            sum += (x->tests[i].a == id ? 1 : -1) * x->tests[i].difference;
    return sum;
}

static int foremost(const struct pw_paired *x)
{
    int first = x->arms[0];
    for (int i = 1; i < x->n_arms; i++)
        first = lead(x, x->arms[i]) > lead(x, first) ? x->arms[i] : first;
    return first;
}

/* Get the seeds that an arm's pairs need and have, for the pair that lacks most. */
static void seeds_needed(const struct pw_paired *x, int id, int *need, int *have)
{
    *need = *have = 0;
    for (int i = 0; i < x->n; i++) {
        const struct pw_pair_test *t = &x->tests[i];
        int least = t->shared ? PW_SEEDS_PAIRED : PW_SEEDS_GROUPED;
        if ((t->a == id || t->b == id) && (*need == 0 || least - t->seeds > *need - *have)) {
            *need = least;
            *have = t->seeds;
        }
    }
}

/* Explain why an arm is not best: name the pair with the largest p among those that it doesn't win. */
static void why_none(const struct pw_paired *x, const struct pw_snapshot *s, int first, struct pw_str *out)
{
    const struct pw_pair_test *t = NULL;
    char p[16];
    for (int i = 0; i < x->n; i++) {
        const struct pw_pair_test *k = &x->tests[i];
        if ((k->a == first || k->b == first) && !wins(k, first) && (t == NULL || k->p > t->p))
            t = k;
    }
    if (t == NULL)
        return;
    pw_p_text(p, t->p);
    pw_str_add(out, "%d %s and %d %s ", t->a, s->arms[t->a - 1].info.name, t->b, s->arms[t->b - 1].info.name);
    if (t->ahead_a > 0 && t->ahead_b > 0)
        pw_str_add(out, "change order between seeds (%d to %d, p=%s)", t->ahead_a, t->ahead_b, p);
    else
        pw_str_add(out, "differ by no more than chance between seeds (p=%s)", p);
}

void pw_paired_verdict(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out)
{
    int need, have, first;
    if (x->n_arms < 2) {
        pw_str_add(out, "nothing to compare: %s evaluated on the same samples",
                   x->n_arms == 1 ? "only one arm was" : "no arms were");
        return;
    }
    if (x->best > 0) {
        seeds_needed(x, x->best, &need, &have);
        pw_str_add(out, "best: %d %s, better than each other arm over %d seeds, p < %.2g (%s)", x->best,
                   s->arms[x->best - 1].info.name, have, PW_SIGNIFICANCE, pw_paired_test_name(x));
        return;
    }
    first = foremost(x);
    seeds_needed(x, first, &need, &have);
    pw_str_add(out, "no arm is called best: ");
    if (have >= need) {
        why_none(x, s, first, out);
        return;
    }
    pw_str_add(out, "p < %.2g needs %d seeds of each (race ... seeds=%d), here %s %d", PW_SIGNIFICANCE, need,
               need, have == 1 ? "is" : "are", have);
    if (lead(x, first) > 0)
        pw_str_add(out, "; foremost: %d %s", first, s->arms[first - 1].info.name);
}
