/* event.c - events, as moments in streams. */
#include "emu_int.h"

#include <stdlib.h>

struct record_op {
    struct pw_emu_op op;
    struct pw_emu_moment *moment;
};

void pw_emu_moment_drop(struct pw_emu_moment *m)
{
    if (m != NULL && --m->refs == 0)
        free(m);
}

static cudaError_t record_run(struct pw_emu_op *op)
{
    struct pw_emu_moment *m = ((struct record_op *)op)->moment;
    clock_gettime(CLOCK_MONOTONIC, &m->at);
    m->done = true;
    return cudaSuccess;
}

static void record_fini(struct pw_emu_op *op)
{
    pw_emu_moment_drop(((struct record_op *)op)->moment);
}

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
    pw_emu_moment_drop(event->moment);
    pw_emu_ends_clear(&event->ends);
    free(event);
    return pw_emu_end(e);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s)
{
    cudaError_t e = pw_emu_begin_on(s);
    if (e != cudaSuccess)
        return pw_emu_end(e);
    pw_emu_moment_drop(event->moment);
    event->moment = NULL;
    event->capture = s != NULL ? s->capture : NULL;
    pw_emu_ends_clear(&event->ends);
    if (event->capture != NULL) {
        pw_emu_ends_add(&event->ends, &s->ends);
        return pw_emu_end(cudaSuccess);
    }
    struct pw_emu_moment *m = pw_emu_memory(NULL, sizeof *m);
    *m = (struct pw_emu_moment){.refs = 2, .stream = s};
    event->moment = m;
    struct record_op *r = pw_emu_op_new(sizeof *r, "an event", record_run, record_fini);
    r->op.always = true;
    r->moment = m;
    return pw_emu_end(pw_emu_enqueue(s, &r->op));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    cudaError_t e = pw_emu_begin_on(s);
    if (e != cudaSuccess)
        return pw_emu_end(e);
    if (event->capture != NULL) { /* the stream joins the capture */
        e = pw_emu_capture_wait(s, event);
    } else if (s != NULL && s->capture != NULL) { /* a graph can't wait for what is outside of it */
        pw_emu_capture_spoil(s->capture);
        e = cudaErrorStreamCaptureIsolation;
    } else if (event->moment != NULL && !event->moment->done) {
        if (s == NULL) {
            pw_emu_drain_until(event->moment->stream, event->moment);
        } else {
            event->moment->refs++;
            pw_emu_append(s, NULL, event->moment);
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
        pw_emu_drain_until(event->moment->stream, event->moment);
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
        pw_emu_step(event->moment->stream);
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
