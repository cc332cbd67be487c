/* patch.c - activation patching: which activations carry the difference between two prompts (Meng et al.
 * 2022, "Locating and editing factual associations in GPT"). The maps are the same as TransformerLens's
 * get_act_patch_resid_pre and get_act_patch_attn_head_out_all_pos.
 *
 * The pinned prompt is the clean one, from= gives the corrupt one. Both have the same number of tokens, so
 * positions correspond. The common beginning of their answers is appended to both, teacher-forced. The clean
 * and the corrupt answer differ in the next token. At this last position, m = logit(clean's token) -
 * logit(corrupt's token) is read. The corrupt prompt runs repeatedly, each time with one activation of the
 * clean run patched in:
 *
 *     recovery = (m_patched - m_corrupt) / (m_clean - m_corrupt)
 *
 * Decisions. The right answers decide where the two differ. If one is unknown (lines of a file, a prompt
 * outside of the task), both are the model's own greedy answers, and the result says so. The difference is of
 * logits, not of probabilities: it is linear in the last stream and does not saturate. Clean activations are
 * patched into the corrupt run, which shows what suffices to restore the answer. The other way round would
 * show what is necessary. If m_clean and m_corrupt are almost equal there is nothing to recover; this is
 * reported instead of dividing by the difference.
 *
 * Recovery is exact at its ends. Patching everything at layer 0 gives the bits of the clean run, so 1.
 * Patching nothing gives 0, and so does the stream after the last block at any but the last position.
 *
 * A map takes (L + 1) T or L H passes, so it is a job in slices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

#define SLICE_S 0.04
#define ALIKE   1e-3 /* smallest difference of m that may be a divisor */

struct pw_patching {
    int place; /* of the replica */
    int64_t step;
    struct pw_event *e; /* the result so far */
    int *tokens;        /* [T] corrupt */
    int T;
    int clean, corrupt; /* tokens that m compares */
    float *resid, *z;   /* of the clean run: [L+1,T,C], [L,T,H,D] */
    float *source;      /* [T,D] one head of z */
    float *logits;      /* [T,V] */
    int done;           /* number of finished entries of the map */
    char from[PW_LINE];
};

/* ---- the two prompts */

/* Find the most probable next token of each of two sequences of T tokens, stored one after the other. */
static enum pw_code greedy(const struct pw_replica *arm, const int *tokens, int T, int best[2],
                           struct pw_err *err)
{
    int *pos = pw_alloc(2 * (size_t)T, sizeof *pos);
    struct pw_batch b = {.n_seqs = 2,
                         .n_rows = 2 * T,
                         .n_scored = 2,
                         .start = (const int[]){0, T, 2 * T},
                         .tokens = tokens,
                         .pos = pos,
                         .rows = (const int[]){T - 1, 2 * T - 1},
                         .targets = (const int[]){0, 0}};
    for (int i = 0; i < 2 * T; i++)
        pos[i] = i % T;
    enum pw_code code = pw_model_eval(arm->model, &b, best, NULL, err);
    free(pos);
    return code;
}

/* Append the common beginning of the answer to both prompts. On return both sequences have *T tokens, and
 * next holds the two different tokens that follow. */
static enum pw_code part(const struct pw_taskset *set, const struct pw_replica *arm,
                         const struct pw_sample *clean, const struct pw_sample *corrupt, int **both, int *T,
                         int next[2], bool *known, struct pw_err *err)
{
    int n = clean->n_prompt, most = arm->cfg.context;
    int *seq = pw_alloc(2 * (size_t)most, sizeof *seq);
    enum pw_code code = PW_OK;
    bool single = pw_taskset_single(set, clean->task) || pw_taskset_single(set, corrupt->task);
    *known = clean->n > n && corrupt->n > n;
    *both = seq;
    for (*T = n; code == PW_OK && *T <= most; ++*T) {
        if (*known && (*T >= clean->n || *T >= corrupt->n)) /* equal answers without an end mark */
            break;
        memcpy(seq, clean->tokens, (size_t)n * sizeof *seq);
        memcpy(seq + *T, corrupt->tokens, (size_t)n * sizeof *seq);
        for (int i = n; i < *T; i++) /* both share it */
            seq[*T + i] = seq[i];
        if (*known) {
            next[0] = clean->tokens[*T];
            next[1] = corrupt->tokens[*T];
        } else
            code = greedy(arm, seq, *T, next, err);
        if (code != PW_OK || next[0] != next[1])
            return code;
        if (pw_vocab_ends(&set->vocab, next[0]) || *T == most || single)
            break;
        seq[*T] = next[0];
    }
    return pw_fail(err, PW_EUSER, "patch: both prompts have the same answer%s, so recovery is not defined",
                   *known ? "" : " of the model");
}

