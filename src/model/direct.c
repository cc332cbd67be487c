/* direct.c - see direct.h. */
#include "model/direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pages.h"

enum pw_code pw_direct_open(struct pw_direct *w, struct pw_model *m, struct pw_err *err)
{
    *w = (struct pw_direct){.m = m, .p = m->ops->host ? m->p : m->host};
    if (m->ops->host)
        return PW_OK;
    pw_model_get(m, m->host, NULL, NULL);
    return m->ops->sync(m->be, err);
}

static void free_copy(struct pw_direct *w, int kind)
{
    pw_block_free(w->of[kind].copy, w->of[kind].room * sizeof(float));
}

void pw_direct_close(struct pw_direct *w)
{
    for (int i = 0; i < PW_DIRECT_KINDS; i++)
        free_copy(w, i);
}

/* Makes room for a copy of n parameters; the program ends without memory, as after pw_alloc. */
static void room_for_copy(struct pw_direct *w, int kind, size_t n)
{
    if (n <= w->of[kind].room)
        return;
    free_copy(w, kind);
    w->of[kind].copy = pw_block_take(n * sizeof(float));
    if (w->of[kind].copy == NULL)
        pw_exhausted(n * sizeof(float));
    w->of[kind].room = n;
}

const float *pw_direct_read(struct pw_direct *w, int kind, size_t offset, size_t n)
{
    bool adapted = w->m->cfg.adapter > 0 && kind == PW_DIRECT_BRANCH;

    if (!w->m->packed && !adapted)
        return w->p + offset;
    if (w->of[kind].n == n && w->of[kind].at == offset) /* n > 0 */
        return w->of[kind].copy;
    room_for_copy(w, kind, n);
    w->of[kind].at = offset;
    w->of[kind].n = n;
    if (adapted)
        pw_model_read_acting(w->m, w->of[kind].copy, offset, n);
    else
        pw_packed_read(w->m, w->of[kind].copy, offset, n);
    return w->of[kind].copy;
}

/* The row is copied with its neighbours, which follow as a rule. */
const float *pw_direct_head_row(struct pw_direct *w, int v)
{
    enum { ROWS = 32 };
    size_t E = (size_t)pw_config_embed_width(&w->m->cfg);
    int first = v / ROWS * ROWS, left = w->m->cfg.vocab - first;

    return pw_direct_read(w, PW_DIRECT_HEAD, w->m->lay.head + (size_t)first * E,
                          (size_t)(left < ROWS ? left : ROWS) * E) +
           (size_t)(v - first) * E;
}

void pw_freeze(const struct pw_direct *w, struct pw_frozen *f, int kind, size_t at, const double *x,
               double factor)
{
    int C = w->m->cfg.width;
    double mean = 0, square = 0;

    f->center = kind == PW_NORM_LAYER;
    for (int i = 0; f->center && i < C; i++)
        mean += x[i] / C;
    for (int i = 0; i < C; i++)
        square += (x[i] - mean) * (x[i] - mean) / C;
    if (kind != PW_NORM_NONE)
        factor /= sqrt(square + pw_norm_eps(&w->m->cfg));
    for (int i = 0; i < C; i++)
        f->gain[i] = factor * (at == PW_ABSENT ? 1 : (double)w->p[at + (size_t)i]);
}

void pw_frozen_apply(const struct pw_frozen *f, double *x, int C)
{
    double mean = 0;

    for (int i = 0; f->center && i < C; i++)
        mean += x[i] / C;
    for (int i = 0; i < C; i++)
        x[i] = f->gain[i] * (x[i] - mean);
}

void pw_direct_add(const struct pw_direct *w, double *y, size_t at, double factor)
{
    for (int i = 0; at != PW_ABSENT && i < w->m->cfg.width; i++)
        y[i] += factor * (double)w->p[at + (size_t)i];
}

void pw_direct_freeze_last(const struct pw_direct *w, struct pw_frozen *f, const float *x)
{
    const struct pw_config *cfg = &w->m->cfg;
    double *row = pw_alloc((size_t)cfg->width, sizeof *row);

    for (int i = 0; i < cfg->width; i++)
        row[i] = (double)x[i];
    pw_freeze(w, f, pw_config_norm_mlp(cfg), w->m->lay.norm, row, (double)cfg->logit_scale);
    free(row);
}

void pw_direct_reduce(struct pw_direct *w, double *x)
{
    size_t C = (size_t)w->m->cfg.width, E = (size_t)w->m->cfg.embed_width;

    if (E == 0)
        return;
    const float *matrix = pw_direct_read(w, PW_DIRECT_HEAD_IN, w->m->lay.head_in, E * C);
    double *y = pw_alloc(E, sizeof *y);
    for (size_t e = 0; e < E; e++)
        for (size_t i = 0; i < C; i++)
            y[e] += (double)matrix[e * C + i] * x[i];
    memcpy(x, y, E * sizeof *x);
    free(y);
}

void pw_direct_head_input(struct pw_direct *w, const struct pw_frozen *f, double *out, const float *x)
{
    for (int i = 0; i < w->m->cfg.width; i++)
        out[i] = (double)x[i];
    pw_frozen_apply(f, out, w->m->cfg.width);
    pw_direct_add(w, out, w->m->lay.norm_bias, (double)w->m->cfg.logit_scale);
    pw_direct_reduce(w, out);
}

double pw_direct_logit(struct pw_direct *w, const double *x, int v)
{
    const struct pw_model *m = w->m;
    const float *row = pw_direct_head_row(w, v);
    double sum = m->cfg.head_bias ? (double)w->p[m->lay.head_bias + (size_t)v] : 0;

    for (int i = 0; i < pw_config_embed_width(&m->cfg); i++)
        sum += (double)row[i] * x[i];
    return sum;
}

double pw_direct_capped(const struct pw_model *m, double logit)
{
    double cap = m->cfg.logit_cap;

    return cap > 0 ? cap * tanh(logit / cap) : logit;
}
