/* pe_file.c - `pe file=F.npz`: an encoding whose numbers were computed elsewhere.
 *
 * The file's arrays become numbers of a formula, so the encoding is shown, exported, recorded and resumed as
 * every formula is. The arrays, of which at least one must be there (P positions, any number):
 *   bias   [P] or [H,P] by distance, [H,2P-1] by signed distance from -(P-1) on, [H,P,P] by query and key;
 *          [L,H,...] for each layer. -inf hides the key.
 *   scale  [P] or [H,P] by query, [L,H,P]: a factor on its scores
 *   angle  [P,pairs], [L,P,pairs]: the rotation of a query or key, in radians
 *   embed  [P,C]: added to the embeddings
 * Positions and distances beyond P read the last number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/npz_read.h"
#include "lab/core/lab_int.h"
#include "model/expr/library.h"
#include "model/expr/numbers.h"

#define MOST_BYTES ((size_t)256 << 20)

/* An array, and its reading in the formula. */
struct source {
    const char *path;
    const struct pw_npz_array *a;
    const struct pw_config *cfg;
    char index[64]; /* of the formula: "[l, h, d]" */
    int positions;  /* P */
};

static enum pw_code wrong_shape(const struct source *s, const char *allowed, struct pw_err *err)
{
    struct pw_str is = {0};
    for (int i = 0; i < s->a->n_dims; i++)
        pw_str_add(&is, "%s%lld", i > 0 ? "," : "", (long long)s->a->dims[i]);
    enum pw_code code =
        pw_fail(err, PW_EUSER, "%.160s: %s is [%s]; allowed are %s, with L=%d layers, H=%d heads", s->path,
                s->a->name, pw_str_text(&is), allowed, s->cfg->layers, s->cfg->heads);
    pw_str_fini(&is);
    return code;
}

/* Appends the indices of the dimensions before the last ones: none, [H] or [L,H]. False: they don't fit. */
static bool index_heads(struct source *s, int n, struct pw_str *out)
{
    if (n > 2 || (n >= 1 && s->a->dims[n - 1] != s->cfg->heads) ||
        (n == 2 && s->a->dims[0] != s->cfg->layers))
        return false;
    pw_str_add(out, n == 2 ? "l, h, " : n == 1 ? "h, " : "");
    return true;
}

static bool is_by_pair(const struct source *s, enum pw_bias_by by)
{
    const int64_t *d = s->a->dims;
    int n = s->a->n_dims;
    if (by != PW_BIAS_BY_AUTO)
        return by == PW_BIAS_BY_PAIR;
    return n == 4 || (n == 3 && d[1] == d[2] && d[0] == s->cfg->heads);
}

static enum pw_code index_bias(struct source *s, enum pw_bias_by by, struct pw_err *err)
{
    static const char allowed[] = "[P], [H,P] by distance, [H,2P-1] by signed distance, [H,P,P] by query and "
                                  "key, and [L,H,...]";
    bool pair = is_by_pair(s, by);
    int n = s->a->n_dims, last = pair ? 2 : 1;
    int64_t size = n > 0 ? s->a->dims[n - 1] : 0;
    bool is_signed = by == PW_BIAS_BY_SIGNED ||
                     (by == PW_BIAS_BY_AUTO && !pair && size == 2 * (int64_t)s->cfg->context - 1 && size > 1);
    struct pw_str index = {0};
    bool fits = n >= last && size <= PW_NUMBERS_MOST && index_heads(s, n - last, &index) &&
                !(pair && s->a->dims[n - 2] != size) && !(is_signed && size % 2 == 0);
    s->positions = fits ? (int)(is_signed ? (size + 1) / 2 : size) : 0;
    if (pair)
        pw_str_add(&index, "i, j");
    else if (is_signed)
        pw_str_add(&index, "d + %d", s->positions - 1);
    else
        pw_str_add(&index, s->cfg->causal ? "d" : "abs(d)");
    snprintf(s->index, sizeof s->index, "[%s]", pw_str_text(&index));
    pw_str_fini(&index);
    return fits ? PW_OK : wrong_shape(s, allowed, err);
}

static enum pw_code index_scale(struct source *s, struct pw_err *err)
{
    int n = s->a->n_dims;
    struct pw_str index = {0};
    bool fits = n >= 1 && index_heads(s, n - 1, &index);
    s->positions = fits ? (int)s->a->dims[n - 1] : 0;
    snprintf(s->index, sizeof s->index, "[%si]", pw_str_text(&index));
    pw_str_fini(&index);
    return fits ? PW_OK : wrong_shape(s, "[P], [H,P] and [L,H,P]", err);
}

static enum pw_code index_angle(struct source *s, struct pw_err *err)
{
    const int64_t *d = s->a->dims;
    int n = s->a->n_dims, pairs = s->cfg->head_width / 2;
    if ((n != 2 && n != 3) || d[n - 1] != pairs || (n == 3 && d[0] != s->cfg->layers)) {
        char allowed[64];
        snprintf(allowed, sizeof allowed, "[P,%d] and [L,P,%d]", pairs, pairs);
        return wrong_shape(s, allowed, err);
    }
    s->positions = (int)d[n - 2];
    snprintf(s->index, sizeof s->index, "[%si, p]", n == 3 ? "l, " : "");
    return PW_OK;
}

