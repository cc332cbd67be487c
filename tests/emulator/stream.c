/* stream.c - streams as queues.
 *
 * An operation on a stream runs at once or, if deferred, when the host waits for it. It runs as late as CUDA
 * permits, so code that relies on more reads data that isn't there yet. The default stream waits for every
 * stream that isn't cudaStreamNonBlocking, and its operations run at once. */
#include "emu_int.h"

#include <stdlib.h>
#include <string.h>

struct pw_emu_node {
    struct pw_emu_node *next;
    struct pw_emu_op *op;         /* to run, or */
    struct pw_emu_moment *moment; /* to wait for */
};

struct host_op {
    struct pw_emu_op op;
    cudaHostFn_t fn;
    void *arg;
};

static struct CUstream_st *streams;
static long fail_launch, fail_work;
static cudaError_t launch_error, work_error;

void pw_emu_fail_launch(long n, cudaError_t error)
{
    fail_launch = n;
    launch_error = error;
}

void pw_emu_fail_work(long n, cudaError_t error)
{
    fail_work = n;
    work_error = error;
}

void *pw_emu_op_new(size_t size, const char *what, cudaError_t (*run)(struct pw_emu_op *op),
                    void (*fini)(struct pw_emu_op *op))
{
    struct pw_emu_op *op = memset(pw_emu_memory(NULL, size), 0, size);
    *op = (struct pw_emu_op){.refs = 1, .what = what, .run = run, .fini = fini};
    return op;
}

void pw_emu_op_drop(struct pw_emu_op *op)
{
    if (--op->refs > 0)
        return;
    if (op->fini != NULL)
        op->fini(op);
    free(op);
}

/* ---- running */

/* On a lost device moments still pass, but nothing else happens. */
static void run(struct pw_emu_op *op)
{
    if (!op->always) {
        pw_emu.counts.work++;
        if (pw_emu.sticky == cudaSuccess && fail_work > 0 && --fail_work == 0)
            pw_emu.sticky = work_error;
        if (pw_emu.sticky == cudaSuccess && op->launch && fail_launch > 0 && --fail_launch == 0)
            pw_emu.sticky = launch_error;
        if (pw_emu.sticky != cudaSuccess)
            return;
    }
    pw_emu_open_device();
    cudaError_t e = op->run(op);
    pw_emu_close_device();
    if (e != cudaSuccess && pw_emu.sticky == cudaSuccess)
        pw_emu.sticky = e;
}

void pw_emu_step(cudaStream_t s)
{
    struct pw_emu_node *node = s->first;
    if (node->moment != NULL && !node->moment->done)
        pw_emu_drain_until(node->moment->stream, node->moment);
    s->first = node->next;
    if (s->first == NULL)
        s->last = &s->first;
    s->busy = true;
    if (node->op != NULL) {
        run(node->op);
        pw_emu_op_drop(node->op);
    }
    s->busy = false;
    pw_emu_moment_drop(node->moment);
    free(node);
}

void pw_emu_drain_until(cudaStream_t s, const struct pw_emu_moment *until)
{
    while (!s->busy && s->first != NULL && !(until != NULL && until->done))
        pw_emu_step(s);
}

void pw_emu_drain(cudaStream_t s)
{
    if (s != NULL) {
        pw_emu_drain_until(s, NULL);
        return;
    }
    for (s = streams; s != NULL; s = s->next)
        if (s->blocking)
            pw_emu_drain_until(s, NULL);
}

void pw_emu_drain_all(void)
{
    for (struct CUstream_st *s = streams; s != NULL; s = s->next)
        pw_emu_drain_until(s, NULL);
}

void pw_emu_set_deferred(bool on)
{
    pw_emu_lock();
    if (!on)
        pw_emu_drain_all();
    pw_emu.deferred = on;
    pw_emu_unlock();
}

void pw_emu_append(cudaStream_t s, struct pw_emu_op *op, struct pw_emu_moment *moment)
{
    struct pw_emu_node *node = pw_emu_memory(NULL, sizeof *node);
    *node = (struct pw_emu_node){NULL, op, moment};
    *s->last = node;
    s->last = &node->next;
    if (!pw_emu.deferred)
        pw_emu_drain_until(s, NULL);
}

bool pw_emu_stream_known(cudaStream_t s)
{
    const struct CUstream_st *known = streams;
    while (known != NULL && known != s)
        known = known->next;
    return known != NULL;
}

