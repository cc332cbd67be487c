/* copies.c - activations in bf16: where their copies lie, and which of them hold.
 *
 * What enters a product is rounded first, and most of it enters two: an activation the forward product and
 * that of the weights' gradient, a gradient the product of the weights and that of the layer before. Each
 * would read all of it again and write half as much. So the memory of a pass has room for a copy behind it,
 * at the same place as the tensor: whoever makes a tensor leaves its copy on the way, a product that finds
 * none makes it, and whoever will write to a tensor says so here first, with a copy or without. Operands,
 * which nobody else reads, have no other form than this copy.
 *
 * The list is the host's, kept as operations are asked for. A graph that is launched again does them without
 * being asked, so nothing holds from before a replay to behind it. */
#include <stdlib.h>

#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"

enum { COPY_BYTES = sizeof(float) + sizeof(uint16_t) };

bool pw_cuda_rounds(const struct pw_backend *be)
{
    return be->blas != NULL && pw_blas_precision(be->blas) == PW_PRODUCTS_BF16;
}

/* Memory that is known here. */
static float *alloc_pass(struct pw_backend *be, struct pw_cuda_pass pass, size_t bytes)
{
    struct pw_cuda_copies *k = &be->copies;
    if (k->n_passes == k->room) {
        struct pw_cuda_pass *more = realloc(k->pass, (size_t)(2 * k->room + 2) * sizeof *more);
        if (more == NULL)
            return NULL;
        k->pass = more;
        k->room = 2 * k->room + 2;
    }
    pass.from = pw_cuda_alloc(be, bytes);
    if (pass.from != NULL)
        k->pass[k->n_passes++] = pass;
    return pass.from;
}

float *pw_cuda_alloc_acts(struct pw_backend *be, size_t floats)
{
    return pw_cuda_rounds(be) ? alloc_pass(be, (struct pw_cuda_pass){.floats = floats}, floats * COPY_BYTES)
                              : pw_cuda_alloc(be, floats * sizeof(float));
}

float *pw_cuda_alloc_operands(struct pw_backend *be, size_t bytes)
{
    struct pw_cuda_pass pass = {.floats = bytes / sizeof(float), .operands = true};
    return pw_cuda_rounds(be) ? alloc_pass(be, pass, bytes) : pw_cuda_alloc(be, bytes);
}

void pw_cuda_free_acts(struct pw_backend *be, const void *p)
{
    struct pw_cuda_copies *k = &be->copies;
    for (int i = 0; i < k->n_passes; i++)
        if (k->pass[i].from == p) {
            k->pass[i] = k->pass[--k->n_passes];
            pw_cuda_forget_copies(be);
            return;
        }
}

void pw_cuda_copies_fini(struct pw_backend *be)
{
    free(be->copies.pass);
    be->copies.pass = NULL;
    be->copies.n_passes = be->copies.room = 0;
}

/* The memory that x lies in, or NULL. */
static const struct pw_cuda_pass *pass_of(const struct pw_ctx *c, const float *x)
{
    const struct pw_cuda_copies *k = &c->be->copies;
    for (int i = 0; i < k->n_passes; i++)
        if (x >= k->pass[i].from && x < k->pass[i].from + k->pass[i].floats)
            return &k->pass[i];
    return NULL;
}

uint16_t *pw_cuda_copy_of(struct pw_ctx *c, const float *x)
{
    const struct pw_cuda_pass *pass = pass_of(c, x);
    if (pass == NULL)
        return NULL;
    return pass->operands ? (uint16_t *)(uintptr_t)x
                          : (uint16_t *)(pass->from + pass->floats) + (x - pass->from);
}

bool pw_cuda_alone(const struct pw_ctx *c, const float *x)
{
    const struct pw_cuda_pass *pass = pass_of(c, x);
    return pass != NULL && pass->operands;
}

bool pw_cuda_holds(const struct pw_ctx *c, const float *x, size_t n)
{
    const struct pw_cuda_copies *k = &c->be->copies;
    for (int i = 0; i < k->n_held; i++)
        if (k->held[i].x == x && k->held[i].n == n)
            return true;
    return pw_cuda_alone(c, x);
}

void pw_cuda_writes(struct pw_ctx *c, const void *y)
{
    struct pw_cuda_copies *k = &c->be->copies;
    const float *at = y;
    pw_cuda_side_lets(c->be, y);
    for (int i = k->n_held - 1; i >= 0; i--)
        if (at >= k->held[i].x && at < k->held[i].x + k->held[i].n)
            k->held[i] = k->held[--k->n_held];
}

void pw_cuda_hold(struct pw_ctx *c, const float *x, size_t n)
{
    struct pw_cuda_copies *k = &c->be->copies;
    pw_cuda_writes(c, x);
    if (k->n_held < PW_CUDA_HELD && !pw_cuda_alone(c, x))
        k->held[k->n_held++] = (struct pw_cuda_held){x, n};
}

void pw_cuda_leaves(struct pw_ctx *c, const uint16_t *copy, const float *x, size_t n)
{
    if (copy != NULL)
        pw_cuda_hold(c, x, n);
    else
        pw_cuda_writes(c, x);
}

void pw_cuda_forget_copies(struct pw_backend *be)
{
    be->copies.n_held = 0;
}
