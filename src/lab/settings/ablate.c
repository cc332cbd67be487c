/* ablate.c - ablate heads and restore them, in all replicas of an arm or in one.
 *
 * The mode decides what replaces a head's output z (before W_o; src/model/ablate.c):
 *
 *   zero      zeros. Crude: the layers above never saw this head silent, so part of the damage is the shock.
 *   mean      the mean of z over the rows of a probe set. The head's average contribution stays, and only
 *             its contribution for this input is removed.
 *   resample  at position p the z of another example at p: a value that the head does produce, for the wrong
 *             input. The example is drawn for each layer, head and position from the long enough ones of the
 *             probe set. The draw depends on (seed, a stream of its own, layer, head, position), so the same
 *             command gives the same bits. A position that no example reaches takes the mean.
 *
 * The probe set is validation samples of the trained lengths. The whole network runs on them with all heads
 * active, so the order of ablations does not matter. The means belong to the weights at the time of the
 * command and are kept while training continues; a further `ablate` measures them again. Every replica has
 * its own.
 *
 * This takes seconds for a large model, so it is a job in slices. All chosen heads of all these replicas are
 * replaced after the last sample. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/jobs/evals.h"
#include "lab/train/train.h"

#define SLICE_S 0.04

struct pw_ablating {
    int arm; /* id */
    enum pw_ablation mode;
    uint8_t *chosen; /* [L,H] */
    int n_chosen;
    struct pw_samples s;
    int longest; /* rows of the longest sample */
    struct pw_range replicas;
    int at;       /* number of finished replicas */
    int done;     /* number of finished samples of the next replica */
    double *sum;  /* [n_chosen,D] */
    float *z;     /* [L,longest,H,D] of one sample */
    float *table; /* [replicas,n_chosen,context,D] */
    int *donor;   /* [n_chosen,context]: sample; -1: none is long enough */
};

/* ---- parsing a list of heads */

static enum pw_code no_head(const struct pw_replica *arm, const char *who, const char *text, size_t n,
                            struct pw_err *err)
{
    return pw_fail(err, PW_EUSER, "%s: no head '%.*s': arm %d has L0H0 to L%dH%d (or 0.0 to %d.%d)", who,
                   n < 40 ? (int)n : 40, text, arm->id, arm->cfg.layers - 1, arm->cfg.heads - 1,
                   arm->cfg.layers - 1, arm->cfg.heads - 1);
}

/* Parse a number at *at and advance *at; -1: no number. */
static int number(const char **at)
{
    int n = -1;
    for (; **at >= '0' && **at <= '9' && n < 100000; ++*at)
        n = (n < 0 ? 0 : n) * 10 + (**at - '0');
    return n;
}

enum pw_code pw_lab_read_heads(const struct pw_replica *arm, const char *who, const char *text,
                               uint8_t *chosen, struct pw_err *err)
{
    int L = arm->cfg.layers, H = arm->cfg.heads;
    for (const char *at = text;; at++) {
        const char *word = at;
        size_t n = strcspn(word, ",");
        bool letters = *at == 'L' || *at == 'l'; /* L1H3, the notation of the screen */
        at += letters;
        int l = number(&at);
        bool dot = letters ? *at == 'H' || *at == 'h' : *at == '.';
        at += dot;
        bool all = dot && *at == '*';
        at += all;
        int h = all ? 0 : number(&at);
        if (at != word + n || l < 0 || l >= L || h < 0 || h >= H)
            return no_head(arm, who, word, n, err);
        memset(chosen + l * H + h, 1, all ? (size_t)H : 1);
        if (*at == '\0')
            return PW_OK;
    }
}

/* The range of replicas that the argument selects. */
static struct pw_range meant(const struct pw_lab *lab, int id, int replica_or_0)
{
    struct pw_range all = {1, pw_lab_n_replicas(lab, id)}, one = {replica_or_0, replica_or_0};
    return replica_or_0 > 0 ? one : all;
}

/* Measurements, finished or running, belong to the network before the change. Drop them, and report the
 * ablated heads as a note and as events. why: the source of the replacements. */
