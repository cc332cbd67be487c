/* session.c - forward- and backward-awareness as accuracy (Qiu et al. 2021). The next item of a session is
 * determined by an item counted from the front, from the end, or both.
 *
 * Attention is not causal (causal=off) and the length is known, as in the paper's recommender; the inputs
 * contain no part of the answer. An encoding that counts positions from one end only must infer those from
 * the other end. An encoding without order can only guess.
 *
 * The claims concern sessions longer than the trained ones, where memorised positions do not help. A position
 * is known if the 95 % interval of the mean over the models lies at or above AWARE. It is not known if the
 * interval lies below UNAWARE. Both require that the intervals of both tasks on trained lengths lie at or
 * above AWARE. NoPE is blind if its intervals on trained lengths end less than CHANCE above chance. The
 * bounds were set after a first inspection of one seed, before the judged seeds were measured. Models of an
 * encoding differ in their initialisation and share their batches. The task "both" is shown but not
 * judged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "reproduce/blog.h"
#include "reproduce/suite.h"

#define AWARE   0.75 /* accuracy on longer sessions from which the position counts as known */
#define UNAWARE 0.50 /* accuracy below which it counts as not known */
#define CHANCE  0.10 /* largest distance above chance that still counts as chance */

static const char *const bys[] = {"first", "last", "both", NULL};

struct options {
    int seeds, seed, steps, by;
    char pes[256];
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {"seeds", PW_OPT_INT, AT(seeds), "8", 2, PW_MAX_REPLICAS, NULL, 0, "replicas per encoding"},
    {"seed", PW_OPT_INT, AT(seed), PW_BLOG_SEED, 0, 1000000000, NULL, 0,
     "seed of the data and of the first replica; each further replica uses the next seed"},
    {"steps", PW_OPT_INT, AT(steps), "400", 1, 1000000, NULL, 0, "training steps"},
    {"pes", PW_OPT_TEXT, AT(pes), "none,sinusoidal,rspe,dpe", 0, 0, NULL, sizeof((struct options *)0)->pes,
     "encodings, as in `race`"},
    {"by", PW_OPT_INT, AT(by), "-1", -1, 2, NULL, 0,
     "judge one of first, last and both (0, 1, 2); -1: judge all that were measured"},
    {0},
};
#undef AT

