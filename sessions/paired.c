/* paired.c - see paired.h. */
#include "sessions/paired.h"

#include <stdio.h>

#include "base/stats.h"

/* What one pair of replicates got right, each alone. */
struct counts {
    int64_t samples, only_a, only_b;
};

static void count_row(struct counts *c, const struct pw_ev_eval *a, const struct pw_eval_row *ra,
                      const struct pw_ev_eval *b, const struct pw_eval_row *rb)
{
    int n = ra->samples < rb->samples ? ra->samples : rb->samples;
    for (int at = 0; at < n; at += 64) {
        int wa = ra->first_word + at / 64, wb = rb->first_word + at / 64;
        if (wa < 0 || wb < 0 || wa >= a->n_words || wb >= b->n_words)
            return; /* of a file: outcomes that are not there */
        uint64_t of = n - at < 64 ? (UINT64_C(1) << (n - at)) - 1 : ~UINT64_C(0);
        c->only_a += __builtin_popcountll(a->outcomes[wa] & ~b->outcomes[wb] & of);
        c->only_b += __builtin_popcountll(~a->outcomes[wa] & b->outcomes[wb] & of);
        c->samples += n - at < 64 ? n - at : 64;
    }
}

/* What greedy decoding does can be compared, however it was found out. */
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
            compares(other))
            count_row(&c, a, row, b, other);
    }
    return c;
}

static void compare(struct pw_pair_test *t, const struct pw_arm_view *a, const struct pw_arm_view *b,
                    int task, int lo, int hi)
{
    *t = (struct pw_pair_test){.a = a->info.id, .b = b->info.id, .p = 0.0};
    for (int r = 0; r < a->info.replicates && r < b->info.replicates; r++) {
        struct counts c = count(&a->rep[r].eval, &b->rep[r].eval, task, lo, hi);
        double p = pw_mcnemar(c.only_a, c.only_b);
        if (c.samples == 0)
            continue;
        t->seeds++;
        t->samples += c.samples;
        t->only_a += c.only_a;
        t->only_b += c.only_b;
        t->ahead_a += c.only_a > c.only_b;
        t->ahead_b += c.only_b > c.only_a;
        t->p = p > t->p ? p : t->p;
    }
    if (t->ahead_a < t->seeds && t->ahead_b < t->seeds)
        t->p = 1.0;
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

/* The draw that most of the arms were evaluated on, of equals the first: the others can't be compared. */
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

/* Is arm id ahead of the other one of t in every one of enough seeds, by more than chance? */
static bool wins(const struct pw_pair_test *t, int id)
{
    int ahead = id == t->a ? t->ahead_a : t->ahead_b;
    return t->seeds >= PW_LEAST_SEEDS && ahead == t->seeds && t->corrected < PW_SIGNIFICANCE;
}

void pw_paired_find(struct pw_paired *out, const struct pw_snapshot *s, unsigned arms, int task, int lo,
                    int hi)
{
    double p[PW_MAX_TESTS], corrected[PW_MAX_TESTS];
    *out = (struct pw_paired){0};
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used && (arms >> i & 1)) {
            if (has_samples(&s->arms[i], task, lo, hi))
                out->arms[out->n_arms++] = i + 1;
            else
                out->left_out++;
        }
    uint64_t draw = common_draw(s, out);
    for (int i = 0, n = out->n_arms; i < n; i++) {
        int id = out->arms[i];
        out->n_arms -= i == 0 ? n : 0;
        if (s->arms[id - 1].rep[0].eval.draw == draw)
            out->arms[out->n_arms++] = id;
        else
            out->left_out++;
    }
    for (int i = 0; i < out->n_arms; i++)
        for (int k = i + 1; k < out->n_arms; k++)
            compare(&out->tests[out->n++], &s->arms[out->arms[i] - 1], &s->arms[out->arms[k] - 1], task, lo,
                    hi);
    for (int i = 0; i < out->n; i++)
        p[i] = out->tests[i].p;
    pw_holm(corrected, p, out->n);
    for (int i = 0; i < out->n; i++)
        out->tests[i].corrected = corrected[i];
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
    if (p < 0.001)
        snprintf(dst, 16, "<0.001");
    else
        snprintf(dst, 16, "%.3f", p);
}

/* How far an arm is ahead, over all its pairs. */
static int64_t lead(const struct pw_paired *x, int id)
{
    int64_t sum = 0;
    for (int i = 0; i < x->n; i++)
        if (x->tests[i].a == id || x->tests[i].b == id)
            sum += (x->tests[i].a == id ? 1 : -1) * (x->tests[i].only_a - x->tests[i].only_b);
    return sum;
}

/* The arm that has won most over all its pairs. */
static int foremost(const struct pw_paired *x)
{
    int first = x->arms[0];
    for (int i = 1; i < x->n_arms; i++)
        first = lead(x, x->arms[i]) > lead(x, first) ? x->arms[i] : first;
    return first;
}

/* What speaks against calling the foremost arm best: of its pairs the one most like chance. */
static void why_none(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out)
{
    int first = foremost(x);
    const struct pw_pair_test *t = NULL;
    for (int i = 0; i < x->n; i++) {
        const struct pw_pair_test *k = &x->tests[i];
        if ((k->a == first || k->b == first) && !wins(k, first) && (t == NULL || k->corrected > t->corrected))
            t = k;
    }
    if (t == NULL)
        return;
    char p[16];
    pw_p_text(p, t->corrected);
    pw_str_add(out, "%d %s and %d %s ", t->a, s->arms[t->a - 1].info.name, t->b, s->arms[t->b - 1].info.name);
    if (t->ahead_a > 0 && t->ahead_b > 0)
        pw_str_add(out, "change places between seeds (%d to %d)", t->ahead_a, t->ahead_b);
    else
        pw_str_add(out, "differ by no more than chance (p=%s)", p);
}

void pw_paired_verdict(const struct pw_paired *x, const struct pw_snapshot *s, struct pw_str *out)
{
    int seeds = PW_MAX_REPLICATES;
    if (x->n_arms < 2) {
        pw_str_add(out, "nothing to compare: %s evaluated on the same samples",
                   x->n_arms == 1 ? "only one arm was" : "no arms were");
        return;
    }
    for (int i = 0; i < x->n; i++)
        seeds = x->tests[i].seeds < seeds ? x->tests[i].seeds : seeds;
    if (x->best > 0) {
        pw_str_add(out, "best: %d %s, ahead of every other arm in each of %d seeds, corrected p < %.2g",
                   x->best, s->arms[x->best - 1].info.name, seeds, PW_SIGNIFICANCE);
        return;
    }
    pw_str_add(out, "no arm is called best: ");
    if (seeds >= PW_LEAST_SEEDS) {
        why_none(x, s, out);
        return;
    }
    int first = foremost(x);
    pw_str_add(out, "that needs %d seeds of each (race ... seeds=%d), here is %d", PW_LEAST_SEEDS,
               PW_LEAST_SEEDS, seeds);
    if (lead(x, first) > 0)
        pw_str_add(out, "; foremost: %d %s", first, s->arms[first - 1].info.name);
}
