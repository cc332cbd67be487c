/* ref_findings.c - findings of the fabricated lab: blocks of each kind, every verdict. */
#include "ref_screen_int.h"

#include <math.h>

static void tell(struct pw_snapshot *s, struct pw_finding *f, int arm)
{
    struct pw_event *e = pw_event_new(PW_EV_FINDING);
    e->arm = arm;
    e->step = arm > 0 ? 640 : 0;
    e->u.finding = *f;
    screen_fold(s, e);
}

/* A table with more columns than a narrow pane has, a yes or no, and missing values. */
static void add_table(struct pw_finding *f)
{
    static const char *const arms[] = {"1 none", "2 alibi", "3 t5 buckets=8"};
    int b = pw_finding_table(f, "shares of the score, head by head", 3, 9);
    f->blocks[b].decimals = 3;
    pw_text_copy(f->blocks[b].x, sizeof f->blocks[b].x, "arm");
    for (int i = 0; i < 3; i++)
        pw_finding_row(f, b, i, "%s", arms[i]);
    for (int k = 0; k < 8; k++)
        pw_finding_col(f, b, k, k % 3 == 2 ? "head %d, untrained" : "head %d", k);
    pw_finding_col(f, b, 8, "adds up?");
    for (int i = 0; i < 27; i++)
        pw_finding_put(f, b, i / 9, i % 9, i % 9 == 8 ? i / 9 % 2 : i == 12 ? NAN : i * 0.0625 - 0.25);
}

/* Two curves with bands, one of them with a gap, and the theoretical curve. */
static void add_plot(struct pw_finding *f, bool log)
{
    enum { POINTS = 24 };
    int b = pw_finding_plot(f, log ? "decay with distance" : "entropy by length", "keys", "nats", POINTS, 3,
                            !log);
    f->blocks[b].n_reference = 1;
    f->blocks[b].log_x = f->blocks[b].log_y = log;
    pw_finding_name(f, b, 0, "layer 0");
    pw_finding_name(f, b, 1, "layer 1");
    pw_finding_name(f, b, 2, "uniform");
    for (int i = 0; i < POINTS; i++) {
        double x = log ? 1 << i / 2 : 2 + i, y = log ? 1 / (x * x) : 0.1 * x;
        pw_finding_x(f, b, i, x);
        pw_finding_band(f, b, i, 0, y, 0.75 * y, 1.5 * y);
        pw_finding_band(f, b, i, 1, i / 4 == 3 ? NAN : y / 2, y / 4, 0.625 * y);
        pw_finding_y(f, b, i, 2, 2 * y);
    }
}

static void add_map(struct pw_finding *f, bool named)
{
    int rows = named ? 4 : 70, cols = named ? 6 : 90;
    int b = pw_finding_map(f, named ? "what a head adds, by layer" : "position by position", rows, cols,
                           named ? -1 : 0, named ? 1 : 0, named);
    pw_text_copy(f->blocks[b].x, sizeof f->blocks[b].x, named ? "head" : "key");
    pw_text_copy(f->blocks[b].y, sizeof f->blocks[b].y, named ? "layer" : "query");
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < cols; k++)
            if (named || k <= i)
                pw_finding_put(f, b, i, k, named ? (i - k) * 0.1875 : 1.0 / (1 + i - k));
    for (int i = 0; named && i < rows; i++)
        pw_finding_row(f, b, i, "layer %d", i);
    for (int k = 0; named && k < cols; k++)
        pw_finding_col(f, b, k, "%d.%d", k / 2, k);
}

void screen_set_findings(struct pw_snapshot *s)
{
    struct pw_finding f;
    pw_finding_init(&f, "decay", "", "kernel of each encoding by distance, aligned vectors");
    add_plot(&f, true);
    tell(s, &f, 0);

    pw_finding_init(&f, "rank", "2", "rank of position in the residual stream of arm 2, 64 samples");
    add_map(&f, false);
    pw_finding_claim(&f, PW_CLAIM_REPRODUCED,
                     "position is linearly readable after layer 0 (Kazemnejad et al.)", "R2 0.98; above 0.9");
    tell(s, &f, 2);

    pw_finding_init(
        &f, "scores", "1 2 3",
        "what scores are made of: relative, absolute and content shares of 3 arms, 32 prompts each, "
        "all of the same length");
    add_table(&f);
    add_plot(&f, false);
    add_map(&f, true);
    pw_finding_claim(&f, PW_CLAIM_REPRODUCED, "T5's score is content plus distance (Raffel et al. 2020)",
                     "residual 3e-7, below 1e-5");
    pw_finding_claim(&f, PW_CLAIM_TOY, "NoPE's heads learn a relative bias (Kazemnejad et al. 2023, Eq. 1)",
                     "share 0.31 in trained models, 0.02 in untrained ones");
    pw_finding_claim(&f, PW_CLAIM_INCONCLUSIVE, "it grows with depth", "0.30 and 0.32, within noise 0.04");
    pw_finding_claim(&f, PW_CLAIM_CONTRADICTED, "no head is absolute", "head 1.3: 0.6 of its score");
    pw_finding_remark(&f, "Equation 1 as printed leaves the absolute part out; the corrected form is used.");
    pw_finding_remark(&f, "Prompts are random tokens: task prompts repeat positions.");
    tell(s, &f, 0);
}
