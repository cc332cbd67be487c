/* session.c - forward- and backward-awareness as accuracy (Qiu et al. 2021): the next item of a session is
 * told by an item counted from the front, from the end, or both.
 *
 * Attention sees everything (causal=off) and the length is known, as in the document's recommender; nothing
 * of the answer is among the inputs. An encoding that knows the place from one end alone has to infer the
 * other from where the session ends; one without order has chance.
 *
 * The claims are about the longer sessions, where a place that was learned by heart is no help: it is known
 * from AWARE on and not known below UNAWARE, if both tasks reached AWARE on the trained lengths. NoPE is
 * blind if it stays within CHANCE of chance on these. The bounds were set after a first look at one seed,
 * before the seeds that are judged. By both is shown and decides nothing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"
#include "reproduce/suite.h"

#define AWARE   0.75 /* right on longer sessions: the place is known there, too */
#define UNAWARE 0.50 /* less is not */
#define CHANCE  0.10 /* above chance by less is chance */

static const char *const bys[] = {"first", "last", "both", NULL};

struct options {
    int seeds, steps, by;
    char pes[256];
};

#define AT(m) offsetof(struct options, m)
static const struct pw_opt opts[] = {
    {.name = "seeds",
     .type = PW_OPT_INT,
     .offset = AT(seeds),
     .def = "3",
     .min = 1,
     .max = PW_MAX_REPLICATES,
     .help = "of each encoding"},
    {.name = "steps",
     .type = PW_OPT_INT,
     .offset = AT(steps),
     .def = "400",
     .min = 1,
     .max = 1000000,
     .help = "of training"},
    {.name = "pes",
     .type = PW_OPT_TEXT,
     .offset = AT(pes),
     .def = "none,sinusoidal,rspe,aspe,2dspe,dpe,alibi,rotary",
     .size = sizeof((struct options *)0)->pes,
     .help = "encodings, as after `race`"},
    {.name = "by",
     .type = PW_OPT_INT,
     .offset = AT(by),
     .def = "-1",
     .min = -1,
     .max = 2,
     .help = "judges one of first, last and both (0, 1, 2); -1: all that were measured"},
    {.name = NULL}};
#undef AT

static void script(const void *opts_, struct pw_str *out)
{
    const struct options *o = opts_;
    for (int i = 0; bys[i] != NULL; i++) {
        struct options one = *o;
        one.by = i;
        pw_str_add(out,
                   "seed 1\nmodel tiny causal=off\ntask session by=%s\noptim steps=%d\nrace %s "
                   "seeds=%d\ntrain\neval "
                   "samples=128\njudge session",
                   bys[i], o->steps, o->pes, o->seeds);
        pw_opt_print(opts, &one, true, out);
        pw_str_add(out, "\n");
    }
}

static enum pw_code judge_one(const struct options *o, const struct pw_snapshot *s, struct pw_finding *f,
                              struct pw_err *err)
{
    const struct pw_arm_view *arms[PW_MAX_ARMS];
    int n = pw_evaluated(s, arms);
    if (n == 0)
        return pw_fail(err, PW_EUSER, "judge session: no arm was evaluated; 'reproduce session' does it all");
    pw_finding_init(f, "session", bys[o->by], "next item by the %s: %d seeds, %d steps", bys[o->by], o->seeds,
                    o->steps);
    int table = pw_right_table(f, "right answers, per cent, median", s, arms, n, 1);
    pw_finding_col(f, table, 2, "chance");
    for (int i = 0; i < n; i++)
        pw_finding_put(f, table, i, 2, 100 * (double)arms[i]->rep[0].eval.rows[0].chance);
    return PW_OK;
}

/* Of an encoding, as a fraction; NaN: not measured. */
static double right_of(const struct pw_finding *of, const char *pe, int col)
{
    for (int i = 0; of != NULL && i < of->blocks[0].rows; i++)
        if (strcmp(pw_finding_row_name(of, &of->blocks[0], i), pe) == 0)
            return pw_finding_cell(of, &of->blocks[0], i, col) / 100;
    return NAN;
}

