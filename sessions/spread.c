/* spread.c - summarise an arm with several replicas as one value: the median, with the minimum and the
 * maximum.
 *
 * With three or five initialisations at least one replica came near the median; a mean with one failed run is
 * near none. With so few replicas the two ends are all that can be said about the spread. */
#include <math.h>
#include <stddef.h>

#include "sessions/fold.h"

struct pw_spread pw_spread_of(float *v, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++) { /* insertion sort of the finite values: there are few */
        float x = v[i];
        int at = k;
        if (!isfinite(x))
            continue;
        for (; at > 0 && v[at - 1] > x; at--)
            v[at] = v[at - 1];
        v[at] = x;
        k++;
    }
    if (k == 0)
        return (struct pw_spread){0, NAN, NAN, NAN};
    float median = k % 2 == 1 ? v[k / 2] : (float)(((double)v[k / 2 - 1] + (double)v[k / 2]) / 2);
    return (struct pw_spread){k, median, v[0], v[k - 1]};
}

const struct pw_eval_row *pw_eval_find(const struct pw_ev_eval *e, int task, int length)
{
    for (int i = 0; i < e->n; i++)
        if (e->rows[i].task == task && e->rows[i].length == length)
            return &e->rows[i];
    return NULL;
}

/* Rows may come from a file: missing outcomes are unknown. */
static bool is_known(const struct pw_ev_eval *e, const struct pw_eval_row *row, int i)
{
    return i >= 0 && i < row->samples && row->first_word >= 0 && row->first_word + i / 64 < e->n_words;
}

bool pw_eval_right(const struct pw_ev_eval *e, const struct pw_eval_row *row, int i)
{
    return is_known(e, row, i) && (e->outcomes[row->first_word + i / 64] >> i % 64 & 1);
}

int pw_eval_failing(const struct pw_ev_eval *e, const struct pw_eval_row *row, int from)
{
    for (int i = from; is_known(e, row, i); i++)
        if (!pw_eval_right(e, row, i))
            return i;
    return -1;
}

float pw_eval_forced(const struct pw_eval_row *row)
{
    return row->samples > 0 ? (float)(row->exact + row->errors[PW_ERROR_LATE]) / (float)row->samples : NAN;
}

float pw_eval_taught(const struct pw_eval_row *row)
{
    int taught = row->judge == PW_JUDGE_DECODED ? row->taught : row->exact;
    return row->samples > 0 ? (float)taught / (float)row->samples : NAN;
}

float pw_eval_exact(const struct pw_eval_row *row)
{
    return row->samples > 0 ? (float)row->exact / (float)row->samples : NAN;
}

enum pw_judge pw_eval_judge(const struct pw_ev_eval *e, int task)
{
    for (int i = 0; i < e->n; i++)
        if (e->rows[i].samples > 0 && (task < 0 || e->rows[i].task == task))
            return e->rows[i].judge;
    return PW_JUDGE_EXACT;
}

struct pw_spread pw_spread_by(const struct pw_arm_view *arm, int task, int length,
                              float (*of)(const struct pw_eval_row *row))
{
    float v[PW_MAX_REPLICAS];
    for (int r = 0; r < arm->info.replicas; r++) {
        const struct pw_eval_row *row = pw_eval_find(&arm->rep[r].eval, task, length);
        v[r] = row != NULL ? of(row) : NAN;
    }
    return pw_spread_of(v, arm->info.replicas);
}

struct pw_spread pw_spread_at(const struct pw_arm_view *arm, int task, int length)
{
    return pw_spread_by(arm, task, length, pw_eval_exact);
}

struct pw_spread pw_spread_last(const struct pw_arm_view *arm, enum pw_metric metric)
{
    float v[PW_MAX_REPLICAS];
    for (int r = 0; r < arm->info.replicas; r++) {
        const struct pw_series *s = &arm->rep[r].series;
        v[r] = s->n > 0 ? s->v[metric][s->n - 1] : NAN;
    }
    return pw_spread_of(v, arm->info.replicas);
}

struct pw_spread pw_spread_mean(const struct pw_ev_lab *lab, const struct pw_arm_view *arm, bool beyond)
{
    float v[PW_MAX_REPLICAS];
    for (int r = 0; r < arm->info.replicas; r++)
        v[r] = pw_eval_mean(lab, &arm->rep[r].eval, -1, beyond);
    return pw_spread_of(v, arm->info.replicas);
}

const char *pw_batches_text(const struct pw_ev_arm *info)
{
    return info->own_batches ? ", own batches" : "";
}

bool pw_any_own_batches(const struct pw_snapshot *s)
{
    bool any = false;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        any = any || (s->arms[i].used && s->arms[i].info.own_batches);
    return any;
}
