/* step.c - one decoding step of a snapshot. */
#include "plot/step.h"
#include "base/alloc.h"
#include "plot/names.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR (1 << 17) /* longer than any sequence */

static bool usable(const struct pw_ev_inspection *k)
{
    return k->n > 0 && k->token != NULL && k->said >= 0 && k->said < k->n && k->target >= -1 &&
           k->target < k->n && k->n_parts > 0 && k->parts != NULL && k->part != NULL && k->mean != NULL &&
           k->layers >= 0 && k->lens != NULL && k->lens_prob != NULL && k->lens_rank != NULL;
}

bool pw_step_select(const struct pw_snapshot *s, struct pw_step_view *v)
{
    const struct pw_ev_inspection *k = &s->look;
    bool told = s->has_look && k->prompt == s->prompt.id && usable(k) && k->pos >= 1 && k->pos < FAR;
    int newest = s->prompt.n_prompt + s->n_tokens - 1;

    if (!s->has_prompt || s->prompt.labels == NULL || (s->n_tokens == 0 && !told))
        return false;
    v->pos = newest;
    if (s->has_cursor && !s->cursor.newest && pw_token_at(s, s->cursor.at.pos) != NULL)
        v->pos = s->cursor.at.pos;
    if (!s->decoded && told)
        v->pos = k->pos;
    v->t = pw_token_at(s, v->pos);
    v->look = told && k->pos == v->pos ? k : NULL;
    return v->pos >= 0;
}

/* ---- the parts of a logit */

struct pw_contrast pw_contrast_of(const struct pw_ev_inspection *k, int chosen, bool mean)
{
    int best = chosen == 0 ? 1 : 0;

    return (struct pw_contrast){k, chosen, mean || best >= k->n ? -1 : best};
}

/* Returns what part i adds to the difference. */
static double value_of(const struct pw_contrast *c, int i)
{
    const double *part = c->k->part + (size_t)i * c->k->n;

    return part[c->chosen] - (c->against < 0 ? c->k->mean[i] : part[c->against]);
}

double pw_contrast_sum(const struct pw_contrast *c)
{
    double sum = 0;

    for (int i = 0; i < c->k->n_parts; i++)
        sum += value_of(c, i);
    return sum;
}

double pw_contrast_logits(const struct pw_contrast *c)
{
    const struct pw_ev_inspection *k = c->k;

    return (double)k->token[c->chosen].logit -
           (double)(c->against < 0 ? k->mean_logit : k->token[c->against].logit);
}

static int by_size(const void *a, const void *b)
{
    const struct pw_contrast_part *x = a, *y = b;
    double d = fabs(y->value) - fabs(x->value);

    return d > 0 ? 1 : d < 0 ? -1 : x->part - y->part;
}

struct pw_contrast_part *pw_contrast_parts(const struct pw_contrast *c, bool in_order)
{
    struct pw_contrast_part *e = pw_alloc((size_t)c->k->n_parts, sizeof *e);

    for (int i = 0; i < c->k->n_parts; i++)
        e[i] = (struct pw_contrast_part){i, value_of(c, i)};
    if (!in_order)
        qsort(e, (size_t)c->k->n_parts, sizeof *e, by_size);
    return e;
}

void pw_step_part_name(const struct pw_inspection_part *part, char name[24])
{
    if (part->head >= 0)
        snprintf(name, 24, PW_HEAD, part->layer, part->head);
    else
        snprintf(name, 24, "%s", part->name);
}
