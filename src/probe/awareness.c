/* awareness.c - the probe awareness: which encodings are forward- or backward-aware (Qiu et al. 2021, section
 * 3 and appendices A to E). It measures three levels, which are three different statements:
 *
 * rows        The definitions: some columns are equal at the same place from the front (from the end) at
 *             every length. As printed, a constant satisfies the definitions, and so does the absence of an
 *             encoding. The probe therefore also requires that the columns separate positions.
 * scores      The input of the softmax. Corollary 3.5 states that relative encodings are neither; this is
 *             about absolute information. Relative encodings add the same value to the score of all pairs at
 *             one distance, so scores are equal from the front and from the end. FIRE does this only for
 *             queries before its threshold. Beyond the threshold it divides the distance by the query's
 *             position, so its scores change when counted from the end. FIRE therefore has two rows: with its
 *             own threshold, and with one that no sequence here exceeds. Only the second is relative.
 * decoding    Can a linear map read the position from the row? ASPE and 2DSPE are neither by the definitions,
 *             yet both positions can be read from their rows, at lengths that the map was not fitted on.
 *
 * Learned tables have their initial values. The statements about them hold for any values. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/aware.h"
#include "probe/draw.h"
#include "probe/own.h"

enum { CONTENTS = 8, HEADS = 4, MOST = 32 };

#define FAR_THRESHOLD "fire threshold=20" /* PW_AWARE_TO: no query is beyond this threshold */

/* Changes below this share of a score's range count as none: tables are in single precision. */
#define SAME 1e-6

struct options {
    int width;
};

static const struct pw_opt opts[] = {
    {"width", PW_OPT_INT, offsetof(struct options, width), "64", 16, 512, NULL, 0,
     "width of the model, a multiple of 16; Qiu et al. don't state theirs"},
    {0},
};

struct measured {
    const char *name; /* text of the encoding, with its options */
    struct pw_aware_rows rows;
    struct pw_aware_property property[2]; /* properties 3.1 and 3.2 */
    struct pw_aware_scores scores;
    struct pw_aware_decoded decoded;
};

struct state {
    struct pw_config cfg;
    double *q, *k; /* [CONTENTS,d] */
    struct measured m[MOST];
};

static enum pw_code begin_awareness(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    struct pw_rng rng;
    if (o->width % 16 != 0)
        return pw_fail(err, PW_EUSER, "probe awareness: width=%d: allowed are multiples of 16", o->width);
    s->cfg = pw_own_config(1, o->width, HEADS, 0, PW_AWARE_TO, 4, true);
    s->q = pw_alloc((size_t)CONTENTS * o->width, sizeof *s->q);
    s->k = pw_alloc((size_t)CONTENTS * o->width, sizeof *s->k);
    pw_draw_init(&rng, p->in, 1, 0);
    for (int i = 0; i < CONTENTS * o->width; i++) {
        s->q[i] = pw_draw_normal(&rng);
        s->k[i] = pw_draw_normal(&rng);
    }
    for (int i = 0; pw_pes[i] != NULL && p->units < MOST - 1; i++)
        if ((pw_pes[i]->uses & PW_PE_CONTENT) == 0) /* numbers of tokens have no table */
            s->m[p->units++].name = pw_pes[i]->name;
    s->m[p->units++].name = FAR_THRESHOLD;
    return PW_OK;
}

static void free_tables(struct pw_aware_tables *t)
{
    for (int i = 0; i < PW_AWARE_LENGTHS; i++)
        pw_pe_tables_free(&t->at[i]);
}

