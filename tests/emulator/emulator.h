/* emulator.h - CUDA without a GPU: the settings, faults and findings of the emulator, for tests.
 *
 * The .cu files that nvcc compiles for a device are compiled for the host. A scheduler runs every thread of a
 * block as a fiber (block.c, fiber.c). The host side of the backend is the same C code. It calls the CUDA
 * runtime and cuBLASLt by their own names (include/). The emulated device has memory in one address range
 * (memory.c) and streams that are queues (stream.c). Nothing from NVIDIA is needed.
 *
 * The emulator is slow and deterministic, and finds errors that a GPU hides:
 *
 *   barriers  Every barrier or warp intrinsic that not all threads reach is reported, with its source line.
 *   order     Threads and blocks run forwards, backwards or shuffled, and the parts of a graph in any order
 *             that its edges allow. Results must have the same bits.
 *   lateness  Deferred streams run as late as CUDA permits. Code that does not wait reads stale data.
 *   memory    Fresh device and shared memory is NaN. The check build (check/check.h) checks bounds,
 *             initialisation and races of every load and store of a kernel, and names the source line.
 *   faults    The n-th allocation, launch or operation fails, memory is short, or there is no device.
 *
 * It does not show: time; fast-math and CUDA's approximate functions; the order of additions inside tensor
 * cores and cuBLAS; memory orders weaker than the rules of check/race.c; limits on registers.
 *
 * A finding ends the process with one line on standard error, unless a test collects findings. Programs take
 * the same settings from the environment variable PEWTER_EMU (pw_emu_configure). Any thread may call these
 * functions; one lock serialises all kernels. */
#ifndef PW_EMULATOR_H
#define PW_EMULATOR_H
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings. The order of threads, blocks and parts of graphs; seed: for SHUFFLE. */
enum pw_emu_order { PW_EMU_FORWARD, PW_EMU_REVERSE, PW_EMU_SHUFFLE };
void pw_emu_set_order(enum pw_emu_order order, uint64_t seed);
/* Deferred: a stream runs only when the program waits for it. Turning it off runs all pending work. */
void pw_emu_set_deferred(bool on);
/* Guarded: an access of the host to device memory ends the process with SIGSEGV, after one line that says so.
 */
void pw_emu_set_guarded(bool on);

/* ---- findings */
void pw_emu_collect(bool on);          /* collect findings instead of ending the process */
int pw_emu_findings(void);             /* since the last clear */
const char *pw_emu_finding(int index); /* "race: ..."; "" past the last, and past the first 64 */
void pw_emu_clear(void);

/* ---- sites: the barriers and fences (__syncwarp) that kernels have reached since the process started */
int pw_emu_sites(void);
const char *pw_emu_site_name(int site); /* "reduce.cu:23 __syncthreads"; valid until the next call */
uint64_t pw_emu_site_passed(int site);  /* how often a block or a warp passed it */
/* Makes the check build ignore a site as if it were missing from the source; it must then report a race. -1:
 * ignore none. The threads still wait there. */
void pw_emu_leave_out(int site);

/* ---- the emulated device. Call these before the first CUDA call, or after cudaDeviceReset. name NULL:
 * "emulated". */
void pw_emu_set_device(const char *name, int major, int minor);
/* Number of devices; error: what every call returns, or cudaSuccess. */
void pw_emu_set_devices(int count, cudaError_t error);
/* CUDA version of the driver, such as 12040; 0: no driver. A version below the runtime's makes every call
 * fail. */
void pw_emu_set_driver(int version);
void pw_emu_set_memory(size_t bytes); /* bytes of device memory; 0: the default */
void pw_emu_set_blas(bool works);     /* false: cublasLtCreate fails */

/* ---- injected faults; n counts from now, 1 is the next one; 0: no fault */
void pw_emu_fail_malloc(long n);                    /* the n-th cudaMalloc returns an out-of-memory error */
void pw_emu_fail_launch(long n, cudaError_t error); /* the n-th kernel fails when it runs; the error sticks */
void pw_emu_fail_work(long n, cudaError_t error); /* the same for kernels, copies and other work on streams */
/* Restores the initial settings: order, faults, device. Frees no memory; findings remain. */
void pw_emu_reset(void);

/* Applies settings written as "order=shuffle:7,deferred,memory=64M,fail-launch=12". Returns NULL, or the
 * first setting that is invalid (a pointer into text). */
const char *pw_emu_configure(const char *text);

/* Counts since the process started. captures: instantiated graphs; libraries: how often the cuBLASLt library
 * was loaded. */
struct pw_emu_counts {
    uint64_t launches, blocks, threads, switches, mallocs, work, captures, graph_launches, libraries;
};
struct pw_emu_counts pw_emu_counts(void);

#ifdef __cplusplus
}
#endif
#endif
