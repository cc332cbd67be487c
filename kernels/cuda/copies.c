/* copies.c - activations in bf16: the places of their copies, and which copies are valid.
 *
 * The operands of a product are rounded first, and most tensors are operands of two products: an activation
 * of the forward product and of the weights' gradient, a gradient of the products of this layer and of the
 * layer before. Rounding each time would read all of the tensor again and write half as much. So the memory
 * of a pass has room for a copy after it, at the same offset as the tensor. An operation that computes a
 * tensor also writes its copy; a product without a valid copy makes one; an operation that is about to write
 * to a tensor declares it here first, with a copy or without. Tensors that only products read exist as a copy
 * only.
 *
 * The host keeps the list in the order of the calls. A replayed graph repeats the operations without these
 * calls, so no copy is valid across a replay. */
#include <stdlib.h>

#include "kernels/cuda/blas.h"
#include "kernels/cuda/members.h"

enum { COPY_BYTES = sizeof(float) + sizeof(uint16_t) };

bool pw_cuda_rounds(const struct pw_backend *be)
{
    return be->blas != NULL && pw_blas_precision(be->blas) == PW_PRODUCTS_BF16;
}

/* A block of memory that is registered here. */
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

/* Returns the registered memory that contains x, or NULL. */
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
