/* map.c - finds the tensor of a parameter by the rows of its family, checks its shape, and copies its values
 * in either direction: transposed, a part of a fused tensor, or with rows in another order. */
#include "foreign/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does text fit the pattern, in which * stands for any text? */
static bool fits(const char *pattern, const char *text)
{
    for (; *pattern != '\0'; pattern++, text++) {
        if (*pattern == '*') {
            for (const char *s = text + strlen(text); s >= text; s--)
                if (fits(pattern + 1, s))
                    return true;
            return false;
        }
        if (*pattern != *text)
            return false;
    }
    return *text == '\0';
}

/* Does a parameter's name without its ending fit a row? *layer receives the number for the row's *. */
static bool row_fits(const char *ours, const char *name, size_t n, char layer[16])
{
    const char *star = strchr(ours, '*');
    size_t head = star != NULL ? (size_t)(star - ours) : strlen(ours), digits;
    layer[0] = '\0';
    if (n < head || strncmp(ours, name, head) != 0)
        return false;
    if (star == NULL)
        return n == head;
    digits = strspn(name + head, "0123456789");
    if (digits == 0 || digits > 9 || head + digits > n)
        return false;
    memcpy(layer, name + head, digits);
    layer[digits] = '\0';
    return strlen(star + 1) == n - head - digits &&
           strncmp(star + 1, name + head + digits, n - head - digits) == 0;
}

/* Writes the name of a row's tensor. ending: ".weight" or ".bias". */
static void make_name(char dst[PW_MAP_NAME], const struct pw_placing *m, const struct pw_map_row *row,
                      const char *layer, const char *ending)
{
    const char *star = strchr(row->theirs, '*');
    size_t head = star != NULL ? (size_t)(star - row->theirs) : strlen(row->theirs);
    snprintf(dst, PW_MAP_NAME, "%s%.*s%s%s%s", row->how & PW_MAP_ABSOLUTE ? "" : m->prefix, (int)head,
             row->theirs, star != NULL ? layer : "", star != NULL ? star + 1 : "", ending);
}

enum pw_code pw_map_prefix(struct pw_placing *m, const char *const *prefixes, struct pw_err *err)
{
    char name[PW_MAP_NAME];
    for (int i = 0; prefixes[i] != NULL; i++) {
        m->prefix = prefixes[i];
        make_name(name, m, &m->rows[0], "", ".weight");
        if (pw_weights_find(m->weights, name) != NULL)
            return PW_OK;
    }
    m->prefix = prefixes[0];
    make_name(name, m, &m->rows[0], "", ".weight");
    return pw_fail(err, PW_EUSER, "%.200s: tensor '%s' is missing", m->path, name);
}

struct shape {
    char text[96];
};

static struct shape shape_of(const int64_t *dims, int n)
{
    struct shape s = {"["};
    size_t at = 1;
    for (int i = 0; i < n && at < sizeof s.text - 24; i++)
        at +=
            (size_t)snprintf(s.text + at, sizeof s.text - at, "%s%lld", i > 0 ? "," : "", (long long)dims[i]);
    snprintf(s.text + at, sizeof s.text - at, "]");
    return s;
}

/* The number of rows of a parameter in pewter; a vector has its entries as rows. */
static int64_t rows_of(const struct pw_param *p)
{
    return p->rows > 0 ? p->rows : p->cols;
}

int pw_map_shape(const struct pw_param *p, const struct pw_map_row *row, int64_t dims[2])
{
    int n = p->rows > 0 ? 2 : 1, rows_at = row->how & PW_MAP_TRANSPOSED && n == 2 ? 1 : 0;
    dims[1 - rows_at] = p->cols;
    dims[rows_at] = rows_of(p) * (row->how & (PW_MAP_THIRD | PW_MAP_BY_HEAD) ? 3 : 1) +
                    (row->how & PW_MAP_FROM_2 ? 2 : 0);
    return n;
}

