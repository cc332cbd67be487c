/* paired.c - compare arms on the same evaluation samples, and report a table and a verdict. */
#include <limits.h>
#include <stdio.h>

#include "lab/core/lab_int.h"
#include "sessions/paired.h"

static void emit_paired(struct pw_lab *lab, const struct pw_paired *x, int task, struct pw_range r)
{
    const struct pw_snapshot *s = lab->record;
    struct pw_str verdict = {0};
    char lengths[48];
    if (r.hi == INT_MAX)
        snprintf(lengths, sizeof lengths, "lengths from %d", r.lo);
    else
        snprintf(lengths, sizeof lengths, "lengths %d..%d", r.lo, r.hi);
    if (x->n > 0) {
        pw_lab_note(lab, "%s, %s: arms compared pairwise on the same samples; %s", s->lab.tasks[task].name,
                    lengths, pw_paired_test_name(x));
        pw_lab_note(lab, "  %-26s %8s %11s %12s %7s %6s %9s %9s", "arms", "samples",
                    x->losses ? "lower: 1st" : "only first", x->losses ? "lower: 2nd" : "only second",
                    "seeds", "p", "corrected", "networks");
    }
    for (int i = 0; i < x->n; i++) {
        const struct pw_pair_test *t = &x->tests[i];
        char p[16], corrected[16], seeds[32], networks[32];
        struct pw_str arms = {0};
        pw_str_add(&arms, "%d ", t->a);
        pw_encoding_name(&arms, s->arms[t->a - 1].info.pe);
        pw_str_add(&arms, " : %d ", t->b);
        pw_encoding_name(&arms, s->arms[t->b - 1].info.pe);
        snprintf(seeds, sizeof seeds, "%d:%d", t->ahead_a, t->ahead_b);
        snprintf(networks, sizeof networks, "%d of %d", t->networks, t->seeds);
        pw_p_text(p, t->p);
        pw_p_text(corrected, t->corrected);
        pw_lab_note(lab, "  %-26s %8lld %11lld %12lld %7s %6s %9s %9s", arms.s, (long long)t->samples,
                    (long long)t->only_a, (long long)t->only_b, seeds, p, corrected, networks);
        pw_str_fini(&arms);
    }
    if (x->n > 0)
        pw_lab_note(lab,
                    "  networks: seeds whose two networks differ on these samples (McNemar's exact p < "
                    "%.2g); that compares networks, not encodings",
                    PW_SIGNIFICANCE);
    if (x->left_out > 0)
        pw_lab_note(lab, "  %d more not evaluated on these samples; run 'eval'", x->left_out);
    pw_paired_verdict(x, s, &verdict);
    pw_lab_note(lab, "%s", verdict.s);
    pw_str_fini(&verdict);
}

void pw_lab_paired(struct pw_lab *lab, unsigned arms, int task, struct pw_range lengths)
{
    struct pw_paired x;
    if (lengths.hi == 0)
        lengths = (struct pw_range){lab->record->lab.tasks[task].train_hi + 1, INT_MAX};
    pw_paired_find(&x, lab->record, arms, task, lengths.lo, lengths.hi);
    emit_paired(lab, &x, task, lengths);
}
