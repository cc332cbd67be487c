/* graph.c - replays recorded work with one call: CUDA graphs.
 *
 * A training step is several hundred small kernels, and launching them one by one takes the host longer than
 * the device needs to run them. The first time, work under a key just runs, so that scratch, plans of
 * products and code are set up. The second time it is captured, and from then on the graph is launched. A
 * graph contains addresses, so all graphs are captured again once memory is freed. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

static void drop(struct pw_backend *be, struct pw_cuda_graph *g)
{
    if (g->exec != NULL)
        pw_cuda_note(be, cudaGraphExecDestroy(g->exec), "replay");
    g->exec = NULL;
}

void pw_cuda_graphs_drop(struct pw_backend *be)
{
    for (int i = 0; i < PW_CUDA_GRAPHS; i++)
        drop(be, &be->graphs[i]);
}

void pw_cuda_graphs_forget(struct pw_backend *be)
{
    pw_cuda_graphs_drop(be);
    for (int i = 0; i < PW_CUDA_GRAPHS; i++) {
        free(be->graphs[i].key);
        be->graphs[i] = (struct pw_cuda_graph){0};
    }
}

/* Returns the entry of the key, or NULL and in *oldest a free entry, or the least recently used one. */
static struct pw_cuda_graph *find(struct pw_backend *be, const void *key, size_t bytes,
                                  struct pw_cuda_graph **oldest)
{
    *oldest = &be->graphs[0];
    for (int i = 0; i < PW_CUDA_GRAPHS; i++) {
        struct pw_cuda_graph *g = &be->graphs[i];
        if (g->key != NULL && g->bytes == bytes && memcmp(g->key, key, bytes) == 0)
            return g;
        if (g->used < (*oldest)->used)
            *oldest = g;
    }
    return NULL;
}

/* If there is no memory for the key, it is not stored, and the work runs uncaptured again next time. */
static void remember(struct pw_backend *be, struct pw_cuda_graph *g, const void *key, size_t bytes)
{
    drop(be, g);
    free(g->key);
    *g = (struct pw_cuda_graph){.key = malloc(bytes), .bytes = bytes, .used = be->replays};
    if (g->key != NULL)
        memcpy(g->key, key, bytes);
}

/* Captures into g. An error is sticky, and then nothing was run. */
static void capture(struct pw_backend *be, struct pw_cuda_graph *g, void (*fn)(void *arg), void *arg)
{
    cudaGraph_t graph = NULL;
    pw_cuda_note(be, cudaStreamBeginCapture(be->ctx.stream, cudaStreamCaptureModeThreadLocal), "replay");
    if (!pw_cuda_ready(be))
        return;
    pw_cuda_side_begin(be);
    fn(arg);
    pw_cuda_side_end(be);
    pw_cuda_note(be, cudaStreamEndCapture(be->ctx.stream, &graph), "replay");
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaGraphInstantiate(&g->exec, graph, 0), "replay");
    if (graph != NULL)
        cudaGraphDestroy(graph);
}

void pw_cuda_replay(struct pw_backend *be, const void *key, size_t bytes, void (*fn)(void *arg), void *arg)
{
    struct pw_cuda_graph *oldest, *g = find(be, key, bytes, &oldest);
    if (!pw_cuda_ready(be))
        return;
    be->replays++;
    pw_cuda_forget_copies(be);
    if (g == NULL) {
        remember(be, oldest, key, bytes);
        fn(arg);
        return;
    }
    g->used = be->replays;
    if (g->exec == NULL)
        capture(be, g, fn, arg);
    pw_cuda_forget_copies(be); /* those of a step that is not complete, and will be repeated */
    if (g->exec != NULL && pw_cuda_ready(be))
        pw_cuda_note(be, cudaGraphLaunch(g->exec, be->ctx.stream), "replay");
}