static enum pw_code index_embed(struct source *s, struct pw_err *err)
{
    char allowed[32];
    snprintf(allowed, sizeof allowed, "[P,%d]", s->cfg->width);
    if (s->a->n_dims != 2 || s->a->dims[1] != s->cfg->width)
        return wrong_shape(s, allowed, err);
    s->positions = (int)s->a->dims[0];
    snprintf(s->index, sizeof s->index, "[i, c]");
    return PW_OK;
}

/* Keeps the n numbers, and appends the stage that reads them. */
static enum pw_code put_stage(const struct source *s, const char *stage, const float *v,
                              struct pw_str *formula, struct pw_err *err)
{
    const struct pw_numbers *x;
    int dims[PW_NUMBERS_DIMS];
    for (int d = 0; d < s->a->n_dims; d++)
        dims[d] = (int)s->a->dims[d];
    enum pw_code code = pw_numbers_keep(&x, v, dims, s->a->n_dims, err);
    if (code == PW_OK)
        pw_str_add(formula, "%s%s = %s%s", formula->len > 0 ? "; " : "", stage, x->name, s->index);
    else
        pw_err_at(err, s->path);
    return code;
}

/* Appends the stages of a bias: with `mask` if it hides keys, whose bias is then 0. */
static enum pw_code put_bias(const struct source *s, float *v, struct pw_str *formula, struct pw_err *err)
{
    size_t n = (size_t)s->a->n, hidden = 0;
    float *seen = pw_alloc(n, sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        seen[i] = v[i] == -INFINITY ? 0 : 1;
        v[i] = v[i] == -INFINITY ? 0 : v[i];
        hidden += seen[i] == 0;
    }
    enum pw_code code = put_stage(s, "bias", v, formula, err);
    if (code == PW_OK && hidden > 0)
        code = put_stage(s, "mask", seen, formula, err);
    free(seen);
    return code;
}

/* Reads one array if the file has it. */
static enum pw_code read_array(struct pw_lab *lab, struct source *s, const struct pw_npz_file *z,
                               const char *stage, enum pw_bias_by by, struct pw_str *formula,
                               struct pw_err *err)
{
    s->a = pw_npz_find(z, stage);
    if (s->a == NULL)
        return PW_OK;
    if (strchr("fiu", s->a->type) == NULL || s->a->n < 1 || s->a->n > PW_NUMBERS_MOST ||
        s->a->n_dims > PW_NUMBERS_DIMS)
        return pw_fail(err, PW_EUSER, "%.160s: %s must have 1..%d numbers in at most %d dimensions", s->path,
                       stage, PW_NUMBERS_MOST, PW_NUMBERS_DIMS);
    bool bias = strcmp(stage, "bias") == 0;
    enum pw_code code = bias                          ? index_bias(s, by, err)
                        : strcmp(stage, "scale") == 0 ? index_scale(s, err)
                        : strcmp(stage, "angle") == 0 ? index_angle(s, err)
                                                      : index_embed(s, err);
    if (code != PW_OK)
        return code;
    float *v = malloc((size_t)s->a->n * sizeof *v);
    if (v == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for %s", stage);
    for (int64_t i = 0; i < s->a->n; i++)
        v[i] = pw_npz_float(s->a, i);
    code = bias ? put_bias(s, v, formula, err) : put_stage(s, stage, v, formula, err);
    free(v);
    if (code == PW_OK && s->positions < s->cfg->context)
        pw_lab_note(lab, "%.160s: %s has %d position%s, the model %d: those beyond read the last one",
                    s->path, stage, s->positions, s->positions > 1 ? "s" : "", s->cfg->context);
    return code;
}

/* Appends the file's name without folder and ending, as a name of an encoding. */
static void put_name(const char *path, struct pw_str *out)
{
    const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    char name[PW_PE_NAME - 5], text[PW_PE_NAME];
    size_t n = 0;
    for (; base[n] != '\0' && base[n] != '.' && n + 1 < sizeof name; n++) {
        char c = base[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[n] = plain ? c : '_';
    }
    name[n] = '\0';
    snprintf(text, sizeof text, "%s", name);
    if (!pw_library_may_name(text) || pw_library_is_taken(text))
        snprintf(text, sizeof text, "file_%s", name);
    pw_str_add(out, "%s", text);
}

enum pw_code pw_lab_read_pe(struct pw_lab *lab, const struct pw_replica *arm, const char *path,
                            enum pw_bias_by by, struct pw_str *text, struct pw_err *err)
{
    static const char *const stages[] = {"bias", "scale", "angle", "embed"};
    struct source s = {.path = path, .cfg = &arm->cfg};
    struct pw_npz_file *z;
    struct pw_str formula = {0};
    if (pw_text_ends(path, ".npy"))
        return pw_fail(err, PW_EUSER, "%.160s: allowed are .npz files: numpy.savez(\"F.npz\", bias=...)",
                       path);
    enum pw_code code = pw_npz_read(&z, path, MOST_BYTES, err);
    if (code != PW_OK)
        return code;
    for (int k = 0; k < 4 && code == PW_OK; k++)
        code = read_array(lab, &s, z, stages[k], by, &formula, err);
    if (code == PW_OK && formula.len == 0)
        code = pw_fail(err, PW_EUSER, "%.160s: has none of the arrays bias, scale, angle and embed", path);
    if (code == PW_OK) {
        pw_str_add(text, "expr '%s' as=", formula.s);
        put_name(path, text);
    }
    pw_str_fini(&formula);
    pw_npz_free(z);
    return code;
}
