/* device.c - the device there is, and its errors. */
#include "emu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1, MEMORY = 1 << 30 };

struct cudaDeviceProp pw_emu_device;
static int n_devices = -1; /* not asked yet */
static cudaError_t why_none;
static int driver = CUDART_VERSION;

/* The largest shared memory of a block: CUDA C++ Programming Guide, compute capabilities. */
static size_t optin_of(int major, int minor)
{
    switch (major * 10 + minor) {
    case 75: return 64 << 10;
    case 80:
    case 87: return 163 << 10;
    case 86:
    case 89: return 99 << 10;
    default: return major >= 12 ? 99 << 10 : major >= 9 ? 227 << 10 : 48 << 10;
    }
}

void pw_emu_set_device(const char *name, int major, int minor)
{
    struct cudaDeviceProp *d = &pw_emu_device;
    size_t memory = d->totalGlobalMem;
    *d = (struct cudaDeviceProp){.totalGlobalMem = memory > 0 ? memory : MEMORY,
                                 .sharedMemPerBlock = 48 << 10,
                                 .warpSize = 32,
                                 .maxThreadsPerBlock = 1024,
                                 .major = major,
                                 .minor = minor,
                                 .multiProcessorCount = 4,
                                 .l2CacheSize = 4 << 20,
                                 .sharedMemPerMultiprocessor = optin_of(major, minor) + 1024,
                                 .sharedMemPerBlockOptin = optin_of(major, minor)};
    snprintf(d->name, sizeof d->name, "%s", name != NULL ? name : "emulated");
}

void pw_emu_set_devices(int count, cudaError_t error)
{
    n_devices = count;
    why_none = error;
    if (pw_emu_device.major == 0)
        pw_emu_set_device(NULL, 8, 6); /* the least shared memory of those with bf16 */
}

void pw_emu_set_driver(int version)
{
    driver = version;
}

void pw_emu_set_memory(size_t bytes)
{
    if (n_devices < 0)
        pw_emu_set_devices(COUNT, cudaSuccess);
    pw_emu_device.totalGlobalMem = bytes > 0 ? bytes : MEMORY;
}

void pw_emu_set_blas(bool works)
{
    pw_emu.no_blas = !works;
}

cudaError_t pw_emu_no_device(void)
{
    if (n_devices < 0)
        pw_emu_set_devices(COUNT, cudaSuccess);
    if (driver < CUDART_VERSION)
        return cudaErrorInsufficientDriver;
    return why_none != cudaSuccess ? why_none : n_devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    cudaError_t e = pw_emu_begin();
    if (e == cudaSuccess)
        *n = n_devices;
    return pw_emu_end(e);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    pw_emu_begin();
    *version = driver;
    return pw_emu_end(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t e = pw_emu_begin();
    *device = 0;
    return pw_emu_end(e);
}

static cudaError_t begin_with(int device)
{
    cudaError_t e = pw_emu_begin();
    return e == cudaSuccess && (device < 0 || device >= n_devices) ? cudaErrorInvalidDevice : e;
}

cudaError_t cudaSetDevice(int device)
{
    return pw_emu_end(begin_with(device));
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    cudaError_t e = begin_with(device);
    if (e == cudaSuccess)
        *prop = pw_emu_device;
    return pw_emu_end(e);
}

static cudaError_t attribute(int *value, enum cudaDeviceAttr attr)
{
    const struct cudaDeviceProp *d = &pw_emu_device;
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock: *value = d->maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)d->sharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = d->warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = d->multiProcessorCount; break;
    case cudaDevAttrIntegrated: *value = d->integrated; break;
    case cudaDevAttrL2CacheSize: *value = d->l2CacheSize; break;
    case cudaDevAttrComputeCapabilityMajor: *value = d->major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = d->minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)d->sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)d->sharedMemPerBlockOptin; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    cudaError_t e = begin_with(device);
    if (e == cudaSuccess)
        e = attribute(value, attr);
    return pw_emu_end(e);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t e = pw_emu_begin();
    *least = 0;
    *greatest = -5;
    return pw_emu_end(e);
}

/* ---- errors */

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = cudaPeekAtLastError();
    pw_emu_lock();
    pw_emu.last = cudaSuccess;
    pw_emu_unlock();
    return e;
}

cudaError_t cudaPeekAtLastError(void)
{
    pw_emu_lock();
    cudaError_t e = pw_emu.sticky != cudaSuccess ? pw_emu.sticky : pw_emu.last;
    pw_emu_unlock();
    return e;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text)                                                                                    \
    {                                                                                                        \
        name, #name, text                                                                                    \
    }
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(cudaErrorUnknown, "unknown error"),
#undef ERROR
};

const char *cudaGetErrorName(cudaError_t e)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == e)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t e)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == e)
            return errors[i].text;
    return "unrecognized error code";
}