/* The plan of one task. The verdict on all tasks reads their findings, so it has no plan. */
static bool plan(const void *opts_, struct pw_plan *out)
{
    const struct options *o = opts_;
    if (o->by < 0)
        return false;
    *out = (struct pw_plan){.model = "tiny causal=off",
                            .seed = (uint64_t)o->seed,
                            .seeds = o->seeds,
                            .samples = 128,
                            .points = 1};
    snprintf(out->task, sizeof out->task, "session by=%s", bys[o->by]);
    snprintf(out->optim, sizeof out->optim, "steps=%d", o->steps);
    snprintf(out->race, sizeof out->race, "%s", o->pes);
    return true;
}

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    for (int i = 0; bys[i] != NULL; i++) {
        struct options one = *o;
        struct pw_plan of;
        one.by = i;
        plan(&one, &of);
        pw_suite_start(&of, out);
        pw_str_add(out, "train\neval samples=%d\njudge session", of.samples);
        pw_opt_print(opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

/* ---- one task: a table for the trained lengths and a table for longer ones */

enum { MEAN, FROM, TO, AT_CHANCE, MODELS };

static void add_table(struct pw_finding *f, const char *title, const struct pw_snapshot *s,
                      const struct pw_arm_view *const *arms, int n, int seeds, bool beyond)
{
    static const char *const heads[] = {"mean", "95 %, from", "95 %, to", "chance"};
    int b = pw_finding_table(f, title, n, MODELS + seeds);
    f->blocks[b].decimals = 1;
    for (int c = 0; c < MODELS; c++)
        pw_finding_col(f, b, c, "%s", heads[c]);
    for (int r = 0; r < seeds; r++)
        pw_finding_col(f, b, MODELS + r, "model %d", r + 1);
    for (int i = 0; i < n; i++) {
        double x[PW_MAX_REPLICAS];
        for (int r = 0; r < seeds; r++) {
            x[r] = 100 * (double)pw_eval_mean(&s->lab, &arms[i]->rep[r].eval, -1, beyond);
            pw_finding_put(f, b, i, MODELS + r, x[r]);
        }
        struct pw_interval k = pw_mean_interval(x, seeds);
        pw_finding_row(f, b, i, "%s", arms[i]->info.name);
        pw_finding_put(f, b, i, MEAN, k.mean);
        pw_finding_put(f, b, i, FROM, k.lo);
        pw_finding_put(f, b, i, TO, k.hi);
        pw_finding_put(f, b, i, AT_CHANCE, 100 * (double)arms[i]->rep[0].eval.rows[0].chance);
    }
}

static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    struct options made = *o;
    int n = pw_evaluated(s, arms);
    if (n == 0)
        return pw_fail(err, PW_EUSER, "judge session: no arm has been evaluated: run 'reproduce session'");
    pw_finding_init(f, "session", bys[o->by], "task session by=%s: %d models from seed %d, %d steps",
                    bys[o->by], o->seeds, o->seed, o->steps);
    add_table(f, "trained lengths: right answers, per cent", s, arms, n, o->seeds, false);
    add_table(f, "longer sessions: right answers, per cent", s, arms, n, o->seeds, true);
    made.by = -1;
    pw_finding_made(f, "session", &made);
    return PW_OK;
}

/* ---- all tasks */

/* Return a cell of an encoding's row in the first or second table, as a fraction; NaN: not measured. */
static double cell_of(const struct pw_finding *of, const char *pe, bool beyond, int col)
{
    const struct pw_block *b = of != NULL ? &of->blocks[beyond] : NULL;
    for (int i = 0; b != NULL && i < b->rows; i++)
        if (strcmp(pw_finding_row_name(of, b, i), pe) == 0)
            return pw_finding_cell(of, b, i, col) / 100;
    return NAN;
}

static bool is_known(const struct pw_finding *of, const char *pe, bool beyond)
{
    return cell_of(of, pe, beyond, FROM) >= AWARE;
}

static bool is_unknown(const struct pw_finding *of, const char *pe)
{
    return cell_of(of, pe, true, TO) < UNAWARE;
}

static void add_claim(struct pw_finding *f, const struct pw_finding *const of[3], const char *pe, bool front,
                      bool back, const char *text)
{
    bool learned = is_known(of[0], pe, false) && is_known(of[1], pe, false);
    bool alike = (front ? is_known(of[0], pe, true) : is_unknown(of[0], pe)) &&
                 (back ? is_known(of[1], pe, true) : is_unknown(of[1], pe));
    bool opposite = (front ? is_unknown(of[0], pe) : is_known(of[0], pe, true)) ||
                    (back ? is_unknown(of[1], pe) : is_known(of[1], pe, true));
    double x[2][3];
    for (int i = 0; i < 2; i++)
        for (int c = MEAN; c <= TO; c++)
            x[i][c] = 100 * cell_of(of[i], pe, true, c);
    pw_finding_claim(f,
                     !learned   ? PW_CLAIM_INCONCLUSIVE
                     : alike    ? PW_CLAIM_TOY
                     : opposite ? PW_CLAIM_CONTRADICTED
                                : PW_CLAIM_INCONCLUSIVE,
                     text,
                     "%s on longer sessions, means (95 %%): by=first %.1f %% (%.1f to %.1f), by=last %.1f %% "
                     "(%.1f to %.1f); known: from %g %%, not known: below %g %%",
                     pe, x[0][MEAN], x[0][FROM], x[0][TO], x[1][MEAN], x[1][FROM], x[1][TO], 100 * AWARE,
                     100 * UNAWARE);
}

static void add_blindness(struct pw_finding *f, const struct pw_finding *const of[3])
{
    double chance = cell_of(of[0], "none", false, AT_CHANCE), low = -INFINITY, high = -INFINITY;
    for (int i = 0; i < 2; i++) {
        low = fmax(low, cell_of(of[i], "none", false, FROM) - chance);
        high = fmax(high, cell_of(of[i], "none", false, TO) - chance);
        if (isnan(cell_of(of[i], "none", false, FROM)))
            low = high = NAN;
    }
    pw_finding_claim(f,
                     high < CHANCE   ? PW_CLAIM_TOY
                     : low >= CHANCE ? PW_CLAIM_CONTRADICTED
                                     : PW_CLAIM_INCONCLUSIVE,
                     "Su 2024 (kexue.fm 10347): without a mask and without an encoding, order is invisible",
                     "none on trained lengths, means: by=first %.1f %%, by=last %.1f %%; chance is %.1f %%; "
                     "the 95 %% intervals end at most %.1f above it (threshold %g)",
                     100 * cell_of(of[0], "none", false, MEAN), 100 * cell_of(of[1], "none", false, MEAN),
                     100 * chance, 100 * high, 100 * CHANCE);
}

static enum pw_code judge_all(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_finding *of[3], *any = NULL;
    for (int i = 0; i < 3; i++) {
        const struct pw_finding_view *v = pw_finding_of(s, "session", bys[i]);
        of[i] = v != NULL ? &v->f : NULL;
        any = any != NULL ? any : of[i];
        enum pw_code code = v != NULL ? pw_finding_made_so(&v->f, "session", o, err) : PW_OK;
        if (code != PW_OK)
            return code;
    }
    if (any == NULL)
        return pw_fail(err, PW_EUSER, "judge session: nothing has been measured: run 'reproduce session'");
    int n = any->blocks[0].rows;
    pw_finding_init(
        f, "session", "",
        "next item, determined by an item counted from the front, from the end, or both: %d models each",
        o->seeds);
    for (int beyond = 0; beyond < 2; beyond++) {
        int table = pw_finding_table(f, any->blocks[beyond].title, n, 3);
        f->blocks[table].decimals = 1;
        for (int i = 0; i < 3; i++)
            pw_finding_col(f, table, i, "by %s", bys[i]);
        for (int k = 0; k < n; k++) {
            const char *pe = pw_finding_row_name(any, &any->blocks[0], k);
            pw_finding_row(f, table, k, "%s", pe);
            for (int i = 0; i < 3; i++)
                pw_finding_put(f, table, k, i, 100 * cell_of(of[i], pe, beyond, MEAN));
        }
    }
    add_claim(f, of, "sinusoidal", true, false,
              "Qiu et al. 2021, Theorem 3.4: SPE is forward-aware and not backward-aware");
    add_claim(f, of, "rspe", false, true,
              "Qiu et al. 2021, Corollary 3.6: RSPE is backward-aware and not forward-aware");
    add_claim(f, of, "dpe", true, true,
              "Qiu et al. 2021, appendix G: DPE is forward-aware and backward-aware");
    add_blindness(f, of);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->by >= 0 ? judge_one(o, s, f, err) : judge_all(o, s, f, err);
}

const struct pw_repro pw_repro_session = {
    .name = "session",
    .document = "Qiu et al. 2021, section 3",
    .summary = "forward- and backward-awareness as accuracy on the task session",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .plan = plan,
    .judge = judge,
    .finding = "session",
};