/* ---- the job */

static void free_patching(void *state)
{
    struct pw_patching *p = state;
    pw_event_free(p->e);
    free(p->tokens);
    free(p->resid);
    free(p->z);
    free(p->source);
    free(p->logits);
    free(p);
}

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_patching *p = state;
    *total = (int64_t)p->e->u.patch.rows * p->e->u.patch.cols;
    return p->done;
}

/* Compute m after a pass. */
static float difference(const struct pw_patching *p, const struct pw_config *cfg)
{
    const float *last = p->logits + (size_t)(p->T - 1) * cfg->vocab;
    return last[p->clean] - last[p->corrupt];
}

/* Compute entry (row, col) of the map: run the corrupt prompt with this activation of the clean run. */
static enum pw_code run_entry(struct pw_patching *p, const struct pw_replica *arm, struct pw_err *err)
{
    struct pw_ev_patch *e = &p->e->u.patch;
    const struct pw_config *c = &arm->cfg;
    bool resid = e->kind == PW_PATCH_RESID;
    int row = p->done / e->cols, col = p->done % e->cols;
    int layer = e->layer >= 0 ? e->layer : row, head = resid ? -1 : e->head >= 0 ? e->head : col;
    int pos = e->pos >= 0 || !resid || e->layer >= 0 ? e->pos : col;
    size_t D = (size_t)c->head_width;
    struct pw_patch patch = {.layer = layer,
                             .head = head,
                             .from = pos < 0 ? 0 : pos,
                             .to = pos < 0 ? p->T : pos + 1,
                             .source = resid ? p->resid + (size_t)layer * p->T * c->width : p->source};
    struct pw_inspection in = {.logits = p->logits, .patches = &patch, .n_patches = 1};
    for (int t = 0; !resid && t < p->T; t++)
        memcpy(p->source + t * D, p->z + (((size_t)layer * p->T + t) * c->heads + head) * D,
               D * sizeof *p->source);
    enum pw_code code = pw_model_inspect(arm->model, p->tokens, p->T, &in, err);
    if (code == PW_OK)
        e->recovery[p->done++] = (difference(p, c) - e->m_corrupt) / (e->m_clean - e->m_corrupt);
    return code;
}

/* Write the text of the result: what was patched, as typed, and the outcome. */
static void describe(struct pw_patching *p, int replica)
{
    struct pw_ev_patch *e = &p->e->u.patch;
    int best = 0, n = e->rows * e->cols;
    char what[64], result[64] = "", of[32] = "";
    for (int i = 1; i < n; i++)
        best = e->recovery[i] > e->recovery[best] ? i : best;
    if (e->kind == PW_PATCH_RESID)
        snprintf(what, sizeof what, "resid");
    else if (e->head >= 0)
        snprintf(what, sizeof what, "%d.%d", e->layer, e->head);
    else
        snprintf(what, sizeof what, "heads");
    if (e->kind == PW_PATCH_RESID && e->layer >= 0)
        snprintf(what + strlen(what), sizeof what - strlen(what), " %d", e->layer);
    if (e->pos >= 0)
        snprintf(what + strlen(what), sizeof what - strlen(what), " %d", e->pos);
    if (replica > 1)
        snprintf(of, sizeof of, " of replica %d", replica);
    if (n == 1)
        snprintf(result, sizeof result, ": recovery %.3f", (double)e->recovery[0]);
    else if (e->kind == PW_PATCH_HEADS)
        snprintf(result, sizeof result, ": highest for head %d.%d, %.3f", best / e->cols, best % e->cols,
                 (double)e->recovery[best]);
    snprintf(e->text, sizeof e->text,
             "patch %s%s from \"%s\"%s; logit of %s minus logit of %s at position %d: clean %+.3f, corrupt "
             "%+.3f%s",
             what, of, p->from, result, e->clean_token, e->corrupt_token, p->T - 1, (double)e->m_clean,
             (double)e->m_corrupt, e->greedy ? " (the model's own answers)" : "");
}