cudaStream_t pw_emu_streams(void)
{
    return streams;
}

cudaError_t pw_emu_not_captured(void)
{
    for (struct CUstream_st *s = streams; s != NULL; s = s->next)
        if (s->capture != NULL && pw_emu_capture_forbids(s->capture)) {
            pw_emu_capture_spoil(s->capture);
            return cudaErrorStreamCaptureUnsupported;
        }
    return cudaSuccess;
}

/* The default stream would wait for a captured one. */
static cudaError_t not_implied(void)
{
    for (struct CUstream_st *s = streams; s != NULL; s = s->next)
        if (s->capture != NULL && s->blocking) {
            pw_emu_capture_spoil(s->capture);
            return cudaErrorStreamCaptureImplicit;
        }
    return cudaSuccess;
}

cudaError_t pw_emu_enqueue(cudaStream_t s, struct pw_emu_op *op)
{
    cudaError_t e = s == NULL                ? not_implied()
                    : pw_emu_stream_known(s) ? cudaSuccess
                                             : cudaErrorInvalidResourceHandle;
    if (e != cudaSuccess) {
        pw_emu_op_drop(op);
        return e;
    }
    if (s != NULL && s->capture != NULL)
        return pw_emu_capture_add(s, op);
    if (s != NULL) {
        pw_emu_append(s, op, NULL);
    } else {
        pw_emu_drain(NULL);
        run(op);
        pw_emu_op_drop(op);
    }
    return pw_emu.sticky;
}

static cudaError_t host_run(struct pw_emu_op *op)
{
    const struct host_op *h = (const struct host_op *)op;
    h->fn(h->arg);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t fn, void *arg)
{
    cudaError_t e = pw_emu_begin();
    if (e != cudaSuccess)
        return pw_emu_end(e);
    struct host_op *h = pw_emu_op_new(sizeof *h, "a host function", host_run, NULL);
    h->fn = fn;
    h->arg = arg;
    return pw_emu_end(pw_emu_enqueue(s, &h->op));
}

/* ---- streams */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority)
{
    (void)priority;
    *s = NULL;
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && flags > cudaStreamNonBlocking)
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        struct CUstream_st *new = pw_emu_memory(NULL, sizeof *new);
        *new = (struct CUstream_st){.blocking = flags != cudaStreamNonBlocking, .next = streams};
        new->last = &new->first;
        *s = streams = new;
    }
    return pw_emu_end(e);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    return cudaStreamCreateWithPriority(s, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    return cudaStreamCreateWithPriority(s, cudaStreamDefault, 0);
}

cudaError_t pw_emu_begin_on(cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    return e == cudaSuccess && s != NULL && !pw_emu_stream_known(s) ? cudaErrorInvalidResourceHandle : e;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    cudaError_t e = pw_emu_begin_on(s);
    if (e == cudaErrorInvalidResourceHandle || !pw_emu_stream_known(s))
        return pw_emu_end(cudaErrorInvalidResourceHandle);
    pw_emu_drain_until(s, NULL);
    struct CUstream_st **at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pw_emu_ends_clear(&s->ends);
    free(s);
    return pw_emu_end(e);
}

static cudaError_t synchronize(cudaStream_t s)
{
    if (s == NULL)
        return pw_emu_not_captured();
    if (s->capture != NULL) {
        pw_emu_capture_spoil(s->capture);
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    cudaError_t e = pw_emu_begin_on(s);
    if (e == cudaSuccess)
        e = synchronize(s);
    if (e == cudaSuccess) {
        pw_emu_drain(s);
        e = pw_emu.sticky;
    }
    return pw_emu_end(e);
}

/* If deferred, every query runs one more operation, so a loop that polls ends. */
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    cudaError_t e = pw_emu_begin_on(s);
    if (e == cudaSuccess)
        e = synchronize(s);
    if (e == cudaSuccess && s != NULL && s->first != NULL) {
        pw_emu_step(s);
        e = cudaErrorNotReady;
    }
    return pw_emu_end(pw_emu.sticky != cudaSuccess ? pw_emu.sticky : e);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        e = pw_emu_not_captured();
    if (e == cudaSuccess) {
        pw_emu_drain_all();
        e = pw_emu.sticky;
    }
    return pw_emu_end(e);
}
