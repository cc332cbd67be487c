/* graph.c - graphs: what a captured stream would have done, kept as a list and done later. */
#include "emu_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUgraph_st {
    struct pw_emu_op **ops;
    size_t n, room;
    cudaStream_t origin; /* NULL: the capture has ended */
    enum cudaStreamCaptureMode mode;
    pthread_t thread;
    bool spoilt;
};

struct CUgraphExec_st {
    struct pw_emu_op **ops;
    size_t n;
};

cudaError_t pw_emu_capture_add(struct CUgraph_st *g, struct pw_emu_op *op)
{
    if (g->spoilt) {
        pw_emu_op_drop(op);
        return cudaErrorStreamCaptureInvalidated;
    }
    if (g->n == g->room) {
        g->room = g->room > 0 ? 2 * g->room : 64;
        g->ops = pw_emu_memory(g->ops, g->room * sizeof(*g->ops));
    }
    g->ops[g->n++] = op;
    return cudaSuccess;
}

void pw_emu_capture_spoil(struct CUgraph_st *g)
{
    g->spoilt = true;
}

bool pw_emu_capture_forbids(const struct CUgraph_st *g)
{
    return g->mode == cudaStreamCaptureModeGlobal ||
           (g->mode == cudaStreamCaptureModeThreadLocal && pthread_equal(g->thread, pthread_self()));
}

static void drop_ops(struct pw_emu_op **ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pw_emu_op_drop(ops[i]);
    free(ops);
}

static void destroy(struct CUgraph_st *g)
{
    drop_ops(g->ops, g->n);
    free(g);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && (s == NULL || s->capture != NULL))
        e = cudaErrorStreamCaptureUnsupported;
    if (e == cudaSuccess) {
        struct CUgraph_st *g = pw_emu_memory(NULL, sizeof *g);
        *g = (struct CUgraph_st){.origin = s, .mode = mode, .thread = pthread_self()};
        s->capture = g;
    }
    return pw_emu_end(e);
}

static cudaError_t end_capture(cudaStream_t s, cudaGraph_t *out)
{
    struct CUgraph_st *g = s->capture;
    if (g == NULL)
        return cudaErrorInvalidValue;
    if (g->origin != s)
        return cudaErrorStreamCaptureUnmatched;
    for (cudaStream_t other = pw_emu_streams(); other != NULL; other = other->next)
        if (other->capture == g)
            other->capture = NULL;
    g->origin = NULL;
    if (g->spoilt) {
        destroy(g);
        return cudaErrorStreamCaptureInvalidated;
    }
    *out = g;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
    cudaError_t e = pw_emu_begin(), ended = cudaErrorInvalidResourceHandle;
    *g = NULL;
    if (pw_emu_stream_known(s))
        ended = end_capture(s, g); /* also on a lost device: the stream must be free again */
    return pw_emu_end(e != cudaSuccess ? e : ended);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
    cudaError_t e = pw_emu_begin();
    *status = s == NULL || s->capture == NULL ? cudaStreamCaptureStatusNone
              : s->capture->spoilt            ? cudaStreamCaptureStatusInvalidated
                                              : cudaStreamCaptureStatusActive;
    return pw_emu_end(e);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n)
{
    cudaError_t e = pw_emu_begin();
    for (size_t i = 0; nodes != NULL && i < *n; i++)
        nodes[i] = i < g->n ? (cudaGraphNode_t)g->ops[i] : NULL;
    if (nodes == NULL)
        *n = g->n;
    return pw_emu_end(e);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
    *x = NULL;
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && (g == NULL || flags != 0))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess && pw_emu.tells_graphs) {
        fprintf(stderr, "graph of %zu nodes\n", g->n);
        for (size_t i = 0; i < g->n; i++)
            fprintf(stderr, "  %s\n", g->ops[i]->what);
    }
    if (e == cudaSuccess) {
        pw_emu.counts.captures++;
        *x = pw_emu_memory(NULL, sizeof **x);
        (*x)->n = g->n;
        (*x)->ops = pw_emu_memory(NULL, (g->n + 1) * sizeof(*g->ops));
        for (size_t i = 0; i < g->n; i++) {
            (*x)->ops[i] = g->ops[i];
            g->ops[i]->refs++;
        }
    }
    return pw_emu_end(e);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t s)
{
    (void)s;
    cudaError_t e = pw_emu_begin();
    return pw_emu_end(e == cudaSuccess && x == NULL ? cudaErrorInvalidValue : e);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && x == NULL)
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess)
        pw_emu.counts.graph_launches++;
    for (size_t i = 0; e == cudaSuccess && i < x->n; i++) {
        x->ops[i]->refs++;
        e = pw_emu_enqueue(s, x->ops[i]);
    }
    return pw_emu_end(e);
}

cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
    cudaError_t e = pw_emu_begin();
    if (g == NULL)
        return pw_emu_end(cudaErrorInvalidValue);
    destroy(g);
    return pw_emu_end(e);
}

/* What was launched of it and has not run yet goes on. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
    cudaError_t e = pw_emu_begin();
    if (x == NULL)
        return pw_emu_end(cudaErrorInvalidValue);
    drop_ops(x->ops, x->n);
    free(x);
    return pw_emu_end(e);
}
