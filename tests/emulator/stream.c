/* stream.c - streams as queues, events as moments in them.
 *
 * What is put on a stream runs at once, or, deferred, when somebody waits for it: then no later than CUDA
 * promises, so whoever relies on more reads what isn't there yet. The default stream waits for every stream
 * that isn't cudaStreamNonBlocking, and what is put on it runs at once. */
#include "emu_int.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A record of an event, which outlives it. */
struct pw_emu_moment {
    int refs;
    cudaStream_t stream;
    bool done;
    struct timespec at;
};

struct pw_emu_node {
    struct pw_emu_node *next;
    struct pw_emu_op *op;         /* to run, or */
    struct pw_emu_moment *moment; /* to wait for */
};

struct record_op {
    struct pw_emu_op op;
    struct pw_emu_moment *moment;
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

static void moment_drop(struct pw_emu_moment *m)
{
    if (m != NULL && --m->refs == 0)
        free(m);
}

/* ---- running */

static cudaError_t record_run(struct pw_emu_op *op)
{
    struct pw_emu_moment *m = ((struct record_op *)op)->moment;
    clock_gettime(CLOCK_MONOTONIC, &m->at);
    m->done = true;
    return cudaSuccess;
}

static void record_fini(struct pw_emu_op *op)
{
    moment_drop(((struct record_op *)op)->moment);
}

/* On a lost device moments still pass, but nothing else happens. */
static void run(struct pw_emu_op *op)
{
    if (op->run != record_run) {
        pw_emu.counts.work++;
        if (pw_emu.sticky == cudaSuccess && fail_work > 0 && --fail_work == 0)
            pw_emu.sticky = work_error;
        if (pw_emu.sticky == cudaSuccess && op->launch && fail_launch > 0 && --fail_launch == 0)
            pw_emu.sticky = launch_error;
        if (pw_emu.sticky != cudaSuccess)
            return;
    }
    cudaError_t e = op->run(op);
    if (e != cudaSuccess && pw_emu.sticky == cudaSuccess)
        pw_emu.sticky = e;
}

static void drain_until(cudaStream_t s, const struct pw_emu_moment *until);

static void step(cudaStream_t s)
{
    struct pw_emu_node *node = s->first;
    if (node->moment != NULL && !node->moment->done)
        drain_until(node->moment->stream, node->moment);
    s->first = node->next;
    if (s->first == NULL)
        s->last = &s->first;
    s->busy = true;
    if (node->op != NULL) {
        run(node->op);
        pw_emu_op_drop(node->op);
    }
    s->busy = false;
    moment_drop(node->moment);
    free(node);
}

static void drain_until(cudaStream_t s, const struct pw_emu_moment *until)
{
    while (!s->busy && s->first != NULL && !(until != NULL && until->done))
        step(s);
}

void pw_emu_drain(cudaStream_t s)
{
    if (s != NULL) {
        drain_until(s, NULL);
        return;
    }
    for (s = streams; s != NULL; s = s->next)
        if (s->blocking)
            drain_until(s, NULL);
}

void pw_emu_drain_all(void)
{
    for (struct CUstream_st *s = streams; s != NULL; s = s->next)
        drain_until(s, NULL);
}

void pw_emu_set_deferred(bool on)
{
    pw_emu_lock();
    if (!on)
        pw_emu_drain_all();
    pw_emu.deferred = on;
    pw_emu_unlock();
}

static void append(cudaStream_t s, struct pw_emu_op *op, struct pw_emu_moment *moment)
{
    struct pw_emu_node *node = pw_emu_memory(NULL, sizeof *node);
    *node = (struct pw_emu_node){NULL, op, moment};
    *s->last = node;
    s->last = &node->next;
    if (!pw_emu.deferred)
        drain_until(s, NULL);
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
        return pw_emu_capture_add(s->capture, op);
    if (s != NULL) {
        append(s, op, NULL);
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

/* begin, for calls that take a stream. */
static cudaError_t begin_on(cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    return e == cudaSuccess && s != NULL && !pw_emu_stream_known(s) ? cudaErrorInvalidResourceHandle : e;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    cudaError_t e = begin_on(s);
    if (e == cudaErrorInvalidResourceHandle || !pw_emu_stream_known(s))
        return pw_emu_end(cudaErrorInvalidResourceHandle);
    drain_until(s, NULL);
    struct CUstream_st **at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
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
    cudaError_t e = begin_on(s);
    if (e == cudaSuccess)
        e = synchronize(s);
    if (e == cudaSuccess) {
        pw_emu_drain(s);
        e = pw_emu.sticky;
    }
    return pw_emu_end(e);
}

/* Deferred, every question lets one more thing happen: so whoever polls does come to an end. */
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    cudaError_t e = begin_on(s);
    if (e == cudaSuccess)
        e = synchronize(s);
    if (e == cudaSuccess && s != NULL && s->first != NULL) {
        step(s);
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

/* ---- events */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    *event = NULL;
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess) {
        *event = pw_emu_memory(NULL, sizeof **event);
        **event = (struct CUevent_st){.timed = !(flags & cudaEventDisableTiming)};
    }
    return pw_emu_end(e);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t e = pw_emu_begin();
    if (event == NULL)
        return pw_emu_end(cudaErrorInvalidResourceHandle);
    moment_drop(event->moment);
    free(event);
    return pw_emu_end(e);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s)
{
    cudaError_t e = begin_on(s);
    if (e != cudaSuccess)
        return pw_emu_end(e);
    moment_drop(event->moment);
    event->moment = NULL;
    event->capture = s != NULL ? s->capture : NULL;
    if (event->capture != NULL)
        return pw_emu_end(cudaSuccess);
    struct pw_emu_moment *m = pw_emu_memory(NULL, sizeof *m);
    *m = (struct pw_emu_moment){.refs = 2, .stream = s};
    event->moment = m;
    struct record_op *r = pw_emu_op_new(sizeof *r, "an event", record_run, record_fini);
    r->moment = m;
    return pw_emu_end(pw_emu_enqueue(s, &r->op));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    cudaError_t e = begin_on(s);
    if (e != cudaSuccess)
        return pw_emu_end(e);
    if (event->capture != NULL) { /* the stream joins the capture */
        if (s == NULL)
            return pw_emu_end(cudaErrorStreamCaptureImplicit);
        s->capture = event->capture;
    } else if (s != NULL && s->capture != NULL) { /* a graph can't wait for what is outside of it */
        pw_emu_capture_spoil(s->capture);
        e = cudaErrorStreamCaptureIsolation;
    } else if (event->moment != NULL && !event->moment->done) {
        if (s == NULL) {
            drain_until(event->moment->stream, event->moment);
        } else {
            event->moment->refs++;
            append(s, NULL, event->moment);
        }
    }
    return pw_emu_end(e);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && event->capture != NULL)
        e = cudaErrorCapturedEvent;
    if (e == cudaSuccess && event->moment != NULL && !event->moment->done) {
        drain_until(event->moment->stream, event->moment);
        e = pw_emu.sticky;
    }
    return pw_emu_end(e);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && event->capture != NULL)
        e = cudaErrorCapturedEvent;
    if (e == cudaSuccess && event->moment != NULL && !event->moment->done) {
        step(event->moment->stream);
        e = pw_emu.sticky != cudaSuccess ? pw_emu.sticky : cudaErrorNotReady;
    }
    return pw_emu_end(e);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t e = pw_emu_begin();
    const struct pw_emu_moment *a = start->moment, *b = end->moment;
    if (e == cudaSuccess && (a == NULL || b == NULL || !start->timed || !end->timed))
        e = cudaErrorInvalidResourceHandle;
    if (e == cudaSuccess && !(a->done && b->done))
        e = cudaErrorNotReady;
    if (e == cudaSuccess)
        *ms = (float)((double)(b->at.tv_sec - a->at.tv_sec) * 1e3 +
                      (double)(b->at.tv_nsec - a->at.tv_nsec) * 1e-6);
    return pw_emu_end(e);
}
