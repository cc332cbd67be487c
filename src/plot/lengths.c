/* lengths.c - what the latest evaluations say by length. */
#include "plot/lengths.h"
#include "plot/names.h"
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool has(const struct pw_lengths *v, int length)
{
    for (int i = v->n - 1; i >= 0; i--)
        if (v->lengths[i] == length)
            return true;
    return false;
}

void pw_lengths_of(struct pw_lengths *v, const struct pw_snapshot *s, int task)
{
    const struct pw_ev_lab *lab = &s->lab;

    v->task = task >= 0 && task < lab->n_tasks ? task : 0, v->n = 0, v->judged = false;
    v->range = v->task < lab->n_tasks ? &lab->tasks[v->task] : NULL;
    for (int a = 0; a < PW_MAX_ARMS; a++) {
        const struct pw_arm_view *arm = pw_find_arm(s, a + 1);
        v->judged |= arm && pw_eval_judge(&arm->rep[0].eval, v->task) != PW_JUDGE_EXACT;
        for (int i = 0; arm && i < arm->rep[0].eval.n && v->n < PW_MAX_LENGTHS; i++)
            if (arm->rep[0].eval.rows[i].task == v->task && !has(v, arm->rep[0].eval.rows[i].length))
                v->lengths[v->n++] = arm->rep[0].eval.rows[i].length;
    }
    qsort(v->lengths, (size_t)v->n, sizeof *v->lengths, by_value);
}

bool pw_lengths_trained(const struct pw_lengths *v, int length)
{
    return v->range && length >= v->range->train_lo && length <= v->range->train_hi;
}

/* Exact match of an arm over the trained lengths of a task, the median of its replicates; NaN: not known. */
static float in_range(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task)
{
    float v[PW_MAX_REPLICATES];

    for (int r = 0; r < arm->info.replicates; r++)
        v[r] = pw_eval_mean(lab, &arm->rep[r].eval, task, false);
    return pw_spread_of(v, arm->info.replicates).median;
}

bool pw_lengths_learned(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task)
{
    return in_range(lab, arm, task) >= PW_LEARNED;
}

/* ---- samples */

struct drawn {
    int least, most; /* samples a length: a fixed set may have fewer of some; 0: not evaluated */
    bool live;
};

static struct drawn drawn_of(const struct pw_arm_view *arm, int task)
{
    struct drawn d = {0};

    for (int i = 0; arm && i < arm->rep[0].eval.n; i++) {
        const struct pw_eval_row *row = &arm->rep[0].eval.rows[i];
        if (row->task != task)
            continue;
        d.least = d.most == 0 || row->samples < d.least ? row->samples : d.least;
        d.most = row->samples > d.most ? row->samples : d.most;
        d.live = arm->rep[0].eval.live;
    }
    return d;
}

static bool same_drawn(struct drawn a, struct drawn b)
{
    return a.least == b.least && a.most == b.most && a.live == b.live;
}

/* The ids of the arms whose evaluations are like that of number a, from 0; how many, or 0 where an earlier
 * arm's is like it, too. */
static int alike(struct pw_str *ids, const struct drawn of[PW_MAX_ARMS], int a, const char *comma)
{
    int n = 0;

    for (int b = 0; b < PW_MAX_ARMS; b++) {
        if (!same_drawn(of[a], of[b]))
            continue;
        if (b < a)
            return 0;
        pw_str_add(ids, "%s%d", n++ > 0 ? comma : "", b + 1);
    }
    return n;
}

static int evaluations(struct drawn of[PW_MAX_ARMS], const struct pw_snapshot *s, int task)
{
    int n = 0;

    for (int a = 0; a < PW_MAX_ARMS; a++) {
        of[a] = drawn_of(pw_find_arm(s, a + 1), task);
        n += of[a].most > 0;
    }
    return n;
}

static void add_number(struct pw_str *out, struct drawn d)
{
    if (d.least < d.most)
        pw_str_add(out, "%d to ", d.least);
    pw_str_add(out, "%d", d.most);
}