static void run_slice(struct pw_lab *lab)
{
    struct pw_patching *p = pw_job_state(lab, PW_JOB_PATCH);
    const struct pw_replica *arm = &lab->replicas[p->place];
    int n = p->e->u.patch.rows * p->e->u.patch.cols;
    double end = pw_now() + SLICE_S;
    struct pw_err err;
    enum pw_code code = PW_OK;
    if (arm->step != p->step) { /* the rest of the map would belong to another model */
        pw_job_cancel(lab, PW_JOB_PATCH);
        return;
    }
    while (code == PW_OK && p->done < n && pw_now() < end)
        code = run_entry(p, arm, &err);
    if (code != PW_OK) {
        pw_job_fail(lab, PW_JOB_PATCH, &err);
        return;
    }
    pw_job_tell(lab, PW_JOB_PATCH, p->done < n ? PW_JOB_RUNNING : PW_JOB_DONE);
    if (p->done < n)
        return;
    describe(p, arm->replica);
    struct pw_event *e = pw_lab_event(PW_EV_PATCH, arm);
    e->u.patch = p->e->u.patch;
    memset(&p->e->u.patch, 0, sizeof p->e->u.patch); /* e has taken its arrays */
    pw_lab_emit(lab, e);
    pw_job_end(lab, PW_JOB_PATCH);
}

/* ---- start */

/* Check the arguments and set the shape of the result. */
static enum pw_code set_shape(struct pw_ev_patch *e, const struct pw_config *c, int T, struct pw_err *err)
{
    bool resid = e->kind == PW_PATCH_RESID;
    int layers = resid ? c->layers + 1 : c->layers;
    if (e->layer >= layers) /* the head was checked against the model already */
        return pw_fail(err, PW_EUSER,
                       "patch: layer %d: allowed are 0..%d, and %d for the output of the last layer",
                       e->layer, c->layers - 1, c->layers);
    if (e->pos >= T)
        return pw_fail(err, PW_EUSER,
                       "patch: position %d: allowed are 0..%d, the prompt and the common part of the answers",
                       e->pos, T - 1);
    e->rows = e->layer >= 0 ? 1 : layers;
    e->cols = e->layer >= 0 ? 1 : resid ? T : c->heads;
    e->T = T;
    e->recovery = pw_alloc((size_t)e->rows * e->cols, sizeof *e->recovery);
    return PW_OK;
}

/* Run both prompts: keep the clean activations, and compute both values of m. */
static enum pw_code run_both(struct pw_patching *p, const struct pw_replica *arm, const int *clean,
                             struct pw_err *err)
{
    const struct pw_config *c = &arm->cfg;
    struct pw_ev_patch *e = &p->e->u.patch;
    size_t T = (size_t)p->T, D = (size_t)c->head_width, z = (size_t)c->layers * T * c->heads * D;
    p->resid = malloc((size_t)(c->layers + 1) * T * c->width * sizeof *p->resid);
    p->z = malloc(z * sizeof *p->z);
    p->source = malloc(T * D * sizeof *p->source);
    p->logits = malloc(T * c->vocab * sizeof *p->logits);
    if (p->resid == NULL || p->z == NULL || p->source == NULL || p->logits == NULL)
        return pw_fail(err, PW_ENOMEM, "patch: out of memory for the activations of %d tokens", p->T);
    struct pw_inspection in = {.resid = p->resid, .z = p->z, .logits = p->logits};
    enum pw_code code = pw_model_inspect(arm->model, clean, p->T, &in, err);
    if (code != PW_OK)
        return code;
    e->m_clean = difference(p, c);
    code = pw_model_inspect(arm->model, p->tokens, p->T, &(struct pw_inspection){.logits = p->logits}, err);
    if (code != PW_OK)
        return code;
    e->m_corrupt = difference(p, c);
    if (!(fabs((double)e->m_clean - (double)e->m_corrupt) >= ALIKE))
        return pw_fail(err, PW_EUSER,
                       "patch: the model does not distinguish the prompts: the logit of %s minus that of %s "
                       "is %+.4f for the clean one and %+.4f for the corrupt one",
                       e->clean_token, e->corrupt_token, (double)e->m_clean, (double)e->m_corrupt);
    return PW_OK;
}