/* Checks the shape of a tensor. The added table may be longer than the context. */
static enum pw_code check_shape(const struct pw_placing *m, const struct pw_param *p,
                                const struct pw_weights_tensor *t, const struct pw_map_row *row,
                                struct pw_err *err)
{
    int64_t need[2];
    int n = pw_map_shape(p, row, need);
    bool longer = p->pe && t->n_dims == 2 && t->dims[0] >= need[0];
    if (!t->readable)
        return pw_fail(err, PW_EUSER, "%.200s: tensor '%s' has a type that pewter does not read", m->path,
                       t->name);
    if (t->n_dims != n || (t->dims[0] != need[0] && !longer) || (n == 2 && t->dims[1] != need[1]))
        return pw_fail(err, PW_EUSER, "%.200s: tensor '%s' has the shape %s; the config needs %s", m->path,
                       t->name, shape_of(t->dims, t->n_dims).text, shape_of(need, n).text);
    return PW_OK;
}

/* Returns the length of a parameter's name without its ending, .weight or .bias. A name without an ending,
 * pe.table, is that of a .weight. */
static size_t split_name(const char *name, const char **ending)
{
    const char *dot = strrchr(name, '.');
    bool ends = strcmp(dot, ".bias") == 0 || strcmp(dot, ".weight") == 0;
    *ending = ends ? dot : ".weight";
    return ends ? (size_t)(dot - name) : strlen(name);
}

const struct pw_map_row *pw_map_row_of(const struct pw_placing *m, const struct pw_param *p, bool post_norm,
                                       char name[PW_MAP_NAME])
{
    const char *ending;
    char layer[16];
    size_t n = split_name(p->name, &ending);
    for (const struct pw_map_row *row = m->rows; row->ours != NULL; row++) {
        if (!row_fits(row->ours, p->name, n, layer) || (row->how & PW_MAP_POST && !post_norm))
            continue;
        make_name(name, m, row, layer, ending);
        return row;
    }
    return NULL;
}

enum pw_code pw_map_find(const struct pw_placing *m, const struct pw_param *p, struct pw_weights_tensor **out,
                         const struct pw_map_row **which, struct pw_err *err)
{
    const char *ending;
    char layer[16], name[PW_MAP_NAME], first[PW_MAP_NAME] = "";
    size_t n = split_name(p->name, &ending);
    *out = NULL;
    for (const struct pw_map_row *row = m->rows; row->ours != NULL; row++) {
        if (!row_fits(row->ours, p->name, n, layer))
            continue;
        make_name(name, m, row, layer, ending);
        if (first[0] == '\0')
            memcpy(first, name, sizeof first);
        *out = pw_weights_find(m->weights, name);
        *which = row;
        if (*out != NULL) {
            (*out)->used = true;
            return check_shape(m, p, *out, row, err);
        }
    }
    if (p->pe || (strcmp(ending, ".bias") == 0 && m->zero_biases))
        return PW_OK;
    if (first[0] == '\0')
        return pw_fail(err, PW_EUSER, "%.200s: this family has no tensor for %s", m->path, p->name);
    return pw_fail(err, PW_EUSER, "%.200s: tensor '%s' is missing", m->path, first);
}

enum pw_code pw_map_surplus(const struct pw_placing *m, struct pw_err *err)
{
    int n;
    const struct pw_weights_tensor *list = pw_weights_list(m->weights, &n);
    for (int i = 0; i < n; i++) {
        bool known = list[i].used || strcmp(list[i].name, "lm_head.weight") == 0; /* of a tied head: a copy */
        for (int k = 0; m->ignored != NULL && m->ignored[k] != NULL && !known; k++)
            known = fits(m->ignored[k], list[i].name);
        if (!known)
            return pw_fail(err, PW_EUSER,
                           "%.200s: has the tensor '%.100s', for which this family has no place in a model",
                           m->path, list[i].name);
    }
    return PW_OK;
}

int pw_map_row_in_head(const struct pw_placing *m, int r, int D)
{
    return m->permuted ? 2 * (r % (D / 2)) + r / (D / 2) : r;
}

