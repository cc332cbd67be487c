/* import_attention.c - load the attention of another model from an .npz file, to show and compare it beside
 * the arm's.
 *
 * The file has the arrays that `export attention` writes, or some of them. `probs` [layers,heads,T,T] is
 * required; it may have fewer dimensions for a single layer or head, and a batch dimension of 1 is skipped.
 * `tokens` [T] or `labels` [T] is required, too; labels are preferred. `score` or `scores` of probs' shape is
 * optional. All values are checked (weights lie in 0..1, rows sum to 1), because any other array would be
 * drawn like attention.
 *
 * Everything goes into one event, so a session shows it without the file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/npz_read.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"
#include "probe/heads.h"

#define FILE_BYTES  ((size_t)512 << 20)
#define EVENT_BYTES ((int64_t)48 << 20) /* most bytes of maps, below the limit of a session's payload */
#define MOST_LAYERS 64                  /* limits of the codec, as is MOST_HEADS */
#define MOST_HEADS  1024
/* largest deviation of a row's sum from 1: half precision, and sums in another order */
#define ROW_SUM 1e-3

struct source {
    const char *path;
    const struct pw_npz_array *probs, *score, *tokens, *labels; /* NULL: the file has none */
    int layers, heads, T;
};

/* Get layers, heads, queries and keys of an array of maps. Returns false if the array has no such shape. */
static bool shape_of(const struct pw_npz_array *a, int64_t shape[4])
{
    int64_t d[PW_NPZ_DIMS];
    int n = a->n_dims;
    memcpy(d, a->dims, sizeof d);
    /* a batch of one, before the layers or, if layers were stacked, behind them */
    if (n == 5 && (d[0] == 1 || d[1] == 1)) {
        int batch = d[1] == 1 ? 1 : 0;
        memmove(d + batch, d + batch + 1, (size_t)(4 - batch) * sizeof *d);
        n = 4;
    }
    if (a->type != 'f' || n < 2 || n > 4)
        return false;
    shape[0] = shape[1] = 1;
    memcpy(shape + 4 - n, d, (size_t)n * sizeof *d);
    return true;
}

static enum pw_code wrong_shape(const struct source *s, const struct pw_npz_array *a, struct pw_err *err)
{
    struct pw_str is = {0};
    for (int i = 0; i < a->n_dims; i++)
        pw_str_add(&is, "%s%lld", i > 0 ? "," : "", (long long)a->dims[i]);
    enum pw_code code =
        pw_fail(err, PW_EUSER, "%.160s: %s is [%s]%s; it must be numbers [layers,heads,T,T]", s->path,
                a->name, pw_str_text(&is), a->type == 'f' ? "" : " and not floating-point");
    pw_str_fini(&is);
    return code;
}

/* Find the arrays and compare their shapes. */
static enum pw_code find(struct source *s, const struct pw_npz_file *z, struct pw_err *err)
{
    int64_t p[4], other[4];
    s->probs = pw_npz_find(z, "probs");
    s->tokens = pw_npz_find(z, "tokens");
    s->labels = pw_npz_find(z, "labels");
    s->score = pw_npz_find(z, "score");
    s->score = s->score != NULL ? s->score : pw_npz_find(z, "scores");
    if (s->probs == NULL || (s->tokens == NULL && s->labels == NULL))
        return pw_fail(err, PW_EUSER,
                       "%.160s: there is no array '%s'; it must have probs [layers,heads,T,T] and tokens [T]",
                       s->path, s->probs == NULL ? "probs" : "tokens");
    if (!shape_of(s->probs, p) || p[2] != p[3] || p[2] < 1 || p[0] < 1 || p[1] < 1)
        return wrong_shape(s, s->probs, err);
    if (s->score != NULL && (!shape_of(s->score, other) || memcmp(other, p, sizeof p) != 0))
        return pw_fail(err, PW_EUSER, "%.160s: %s must have the shape of probs", s->path, s->score->name);
    const struct pw_npz_array *of_T[] = {s->tokens, s->labels};
    for (int i = 0; i < 2; i++)
        if (of_T[i] != NULL && of_T[i]->n != p[2])
            return pw_fail(err, PW_EUSER, "%.160s: %lld %s for the %lld rows of probs", s->path,
                           (long long)of_T[i]->n, of_T[i]->name, (long long)p[2]);
    int64_t room = EVENT_BYTES / (int64_t)sizeof(uint16_t) / (s->score != NULL ? 2 : 1);
    if (p[0] > MOST_LAYERS || p[1] > MOST_HEADS || s->probs->n > room)
        return pw_fail(
            err, PW_EUSER,
            "%.160s: [%lld,%lld,%lld,%lld] is too large: at most %d layers, %d heads and %lld million values",
            s->path, (long long)p[0], (long long)p[1], (long long)p[2], (long long)p[2], MOST_LAYERS,
            MOST_HEADS, (long long)(room / 1000000));
    s->layers = (int)p[0], s->heads = (int)p[1], s->T = (int)p[2];
    return PW_OK;
}

/* Write the place of a row: "head 3.1, query 4". */
static void place_of(char dst[64], const struct source *s, int64_t row)
{
    snprintf(dst, 64, "head %lld.%lld, query %lld", (long long)(row / s->T / s->heads),
             (long long)(row / s->T % s->heads), (long long)(row % s->T));
}

