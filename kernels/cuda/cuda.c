/* cuda.c - a CUDA device as a backend: finding, opening, waiting for and closing it, and its errors. */
#include "kernels/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/blas.h"
#include "kernels/cuda/launch.h"

/* ---- errors */

bool pw_cuda_ready(struct pw_backend *be)
{
    static _Thread_local int current = -1; /* the runtime keeps a current device for each thread */
    if (current != be->device)
        pw_cuda_note(be, cudaSetDevice(be->device), "device");
    current = be->device;
    return be->first.code == PW_OK;
}

void pw_cuda_stick(struct pw_backend *be, const struct pw_err *err)
{
    if (be->first.code != PW_OK)
        return;
    be->first = *err;
    be->failed_after = be->marked;
}

void pw_cuda_note(struct pw_backend *be, cudaError_t e, const char *what)
{
    struct pw_err err;
    if (e == cudaSuccess)
        return;
    pw_fail(&err, e == cudaErrorMemoryAllocation ? PW_ENOMEM : PW_EDEVICE, "cuda: %s: %s", what,
            cudaGetErrorString(e));
    pw_cuda_stick(be, &err);
}

/* Returns the sticky error and clears it if the device still responds. */
static enum pw_code tell(struct pw_backend *be, struct pw_err *err)
{
    struct pw_err first = be->first;
    if (first.code == PW_OK)
        return PW_OK;
    (void)cudaGetLastError();
    bool lost = cudaStreamSynchronize(be->ctx.stream) != cudaSuccess;
    if (!lost)
        be->first.code = PW_OK;
    return pw_fail(err, first.code, "%s%s", first.msg, lost ? "; the device is lost to this process" : "");
}

/* ---- order in time */

enum pw_code pw_cuda_sync(struct pw_backend *be, struct pw_err *err)
{
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaStreamSynchronize(be->ctx.stream), "sync");
    return tell(be, err);
}

uint64_t pw_cuda_mark(struct pw_backend *be)
{
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaEventRecord(be->marks[(be->marked + 1) % PW_CUDA_MARKS], be->ctx.stream),
                     "mark");
    return ++be->marked;
}

enum pw_code pw_cuda_wait(struct pw_backend *be, uint64_t mark, struct pw_err *err)
{
    /* The events of older marks have been reused, so wait for the oldest mark that is left: it is later. */
    uint64_t oldest = be->marked >= PW_CUDA_MARKS ? be->marked - PW_CUDA_MARKS + 1 : 1;
    uint64_t at = mark > oldest ? mark : oldest;
    bool later = !pw_cuda_ready(be) && mark <= be->failed_after; /* the failed call was made after the mark */
    if (pw_cuda_ready(be) || later) {
        cudaError_t e = cudaEventSynchronize(be->marks[at % PW_CUDA_MARKS]);
        pw_cuda_note(be, e, "wait");
        later = later && e == cudaSuccess;
    }
    return later ? PW_OK : tell(be, err);
}

/* ---- devices */

