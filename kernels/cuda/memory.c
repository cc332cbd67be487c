/* memory.c - memory of the device and pinned memory of the host, and copies between them.
 *
 * A model's tensors are few and large and live as long as the model, so each comes from cudaMalloc. Uploads
 * are first copied into pinned memory: the caller can reuse its buffer at once, and the device reads the copy
 * in stream order. */
#include <string.h>

#include "kernels/cuda/cuda.h"

enum { BLOCK = 2 << 20 }; /* bytes: large enough that the start of a copy costs little in comparison */

void *pw_cuda_alloc(struct pw_backend *be, size_t bytes)
{
    void *p = NULL;
    if (!pw_cuda_ready(be))
        return NULL;
    bytes = bytes > 0 ? bytes : 1;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
        (void)cudaGetLastError(); /* the caller's message says what the memory was for */
        return NULL;
    }
    pw_cuda_note(be, cudaMemsetAsync(p, 0, bytes, be->ctx.stream), "alloc");
    return p;
}

void pw_cuda_free(struct pw_backend *be, void *ptr)
{
    if (ptr == NULL)
        return;
    pw_cuda_ready(be);
    pw_cuda_graphs_drop(be);
    pw_cuda_free_acts(be, ptr);
    pw_cuda_note(be, cudaFree(ptr), "free"); /* wait for operations that may still use it */
}

void *pw_cuda_host_alloc(struct pw_backend *be, size_t bytes)
{
    void *p = NULL;
    if (!pw_cuda_ready(be))
        return NULL;
    bytes = bytes > 0 ? bytes : 1;
    if (cudaMallocHost(&p, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    memset(p, 0, bytes);
    return p;
}

void pw_cuda_host_free(struct pw_backend *be, void *ptr)
{
    if (ptr == NULL)
        return;
    if (pw_cuda_ready(be)) /* a download into it may be in flight */
        pw_cuda_note(be, cudaStreamSynchronize(be->ctx.stream), "host_free");
    pw_cuda_note(be, cudaFreeHost(ptr), "host_free");
}

void pw_cuda_memory(struct pw_backend *be, size_t *free, size_t *total)
{
    *free = *total = 0;
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaMemGetInfo(free, total), "memory");
}

/* ---- uploads */

enum pw_code pw_cuda_ring_init(struct pw_backend *be, struct pw_err *err)
{
    struct pw_cuda_ring *r = &be->ring;
    for (int i = 0; i < PW_CUDA_BLOCKS; i++) {
        void *p = NULL;
        if (cudaMallocHost(&p, BLOCK) != cudaSuccess ||
            cudaEventCreateWithFlags(&r->arrived[i], cudaEventDisableTiming) != cudaSuccess) {
            (void)cudaGetLastError();
            cudaFreeHost(p);
            return pw_fail(err, PW_ENOMEM, "cuda: no pinned memory for uploads (%d MiB)",
                           PW_CUDA_BLOCKS * BLOCK >> 20);
        }
        r->block[i] = p;
    }
    return PW_OK;
}

void pw_cuda_ring_fini(struct pw_backend *be)
{
    for (int i = 0; i < PW_CUDA_BLOCKS && be->ring.block[i] != NULL; i++) {
        cudaFreeHost(be->ring.block[i]);
        cudaEventDestroy(be->ring.arrived[i]);
    }
}

/* Returns the next block, once the copies out of it are complete. */
static void turn(struct pw_backend *be)
{
    struct pw_cuda_ring *r = &be->ring;
    pw_cuda_note(be, cudaEventRecord(r->arrived[r->at], be->ctx.stream), "upload");
    r->at = (r->at + 1) % PW_CUDA_BLOCKS;
    r->used = 0;
    pw_cuda_note(be, cudaEventSynchronize(r->arrived[r->at]),
                 "upload"); /* an event that was never recorded returns at once */
}

void pw_cuda_upload(struct pw_backend *be, void *dst, const void *src, size_t bytes)
{
    struct pw_cuda_ring *r = &be->ring;
    pw_cuda_writes(&be->ctx, dst);
    while (bytes > 0 && pw_cuda_ready(be)) {
        if (r->used == BLOCK)
            turn(be);
        size_t n = bytes < BLOCK - r->used ? bytes : BLOCK - r->used;
        char *staged = r->block[r->at] + r->used;
        memcpy(staged, src, n);
        pw_cuda_note(be, cudaMemcpyAsync(dst, staged, n, cudaMemcpyHostToDevice, be->ctx.stream), "upload");
        r->used += n;
        dst = (char *)dst + n;
        src = (const char *)src + n;
        bytes -= n;
    }
}

void pw_cuda_download(struct pw_backend *be, void *dst, const void *src, size_t bytes)
{
    if (bytes > 0 && pw_cuda_ready(be))
        pw_cuda_note(be, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, be->ctx.stream),
                     "download");
}

void pw_cuda_copy_over(struct pw_backend *be, void *dst, const void *src, size_t bytes)
{
    pw_cuda_writes(&be->ctx, dst);
    if (bytes > 0 && pw_cuda_ready(be))
        pw_cuda_note(be, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, be->ctx.stream), "copy");
}

/* ---- scratch */

size_t pw_cuda_room_for(size_t bytes)
{
    return bytes + bytes / 4; /* so that slightly longer sequences do not allocate each time */
}

void *pw_cuda_make_room(struct pw_backend *be, struct pw_cuda_room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return room->p;
    pw_cuda_free(be, room->p);
    room->bytes = pw_cuda_room_for(bytes);
    cudaError_t e = cudaMalloc(&room->p, room->bytes);
    if (e == cudaSuccess)
        return room->p;
    *room = (struct pw_cuda_room){0};
    pw_cuda_graphs_forget(be);
    pw_cuda_note(be, e, "scratch");
    return NULL;
}
