/* session.c - forward- and backward-awareness as accuracy (Qiu et al. 2021): the next item of a session is
 * told by an item counted from the front, from the end, or both.
 *
 * Attention sees everything (causal=off) and the length is known, as in the document's recommender; nothing
 * of the answer is among the inputs. An encoding that knows the place from one end alone has to infer the
 * other from where the session ends; one without order has chance. Thresholds, fixed before anything was
 * trained: an encoding solves a task from 90 % on in range; NoPE stays at chance if it is within 10 points of
 * it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/study.h"

#define SOLVED 0.90
#define CHANCE 0.10 /* points above chance that are none */

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
    int n = 0;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        if (s->arms[i].used && s->arms[i].rep[0].eval.n > 0)
            arms[n++] = &s->arms[i];
    if (n == 0)
        return pw_fail(err, PW_EUSER, "judge session: no arm was evaluated; 'reproduce session' does it all");
    pw_finding_init(f, "session", bys[o->by], "next item by the %s: %d seeds, %d steps", bys[o->by], o->seeds,
                    o->steps);
    int table = pw_finding_table(f, "right answers, per cent, median", n, 3);
    f->blocks[table].decimals = 1;
    pw_finding_col(f, table, 0, "in range");
    pw_finding_col(f, table, 1, "longer");
    pw_finding_col(f, table, 2, "chance");
    for (int i = 0; i < n; i++) {
        pw_finding_row(f, table, i, "%s", arms[i]->info.name);
        pw_finding_put(f, table, i, 0, 100 * (double)pw_spread_mean(&s->lab, arms[i], false).median);
        pw_finding_put(f, table, i, 1, 100 * (double)pw_spread_mean(&s->lab, arms[i], true).median);
        pw_finding_put(f, table, i, 2, 100 * (double)arms[i]->rep[0].eval.rows[0].chance);
    }
    return PW_OK;
}

/* In range, as a fraction; NaN: not measured. */
static double right_of(const struct pw_finding *of, const char *pe, int col)
{
    for (int i = 0; of != NULL && i < of->blocks[0].rows; i++)
        if (strcmp(pw_finding_row_name(of, &of->blocks[0], i), pe) == 0)
            return pw_finding_cell(of, &of->blocks[0], i, col) / 100;
    return NAN;
}

static void claim(struct pw_finding *f, const char *pe, const double x[3], const bool wants[3],
                  const char *text)
{
    int well = 0;
    for (int i = 0; i < 3; i++)
        well += !wants[i] || x[i] >= SOLVED;
    pw_finding_claim(f,
                     isnan(x[0] + x[1] + x[2]) ? PW_CLAIM_INCONCLUSIVE
                     : well == 3               ? PW_CLAIM_TOY
                                               : PW_CLAIM_CONTRADICTED,
                     text, "%s: by the first %.1f %%, the last %.1f %%, both %.1f %% (solved from %g %% on)",
                     pe, 100 * x[0], 100 * x[1], 100 * x[2], 100 * SOLVED);
}

static enum pw_code judge_all(const struct pw_snapshot *s, struct pw_finding *f, struct pw_err *err)
{
    const struct pw_finding *of[3], *first = NULL;
    for (int i = 0; i < 3; i++) {
        const struct pw_finding_view *v = pw_finding_of(s, "session", bys[i]);
        of[i] = v != NULL ? &v->f : NULL;
        first = first != NULL ? first : of[i];
    }
    if (first == NULL)
        return pw_fail(err, PW_EUSER, "judge session: nothing was measured; 'reproduce session' does it all");
    int n = first->blocks[0].rows;
    pw_finding_init(f, "session", "",
                    "the next item by its place from the front, the end, or both: right in range");
    int table = pw_finding_table(f, "right answers, per cent, median", n, 3);
    f->blocks[table].decimals = 1;
    for (int i = 0; i < 3; i++)
        pw_finding_col(f, table, i, "by %s", bys[i]);
    double dpe[3], spe[3], rspe[3], none[3], chance = right_of(first, "none", 2);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < n; k++) {
            const char *pe = pw_finding_row_name(first, &first->blocks[0], k);
            pw_finding_row(f, table, k, "%s", pe);
            pw_finding_put(f, table, k, i, 100 * right_of(of[i], pe, 0));
        }
        dpe[i] = right_of(of[i], "dpe", 0);
        spe[i] = right_of(of[i], "sinusoidal", 0);
        rspe[i] = right_of(of[i], "rspe", 0);
        none[i] = right_of(of[i], "none", 0);
    }
    claim(f, "dpe", dpe, (const bool[]){true, true, true},
          "Qiu et al. 2021: DPE knows the place from both ends");
    claim(f, "sinusoidal", spe, (const bool[]){true, false, false},
          "Qiu et al. 2021, Theorem 3.4: SPE knows it from the front");
    claim(f, "rspe", rspe, (const bool[]){false, true, false},
          "Qiu et al. 2021, Corollary 3.6: RSPE knows it from the end");
    bool blind = none[0] < chance + CHANCE && none[1] < chance + CHANCE;
    pw_finding_claim(f,
                     isnan(none[0] + none[1]) ? PW_CLAIM_INCONCLUSIVE
                     : blind                  ? PW_CLAIM_TOY
                                              : PW_CLAIM_CONTRADICTED,
                     "Su 2024 (kexue.fm 10347): without a mask and without an encoding order is invisible",
                     "none: by the first %.1f %%, by the last %.1f %%; chance is %.1f %%", 100 * none[0],
                     100 * none[1], 100 * chance);
    pw_finding_remark(f, "the length is known: an encoding from one end can learn where the other is");
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
