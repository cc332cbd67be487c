/* lengths.c - the latest evaluations by length. */
#include "plot/lengths.h"
#include "plot/names.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void pw_lengths_begin(struct pw_lengths *v, const struct pw_snapshot *s, int task)
{
    const struct pw_ev_lab *lab = &s->lab;

    v->task = task >= 0 && task < lab->n_tasks ? task : 0, v->n = 0, v->judged = v->runs = false;
    v->range = v->task < lab->n_tasks ? &lab->tasks[v->task] : NULL;
}

/* Puts a length into its place, unless it is there. */
static void add_length(struct pw_lengths *v, int length)
{
    int at = v->n;

    while (at > 0 && v->lengths[at - 1] > length)
        at--;
    if (v->n == PW_MAX_LENGTHS || (at > 0 && v->lengths[at - 1] == length))
        return;
    memmove(v->lengths + at + 1, v->lengths + at, (size_t)(v->n - at) * sizeof *v->lengths);
    v->lengths[at] = length;
    v->n++;
}

void pw_lengths_add(struct pw_lengths *v, const struct pw_arm_view *arm, int task)
{
    const struct pw_ev_eval *e = &arm->rep[0].eval;

    v->judged |= pw_eval_judge(e, task) != PW_JUDGE_EXACT;
    v->runs |= pw_eval_runs(e);
    for (int i = 0; i < e->n; i++)
        if (e->rows[i].task == task)
            add_length(v, e->rows[i].length);
}

void pw_lengths_of(struct pw_lengths *v, const struct pw_snapshot *s, int task)
{
    pw_lengths_begin(v, s, task);
    for (int id = 1; id <= PW_MAX_ARMS; id++)
        if (pw_find_arm(s, id) != NULL)
            pw_lengths_add(v, pw_find_arm(s, id), v->task);
}

bool pw_lengths_trained(const struct pw_lengths *v, int length)
{
    return v->range != NULL && length >= v->range->train_lo && length <= v->range->train_hi;
}

static struct pw_match match_of(struct pw_spread s)
{
    return (struct pw_match){s.n, (double)s.median, (double)s.lo, (double)s.hi};
}

struct pw_match pw_lengths_match(const struct pw_arm_view *arm, int task, int length)
{
    const struct pw_eval_row *row = pw_eval_find(&arm->rep[0].eval, task, length);
    struct pw_match m = match_of(pw_spread_at(arm, task, length));

    if (m.n > 0 && arm->info.replicas == 1 && row != NULL)
        pw_eval_wilson(row->exact, row->samples, &m.lo, &m.hi);
    return m;
}

static float loss_of(const struct pw_eval_row *row)
{
    return row->loss > 0 ? row->loss : NAN;
}

/* Sets the interval of a mean over windows, which are drawn with replacement. */
static void window_interval(struct pw_match *m, const struct pw_ev_eval *e, const struct pw_eval_row *row)
{
    double squares = 0;

    if (row->samples < 2 || row->first_sampled + row->samples > e->n_sampled)
        return;
    for (int i = 0; i < row->samples; i++) {
        double d = (double)e->sampled[row->first_sampled + i] - m->median;
        squares += d * d;
    }
    double half = 1.96 * sqrt(squares / (row->samples - 1) / row->samples);
    m->lo = m->median - half, m->hi = m->median + half;
}

struct pw_match pw_lengths_loss(const struct pw_arm_view *arm, int task, int length)
{
    const struct pw_eval_row *row = pw_eval_find(&arm->rep[0].eval, task, length);
    struct pw_match m = match_of(pw_spread_by(arm, task, length, loss_of));

    if (m.n > 0 && arm->info.replicas == 1 && row != NULL)
        window_interval(&m, &arm->rep[0].eval, row);
    return m;
}

const struct pw_eval_row *pw_lengths_longest(const struct pw_arm_view *arm, int replica)
{
    const struct pw_ev_eval *e = &arm->rep[replica].eval;

    for (int i = e->n - 1; i >= 0; i--)
        if (e->rows[i].n_losses > 0)
            return &e->rows[i];
    return NULL;
}

struct pw_match pw_lengths_mean(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task,
                                bool beyond)
{
    float v[PW_MAX_REPLICAS];

    for (int r = 0; r < arm->info.replicas; r++)
        v[r] = pw_eval_mean(lab, &arm->rep[r].eval, task, beyond);
    return match_of(pw_spread_of(v, arm->info.replicas));
}

bool pw_lengths_learned(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, int task)
{
    return pw_lengths_mean(lab, arm, task, false).median >= (double)PW_LEARNED;
}

/* ---- samples */

struct drawn {
    int least, most; /* samples per length: a fixed set can have fewer at some lengths; 0: not evaluated */
    bool live;
};

static struct drawn drawn_of(const struct pw_arm_view *arm, int task)
{
    struct drawn d = {0};