static void changed(struct pw_lab *lab, struct pw_replica *arm, struct pw_range replicas, const char *why)
{
    char text[PW_LINE];
    struct pw_notice notice = {.what = PW_CHANGE_HEADS, .arm = arm->id};
    pw_lab_changes(lab, &notice);
    for (int r = replicas.lo; r <= replicas.hi; r++)
        pw_lab_emit_heads(lab, pw_lab_replica(lab, arm->id, r));
    pw_arm_heads_text(text, sizeof text, &lab->record->arms[arm->id - 1]);
    if (text[0] != '\0')
        pw_lab_note(lab, "arm %d: heads off %s%s", arm->id, text, why);
    else
        pw_lab_note(lab, "arm %d: all heads are on", arm->id);
    pw_lab_changed(lab, &notice);
}

/* ---- the job */

static void free_ablating(void *state)
{
    struct pw_ablating *p = state;
    pw_samples_fini(&p->s);
    free(p->chosen);
    free(p->sum);
    free(p->z);
    free(p->table);
    free(p->donor);
    free(p);
}

static int count(struct pw_range replicas)
{
    return replicas.hi - replicas.lo + 1;
}

static int64_t progress(const void *state, int64_t *total)
{
    const struct pw_ablating *p = state;
    *total = (int64_t)count(p->replicas) * p->s.b.n_seqs;
    return (int64_t)p->at * p->s.b.n_seqs + p->done;
}

/* Draw the sample whose z is used, for each chosen head and position. */
static void draw_donors(const struct pw_lab *lab, struct pw_ablating *p, const struct pw_config *cfg)
{
    int *fits = pw_alloc((size_t)p->s.b.n_seqs, sizeof *fits);
    for (int pos = 0; pos < cfg->context; pos++) {
        int n = 0;
        for (int k = 0; k < p->s.b.n_seqs; k++)
            if (p->s.start[k + 1] - p->s.start[k] > pos)
                fits[n++] = k;
        for (int i = 0, c = 0; i < cfg->layers * cfg->heads; i++) {
            struct pw_rng rng;
            if (!p->chosen[i])
                continue;
            pw_rng_init(&rng, lab->seed, PW_STREAM_ABLATE, (uint64_t)i << 32 | (uint32_t)pos);
            p->donor[c++ * cfg->context + pos] = n > 0 ? fits[pw_rng_below(&rng, (uint32_t)n)] : -1;
        }
    }
    free(fits);
}

/* Is there enough memory for the tables, here and in the models? */
static enum pw_code check_memory(const struct pw_replica *arm, size_t tables, struct pw_err *err)
{
    size_t need = 2 * tables * (size_t)arm->cfg.context * (size_t)arm->cfg.head_width * sizeof(float),
           room = pw_lab_memory();
    if (need <= room)
        return PW_OK;
    return pw_fail(
        err, PW_ENOMEM,
        "ablate: the replacements of so many heads take %.1f GB, and %.1f GB are free; mode=zero takes none",
        1e-9 * (double)need, 1e-9 * (double)room);
}

static void run_slice(struct pw_lab *lab);

static enum pw_code begin_measuring(struct pw_lab *lab, const struct pw_replica *arm,
                                    struct pw_range replicas, enum pw_ablation mode, const uint8_t *chosen,
                                    int samples, struct pw_err *err)
{
    const struct pw_config *cfg = &arm->cfg;
    size_t heads = (size_t)cfg->layers * cfg->heads, D = (size_t)cfg->head_width,
           context = (size_t)cfg->context;
    size_t n = 0, many = (size_t)count(replicas);
    for (size_t i = 0; i < heads; i++)
        n += chosen[i];
    enum pw_code code = check_memory(arm, many * n, err);
    if (code != PW_OK)
        return code;
    struct pw_ablating *p = pw_alloc(1, sizeof *p);
    p->arm = arm->id;
    p->mode = mode;
    p->replicas = replicas;
    p->n_chosen = (int)n;
    p->chosen = pw_alloc(heads, sizeof *p->chosen);
    memcpy(p->chosen, chosen, heads);
    pw_samples_fill(&p->s, &lab->tasks, lab->seed, PW_SPLIT_VALID, 0, pw_lab_valid_samples(lab, samples), 0,
                    0);
    for (int k = 0; k < p->s.b.n_seqs; k++) {
        int T = p->s.start[k + 1] - p->s.start[k];
        p->longest = T > p->longest ? T : p->longest;
    }
    p->sum = calloc(n * D, sizeof *p->sum);
    p->z = malloc(heads * (size_t)p->longest * D * sizeof *p->z);
    p->table = calloc(many * n * context * D, sizeof *p->table);
    p->donor = calloc(n * context, sizeof *p->donor);
    if (p->sum == NULL || p->z == NULL || p->table == NULL || p->donor == NULL) {
        free_ablating(p);
        return pw_fail(err, PW_ENOMEM, "ablate: out of memory for the replacements of %zu heads", n);
    }
    if (mode == PW_ABLATE_RESAMPLE)
        draw_donors(lab, p, cfg);
    pw_job_begin(lab, PW_JOB_ABLATE,
                 &(struct pw_job){.name = "ablate",
                                  .cancelled = "ablate; no head was changed",
                                  .reads = PW_CHANGE_MODELS | PW_CHANGE_RESULTS | PW_CHANGE_TASK,
                                  .state = p,
                                  .free_state = free_ablating,
                                  .progress = progress,
                                  .slice = run_slice});
    return PW_OK;
}

