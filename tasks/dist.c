/* dist.c - how often each trained length is drawn (dist=). A length without samples is never drawn.
 *
 * A file has a line per length to train: the length and its weight. Only the ratios of weights matter; #
 * begins a comment. A trained length without a line is never drawn but is evaluated, so a file can make a gap
 * within the trained lengths. */
#include "base/file.h"
#include "tasks/read.h"
#include "tasks/split.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1 << 20)

static bool is(const struct pw_task_use *use, const char *dist)
{
    return strcmp(use->o.common.dist, dist) == 0;
}

/* Reads "5 0.25" into the weights; a negative weight means not set yet. */
static enum pw_code take_line(struct pw_task_use *use, char *line, size_t n, int number, struct pw_err *err)
{
    const struct pw_task_opts *o = &use->o.common;
    const char *name = use->task->name;
    struct pw_piece_text shown;
    char *words[3] = {NULL}, *rest = NULL;
    long length;
    double weight;
    if (!pw_utf8_valid(line, n) || strlen(line) < n)
        return pw_fail(err, PW_EUSER, "%s: dist: %s: line %d is not valid UTF-8 text", name, o->dist, number);
    line[strcspn(line, "#")] = '\0';
    words[0] = strtok_r(line, " \t\r", &rest);
    for (int i = 1; i < 3 && words[i - 1] != NULL; i++)
        words[i] = strtok_r(NULL, " \t\r", &rest);
    if (words[0] == NULL)
        return PW_OK;
    shown = pw_piece_text((struct pw_piece){words[0], strlen(words[0])});
    if (words[1] == NULL || words[2] != NULL || !pw_text_int(words[0], 0, 1000000, &length))
        return pw_fail(err, PW_EUSER,
                       "%s: dist: %s: line %d ('%s'...): expected a length and a weight, such as: 5 0.25",
                       name, o->dist, number, shown.s);
    if (length < o->lengths.lo || length > o->lengths.hi)
        return pw_fail(err, PW_EUSER, "%s: dist: %s: line %d: length %ld is outside of lengths=%d..%d", name,
                       o->dist, number, length, o->lengths.lo, o->lengths.hi);
    if (!pw_text_double(words[1], &weight) || !isfinite(weight) || weight < 0)
        return pw_fail(err, PW_EUSER,
                       "%s: dist: %s: line %d: '%s' is not a weight; allowed are numbers from 0 on", name,
                       o->dist, number, pw_piece_text((struct pw_piece){words[1], strlen(words[1])}).s);
    if (!pw_task_has(use, (int)length))
        return pw_fail(err, PW_EUSER, "%s: dist: %s: line %d: there are no samples of length %ld", name,
                       o->dist, number, length);
    double *w = &use->weights[length - o->lengths.lo];
    if (*w >= 0)
        return pw_fail(err, PW_EUSER, "%s: dist: %s: line %d: length %ld is given twice", name, o->dist,
                       number, length);
    *w = weight;
    return PW_OK;
}

static enum pw_code take_file(struct pw_task_use *use, int n, struct pw_err *err)
{
    char *text, *line, *end;
    size_t size;
    struct pw_err cause;
    enum pw_code code = pw_file_read(use->o.common.dist, MAX_BYTES, &text, &size, &cause);
    if (code != PW_OK)
        return pw_fail(err, code, "%s: dist: %s (besides uniform, geometric and pairs, dist= names a file)",
                       use->task->name, cause.msg);
    for (int i = 0; i < n; i++)
        use->weights[i] = -1;
    line = text;
    for (int number = 1; line < text + size && code == PW_OK; number++, line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end != NULL ? end : text + size;
        *end = '\0';
        code = take_line(use, line, (size_t)(end - line), number, err);
    }
    free(text);
    for (int i = 0; i < n; i++)
        use->weights[i] = use->weights[i] > 0 ? use->weights[i] : 0;
    return code;
}

enum pw_code pw_dist_init(struct pw_task_use *use, struct pw_err *err)
{
    struct pw_range r = use->o.common.lengths;
    int n = r.hi - r.lo + 1;
    int there = 0;
    enum pw_code code = PW_OK;
    double sum = 0;
    for (int i = 0; i < n; i++)
        there += pw_task_has(use, r.lo + i);
    if (there == 0)
        return pw_fail(err, PW_EUSER, "%s: lengths=%d..%d: there are no samples of these lengths",
                       use->task->name, r.lo, r.hi);
    if (is(use, "") || (is(use, "uniform") && there == n)) /* "": the task has no option dist */
        return PW_OK;
    if (is(use, "natural") && use->task->weight == NULL)
        return pw_fail(err, PW_EUSER,
                       "%s: dist=natural: this task has no natural distribution; allowed are uniform, "
                       "geometric, %sor a file",
                       use->task->name, use->task->pairs != NULL ? "pairs, " : "");
    if (is(use, "pairs") && use->task->pairs == NULL)
        return pw_fail(err, PW_EUSER,
                       "%s: dist=pairs: its lengths are not pairs; allowed are uniform, geometric, or a file",
                       use->task->name);
    use->weights = calloc((size_t)n + 1, sizeof *use->weights);
    if (use->weights == NULL)
        return pw_fail(err, PW_ENOMEM, "%s: out of memory", use->task->name);
    if (is(use, "pairs"))
        for (int i = 0; i < n; i++)
            use->weights[i] = pw_task_pairs_at(use, r.lo + i, NULL);
    else if (is(use, "uniform"))
        for (int i = 0; i < n; i++)
            use->weights[i] = 1;
    else if (is(use, "natural"))
        for (int i = 0; i < n; i++)
            use->weights[i] = use->task->weight(&use->o, r.lo + i);
    else if (is(use, "geometric"))
        for (int i = 0; i < n; i++)
            use->weights[i] = ldexp(1, i + 1 < n || n == 1 ? -(i + 1) : -i);
    else
        code = take_file(use, n, err);
    for (int i = 0; i < n; i++) {
        use->weights[i] = pw_task_has(use, r.lo + i) ? use->weights[i] : 0;
        sum += use->weights[i];
    }
    use->weights[n] = sum;
    if (code == PW_OK && !(sum > 0 && isfinite(sum)))
        code = pw_fail(err, PW_EUSER,
                       "%s: dist: %s: the sum of its weights is %g; it must be above 0, and finite",
                       use->task->name, use->o.common.dist, sum);
    if (code != PW_OK)
        pw_dist_fini(use);
    return code;
}

void pw_dist_fini(struct pw_task_use *use)
{
    free(use->weights);
    use->weights = NULL;
}

int pw_dist_draw(const struct pw_task_use *use, struct pw_rng *rng)
{
    struct pw_range r = use->o.common.lengths;
    const double *w = use->weights;
    if (w == NULL)
        return r.lo + (int)pw_rng_below(rng, (uint32_t)(r.hi - r.lo + 1));
    if (is(use, "geometric")) { /* a fair coin per length: weights below 2^-32 stay possible */
        int length;
        do
            for (length = r.lo; length < r.hi && pw_rng_below(rng, 2) != 0;)
                length++;
        while (w[length - r.lo] == 0);
        return length;
    }
    double at = pw_rng_unit(rng) * w[r.hi - r.lo + 1], sum = 0; /* below the sum: a length is found */
    while (r.lo < r.hi && at >= (sum += *w++))
        r.lo++;
    return r.lo;
}

double pw_dist_weight(const struct pw_task_use *use, int length)
{
    return use->weights != NULL ? use->weights[length - use->o.common.lengths.lo] : 1.0;
}