/* Returns the number of devices, or writes one line that says why none can be used. */
static enum pw_code count(int *n, struct pw_err *err)
{
    int runtime = 0, driver = 0;
    cudaError_t e = cudaGetDeviceCount(n);
    if (e == cudaSuccess && *n > 0)
        return PW_OK;
    *n = 0;
    (void)cudaGetLastError();
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    if (e == cudaErrorInsufficientDriver && driver == 0)
        return pw_fail(err, PW_EDEVICE, "there is no NVIDIA driver");
    if (e == cudaErrorInsufficientDriver)
        return pw_fail(err, PW_EDEVICE,
                       "the NVIDIA driver is too old: it supports CUDA %d.%d, this needs %d.%d",
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    if (e == cudaErrorNoDevice || e == cudaSuccess)
        return pw_fail(err, PW_EDEVICE, "there is no NVIDIA device");
    return pw_fail(err, PW_EDEVICE, "no NVIDIA device can be used: %s", cudaGetErrorString(e));
}

static enum pw_code look_at(int device, struct cudaDeviceProp *p, struct pw_err *err)
{
    int n;
    enum pw_code code = count(&n, err);
    if (code != PW_OK)
        return code;
    if (device < 0 || device >= n)
        return pw_fail(err, PW_EUSER, "there is no device %d: they are numbered 0..%d", device, n - 1);
    cudaError_t e = cudaGetDeviceProperties(p, device);
    if (e == cudaSuccess)
        return PW_OK;
    (void)cudaGetLastError();
    return pw_fail(err, PW_EDEVICE, "device %d can't be used: %s", device, cudaGetErrorString(e));
}

/* Writes the reason to d->why_not; "" if the device can be used. */
static void refuse(struct pw_device *d, const struct cudaDeviceProp *p)
{
    d->why_not[0] = '\0';
    if (10 * p->major + p->minor < PW_CUDA_OLDEST)
        snprintf(d->why_not, sizeof d->why_not, "its compute capability is %d.%d, this needs %d.%d", p->major,
                 p->minor, PW_CUDA_OLDEST / 10, PW_CUDA_OLDEST % 10);
}

enum pw_code pw_cuda_device_at(struct pw_device *out, int device, struct pw_err *err)
{
    struct cudaDeviceProp p;
    int runtime = 0, driver = 0, own = 0;
    enum pw_code code = look_at(device, &p, err);
    if (code != PW_OK)
        return code;
    (void)cudaGetDevice(&own); /* restore the thread's current device, which an open backend relies on */
    *out = (struct pw_device){0};
    snprintf(out->name, sizeof out->name, "%.80s, compute capability %d.%d", p.name, p.major, p.minor);
    refuse(out, &p);
    if (out->why_not[0] == '\0' &&
        (cudaSetDevice(device) != cudaSuccess || cudaMemGetInfo(&out->free, &out->total) != cudaSuccess))
        snprintf(out->why_not, sizeof out->why_not, "%.100s", cudaGetErrorString(cudaGetLastError()));
    (void)cudaSetDevice(own);
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    snprintf(out->libraries, sizeof out->libraries, "CUDA %d.%d, driver %d.%d, %s", runtime / 1000,
             runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, pw_blas_version());
    return PW_OK;
}

/* ---- lifetime */

static enum pw_code open_stream(struct pw_backend *be, struct pw_err *err)
{
    int least = 0, greatest = 0;
    pw_cuda_ready(be);
    pw_cuda_note(be, cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream");
    pw_cuda_note(be, cudaStreamCreateWithPriority(&be->ctx.stream, cudaStreamNonBlocking, greatest),
                 "stream");
    for (int i = 0; i < PW_CUDA_MARKS && be->first.code == PW_OK; i++)
        pw_cuda_note(be, cudaEventCreateWithFlags(&be->marks[i], cudaEventDisableTiming), "event");
    if (be->first.code != PW_OK)
        return pw_fail(err, be->first.code, "%s", be->first.msg);
    return pw_cuda_ring_init(be, err);
}

/* Check that the plug-in has code for this device, with a small kernel. */
static enum pw_code try_kernel(struct pw_backend *be, struct pw_err *err)
{
    float *p = pw_cuda_scratch(&be->ctx, 64);
    if (pw_cuda_ready(be))
        pw_cuda_note(be, cudaMemsetAsync(p, 0, sizeof *p, be->ctx.stream), "the first memory");
    cudaError_t e = pw_cuda_ready(be) ? pw_cuda_add(be->ctx.stream, p, p, 1) : cudaSuccess;
    if (e == cudaErrorNoKernelImageForDevice)
        return pw_fail(err, PW_EDEVICE,
                       "cuda: the plug-in has no code for compute capability %d.%d: build it with "
                       "-DPEWTER_CUDA_ARCHITECTURES=all",
                       be->capability / 10, be->capability % 10);
    pw_cuda_note(be, e, "the first operation");
    return pw_cuda_sync(be, err);
}

enum pw_code pw_cuda_open(struct pw_backend **out, int device, const char *arithmetic, struct pw_err *err)
{
    struct cudaDeviceProp p;
    struct pw_device d;
    struct pw_err why;
    enum pw_code code = look_at(device, &p, &why);
    if (code != PW_OK)
        return pw_fail(err, code, "cuda: %s", why.msg);
    refuse(&d, &p);
    if (d.why_not[0] != '\0')
        return pw_fail(err, PW_EDEVICE, "cuda: %.80s can't be used: %s", p.name, d.why_not);
    struct pw_backend *be = calloc(1, sizeof *be);
    if (be == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory: cuda backend");
    be->device = device;
    be->capability = 10 * p.major + p.minor;
    be->ctx.be = be;
    snprintf(be->name, sizeof be->name, "%.80s, %s", p.name, arithmetic);
    code = open_stream(be, err);
    if (code == PW_OK)
        code = try_kernel(be, err);
    if (code != PW_OK) {
        pw_cuda_close(be);
        return code;
    }
    *out = be;
    return PW_OK;
}

void pw_cuda_close(struct pw_backend *be)
{
    if (be == NULL)
        return;
    pw_cuda_ready(be);
    if (be->ctx.stream != NULL)
        cudaStreamSynchronize(be->ctx.stream);
    pw_cuda_graphs_forget(be);
    pw_cuda_ring_fini(be);
    pw_cuda_copies_fini(be);
    pw_cuda_side_close(be);
    cudaFree(be->attention.p);
    cudaFree(be->ctx.scratch.p);
    for (int i = 0; i < PW_CUDA_MARKS && be->marks[i] != NULL; i++)
        cudaEventDestroy(be->marks[i]);
    if (be->ctx.stream != NULL)
        cudaStreamDestroy(be->ctx.stream);
    (void)cudaGetLastError();
    free(be);
}

int pw_cuda_unit(const struct pw_backend *be)
{
    return be->device;
}

int pw_cuda_workers(const struct pw_backend *be)
{
    (void)be;
    return 1; /* one stream */
}

const char *pw_cuda_device(const struct pw_backend *be)
{
    return be->name;
}

void pw_cuda_for_chunks(struct pw_backend *be, int n,
                        void (*fn)(struct pw_ctx *ctx, int chunk, int worker, void *arg), void *arg)
{
    for (int i = 0; i < n; i++)
        fn(&be->ctx, i, 0, arg);
}