static enum pw_code unit(struct pw_probing_at *p, int i, struct pw_err *err)
{
    struct state *s = p->state;
    struct measured *m = &s->m[i];
    struct pw_aware_tables t = {.d = s->cfg.width, .D = s->cfg.width / HEADS};
    struct pw_pe_use_opts use;
    struct pw_model *model = NULL;
    struct pw_config cfg = s->cfg;
    enum pw_code code = pw_own_named(&model, p->in, &cfg, m->name, &use, err);
    if (code == PW_OK && use.pe->pairs != NULL) {
        t.pairs = use.pe->pairs(use.o.bytes, &cfg);
        t.pairing = use.pe->pairing(use.o.bytes);
    }
    if (code == PW_OK && use.pe->reach != NULL)
        t.reach = use.pe->reach(use.o.bytes, &cfg);
    for (int l = PW_AWARE_FROM; code == PW_OK && l <= PW_AWARE_TO; l++)
        code = pw_model_tables(model, l, &t.at[l - PW_AWARE_FROM], err);
    if (code == PW_OK) {
        pw_aware_rows(&m->rows, &t);
        for (int end = 0; end < 2; end++)
            pw_aware_property(&m->property[end], &t, end);
        pw_aware_scores(&m->scores, &t, s->q, s->k, CONTENTS);
        if (!pw_aware_decode(&m->decoded, &t))
            code = pw_fail(err, PW_ENOMEM, "probe awareness: out of memory");
    }
    free_tables(&t);
    pw_model_destroy(model);
    return code;
}

static void tabulate(struct pw_finding *f, const struct state *s, int n)
{
    static const char *const heads[] = {"forward?", "backward?",    "informative", "forward",
                                        "backward", "apart, front", "apart, end"};
    static const char *const score_heads[] = {"from front", "from end", "off distance"};
    int rows = pw_finding_table(
        f, "rows: columns that are equal at every length, counted from the front or from the end", n, 7);
    int scores = pw_finding_table(f,
                                  "scores: largest change with length, and largest deviation from a function "
                                  "of distance, relative to their range",
                                  n, 3);
    int decoded = pw_finding_table(
        f, "R^2 of a linear map from rows to positions, on lengths that it was not fitted on", n, 2);
    f->blocks[scores].decimals = f->blocks[decoded].decimals = 2;
    for (int k = 0; k < 7; k++)
        pw_finding_col(f, rows, k, "%s", heads[k]);
    for (int k = 0; k < 3; k++)
        pw_finding_col(f, scores, k, "%s", score_heads[k]);
    pw_finding_col(f, decoded, 0, "pos");
    pw_finding_col(f, decoded, 1, "l-1-pos");
    for (int i = 0; i < n; i++) {
        const struct measured *m = &s->m[i];
        const double row[] = {
            pw_aware_forward(&m->rows), pw_aware_backward(&m->rows), m->rows.informative,   m->rows.forward,
            m->rows.backward,           m->rows.apart_forward,       m->rows.apart_backward};
        const double score[] = {m->scores.forward, m->scores.backward, m->scores.relative};
        const int tables[] = {rows, scores, decoded};
        for (int t = 0; t < 3; t++)
            pw_finding_row(f, tables[t], i, "%s", m->name);
        for (int k = 0; k < 7; k++)
            pw_finding_put(f, rows, i, k, row[k]);
        for (int k = 0; k < 3; k++)
            pw_finding_put(f, scores, i, k, score[k]);
        pw_finding_put(f, decoded, i, 0, m->decoded.position);
        pw_finding_put(f, decoded, i, 1, m->decoded.reverse);
    }
}

static const struct measured *measured_of(const struct state *s, int n, const char *pe)
{
    for (int i = 0; i < n; i++)
        if (strcmp(s->m[i].name, pe) == 0)
            return &s->m[i];
    return NULL;
}

static void claim_rows(struct pw_finding *f, const struct measured *m, bool forward, bool backward,
                       const char *claim)
{
    bool is_forward = pw_aware_forward(&m->rows), is_backward = pw_aware_backward(&m->rows);
    pw_finding_claim(
        f, is_forward == forward && is_backward == backward ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
        claim, "%s: %d of %d columns forward, %d backward", m->name, m->rows.forward, m->rows.informative,
        m->rows.backward);
}

/* The claim covers all encodings that are aware by the definition: f must apply to all pairs and be right.
 * For the other encodings that add rows, it reports the number of pairs to which f applies. */
