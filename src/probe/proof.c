/* proof.c - see proof.h. */
#include "probe/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/theorem.h"
#include "probe/draw.h"

enum {
    FIRST_TOKEN = 2 /* ids 0 and 1 are padding and end mark */,
    USE = 64 /* purpose number for pw_draw_init */
};

static bool is_bos(const struct pw_config *c, int token)
{
    for (int i = 0; i < c->n_bos; i++)
        if (c->bos[i] == token)
            return true;
    return false;
}

/* Returns true if a sequence of n tokens begins with <bos> and contains no other <bos>. */
static bool fits(const struct pw_config *c, const int *tokens, int n)
{
    int bos = 0;
    for (int i = 0; i < n; i++)
        bos += is_bos(c, tokens[i]);
    return bos == 1 && is_bos(c, tokens[0]);
}

static void draw_prompts(struct pw_proof *s, const struct pw_probe_in *in)
{
    struct pw_rng rng;
    int *others = pw_alloc((size_t)in->vocab, sizeof *others), n = 0;
    for (int v = FIRST_TOKEN; v < in->vocab; v++)
        if (!is_bos(s->cfg, v))
            others[n++] = v;
    pw_draw_init(&rng, in, USE, 0);
    if (s->prompt > 0)
        memcpy(s->tokens, in->tokens, (size_t)s->prompt * sizeof *s->tokens);
    else
        s->tokens[0] = s->cfg->bos[0];
    for (int t = s->prompt > 0 ? s->prompt : 1; t < s->N; t++)
        s->tokens[t] = n > 0 ? others[pw_rng_below(&rng, (uint32_t)n)] : FIRST_TOKEN;
    free(others);
}

/* Returns true if the arm differs from its construction, and writes the reason to s->why. */
static bool has_moved(struct pw_proof *s, const struct pw_probe_subject *a)
{
    uint64_t now[2], then[2];
    const char *pe = pw_model_pe(a->model)->pe->name;
    for (int i = 0; i < s->cfg->layers * s->cfg->heads; i++)
        if (pw_model_replaced(a->model, i / s->cfg->heads, i % s->cfg->heads) != 0) {
            snprintf(s->why, sizeof s->why, "head %d.%d is ablated", i / s->cfg->heads, i % s->cfg->heads);
            return true;
        }
    snprintf(s->why, sizeof s->why, "its encoding is %s", pe);
    if (strcmp(pe, "none") != 0)
        return true;
    pw_model_digest(a->model, now);
    pw_model_digest(a->control, then);
    snprintf(s->why, sizeof s->why, "after %" PRId64 " steps of training", a->step);
    return now[0] != then[0] || now[1] != then[1];
}

enum pw_code pw_proof_init(struct pw_proof *s, const struct pw_probing_at *p, int theorem, int positions,
                           struct pw_err *err)
{
    const struct pw_probe_in *in = p->in;
    const struct pw_probe_subject *a = &in->subject[0];
    s->cfg = pw_model_config(a->model);
    if (pw_theorem_of(s->cfg) < theorem)
        return pw_fail(
            err, PW_EUSER, "probe theorem%d: arm %d isn't %s: create one with 'construct theorem%d'", theorem,
            a->arm,
            pw_theorem_of(s->cfg) == 0 ? "the construction of a proof" : "the construction of this proof",
            theorem);
    if (positions > s->cfg->context)
        return pw_fail(err, PW_EUSER, "probe theorem%d: " PW_PROOF_POSITIONS "=%d: arm %d has context=%d",
                       theorem, positions, a->arm, s->cfg->context);
    s->T = pw_theorem_T(s->cfg->ffn);
    s->N = positions > 0 ? positions : pw_theorem_positions(s->T);
    s->N = s->N > s->cfg->context ? s->cfg->context : s->N;
    if (in->T > 0 && fits(s->cfg, in->tokens, in->T))
        s->prompt = in->T < s->N ? in->T : s->N;
    s->refused = in->T > 0 && s->prompt == 0;
    s->tokens = pw_alloc((size_t)s->N, sizeof *s->tokens);
    draw_prompts(s, in);
    s->moved = has_moved(s, a);
    return PW_OK;
}

void pw_proof_fini(struct pw_proof *s)
{
    free(s->tokens);
}

int pw_proof_points(int *at, int n, int T)
{
    int k = 0;
    for (int t = 1; t <= n; t++) {
        int next = k > 0 ? at[k - 1] + at[k - 1] / 8 : 0;
        if (t > next || t == T || t == n)
            at[k++] = t;
    }
    return k;
}

enum pw_claim_verdict pw_proof_verdict(const struct pw_probing_at *p, bool holds)
{
    return holds ? PW_CLAIM_REPRODUCED : p->in->ops->portable ? PW_CLAIM_CONTRADICTED : PW_CLAIM_INCONCLUSIVE;
}

void pw_proof_row(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f, int b, int t)
{
    char word[PW_FINDING_LABEL];
    p->in->word(p->in->arg, s->tokens[t - 1], word);
    pw_finding_row(f, b, t - 1, "%d %s", t, word);
}

void pw_proof_remarks(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f)
{
    if (s->moved)
        pw_finding_remark(f,
                          "arm %d is no longer the construction (%s): it is shown beside the initial "
                          "construction, and no claim is made about it",
                          p->in->subject[0].arm, s->why);
    if (s->refused)
        pw_finding_remark(f, "the pinned prompt doesn't contain <bos>, the first token of its task, exactly "
                             "once at the start: random tokens are used");
    else if (s->prompt > 0)
        pw_finding_remark(f, "the first %d tokens are the pinned prompt, the tokens after it are random",
                          s->prompt);
    if (!p->in->ops->portable)
        pw_finding_remark(
            f,
            "matrix products have the precision of this machine (%s), so they aren't exact float32 products",
            p->in->ops->precision);
}
