/* graph.c - what was done once is done again by one call: CUDA graphs.
 *
 * A training step is some hundred small kernels, and launching each by itself takes the host longer than the
 * device needs to run it. The first time that something is done under a key it just runs, so that scratch,
 * plans of products and code come to be; the second time it is captured; from then on the graph is launched.
 * A graph holds addresses, so all are captured anew once memory is freed. */
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

/* That of the key, or NULL and in *oldest a free place or the one that wasn't used for longest. */
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

/* Without memory for the key it is not remembered, and runs like this the next time, too. */
static void remember(struct pw_backend *be, struct pw_cuda_graph *g, const void *key, size_t bytes)
{
    drop(be, g);
    free(g->key);
    *g = (struct pw_cuda_graph){.key = malloc(bytes), .bytes = bytes, .used = be->replays};
    if (g->key != NULL)
        memcpy(g->key, key, bytes);
}

/* Into g; an error sticks, and then nothing has been done. */
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
    pw_cuda_forget_copies(be); /* those of a step that isn't done yet, and will be done again */
    if (g->exec != NULL && pw_cuda_ready(be))
        pw_cuda_note(be, cudaGraphLaunch(g->exec, be->ctx.stream), "replay");
}