static void claim_property(const struct state *s, int n, struct pw_finding *f, bool from_end,
                           const char *claim)
{
    int aware = 0, held = 0, pairs = 0, others = 0, others_apply = 0;
    for (int i = 0; i < n; i++) {
        const struct pw_aware_property *k = &s->m[i].property[from_end];
        if (from_end ? pw_aware_backward(&s->m[i].rows) : pw_aware_forward(&s->m[i].rows)) {
            aware++;
            held += k->pairs > 0 && k->applies == k->pairs && k->right == k->pairs;
            pairs += k->pairs;
        } else {
            others += k->pairs;
            others_apply += k->applies;
        }
    }
    pw_finding_claim(f, pw_claim_holds(aware > 0 && held == aware), claim,
                     "f taken from length %d: correct on every pair for %d of %d aware encodings (%d pairs, "
                     "lengths %d to %d); for the other encodings it applies to %d of %d pairs",
                     PW_AWARE_TO, held, aware, pairs, PW_AWARE_FROM, PW_AWARE_TO - 1, others_apply, others);
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct state *s = p->state;
    static const char *const relative[] = {"alibi", "t5", "rotary", "clipped", "shaw", FAR_THRESHOLD};
    int n = p->units, same = 0, neither = 0, of_all = sizeof relative / sizeof *relative;
    (void)err;
    pw_finding_init(f, "awareness", "",
                    "forward- and backward-aware: %d encodings of width %d, lengths %d to %d", n - 1,
                    s->cfg.width, PW_AWARE_FROM, PW_AWARE_TO);
    tabulate(f, s, n);
    claim_rows(f, measured_of(s, n, "sinusoidal"), true, false,
               "Qiu et al. 2021, Theorem 3.4: SPE is forward-aware and not backward-aware");
    claim_rows(f, measured_of(s, n, "rspe"), false, true,
               "Qiu et al. 2021, Corollary 3.6: RSPE is backward-aware and not forward-aware");
    claim_rows(f, measured_of(s, n, "dpe"), true, true,
               "Qiu et al. 2021, appendix G: DPE is forward-aware and backward-aware");
    claim_property(
        s, n, f, false,
        "Qiu et al. 2021, Property 3.1: forward-aware: P_b = f(P_a, a, b) with one f for all lengths");
    claim_property(
        s, n, f, true,
        "Qiu et al. 2021, Property 3.2: backward-aware: the same with positions counted from the end");
    for (int i = 0; i < of_all; i++) {
        const struct measured *m = measured_of(s, n, relative[i]);
        neither += m->rows.informative == 0;
        same += m->scores.forward < SAME && m->scores.backward < SAME && m->scores.relative < SAME;
    }
    pw_finding_claim(
        f, neither == of_all ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
        "Qiu et al. 2021, Corollary 3.5: relative encodings are neither forward- nor backward-aware",
        "%d of %d add no rows, but the scores of %d are equal, counted from the front and from the end",
        neither, of_all, same);
    for (int i = 0; i < 2; i++) {
        const struct measured *m = measured_of(s, n, i == 0 ? "aspe" : "2dspe");
        pw_finding_remark(f,
                          "an encoding that is not aware can still be decoded: a linear map reads both "
                          "positions from the rows of %s, R^2 %.2f and %.2f",
                          m->name, m->decoded.position, m->decoded.reverse);
    }
    pw_finding_remark(f, "errata of appendix D: P^1_{0,2i} is 0 and P^2_{0,2i} is sin(1/10000^{2i/d}), so "
                         "they differ; 1/10000^{2i/d} lies in 0.0001..1");
    const struct measured *fire = measured_of(s, n, "fire");
    pw_finding_remark(
        f,
        "fire is relative only up to its threshold, beyond which it divides the distance by the query's "
        "position: its scores change by %.2f of their range if counted from the end, by %.2g from the front",
        fire->scores.backward, fire->scores.forward);
    for (int i = 0; pw_pes[i] != NULL; i++)
        if (pw_pes[i]->uses & PW_PE_CONTENT)
            pw_finding_remark(f,
                              "%s is left out: its part of the scores depends on tokens, so it has no table",
                              pw_pes[i]->name);
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->q);
    free(s->k);
    free(s);
}

const struct pw_probe pw_probe_awareness = {
    .name = "awareness",
    .summary = "which encodings represent the position from the front or from the end: rows, scores, linear "
               "decoding",
    .source = "Qiu et al. 2021, section 3",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_awareness,
    .unit = unit,
    .end = end,
    .fini = fini,
};