/* Run the next sample through the whole network. Add its z to the sums, and copy it to the positions for
 * which the sample was drawn. */
static enum pw_code run_sample(struct pw_lab *lab, struct pw_ablating *p, struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_replica(lab, p->arm, p->replicas.lo + p->at);
    int k = p->done++, first = p->s.start[k], T = p->s.start[k + 1] - first, H = arm->cfg.heads, c = 0;
    int context = arm->cfg.context;
    size_t D = (size_t)arm->cfg.head_width;
    struct pw_inspection in = {.z = p->z, .whole = true};
    enum pw_code code = pw_model_inspect(arm->model, p->s.tokens + first, T, &in, err);
    for (int i = 0; code == PW_OK && i < arm->cfg.layers * H; i++) {
        if (!p->chosen[i])
            continue;
        float *table = p->table + ((size_t)p->at * p->n_chosen + c) * context * D;
        for (int t = 0; t < T; t++) {
            const float *z = p->z + (((size_t)(i / H) * T + t) * H + i % H) * D;
            for (size_t d = 0; d < D; d++)
                p->sum[c * D + d] += z[d];
            if (p->mode == PW_ABLATE_RESAMPLE && p->donor[c * context + t] == k)
                memcpy(table + t * D, z, D * sizeof *z);
        }
        c++;
    }
    return code;
}

/* All samples of a replica are done: use the mean at positions without a sample. */
static void end_replica(struct pw_ablating *p, const struct pw_config *cfg)
{
    size_t D = (size_t)cfg->head_width;
    for (int c = 0; c < p->n_chosen; c++)
        for (int pos = 0; pos < cfg->context; pos++) {
            float *row = p->table + (((size_t)p->at * p->n_chosen + c) * cfg->context + pos) * D;
            for (size_t d = 0; d < D; d++)
                if (p->mode == PW_ABLATE_MEAN || p->donor[c * cfg->context + pos] < 0)
                    row[d] = (float)(p->sum[c * D + d] / p->s.b.n_rows);
        }
    memset(p->sum, 0, (size_t)p->n_chosen * D * sizeof *p->sum);
    p->done = 0;
    p->at++;
}

/* Replace the chosen heads of these replicas: of all or, if memory runs out for one, of none. table NULL: by
 * zeros. */
static enum pw_code replace(struct pw_lab *lab, int id, struct pw_range replicas, const uint8_t *chosen,
                            enum pw_ablation mode, const float *table, struct pw_err *err)
{
    const struct pw_config *cfg = &pw_lab_arm(lab, id)->cfg;
    struct pw_replaced *made[PW_MAX_REPLICAS + 1] = {NULL};
    int n = cfg->layers * cfg->heads, tables = 0;
    int64_t *as = pw_alloc((size_t)n, sizeof *as), *at = pw_alloc((size_t)n, sizeof *at);
    size_t floats = (size_t)cfg->context * cfg->head_width;
    enum pw_code code = PW_OK;
    for (int i = 0; i < n; i++) {
        as[i] = chosen[i] ? (int64_t)mode : 0;
        at[i] = chosen[i] && table != NULL ? tables++ : -1;
    }
    for (int r = replicas.lo; code == PW_OK && r <= replicas.hi; r++) {
        const float *own = table != NULL ? table + (size_t)(r - replicas.lo) * tables * floats : NULL;
        code = pw_replaced_make(&made[r], pw_lab_replica(lab, id, r)->model, as, at, own, err);
    }
    if (code == PW_OK)
        pw_lab_end_checks(lab);
    for (int r = replicas.lo; r <= replicas.hi; r++) {
        struct pw_model *m = pw_lab_replica(lab, id, r)->model;
        if (code == PW_OK)
            pw_replaced_join(m, made[r]);
        else
            pw_replaced_free(m, made[r]);
    }
    free(as);
    free(at);
    return code;
}

