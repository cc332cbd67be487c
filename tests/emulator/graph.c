/* graph.c - graphs: the operations of captured streams with their dependencies, run later.
 *
 * Streams that wait for each other's events are captured together. A device respects dependencies only, so
 * a launch runs the parts in the set order: first to last, or always the newest that can run (which delays
 * side branches until another part waits for them), or in random order. */
#include "emu_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    struct pw_emu_op *op;
    struct pw_emu_ends after; /* parts that it follows */
};

struct CUgraph_st {
    struct part *parts;
    unsigned n, room;
    cudaStream_t origin; /* NULL: the capture has ended */
    enum cudaStreamCaptureMode mode;
    pthread_t thread;
    bool spoilt;
};

struct CUgraphExec_st {
    struct part *parts;
    unsigned n;
};

/* ---- what follows what */

void pw_emu_ends_clear(struct pw_emu_ends *ends)
{
    free(ends->part);
    *ends = (struct pw_emu_ends){0};
}

void pw_emu_ends_add(struct pw_emu_ends *ends, const struct pw_emu_ends *more)
{
    ends->part = pw_emu_memory(ends->part, (ends->n + more->n + 1) * sizeof(*ends->part));
    for (unsigned i = 0; i < more->n; i++) {
        unsigned k = 0;
        while (k < ends->n && ends->part[k] != more->part[i])
            k++;
        ends->part[k] = more->part[i];
        ends->n += k == ends->n;
    }
}

cudaError_t pw_emu_capture_add(cudaStream_t s, struct pw_emu_op *op)
{
    struct CUgraph_st *g = s->capture;
    if (g->spoilt) {
        pw_emu_op_drop(op);
        return cudaErrorStreamCaptureInvalidated;
    }
    if (g->n == g->room) {
        g->room = g->room > 0 ? 2 * g->room : 64;
        g->parts = pw_emu_memory(g->parts, g->room * sizeof(*g->parts));
    }
    g->parts[g->n] = (struct part){op, s->ends};
    s->ends = (struct pw_emu_ends){0};
    pw_emu_ends_add(&s->ends, &(struct pw_emu_ends){&g->n, 1});
    g->n++;
    return cudaSuccess;
}

cudaError_t pw_emu_capture_wait(cudaStream_t s, const struct CUevent_st *event)
{
    if (s == NULL)
        return cudaErrorStreamCaptureImplicit;
    if (s->capture != NULL && s->capture != event->capture) {
        pw_emu_capture_spoil(s->capture);
        pw_emu_capture_spoil(event->capture);
        return cudaErrorStreamCaptureMerge;
    }
    s->capture = event->capture;
    pw_emu_ends_add(&s->ends, &event->ends);
    return cudaSuccess;
}

/* Of every part whether it comes before these ends; the caller frees. */
static bool *before(const struct CUgraph_st *g, const struct pw_emu_ends *ends)
{
    bool *seen = memset(pw_emu_memory(NULL, g->n + 1), 0, g->n + 1);
    for (unsigned i = 0; i < ends->n; i++)
        seen[ends->part[i]] = true;
    for (unsigned i = g->n; i-- > 0;) /* a part follows older ones only */
        for (unsigned k = 0; seen[i] && k < g->parts[i].after.n; k++)
            seen[g->parts[i].after.part[k]] = true;
    return seen;
}

/* Whether all that was captured comes before the end of its first stream. */
static bool joined(const struct CUgraph_st *g)
{
    bool *seen = before(g, &g->origin->ends), all = true;
    for (unsigned i = 0; i < g->n; i++)
        all = all && seen[i];
    free(seen);
    return all;
}

/* Of two that use the same workspace one must follow the other. */
static void check_alone(const struct CUgraph_st *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        const struct pw_emu_op *op = g->parts[i].op;
        bool *seen = op->alone != NULL ? before(g, &g->parts[i].after) : NULL;
        for (unsigned k = 0; seen != NULL && k < i; k++)
            if (g->parts[k].op->alone == op->alone && !seen[k])
                pw_emu_report("graph", "%s, number %u, may run beside %s, number %u, on the same memory",
                              op->what, i, g->parts[k].op->what, k);
        free(seen);
    }
}

/* ---- capturing */

void pw_emu_capture_spoil(struct CUgraph_st *g)
{
    g->spoilt = true;
}

bool pw_emu_capture_forbids(const struct CUgraph_st *g)
{
    return g->mode == cudaStreamCaptureModeGlobal ||
           (g->mode == cudaStreamCaptureModeThreadLocal && pthread_equal(g->thread, pthread_self()));
}