static enum pw_code begin_patching(const struct pw_lab *lab, struct pw_patching *p,
                                   const struct pw_replica *arm, const struct pw_sample *corrupt,
                                   struct pw_err *err)
{
    struct pw_ev_patch *e = &p->e->u.patch;
    const struct pw_sample *clean = &lab->pin.sample;
    int *both, next[2];
    bool known;
    if (clean->n_prompt != corrupt->n_prompt)
        return pw_fail(
            err, PW_EUSER,
            "patch: the corrupt prompt has %d tokens, the pinned one %d; both must have the same length",
            corrupt->n_prompt, clean->n_prompt);
    if (memcmp(clean->tokens, corrupt->tokens, (size_t)clean->n_prompt * sizeof(int)) == 0)
        return pw_fail(err, PW_EUSER, "patch: the corrupt prompt equals the pinned one; give another");
    if (clean->n_prompt > arm->cfg.context)
        return pw_fail(err, PW_EUSER, "patch: %d tokens: arm %d has context=%d", clean->n_prompt, arm->id,
                       arm->cfg.context);
    enum pw_code code = part(&lab->tasks, arm, clean, corrupt, &both, &p->T, next, &known, err);
    if (code == PW_OK)
        code = set_shape(e, &arm->cfg, p->T, err);
    if (code == PW_OK) {
        p->tokens = pw_alloc((size_t)p->T, sizeof *p->tokens);
        memcpy(p->tokens, both + p->T, (size_t)p->T * sizeof *p->tokens);
        p->clean = next[0];
        p->corrupt = next[1];
        e->n_prompt = clean->n_prompt;
        e->greedy = !known;
        e->clean = pw_lab_labels(lab, both, p->T);
        e->corrupt = pw_lab_labels(lab, p->tokens, p->T);
        pw_lab_label(lab, p->clean, e->clean_token);
        pw_lab_label(lab, p->corrupt, e->corrupt_token);
        code = run_both(p, arm, both, err);
    }
    free(both);
    return code;
}

enum pw_code pw_lab_patch(struct pw_lab *lab, struct pw_replica *arm, enum pw_patch_kind kind, int layer,
                          int head, int pos, const char *from, struct pw_err *err)
{
    int context = arm->cfg.context;
    struct pw_sample corrupt = {.tokens = pw_alloc((size_t)context, sizeof(int)), .cap = context};
    struct pw_patching *p = pw_alloc(1, sizeof *p);
    enum pw_code code = PW_OK;
    p->e = pw_event_new(PW_EV_PATCH);
    p->e->u.patch = (struct pw_ev_patch){.kind = kind, .layer = layer, .head = head, .pos = pos};
    p->place = (int)(arm - lab->replicas);
    p->step = arm->step;
    pw_text_copy(p->from, sizeof p->from, from);
    if (lab->pin.id == 0)
        code = pw_lab_want_prompt(lab, "patch: no prompt is pinned; run 'prompt TEXT' first", err);
    if (code == PW_OK)
        code = pw_taskset_prompt(&lab->tasks, from, context, &corrupt, err);
    if (code == PW_OK)
        code = begin_patching(lab, p, arm, &corrupt, err);
    free(corrupt.tokens);
    if (code != PW_OK) {
        free_patching(p);
        return code;
    }
    pw_job_begin(lab, PW_JOB_PATCH,
                 &(struct pw_job){.name = "patch",
                                  .cancelled = "patch",
                                  .reads = PW_CHANGE_MODELS | PW_CHANGE_RESULTS | PW_CHANGE_TASK,
                                  .state = p,
                                  .free_state = free_patching,
                                  .progress = progress,
                                  .slice = run_slice});
    return PW_OK;
}
