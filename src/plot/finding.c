/* finding.c - see finding.h. A session can come from any source, so an axis follows from the values alone. */
#include "plot/finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plot/palette.h"

const struct pw_verdict_view pw_verdict_views[PW_CLAIM_VERDICTS] = {
    [PW_CLAIM_REPRODUCED] = {"✓", PW_ROLE_OK},
    [PW_CLAIM_TOY] = {"≈", PW_ROLE_OK},
    [PW_CLAIM_INCONCLUSIVE] = {"?", PW_ROLE_WARN},
    [PW_CLAIM_CONTRADICTED] = {"✗", PW_ROLE_BAD},
};

const struct pw_finding_view *pw_finding_named(const struct pw_snapshot *s, const char *text)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    int n = pw_findings(s, list);

    for (int i = 0; i < n; i++) {
        char full[PW_FINDING_NAME + PW_FINDING_TOPIC];
        snprintf(full, sizeof full, "%s %s", list[i]->f.name, list[i]->f.topic);
        if (*text == '\0' || strcmp(text, list[i]->f.name) == 0 || strcmp(text, full) == 0)
            return list[i];
    }
    return NULL;
}

enum pw_code pw_finding_need(const struct pw_snapshot *s, const char *text, const char *what,
                             const struct pw_finding_view **v, struct pw_err *err)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    int n = pw_findings(s, list);
    struct pw_str all = {0};

    *v = pw_finding_named(s, text);
    if (*v != NULL)
        return PW_OK;
    if (n == 0)
        return pw_fail(err, PW_EUSER,
                       "%s: nothing to draw yet: there is no finding; 'probe' lists the probes", what);
    for (int i = 0; i < n; i++)
        pw_str_add(&all, "%s%s%s%s", i ? ", " : "", list[i]->f.name, list[i]->f.topic[0] ? " " : "",
                   list[i]->f.topic);
    enum pw_code code = pw_fail(err, PW_EUSER, "%s: finding='%s': there is none; there %s %s", what, text,
                                n > 1 ? "are" : "is", all.s);
    pw_str_fini(&all);
    return code;
}

/* ---- plots */

static void widen(double v, bool above_0, double *lo, double *hi)
{
    if (isfinite(v) && (!above_0 || v > 0))
        *lo = fmin(*lo, v), *hi = fmax(*hi, v);
}

static void find_y(const struct pw_block_of *k, bool above_0, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int i = 0; i < k->b->rows; i++)
        for (int c = 0; c < k->b->cols; c++)
            for (int which = 0; which < 3; which++)
                widen(pw_finding_y_at(k->f, k->b, i, c, which), above_0, lo, hi);
}

static void find_x(const struct pw_block_of *k, bool above_0, double *lo, double *hi)
{
    *lo = INFINITY, *hi = -INFINITY;
    for (int i = 0; i < k->b->rows; i++)
        widen(pw_finding_x_at(k->f, k->b, i), above_0, lo, hi);
}

/* Separates equal ends; on a log axis both stay above 0. */
static void spread(bool *log, double *lo, double *hi)
{
    *log = *log && *lo <= *hi;
    if (!(*lo <= *hi))
        *lo = 0, *hi = 1;
    if (*lo < *hi)
        return;
    double by = fmax(fabs(*lo) * 0.05, 1e-9);
    *hi = *log ? *hi * 1.1 : *hi + by;
    *lo = *log ? *lo / 1.1 : *lo - by;
}

void pw_block_axes(const struct pw_block_of *k, struct pw_block_axes *a)
{
    *a = (struct pw_block_axes){.log_x = k->b->log_x, .log_y = k->b->log_y};
    find_x(k, a->log_x, &a->x0, &a->x1);
    spread(&a->log_x, &a->x0, &a->x1);
    if (k->b->log_x && !a->log_x) {
        find_x(k, false, &a->x0, &a->x1);
        spread(&a->log_x, &a->x0, &a->x1);
    }
    find_y(k, a->log_y, &a->y0, &a->y1);
    spread(&a->log_y, &a->y0, &a->y1);
    if (k->b->log_y && !a->log_y) {
        find_y(k, false, &a->y0, &a->y1);
        spread(&a->log_y, &a->y0, &a->y1);
    }
}

int pw_block_color(int curve)
{
    return curve % PW_MAX_ARMS + 1;
}

bool pw_block_is_reference(const struct pw_block *b, int curve)
{
    return curve >= b->cols - b->n_reference;
}

/* ---- maps */

static float map_value(const void *arg, int row, int col)
{
    const struct pw_block_of *k = arg;
    float v = (float)pw_finding_cell(k->f, k->b, row, col);

    return isnan(v) ? -INFINITY : v;
}

struct pw_matrix pw_block_matrix(const struct pw_block_of *k)
{
    struct pw_matrix m = {.rows = k->b->rows, .cols = k->b->cols, .value = map_value, .arg = k};
    float least = k->b->low, most = k->b->high;

    if (!(isfinite(least) && isfinite(most) && least < most)) {
        least = INFINITY, most = -INFINITY;
        for (int i = 0; i < m.rows * m.cols; i++) {
            float v = map_value(k, i / m.cols, i % m.cols);
            if (isfinite(v))
                least = fminf(least, v), most = fmaxf(most, v);
        }
        if (!(least <= most))
            least = 0, most = 1;
    }
    m.is_signed = least < 0;
    if (m.is_signed)
        most = fmaxf(fabsf(least), fabsf(most));
    m.lo = m.is_signed ? -most : least;
    m.hi = most > m.lo ? most : m.lo + 1;
    return m;
}
