#include "lab/offer.h"

#include <string.h>

const struct pw_arm_view *pw_offer_arm(const struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    const char *named = pw_args_key(c->so_far, "arm");
    long id = s != NULL ? s->current : 0;
    if (s == NULL || (named != NULL && !pw_text_int(named, 1, PW_MAX_ARMS, &id)))
        return NULL;
    return id > 0 && s->arms[id - 1].used ? &s->arms[id - 1] : NULL;
}

void pw_offer_numbers(struct pw_completion *c, int from, int end)
{
    for (int i = from; i < end; i++)
        pw_complete_offer(c, "%d", i);
}

void pw_offer_arms(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    for (int i = 0; s != NULL && i < PW_MAX_ARMS; i++)
        if (s->arms[i].used)
            pw_complete_offer(c, "%d", i + 1);
}

void pw_offer_heads(struct pw_completion *c, bool off)
{
    const struct pw_arm_view *arm = pw_offer_arm(c);
    const char *named = pw_args_key(c->so_far, "replica"), *was = pw_args_key(c->so_far, "replicate");
    long r = arm != NULL ? pw_inspected(c->seen, arm) : 1;
    if (named != NULL || was != NULL)
        pw_text_int(named != NULL ? named : was, 1, PW_MAX_REPLICAS, &r);
    for (int l = 0; arm != NULL && l < arm->info.layers; l++) {
        int n = 0;
        for (int h = 0; h < arm->info.heads; h++)
            if ((pw_head_mode(&arm->rep[r - 1], l, h) != PW_ABLATE_NONE) == off) {
                pw_complete_offer(c, "%d.%d", l, h);
                n++;
            }
        if (n > 1)
            pw_complete_offer(c, "%d.*", l);
    }
}

/* Is this the task that task= names? Any task if it is not given. */
static bool is_meant(const struct pw_completion *c, const struct pw_task_view *task)
{
    const char *named = pw_args_key(c->so_far, "task");
    return named == NULL || strcmp(named, task->name) == 0;
}

void pw_offer_lengths(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    int lo = 0, hi = -1;
    for (int i = 0; s != NULL && i < s->lab.n_tasks; i++) {
        const struct pw_task_view *t = &s->lab.tasks[i];
        if (!is_meant(c, t))
            continue;
        lo = hi < 0 || t->train_lo < lo ? t->train_lo : lo;
        hi = t->train_hi > hi ? t->train_hi : hi;
        hi = t->test_hi > hi ? t->test_hi : hi;
    }
    pw_offer_numbers(c, lo, hi + 1);
}

/* Offer the trained range, the tested range, and both together. */
static void offer_ranges(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    for (int i = 0; s != NULL && i < s->lab.n_tasks; i++) {
        const struct pw_task_view *t = &s->lab.tasks[i];
        if (!is_meant(c, t))
            continue;
        pw_complete_offer(c, "%d..%d", t->train_lo, t->train_hi);
        if (t->test_hi >= t->test_lo && t->test_hi > t->train_hi) {
            pw_complete_offer(c, "%d..%d", t->test_lo, t->test_hi);
            pw_complete_offer(c, "%d..%d", t->train_lo, t->test_hi);
        }
    }
}

void pw_offer_values(struct pw_completion *c)
{
    const struct pw_snapshot *s = c->seen;
    const struct pw_arm_view *arm = pw_offer_arm(c);
    if (strcmp(c->key, "arms") == 0)
        pw_complete_offer(c, "all");
    if (strcmp(c->key, "arm") == 0 || strcmp(c->key, "arms") == 0 || strcmp(c->key, "reference") == 0)
        pw_offer_arms(c);
    else if (strcmp(c->key, "lengths") == 0)
        offer_ranges(c);
    else if (strcmp(c->key, "task") == 0)
        for (int i = 0; s != NULL && i < s->lab.n_tasks; i++)
            pw_complete_offer(c, "%s", s->lab.tasks[i].name);
    else if (arm != NULL && strcmp(c->key, "layer") == 0)
        pw_offer_numbers(c, 0, arm->info.layers);
    else if (arm != NULL && strcmp(c->key, "head") == 0)
        pw_offer_numbers(c, 0, arm->info.heads);
    else if (arm != NULL && (strcmp(c->key, "replica") == 0 || strcmp(c->key, "replicate") == 0))
        pw_offer_numbers(c, 1, arm->info.replicas + 1);
}

void pw_offer_export(struct pw_completion *c)
{
    const char *what = pw_args_word(c->so_far, 0);

    if (what != NULL && strcmp(c->key, "length") == 0 && strcmp(what, "activations") == 0)
        pw_offer_lengths(c);
    else if (strcmp(c->key, "sessions") == 0)
        pw_complete_session(c);
    else
        pw_offer_values(c);
}