    for (int i = 0; arm != NULL && i < arm->rep[0].eval.n; i++) {
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

/* Appends the labels of the arms evaluated like arm number a and returns how many; 0 if an earlier arm is
 * evaluated like it. */
static int alike(struct pw_str *labels, const struct pw_lengths_arm *list, int n, int a, const char *comma)
{
    struct drawn first = drawn_of(list[a].arm, list[a].task);
    int found = 0;

    for (int b = 0; b < n; b++) {
        if (!same_drawn(first, drawn_of(list[b].arm, list[b].task)))
            continue;
        if (b < a)
            return 0;
        pw_str_add(labels, "%s%s", found++ > 0 ? comma : "", list[b].label);
    }
    return found;
}

static int n_evaluated(const struct pw_lengths_arm *list, int n)
{
    int evaluated = 0;

    for (int a = 0; a < n; a++)
        evaluated += drawn_of(list[a].arm, list[a].task).most > 0;
    return evaluated;
}

static void add_number(struct pw_str *out, struct drawn d)
{
    if (d.least < d.most)
        pw_str_add(out, "%d to ", d.least);
    pw_str_add(out, "%d", d.most);
}

void pw_lengths_samples_of(struct pw_str *out, const struct pw_lengths_arm *list, int n, const char *noun)
{
    int evaluated = n_evaluated(list, n);
    bool first = true, differ = false;

    for (int a = 0; a < n; a++) {
        struct drawn of = drawn_of(list[a].arm, list[a].task);
        struct pw_str labels = {0};
        int same = alike(&labels, list, n, a, ", ");
        if (same > 0 && of.most > 0) {
            const char *live = first ? ", live" : " live";
            pw_str_add(out, "%s", first ? "" : ", ");
            add_number(out, of);
            pw_str_add(out, "%s%s", first ? " samples" : "", of.live ? live : "");
            differ |= same < evaluated;
            if (differ && noun != NULL)
                pw_str_add(out, " (%s%s %s)", noun, same > 1 ? "s" : "", labels.s);
            else if (differ)
                pw_str_add(out, " (%s)", labels.s);
            first = false;
        }
        pw_str_fini(&labels);
    }
}

/* The arms of a snapshot, labelled by their ids. */
static void list_arms(struct pw_lengths_arm list[PW_MAX_ARMS], char id[PW_MAX_ARMS][4],
                      const struct pw_snapshot *s, int task)
{
    for (int a = 0; a < PW_MAX_ARMS; a++) {
        snprintf(id[a], 4, "%d", a + 1);
        list[a] = (struct pw_lengths_arm){pw_find_arm(s, a + 1), task, id[a]};
    }
}

void pw_lengths_range_text(struct pw_str *out, const struct pw_snapshot *s, int task, const char *between)
{
    const struct pw_task_view *t = &s->lab.tasks[task];
    bool trained = !t->runs; /* a model of running text can be one from a file, whose lengths are unknown */

    for (int i = 0; i < PW_MAX_ARMS; i++)
        trained = trained || (s->arms[i].used && s->arms[i].info.step > 0);
    if (trained)
        pw_str_add(out, "trained %d%s%d", t->train_lo, between, t->train_hi);
    else
        pw_str_add(out, "not trained here");
}

void pw_lengths_samples(struct pw_str *out, const struct pw_snapshot *s, int task)
{
    struct pw_lengths_arm list[PW_MAX_ARMS];
    char id[PW_MAX_ARMS][4];

    list_arms(list, id, s, task);
    pw_lengths_samples_of(out, list, PW_MAX_ARMS, "arm");
}

bool pw_lengths_samples_differ(struct pw_str *out, const struct pw_snapshot *s, int task)
{
    struct pw_lengths_arm list[PW_MAX_ARMS];
    char id[PW_MAX_ARMS][4];
    int groups = 0;

    list_arms(list, id, s, task);
    const int evaluated = n_evaluated(list, PW_MAX_ARMS);
    for (int a = 0; a < PW_MAX_ARMS; a++) {
        struct drawn of = drawn_of(list[a].arm, task);
        struct pw_str ids = {0};
        int n = alike(&ids, list, PW_MAX_ARMS, a, ",");
        if (n > 0 && of.most > 0 && n < evaluated) {
            pw_str_add(out, "%s", groups++ > 0 ? ", " : "samples ");
            add_number(out, of);
            pw_str_add(out, "%s (%s)", of.live ? " live" : "", ids.s);
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
    for (int r = 0; r < a->info.replicas; r++) {
        const struct pw_ev_eval *e = &a->rep[r].eval;
        for (int i = 0; i < e->n; i++)
            for (int k = 0; e->rows[i].task == task && k < e->rows[i].n_pairs; k++)
                if (e->rows[i].first_pair >= 0 && e->rows[i].first_pair + k < e->n_pairs)
                    add_pair(g, &e->pairs[e->rows[i].first_pair + k], &any);
    }
    return any;
}

static float grid_value(const void *arg, int row, int col)
{
    const struct pw_grid *g = arg;
    int b = g->lo[1] + row, a = g->lo[0] + col;

    return g->samples[b][a] > 0 ? (float)g->exact[b][a] / (float)g->samples[b][a] : -INFINITY;
}

struct pw_matrix pw_grid_matrix(const struct pw_grid *g)
{
    return (struct pw_matrix){.rows = g->hi[1] - g->lo[1] + 1,
                              .cols = g->hi[0] - g->lo[0] + 1,
                              .value = grid_value,
                              .arg = g,
                              .hi = 1};
}

/* ---- errors */

struct pw_error_sum pw_error_sum_at(const struct pw_arm_view *a, int task, int length)
{
    struct pw_error_sum s = {0};

    for (int r = 0; r < a->info.replicas; r++) {
        const struct pw_eval_row *row = pw_eval_find(&a->rep[r].eval, task, length);
        if (row == NULL || row->samples <= 0)
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