static void drop_parts(struct part *parts, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        pw_emu_op_drop(parts[i].op);
        pw_emu_ends_clear(&parts[i].after);
    }
    free(parts);
}

static void destroy(struct CUgraph_st *g)
{
    drop_parts(g->parts, g->n);
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
    bool whole = joined(g);
    for (cudaStream_t other = pw_emu_streams(); other != NULL; other = other->next)
        if (other->capture == g) {
            other->capture = NULL;
            pw_emu_ends_clear(&other->ends);
        }
    g->origin = NULL;
    if (g->spoilt || !whole) {
        cudaError_t e = g->spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
        destroy(g);
        return e;
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
        nodes[i] = i < g->n ? (cudaGraphNode_t)g->parts[i].op : NULL;
    if (nodes == NULL)
        *n = g->n;
    return pw_emu_end(e);
}

/* Parts of the longest chain, in which each has to wait for the one before it. */
static unsigned longest_chain(const struct CUgraph_st *g)
{
    unsigned *length = pw_emu_memory(NULL, (g->n + 1) * sizeof *length), longest = 0;
    for (unsigned i = 0; i < g->n; i++) {
        length[i] = 1;
        for (unsigned k = 0; k < g->parts[i].after.n; k++) {
            unsigned before = length[g->parts[i].after.part[k]];
            length[i] = before + 1 > length[i] ? before + 1 : length[i];
        }
        longest = length[i] > longest ? length[i] : longest;
    }
    free(length);
    return longest;
}

/* Parts that don't just follow the one before them say which they follow. */
static void tell(const struct CUgraph_st *g)
{
    fprintf(stderr, "graph of %u nodes, %u one after the other\n", g->n, longest_chain(g));
    for (unsigned i = 0; i < g->n; i++) {
        const struct pw_emu_ends *after = &g->parts[i].after;
        bool chained = i == 0 ? after->n == 0 : after->n == 1 && after->part[0] == i - 1;
        fprintf(stderr, "  %s", g->parts[i].op->what);
        for (unsigned k = 0; !chained && k < after->n; k++)
            fprintf(stderr, "%s %u", k == 0 ? "  after" : ",", after->part[k]);
        fputc('\n', stderr);
    }
}

/* ---- launching */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
    *x = NULL;
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && (g == NULL || flags != 0))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess && pw_emu.tells_graphs) {
        tell(g);
    }
    if (e == cudaSuccess) {
        check_alone(g);
        pw_emu.counts.captures++;
        *x = pw_emu_memory(NULL, sizeof **x);
        (*x)->n = g->n;
        (*x)->parts = pw_emu_memory(NULL, (g->n + 1) * sizeof(*g->parts));
        for (unsigned i = 0; i < g->n; i++) {
            (*x)->parts[i] = (struct part){.op = g->parts[i].op};
            pw_emu_ends_add(&(*x)->parts[i].after, &g->parts[i].after);
            g->parts[i].op->refs++;
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

static bool may_run(const struct part *part, const bool *done)
{
    for (unsigned i = 0; i < part->after.n; i++)
        if (!done[part->after.part[i]])
            return false;
    return true;
}

/* Of the parts that may run, the next in pw_emu.order. */
static unsigned next_part(const struct CUgraphExec_st *x, const bool *done)
{
    unsigned at = x->n, n = 0;
    for (unsigned i = 0; i < x->n; i++)
        if (!done[i] && may_run(&x->parts[i], done)) {
            bool first = n++ == 0;
            if (pw_emu.order == PW_EMU_FORWARD   ? first
                : pw_emu.order == PW_EMU_REVERSE ? true
                                                 : pw_emu_random() % n == 0)
                at = i;
        }
    return at;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess && x == NULL)
        e = cudaErrorInvalidValue;
    if (e != cudaSuccess)
        return pw_emu_end(e);
    pw_emu.counts.graph_launches++;
    bool *done = memset(pw_emu_memory(NULL, x->n + 1), 0, x->n + 1);
    for (unsigned i = 0; e == cudaSuccess && i < x->n; i++) {
        unsigned at = next_part(x, done);
        done[at] = true;
        x->parts[at].op->refs++;
        e = pw_emu_enqueue(s, x->parts[at].op);
    }
    free(done);
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

/* Launches of the graph that have not run yet still run. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
    cudaError_t e = pw_emu_begin();
    if (x == NULL)
        return pw_emu_end(cudaErrorInvalidValue);
    drop_parts(x->parts, x->n);
    free(x);
    return pw_emu_end(e);
}