static bool agrees(double x, bool aware)
{
    return aware ? x >= AWARE : x < UNAWARE;
}

static void claim(struct pw_finding *f, const struct pw_finding *const of[3], const char *pe, bool front,
                  bool back, const char *text)
{
    double first = right_of(of[0], pe, 1), last = right_of(of[1], pe, 1);
    bool learned = right_of(of[0], pe, 0) >= AWARE && right_of(of[1], pe, 0) >= AWARE;
    bool opposite = (front ? first < UNAWARE : first >= AWARE) || (back ? last < UNAWARE : last >= AWARE);
    pw_finding_claim(
        f,
        !learned                                     ? PW_CLAIM_INCONCLUSIVE
        : agrees(first, front) && agrees(last, back) ? PW_CLAIM_TOY
        : opposite                                   ? PW_CLAIM_CONTRADICTED
                                                     : PW_CLAIM_INCONCLUSIVE,
        text,
        "%s on longer sessions: by the first %.1f %%, by the last %.1f %% (known from %g %% on, not known "
        "below %g %%)",
        pe, 100 * first, 100 * last, 100 * AWARE, 100 * UNAWARE);
}

static enum pw_code judge_all(const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_finding *of[3], *any = NULL;
    for (int i = 0; i < 3; i++) {
        const struct pw_finding_view *v = pw_finding_of(s, "session", bys[i]);
        of[i] = v != NULL ? &v->f : NULL;
        any = any != NULL ? any : of[i];
    }
    if (any == NULL)
        return pw_fail(err, PW_EUSER, "judge session: nothing was measured; 'reproduce session' does it all");
    int n = any->blocks[0].rows;
    pw_finding_init(f, "session", "", "the next item by its place from the front, the end, or both");
    for (int col = 0; col < 2; col++) {
        int table =
            pw_finding_table(f, col == 0 ? "trained lengths: right answers, per cent" : "longer ones", n, 3);
        f->blocks[table].decimals = 1;
        for (int i = 0; i < 3; i++)
            pw_finding_col(f, table, i, "by %s", bys[i]);
        for (int k = 0; k < n; k++) {
            const char *pe = pw_finding_row_name(any, &any->blocks[0], k);
            pw_finding_row(f, table, k, "%s", pe);
            for (int i = 0; i < 3; i++)
                pw_finding_put(f, table, k, i, 100 * right_of(of[i], pe, col));
        }
    }
    claim(f, of, "sinusoidal", true, false,
          "Qiu et al. 2021, Theorem 3.4: SPE is forward-aware and not backward-aware");
    claim(f, of, "rspe", false, true,
          "Qiu et al. 2021, Corollary 3.6: RSPE is backward-aware and not forward-aware");
    claim(f, of, "dpe", true, true, "Qiu et al. 2021, appendix G: DPE is both");
    double first = right_of(of[0], "none", 0), last = right_of(of[1], "none", 0),
           chance = right_of(any, "none", 2);
    bool blind = first < chance + CHANCE && last < chance + CHANCE;
    pw_finding_claim(
        f,
        isnan(first + last) ? PW_CLAIM_INCONCLUSIVE
        : blind             ? PW_CLAIM_TOY
                            : PW_CLAIM_CONTRADICTED,
        "Su 2024 (kexue.fm 10347): without a mask and without an encoding order is invisible",
        "none on trained lengths: by the first %.1f %%, by the last %.1f %%; chance is up to %.1f %%",
        100 * first, 100 * last, 100 * chance);
    return PW_OK;
}

static enum pw_code judge(const void *opts_, const struct pw_snapshot *s, struct pw_finding *f,
                          struct pw_err *err)
{
    const struct options *o = opts_;
    return o->by >= 0 ? judge_one(o, s, f, err) : judge_all(s, f, err);
}

const struct pw_study pw_study_session = {
    .name = "session",
    .document = "Qiu et al. 2021, section 3",
    .summary = "forward- and backward-awareness as accuracy on the task session",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .script = script,
    .judge = judge,
    .finding = "session",
};
