/* ref_layer.c - random linear layers: shapes with tails, aligned and unaligned arrays, all optional and
 * in-place operands. */
#include "tests/cuda/ref_layer.h"
#include "tests/cuda/ref_device.h"

#include <math.h>
#include <stdlib.h>

static int pick(uint64_t *s, const int *list, size_t n)
{
    return list[ref_next(s) % n];
}

struct layer layer_draw(uint64_t seed)
{
    static const int rows[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 130};
    static const int widths[] = {1, 2, 3, 4, 10, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 68, 128, 130};
    uint64_t s = seed * 0x9e3779b97f4a7c15u;
    struct layer k = {.R = pick(&s, rows, sizeof rows / sizeof *rows),
                      .in = pick(&s, widths, sizeof widths / sizeof *widths),
                      .out = pick(&s, widths, sizeof widths / sizeof *widths)};
    size_t nx = (size_t)k.R * (size_t)k.in, ny = (size_t)k.R * (size_t)k.out;
    uint64_t with = ref_next(&s);
    k.act = (enum pw_act)(with % 5);
    k.add = with & 16;
    k.scale = with & 32 ? 1.0f : 1.0f / 0.9f;
    k.skew = with & 32 ? 0 : with >> 6 & 3;
    k.x = ref_random(&s, nx, 1.0f);
    k.w = ref_random(&s, (size_t)k.out * (size_t)k.in, 1.0f / sqrtf((float)k.in));
    k.bias = with & 256 ? ref_random(&s, (size_t)k.out, 1.0f) : NULL;
    k.y = ref_random(&s, ny, 1.0f);
    k.in_place = with & 512;
    k.residual = with & 1024 ? ref_random(&s, ny, 1.0f) : NULL;
    k.pre = with & 2048 ? ref_random(&s, ny, 1.0f) : NULL;
    k.dy = ref_random(&s, ny, 1.0f);
    k.saved = ref_random(&s, nx, 2.0f);
    k.dx = ref_random(&s, nx, 1.0f);
    k.dw = ref_random(&s, (size_t)k.out * (size_t)k.in, 1.0f);
    k.d_bias = with & 4096 ? ref_random(&s, (size_t)k.out, 1.0f) : NULL;
    return k;
}

static float *on_device(const struct layer *k, const float *from, size_t n)
{
    return from != NULL ? device_floats(from, n, k->skew) : NULL;
}

struct layer layer_copy(const struct layer *k)
{
    struct layer d = *k;
    size_t nx = (size_t)k->R * (size_t)k->in, ny = (size_t)k->R * (size_t)k->out;
    size_t nw = (size_t)k->out * (size_t)k->in;
    d.x = on_device(k, k->x, nx);
    d.w = on_device(k, k->w, nw);
    d.bias = on_device(k, k->bias, (size_t)k->out);
    d.residual = on_device(k, k->residual, ny);
    d.dy = on_device(k, k->dy, ny);
    d.saved = on_device(k, k->saved, nx);
    d.y = on_device(k, k->y, ny);
    d.pre = on_device(k, k->pre, ny);
    d.dx = on_device(k, k->dx, nx);
    d.dw = on_device(k, k->dw, nw);
    d.d_bias = on_device(k, k->d_bias, (size_t)k->out);
    return d;
}

const float *layer_added(const struct layer *k)
{
    return k->residual != NULL && k->in_place ? k->y : k->residual;
}

void layer_free(struct layer *k)
{
    float *all[] = {k->x, k->w, k->bias, k->residual, k->dy, k->saved, k->y, k->pre, k->dx, k->dw, k->d_bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    device_free();
}

void layer_reference(const struct pw_backend_ops *ops, struct layer *k)
{
    struct pw_mat m = {.w = k->w, .out = k->out, .in = k->in};
    ops->linear_fwd(NULL, k->y, k->pre, k->x, &m, k->bias, layer_added(k), k->act, k->R);
    ops->linear_dx(NULL, k->dx, k->dy, &m, k->act, k->saved, k->scale, k->R);
    ops->linear_dw(NULL, k->dw, k->d_bias, k->dy, k->x, k->add, k->out, k->in, k->R);
}