/* Returns the row (or entry) of the tensor that holds row r of the parameter. */
static int64_t source_row(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                          const struct pw_map_row *row, int64_t r)
{
    int64_t D = cfg->head_width, head = r / D, at = r % D;
    if (row->how & PW_MAP_FROM_2)
        return r + 2;
    if (row->how & PW_MAP_ROTATED && m->permuted)
        at = pw_map_row_in_head(m, (int)at, cfg->head_width);
    else if (!(row->how & PW_MAP_BY_HEAD))
        return r + (row->how & PW_MAP_THIRD ? row->part * rows_of(p) : 0);
    if (row->how & PW_MAP_BY_HEAD)
        return (head * 3 + row->part) * D + at;
    return head * D + at + (row->how & PW_MAP_THIRD ? row->part * rows_of(p) : 0);
}

/* Copies a matrix whose rows are columns in the file, or a vector. */
static enum pw_code copy_columns(const struct pw_placing *m, const struct pw_param *p,
                                 const struct pw_config *cfg, const struct pw_weights_tensor *t,
                                 const struct pw_map_row *row, float *out, struct pw_err *err)
{
    int64_t rows = rows_of(p), cols = p->rows > 0 ? p->cols : 1;
    float *line = malloc((size_t)t->dims[t->n_dims - 1] * sizeof *line);
    enum pw_code code = PW_OK;
    if (line == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for a row of '%s'", t->name);
    for (int64_t c = 0; c < cols && code == PW_OK; c++) {
        code = pw_weights_row(m->weights, t, c, line, err);
        for (int64_t r = 0; r < rows && code == PW_OK; r++)
            out[r * cols + c] = line[source_row(m, p, cfg, row, r)];
    }
    free(line);
    return code;
}

static enum pw_code copy_rows(const struct pw_placing *m, const struct pw_param *p,
                              const struct pw_config *cfg, const struct pw_weights_tensor *t,
                              const struct pw_map_row *row, float *out, struct pw_err *err)
{
    enum pw_code code = PW_OK;
    for (int64_t r = 0; r < rows_of(p) && code == PW_OK; r++)
        code = pw_weights_row(m->weights, t, source_row(m, p, cfg, row, r), out + r * p->cols, err);
    return code;
}

/* The factor on the values of a parameter: folds scores divided by the layer's number into q. */
static float factor_of(const struct pw_placing *m, const struct pw_param *p)
{
    int layer = 0;
    char part = 0;
    if (!m->inverse_layers || sscanf(p->name, "layers.%d.attn.%c.", &layer, &part) != 2 || part != 'q')
        return 1;
    return 1 / (float)(layer + 1);
}

enum pw_code pw_map_values(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                           const struct pw_weights_tensor *t, const struct pw_map_row *row, float *out,
                           struct pw_err *err)
{
    size_t n = pw_param_count(p);
    float factor = factor_of(m, p);
    if (t == NULL) {
        memset(out, 0, n * sizeof *out);
        return PW_OK;
    }
    bool across = p->rows == 0 || row->how & PW_MAP_TRANSPOSED;
    enum pw_code code =
        across ? copy_columns(m, p, cfg, t, row, out, err) : copy_rows(m, p, cfg, t, row, out, err);
    if (code != PW_OK)
        return code;
    if (m->plus_one && row->how & PW_MAP_GAIN)
        for (size_t i = 0; i < n; i++)
            out[i] += 1;
    for (size_t i = 0; i < n && factor != 1; i++)
        out[i] *= factor;
    return PW_OK;
}

void pw_map_put(const struct pw_placing *m, const struct pw_param *p, const struct pw_config *cfg,
                const struct pw_map_row *row, const float *values, float *out)
{
    int64_t dims[2], rows = rows_of(p), cols = p->rows > 0 ? p->cols : 1;
    int n = pw_map_shape(p, row, dims);
    bool transposed = row->how & PW_MAP_TRANSPOSED && n == 2;
    float less = m->plus_one && row->how & PW_MAP_GAIN ? 1 : 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = source_row(m, p, cfg, row, r);
        for (int64_t c = 0; c < cols; c++)
            out[transposed ? c * dims[1] + at : at * cols + c] = values[r * cols + c] - less;
    }
}