/* Read the weights [layers,heads,T,T]. *sees_all: some query gives weight to a later key. */
static enum pw_code read_probs(const struct source *s, float *probs, bool *sees_all, struct pw_err *err)
{
    char place[64];
    *sees_all = false;
    for (int64_t row = 0; row < s->probs->n / s->T; row++) {
        double sum = 0.0;
        for (int k = 0; k < s->T; k++) {
            float p = probs[row * s->T + k] = pw_npz_float(s->probs, row * s->T + k);
            sum += (double)p;
            *sees_all = *sees_all || (k > row % s->T && p > 0.0f);
            if (p >= 0.0f && (double)p <= 1.0 + ROW_SUM)
                continue;
            place_of(place, s, row);
            return pw_fail(err, PW_EUSER, "%.160s: probs of %s, key %d is %g; allowed are 0..1", s->path,
                           place, k, (double)p);
        }
        if (fabs(sum - 1.0) <= ROW_SUM)
            continue;
        place_of(place, s, row);
        return pw_fail(err, PW_EUSER, "%.160s: probs of %s sum to %.4g; the sum must be 1", s->path, place,
                       sum);
    }
    return PW_OK;
}

/* Read the scores in 16 bits. Only -inf may stand for a key without weight. */
static enum pw_code read_scores(const struct source *s, const float *probs, bool sees_all, uint16_t *out,
                                struct pw_err *err)
{
    char place[64];
    for (int64_t i = 0; i < s->score->n; i++) {
        int64_t row = i / s->T, k = i % s->T;
        float x = pw_npz_float(s->score, i);
        bool hidden = !sees_all && k > row % s->T;
        out[i] = pw_half(hidden ? -INFINITY : x);
        if (hidden || isfinite(pw_from_half(out[i])) || (probs[i] == 0.0f && x < 0.0f))
            continue;
        place_of(place, s, row);
        return pw_fail(err, PW_EUSER, "%.160s: %s of %s, key %lld is %g; allowed are -65504..65504", s->path,
                       s->score->name, place, (long long)k, (double)x);
    }
    return PW_OK;
}

/* Read the tokens' labels, and give equal labels equal ids. */
static void read_tokens(const struct source *s, char (*labels)[PW_LABEL], int *ids)
{
    const struct pw_npz_array *named = s->labels != NULL ? s->labels : s->tokens;
    for (int t = 0; t < s->T; t++) {
        pw_npz_text(labels[t], PW_LABEL, named, t);
        for (ids[t] = 0; strcmp(labels[ids[t]], labels[t]) != 0;)
            ids[t]++;
    }
}

static enum pw_code read_all(const struct source *s, struct pw_ev_attention *a, struct pw_err *err)
{
    float *probs = malloc((size_t)s->probs->n * sizeof *probs);
    if (probs == NULL)
        return pw_fail(err, PW_ENOMEM, "%.160s: out of memory", s->path);
    enum pw_code code = read_probs(s, probs, &a->sees_all, err);
    if (code == PW_OK && s->score != NULL) {
        a->all_scores = pw_alloc((size_t)s->score->n, sizeof *a->all_scores);
        code = read_scores(s, probs, a->sees_all, a->all_scores, err);
    }
    if (code == PW_OK) {
        int *ids = pw_alloc((size_t)s->T, sizeof *ids);
        a->T = s->T, a->layers = s->layers, a->heads = s->heads;
        a->labels = pw_alloc((size_t)s->T, PW_LABEL);
        read_tokens(s, a->labels, ids);
        struct pw_head_input in = {.T = s->T, .causal = !a->sees_all, .tokens = ids};
        pw_lab_name_scores(a, &in);
        for (int h = 0; h < a->layers * a->heads; h++)
            pw_lab_score_head(a, h / a->heads, h % a->heads, probs + (size_t)h * a->T * a->T, &in);
        a->probs = pw_alloc((size_t)s->probs->n, sizeof *a->probs);
        for (int64_t i = 0; i < s->probs->n; i++)
            a->probs[i] = pw_half(probs[i]);
        free(ids);
    }
    free(probs);
    return code;
}

static struct pw_event *new_event(const char *name)
{
    struct pw_event *e = pw_lab_event(PW_EV_ATTENTION, NULL);
    e->u.attention.asked = true;
    pw_text_copy(e->u.attention.source, sizeof e->u.attention.source, name);
    return e;
}

enum pw_code pw_lab_import_attention(struct pw_lab *lab, const char *path, struct pw_err *err)
{
    struct source s = {.path = path};
    struct pw_npz_file *z;
    enum pw_code code = pw_npz_read(&z, path, FILE_BYTES, err);
    if (code != PW_OK)
        return code;
    const char *slash = strrchr(path, '/');
    struct pw_event *e = new_event(slash != NULL ? slash + 1 : path);
    code = find(&s, z, err);
    if (code == PW_OK)
        code = read_all(&s, &e->u.attention, err);
    if (code == PW_OK) {
        bool sees_all = e->u.attention.sees_all;
        pw_lab_emit(lab, e);
        pw_lab_note(lab, "attention of %s: layers 0..%d, heads 0..%d, %d token%s%s%s", path, s.layers - 1,
                    s.heads - 1, s.T, s.T == 1 ? "" : "s", s.score != NULL ? ", with scores" : "",
                    sees_all ? ", queries see later keys" : "");
    } else {
        pw_event_free(e);
    }
    pw_npz_free(z);
    return code;
}

void pw_lab_forget_attention(struct pw_lab *lab)
{
    pw_lab_emit(lab, new_event("off"));
    pw_lab_note(lab, "imported attention is hidden");
}
