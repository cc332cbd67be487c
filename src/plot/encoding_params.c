/* encoding_params.c - texts and values of the learned parameters of a formula, by part (struct
 * pw_table_param). */
#include "plot/encoding.h"
#include <stdio.h>

const struct pw_table_param *pw_param_of(const struct pw_ev_table *t, int part)
{
    const struct pw_table_param *p = t->params;

    for (int i = 1; i < t->n_params && t->params[i].part <= part; i++)
        p = &t->params[i];
    return p;
}

void pw_param_part_text(const struct pw_table_param *p, int part, char text[32])
{
    int layer = (part - p->part) / p->heads, head = (part - p->part) % p->heads;

    if (p->layers > 1 && p->heads > 1)
        snprintf(text, 32, "L%d h%d", layer, head);
    else if (p->layers > 1)
        snprintf(text, 32, "L%d", layer);
    else if (p->heads > 1)
        snprintf(text, 32, "h%d", head);
    else
        text[0] = '\0';
}

void pw_param_scope_text(const struct pw_table_param *p, struct pw_str *out)
{
    static const char *const axes[] = {"", "channel", "pair", "mix"}; /* by enum pw_param_along */

    if (p->along != PW_ALONG_NOTHING) {
        pw_str_add(out, "per %s%s, %d numbers", axes[p->along], p->layers > 1 ? ", layer" : "", p->size);
        return;
    }
    pw_str_add(out, p->heads > 1 && p->layers > 1 ? "per head, layer"
                    : p->heads > 1                ? "per head"
                    : p->layers > 1               ? "per layer"
                                                  : "shared");
    if (p->size > 1)
        pw_str_add(out, ", table of %d", p->size);
}

static const float *entries_of(const struct pw_ev_table *t, int part, const float *all)
{
    const struct pw_table_param *p = pw_param_of(t, part);

    return all != NULL && p->entry >= 0 ? all + p->entry + (size_t)(part - p->part) * p->size : NULL;
}

const float *pw_param_entries(const struct pw_ev_table *t, int part)
{
    return entries_of(t, part, t->entries);
}

const float *pw_param_entry_grads(const struct pw_ev_table *t, int part)
{
    return entries_of(t, part, t->entry_grads);
}

int pw_param_course(const struct pw_arm_view *a, int part, int64_t step[PW_MAX_COURSE],
                    float v[PW_MAX_COURSE])
{
    const struct pw_course *c = &a->course;

    if (c->values != a->table.n_learned || part >= c->values)
        return 0;
    for (int i = 0; i < c->n; i++) {
        step[i] = c->point[i].step;
        v[i] = c->point[i].v[part];
    }
    return c->n;
}