static enum pw_code end_measuring(struct pw_lab *lab, struct pw_ablating *p, struct pw_err *err)
{
    struct pw_replica *arm = pw_lab_arm(lab, p->arm);
    char why[96];
    struct pw_range replicas = p->replicas;
    enum pw_code code = replace(lab, p->arm, replicas, p->chosen, p->mode, p->table, err);
    snprintf(why, sizeof why, "; from %d validation samples, %d rows", p->s.b.n_seqs, p->s.b.n_rows);
    if (code != PW_OK)
        return code;
    pw_job_tell(lab, PW_JOB_ABLATE, PW_JOB_DONE);
    pw_job_end(lab, PW_JOB_ABLATE);
    changed(lab, arm, replicas, why);
    return PW_OK;
}

static void run_slice(struct pw_lab *lab)
{
    struct pw_ablating *p = pw_job_state(lab, PW_JOB_ABLATE);
    double end = pw_now() + SLICE_S;
    struct pw_err err;
    enum pw_code code = PW_OK;
    while (code == PW_OK && p->at < count(p->replicas) && pw_now() < end) {
        code = run_sample(lab, p, &err);
        if (code == PW_OK && p->done == p->s.b.n_seqs)
            end_replica(p, &pw_lab_arm(lab, p->arm)->cfg);
    }
    if (code == PW_OK && p->at == count(p->replicas)) {
        code = end_measuring(lab, p, &err);
    } else if (code == PW_OK) {
        pw_job_tell(lab, PW_JOB_ABLATE, PW_JOB_RUNNING);
    }
    if (code != PW_OK)
        pw_job_fail(lab, PW_JOB_ABLATE, &err);
}

/* ---- commands */

/* While heads are being measured, the job would ablate or restore heads after the next command. */
static enum pw_code refuse_meanwhile(const struct pw_lab *lab, const char *who, struct pw_err *err)
{
    const struct pw_ablating *p = pw_job_state(lab, PW_JOB_ABLATE);
    if (p == NULL)
        return PW_OK;
    return pw_fail(
        err, PW_EUSER,
        "%s: the replacements for heads of arm %d are still being measured; 'cancel ablate' ends that", who,
        p->arm);
}

enum pw_code pw_lab_ablate(struct pw_lab *lab, struct pw_replica *arm, int replica, const uint8_t *chosen,
                           enum pw_ablation mode, int samples, struct pw_err *err)
{
    struct pw_range replicas = meant(lab, arm->id, replica);
    enum pw_code code = refuse_meanwhile(lab, "ablate", err);
    if (code == PW_OK && mode != PW_ABLATE_ZERO)
        return begin_measuring(lab, arm, replicas, mode, chosen, samples, err);
    if (code == PW_OK)
        code = replace(lab, arm->id, replicas, chosen, mode, NULL, err);
    if (code != PW_OK)
        return code;
    changed(lab, arm, replicas, "");
    return PW_OK;
}

enum pw_code pw_lab_restore(struct pw_lab *lab, struct pw_replica *arm, int replica, const uint8_t *chosen,
                            struct pw_err *err)
{
    struct pw_range replicas = meant(lab, arm->id, replica);
    enum pw_code code = refuse_meanwhile(lab, "restore", err);
    if (code != PW_OK)
        return code;
    pw_lab_end_checks(lab);
    for (int r = replicas.lo; r <= replicas.hi; r++) {
        struct pw_replica *a = pw_lab_replica(lab, arm->id, r);
        for (int i = 0; i < a->cfg.layers * a->cfg.heads; i++)
            if (chosen == NULL || chosen[i])
                pw_model_restore_head(a->model, i / a->cfg.heads, i % a->cfg.heads);
    }
    changed(lab, arm, replicas, "");
    return PW_OK;
}
