/* ref_cases_layers.c - cases of operations that treat all rows of a layer alike: linear, norms, dropout,
 * addition. */
#include "tests/ops/ref_cases.h"

#include <math.h>

/* linear needs prepare(), a whole-machine operation: the case enters a chunk for the rest. */
struct linear {
    const struct pw_backend_ops *ops;
    struct pw_mat m;
    float *y, *pre, *x, *bias, *residual, *dx, *dy, *saved, *dw, *db;
    enum pw_act act;
    bool add;    /* to dw */
    float scale; /* of dx */
    int R;
};

static void linear_chunk(struct pw_ctx *c, int chunk, int worker, void *arg)
{
    struct linear *l = arg;
    (void)chunk;
    (void)worker;
    l->ops->linear_fwd(c, l->y, l->pre, l->x, &l->m, l->bias, l->residual, l->act, l->R);
    l->ops->linear_dx(c, l->dx, l->dy, &l->m, l->act, l->saved, l->scale, l->R);
    l->ops->linear_dw(c, l->dw, l->db, l->dy, l->x, l->add, l->m.out, l->m.in, l->R);
}

void ref_case_linear(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), o = ref_pick_width(&r->s),
        i = ref_next(&r->s) % 8 == 0 ? 260 : ref_pick_width(&r->s);
    size_t ny = (size_t)R * (size_t)o, nx = (size_t)R * (size_t)i, nw = (size_t)o * (size_t)i;
    struct linear l = {.ops = r->ops, .R = R};
    l.m = (struct pw_mat){.w = ref_input(r, nw, 1.0f / sqrtf((float)i)), .out = o, .in = i};
    l.m.pack = ref_own(r, r->ops->mat_pack_floats(o, i, false));
    l.m.back = ref_own(r, r->ops->mat_pack_floats(o, i, true));
    l.act = (enum pw_act)(ref_next(&r->s) % 5);
    l.add = ref_next(&r->s) % 2;
    l.scale = ref_next(&r->s) % 2 ? 1.0f : 1.0f / 0.9f;
    l.x = ref_input(r, nx, 1.0f);
    l.dy = ref_input(r, ny, 1.0f);
    l.saved = ref_input(r, nx, 2.0f);
    float *bias = ref_input(r, (size_t)o, 1.0f), *residual = ref_input(r, ny, 1.0f);
    l.bias = ref_next(&r->s) % 2 ? bias : NULL;
    l.y = ref_output(r, ny);
    l.dx = ref_output(r, nx);
    l.dw = ref_output(r, nw);
    float *pre = ref_output(r, ny), *db = ref_output(r, (size_t)o);
    l.pre = ref_next(&r->s) % 2 ? pre : NULL;
    l.db = ref_next(&r->s) % 2 ? db : NULL;
    uint64_t kind = ref_next(&r->s) % 3;
    l.residual = kind == 0 ? NULL : kind == 1 ? residual : l.y; /* in place */
    if (r->be != NULL)
        r->ops->prepare(r->be, &l.m, 1);
    ref_chunk(r, linear_chunk, &l);
}

/* Sometimes wide rows, or more rows than any implementation adds in one pass. */
void ref_case_norm(struct ref_call *r)
{
    uint64_t shape = ref_next(&r->s) % 8;
    bool wide = shape == 0, tall = shape % 5 == 1;
    int R = wide   ? PICK(&r->s, 1, 17)
            : tall ? PICK(&r->s, 4100, 4096)
                   : ref_pick_rows(&r->s),
        C = wide   ? 768
            : tall ? PICK(&r->s, 2, 9)
                   : 1 + ref_pick_width(&r->s);
    size_t n = (size_t)R * (size_t)C;
    enum pw_norm kind = (enum pw_norm)(ref_next(&r->s) % 3);
    uint64_t with = ref_next(&r->s);
    float eps = kind == PW_NORM_RMS ? 1e-6f : 1e-5f, scale = with & 4 ? 1.0f : 0.125f;
    float *x = ref_input(r, n, 2.0f), *dy = ref_input(r, n, 1.0f);
    float *gain = ref_input(r, (size_t)C, 1.0f), *bias = ref_input(r, (size_t)C, 1.0f);
    float *y = ref_output(r, n), *stat = ref_output(r, 2 * (size_t)R), *dx = ref_output(r, n);
    float *dg = ref_output(r, (size_t)C), *db = ref_output(r, (size_t)C);
    r->ops->norm_fwd(r->c, y, stat, x, with & 1 ? gain : NULL, with & 2 ? bias : NULL, kind, eps, scale, R,
                     C);
    r->ops->norm_bwd(r->c, dx, with & 1 ? dg : NULL, with & 2 ? db : NULL, dy, x, stat,
                     with & 1 ? gain : NULL, kind, scale, R, C);
}

struct pw_dropout ref_dropout(struct ref_call *r)
{
    static const float rates[] = {0.0f, 0.1f, 0.5f, 0.9f};
    uint32_t key[2] = {(uint32_t)ref_next(&r->s), (uint32_t)ref_next(&r->s)};
    uint32_t site = (uint32_t)ref_next(&r->s) % 300;
    int row = (int)(ref_next(&r->s) % 5000);
    return (struct pw_dropout){ref_copy(r, key, sizeof key), site, row, rates[ref_next(&r->s) % 4]};
}

void ref_case_dropout(struct ref_call *r)
{
    int R = ref_pick_rows(&r->s), C = PICK(&r->s, 1, 3, 16, 63, 64, 65, 130);
    size_t n = (size_t)R * (size_t)C;
    struct pw_dropout d = ref_dropout(r);
    float *x = ref_input(r, n, 1.0f), *y = ref_output(r, n), *z = ref_output(r, n);
    float *residual = ref_input(r, n, 1.0f);
    r->ops->dropout(r->c, y, x, &d, NULL, R, C);
    r->ops->dropout(r->c, z, z, &d, ref_next(&r->s) % 2 ? residual : NULL, R, C); /* in place */
}

void ref_case_add(struct ref_call *r)
{
    size_t n = ref_next(&r->s) % (ref_next(&r->s) % 4 == 0 ? 7000 : 70);
    float *x = ref_input(r, n, 1.0f), *y = ref_output(r, n), *z = ref_output(r, n);
    r->ops->add(r->c, y, x, n);
    r->ops->zero(r->c, z, n);
}
