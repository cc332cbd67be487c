/* side.c - a second stream in captured graphs, for gradients of parameters.
 *
 * In the backward pass the next layer waits only for the gradient of the layer's input. The gradients of
 * weights, gains and bias tables are needed later, when gradients are added up. Products of small layers
 * leave most of a device idle, and each costs a launch. So while a graph is captured, these gradients go to a
 * second stream, a branch of the graph, with its own scratch and workspace (blas.c). The branch keeps the
 * order of the calls, and the same operations run on the same numbers, so no bit depends on it.
 *
 * The tensors that they read are overwritten later in the backward pass, by the next operation or a layer
 * later. Every operation that writes to activations declares it first (copies.c), and then waits for the
 * readers of that tensor and no others. An operation that reads gradients waits for all of them. Steps that
 * are not captured are limited by the host, so they stay on one stream.
 *
 * Branches have a cost, too: each edge between them takes time on the device. PEWTER_CUDA_SIDE=0 in the
 * environment disables the second stream, for benchmarks. */
#include "kernels/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static struct pw_cuda_beside *number(struct pw_cuda_side *s, uint64_t n)
{
    return &s->beside[n % PW_CUDA_BESIDE];
}

enum pw_code pw_cuda_side_open(struct pw_backend *be, struct pw_err *err)
{
    struct pw_cuda_side *s = &be->side;
    int least = 0, greatest = 0;
    const char *wanted = getenv("PEWTER_CUDA_SIDE");
    s->ctx.be = be;
    if (wanted != NULL && strcmp(wanted, "0") == 0)
        return PW_OK;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (e == cudaSuccess) /* the main stream has priority */
        e = cudaStreamCreateWithPriority(&s->ctx.stream, cudaStreamNonBlocking, least);
    if (e == cudaSuccess)
        e = cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming);
    for (int i = 0; i < PW_CUDA_BESIDE && e == cudaSuccess; i++)
        e = cudaEventCreateWithFlags(&s->beside[i].done, cudaEventDisableTiming);
    return e == cudaSuccess ? PW_OK
                            : pw_fail(err, PW_EDEVICE, "cuda: the second stream: %s", cudaGetErrorString(e));
}

void pw_cuda_side_close(struct pw_backend *be)
{
    struct pw_cuda_side *s = &be->side;
    cudaFree(s->ctx.scratch.p);
    for (int i = 0; i < PW_CUDA_BESIDE && s->beside[i].done != NULL; i++)
        cudaEventDestroy(s->beside[i].done);
    if (s->forked != NULL)
        cudaEventDestroy(s->forked);
    if (s->ctx.stream != NULL)
        cudaStreamDestroy(s->ctx.stream);
}

/* The next operation waits for number n, and so for all before it. */
static void await(struct pw_backend *be, uint64_t n)
{
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaStreamWaitEvent(be->ctx.stream, number(&be->side, n)->done, 0), "join");
    be->side.awaited = n;
}

void pw_cuda_side_begin(struct pw_backend *be)
{
    be->side.on = be->side.ctx.stream != NULL;
    be->side.awaited = be->side.asked;
}

void pw_cuda_side_end(struct pw_backend *be)
{
    pw_cuda_side_join(be);
    be->side.on = false;
}

struct pw_ctx *pw_cuda_aside(struct pw_ctx *c)
{
    struct pw_cuda_side *s = &c->be->side;
    if (!s->on)
        return c;
    if (s->asked - s->awaited == PW_CUDA_BESIDE)
        await(c->be, s->awaited + 1);
    if (pw_cuda_ready(c->be))
        pw_cuda_note(c->be, cudaEventRecord(s->forked, c->stream), "fork");
    if (pw_cuda_ready(c->be))
        pw_cuda_note(c->be, cudaStreamWaitEvent(s->ctx.stream, s->forked, 0), "fork");
    return &s->ctx;
}

/* n entries from x on, possibly 16-bit words. */
static struct pw_cuda_read read_of(const struct pw_ctx *c, const float *x, size_t n)
{
    return (struct pw_cuda_read){x, pw_cuda_alone(c, x) ? (n + 1) / 2 : n};
}

void pw_cuda_went(struct pw_ctx *at, const float *x, size_t nx, const float *y, size_t ny)
{
    struct pw_cuda_side *s = &at->be->side;
    if (at != &s->ctx)
        return;
    struct pw_cuda_beside *b = number(s, ++s->asked);
    b->reads[0] = read_of(at, x, nx);
    b->reads[1] = read_of(at, y, ny);
    if (pw_cuda_ready(at->be))
        pw_cuda_note(at->be, cudaEventRecord(b->done, at->stream), "aside");
}

static bool reads(const struct pw_cuda_beside *b, const float *y)
{
    for (int i = 0; i < 2; i++)
        if (y >= b->reads[i].x && y < b->reads[i].x + b->reads[i].n)
            return true;
    return false;
}

void pw_cuda_side_lets(struct pw_backend *be, const void *y)
{
    struct pw_cuda_side *s = &be->side;
    for (uint64_t n = s->asked; n > s->awaited; n--)
        if (reads(number(s, n), y)) {
            await(be, n);
            return;
        }
}

void pw_cuda_side_join(struct pw_backend *be)
{
    if (be->side.asked > be->side.awaited)
        await(be, be->side.asked);
}
