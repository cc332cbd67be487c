/* emulator.h - CUDA without a GPU: what tests say to the emulator.
 *
 * The same .cu files that nvcc compiles for a device are compiled for the host, and run by a scheduler for
 * which every thread of a block is a fiber (block.c, fiber.c). The host side of the backend is the same C,
 * too: it finds the CUDA runtime and cuBLASLt under their own names (include/), made of a device whose memory
 * is one range of addresses (memory.c) and of streams that are queues (stream.c). Nothing of CUDA's is
 * needed.
 *
 * Being slow and deterministic, it can show what a GPU hides:
 *   barriers  a barrier or warp intrinsic that not every thread reaches is reported where it stands, always.
 *   order     threads and blocks run forwards, backwards or shuffled, parts of a graph as its branches allow
 *             it; results must have the same bits.
 *   lateness  deferred streams run as late as CUDA permits: whoever doesn't wait reads what isn't there yet.
 *   memory    fresh device and shared memory is NaN. The check build (check/check.h) looks at every load and
 *             store of a kernel: bounds, initialisation, races, with the line of the source.
 *   faults    the n-th allocation, launch or operation fails; memory is short; there is no device.
 *
 * It can't show: time, fast-math and CUDA's own approximate functions, the order of additions inside of
 * tensor cores and cuBLAS, memory orders weaker than the rules of check/race.c, limits on registers.
 *
 * A finding ends the process with one line on stderr, unless a test collects findings. For programs that
 * can't call, the environment says the same: PEWTER_EMU (pw_emu_configure). Calls may come from any thread;
 * kernels run inside of one lock. */
#ifndef PW_EMULATOR_H
#define PW_EMULATOR_H
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum pw_emu_order { PW_EMU_FORWARD, PW_EMU_REVERSE, PW_EMU_SHUFFLE };
void pw_emu_set_order(enum pw_emu_order order, uint64_t seed);
/* Streams run only when something waits for them. Turning it off runs what is left. */
void pw_emu_set_deferred(bool on);
/* The host can't touch device memory: SIGSEGV, and a line that says so. */
void pw_emu_set_guarded(bool on);

/* ---- findings */
void pw_emu_collect(bool on);          /* keep them instead of ending the process */
int pw_emu_findings(void);             /* since the last clear */
const char *pw_emu_finding(int index); /* "race: ..."; "" beyond the first 64 */
void pw_emu_clear(void);

/* ---- barriers and fences (__syncwarp) that kernels have come to since the start, by their places */
int pw_emu_sites(void);
const char *pw_emu_site_name(int site); /* "reduce.cu:23 __syncthreads"; until the next call */
uint64_t pw_emu_site_passed(int site);  /* how often, by a block or a warp */
/* The check build takes it as if it weren't there, and must find something; -1: all are there. */
void pw_emu_leave_out(int site);

/* ---- the device there is. name NULL: as it is. Before the first call of CUDA, or after cudaDeviceReset. */
void pw_emu_set_device(const char *name, int major, int minor);
void pw_emu_set_devices(int count, cudaError_t error); /* what cudaGetDeviceCount says */
void pw_emu_set_driver(int version);  /* 12040; 0: there is none. Below CUDA's no device works */
void pw_emu_set_memory(size_t bytes); /* in all, of which cudaMalloc gives */
void pw_emu_set_blas(bool works);     /* or cublasLtCreate fails */

/* ---- injected faults; n counts from now, 1 is the next; 0: none */
void pw_emu_fail_malloc(long n);                    /* that cudaMalloc is out of memory */
void pw_emu_fail_launch(long n, cudaError_t error); /* that kernel fails as it runs: error sticks */
void pw_emu_fail_work(long n, cudaError_t error);   /* the same for kernels, copies and all else on streams */
/* Everything as it was at the start: order, faults, device. Frees nothing. */
void pw_emu_reset(void);

/* "order=shuffle:7,deferred,memory=64M,fail-launch=12": one of the settings above after the other. NULL, or
 * the word that means nothing. */
const char *pw_emu_configure(const char *text);

/* captures: graphs that were made; libraries: cuBLASLt was opened. */
struct pw_emu_counts {
    uint64_t launches, blocks, threads, switches, mallocs, work, captures, graph_launches, libraries;
};
struct pw_emu_counts pw_emu_counts(void);

#ifdef __cplusplus
}
#endif
#endif