void pw_lengths_samples(struct pw_str *out, const struct pw_snapshot *s, int task)
{
    struct drawn of[PW_MAX_ARMS];
    int evaluated = evaluations(of, s, task);
    bool first = true, differ = false;

    for (int a = 0; a < PW_MAX_ARMS; a++) {
        struct pw_str ids = {0};
        int n = alike(&ids, of, a, ", ");
        if (n > 0 && of[a].most > 0) {
            const char *live = first ? ", live" : " live";
            pw_str_add(out, "%s", first ? "" : ", ");
            add_number(out, of[a]);
            pw_str_add(out, "%s%s", first ? " samples" : "", of[a].live ? live : "");
            differ |= n < evaluated;
            if (differ)
                pw_str_add(out, " (arm%s %s)", n > 1 ? "s" : "", ids.s);
            first = false;
        }
        pw_str_fini(&ids);
    }
}

bool pw_lengths_samples_differ(struct pw_str *out, const struct pw_snapshot *s, int task)
{
    struct drawn of[PW_MAX_ARMS];
    int evaluated = evaluations(of, s, task), groups = 0;

    for (int a = 0; a < PW_MAX_ARMS; a++) {
        struct pw_str ids = {0};
        int n = alike(&ids, of, a, ",");
        if (n > 0 && of[a].most > 0 && n < evaluated) {
            pw_str_add(out, "%s", groups++ > 0 ? ", " : "samples ");
            add_number(out, of[a]);
            pw_str_add(out, "%s (%s)", of[a].live ? " live" : "", ids.s);
        }
        pw_str_fini(&ids);
    }
    return groups > 0;
}

/* ---- pairs */

static void add_pair(struct pw_grid *g, const struct pw_eval_pair *p, bool *any)
{
    const int at[2] = {p->a, p->b};

    if (p->a < 0 || p->b < 0 || p->samples <= 0)
        return;
    if (p->a > PW_GRID_MOST || p->b > PW_GRID_MOST) {
        g->cut = true;
        return;
    }
    for (int k = 0; k < 2; k++) {
        g->lo[k] = !*any || at[k] < g->lo[k] ? at[k] : g->lo[k];
        g->hi[k] = !*any || at[k] > g->hi[k] ? at[k] : g->hi[k];
    }
    *any = true;
    g->samples[p->b][p->a] += p->samples;
    g->exact[p->b][p->a] += p->exact;
}

bool pw_grid_collect(struct pw_grid *g, const struct pw_arm_view *a, int task)
{
    bool any = false;

    *g = (struct pw_grid){0};
    for (int r = 0; r < a->info.replicates; r++) {
        const struct pw_ev_eval *e = &a->rep[r].eval;
        for (int i = 0; i < e->n; i++)
            for (int k = 0; e->rows[i].task == task && k < e->rows[i].n_pairs; k++)
                if (e->rows[i].first_pair >= 0 && e->rows[i].first_pair + k < e->n_pairs)
                    add_pair(g, &e->pairs[e->rows[i].first_pair + k], &any);
    }
    return any;
}

float pw_grid_value(const void *arg, int row, int col)
{
    const struct pw_grid *g = arg;
    int b = g->lo[1] + row, a = g->lo[0] + col;

    return g->samples[b][a] > 0 ? (float)g->exact[b][a] / (float)g->samples[b][a] : -INFINITY;
}

/* ---- errors */

struct pw_error_sum pw_error_sum_at(const struct pw_arm_view *a, int task, int length)
{
    struct pw_error_sum s = {0};

    for (int r = 0; r < a->info.replicates; r++) {
        const struct pw_eval_row *row = pw_eval_find(&a->rep[r].eval, task, length);
        if (!row || row->samples <= 0)
            continue;
        s.samples += row->samples, s.exact += row->exact, s.tokens += row->tokens;
        for (int i = 0; i < PW_ERRORS; i++)
            s.errors[i] += row->errors[i];
        for (int i = 0; i < PW_PLACES; i++)
            s.places[i] += row->places[i];
    }
    return s;
}

double pw_error_share(int64_t n, const struct pw_error_sum *s)
{
    return s->samples > 0 ? (double)n / (double)s->samples : 0;
}

int pw_error_places(const struct pw_arm_view *a, const struct pw_lengths *v, float *most)
{
    int n = 1;

    for (int i = 0; i < v->n; i++) {
        struct pw_error_sum s = pw_error_sum_at(a, v->task, v->lengths[i]);
        for (int k = 0; k < PW_PLACES; k++) {
            float x = (float)pw_error_share(s.places[k], &s);
            *most = x > *most ? x : *most;
            if (s.places[k] > 0 && k >= n)
                n = k + 1;
        }
    }
    return n;
}

bool pw_error_beyond(const struct pw_error_sum *s, int place, int64_t wrong)
{
    return wrong == 0 && (int64_t)place * s->samples >= s->tokens;
}
