/* pw_emu_device.h - CUDA's device language for a host C++ compiler: qualifiers, built-in variables such as
 * threadIdx, barriers, warp intrinsics and atomics.
 *
 * All warp intrinsics use pw_emu_warp (pw_emu_kernel.h): each lane passes a record, and the last lane
 * computes the results of all. Functions that access the records of other lanes are not instrumented
 * (PW_EMU_UNSEEN), because these records are not memory of the emulated device. */
#ifndef PW_EMU_DEVICE_H
#define PW_EMU_DEVICE_H
#include <pw_emu_kernel.h>
#include <pw_emu_maths.h>

#define __global__
#define __device__
#define __host__
#define __constant__    static
#define __shared__      static /* works, but only arrays declared by PW_SHARED are checked */
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifndef __restrict__
#define __restrict__ __restrict
#endif

#define threadIdx (pw_emu_self.thread)
#define blockIdx  (pw_emu_self.block)
#define blockDim  (pw_emu_self.block_dim)
#define gridDim   (pw_emu_self.grid_dim)
static constexpr int warpSize = 32;

#define PW_EMU_UNSEEN __attribute__((no_sanitize("thread"), noinline))
#define PW_EMU_HERE   const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define PW_EMU_ALL    0xffffffffu

/* ---- barriers and fences */
inline void __syncthreads(PW_EMU_HERE)
{
    pw_emu_barrier(0, PW_EMU_NO_VOTE, {file, line});
}
inline int __syncthreads_count(int p, PW_EMU_HERE)
{
    return pw_emu_barrier(p, PW_EMU_COUNT, {file, line});
}
inline int __syncthreads_and(int p, PW_EMU_HERE)
{
    return pw_emu_barrier(p, PW_EMU_AND, {file, line});
}
inline int __syncthreads_or(int p, PW_EMU_HERE)
{
    return pw_emu_barrier(p, PW_EMU_OR, {file, line});
}
inline void __syncwarp(unsigned mask = PW_EMU_ALL, PW_EMU_HERE)
{
    pw_emu_warp(mask, [](void *const *, unsigned) {}, nullptr, true, "__syncwarp", {file, line});
}
inline void __threadfence()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- shuffles and votes */
template <class T> struct pw_emu_shuffle {
    T value, got;
    int source;
    const char *what;
};

template <class T> PW_EMU_UNSEEN void pw_emu_shuffle_all(void *const *lanes, unsigned mask)
{
    for (int i = 0; i < 32; i++) {
        if (!(mask >> i & 1))
            continue;
        pw_emu_shuffle<T> *x = static_cast<pw_emu_shuffle<T> *>(lanes[i]);
        if (mask >> x->source & 1) {
            x->got = static_cast<pw_emu_shuffle<T> *>(lanes[x->source])->value;
        } else {
            pw_emu_bad_source(x->what, x->source);
            __builtin_memset(&x->got, 0xff, sizeof x->got);
        }
    }
}

template <class T>
inline T pw_emu_shuffled(unsigned mask, T value, int source, const char *what, struct pw_emu_site at)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles words of 4 and 8 bytes");
    pw_emu_shuffle<T> x = {value, value, source, what};
    pw_emu_warp(mask, pw_emu_shuffle_all<T>, &x, false, what, at);
    return x.got;
}

template <class T> inline T __shfl_sync(unsigned mask, T v, int source, int width = 32, PW_EMU_HERE)
{
    int lane = (int)pw_emu_self.lane, first = lane & ~(width - 1);
    return pw_emu_shuffled(mask, v, first + (source & (width - 1)), "__shfl_sync", {file, line});
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, PW_EMU_HERE)
{
    int lane = (int)pw_emu_self.lane, source = lane ^ bits;
    if ((source & ~(width - 1)) > (lane & ~(width - 1)))
        source = lane;
    return pw_emu_shuffled(mask, v, source, "__shfl_xor_sync", {file, line});
}
template <class T> inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, PW_EMU_HERE)
{
    int lane = (int)pw_emu_self.lane, source = lane + (int)by;
    if (source > (lane | (width - 1)))
        source = lane;
    return pw_emu_shuffled(mask, v, source, "__shfl_down_sync", {file, line});
}
template <class T> inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, PW_EMU_HERE)
{
    int lane = (int)pw_emu_self.lane, source = lane - (int)by;
    if (source < (lane & ~(width - 1)))
        source = lane;
    return pw_emu_shuffled(mask, v, source, "__shfl_up_sync", {file, line});
}

struct pw_emu_ballot {
    unsigned vote, got;
};

PW_EMU_UNSEEN inline void pw_emu_ballot_all(void *const *lanes, unsigned mask)
{
    unsigned votes = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1 && static_cast<pw_emu_ballot *>(lanes[i])->vote)
            votes |= 1u << i;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1)
            static_cast<pw_emu_ballot *>(lanes[i])->got = votes;
}

inline unsigned pw_emu_balloted(unsigned mask, int vote, const char *what, struct pw_emu_site at)
{
    pw_emu_ballot x = {vote != 0, 0};
    pw_emu_warp(mask, pw_emu_ballot_all, &x, false, what, at);
    return x.got;
}
inline unsigned __ballot_sync(unsigned mask, int p, PW_EMU_HERE)
{
    return pw_emu_balloted(mask, p, "__ballot_sync", {file, line});
}
inline int __any_sync(unsigned mask, int p, PW_EMU_HERE)
{
    return pw_emu_balloted(mask, p, "__any_sync", {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int p, PW_EMU_HERE)
{
    return pw_emu_balloted(mask, p, "__all_sync", {file, line}) == mask;
}

/* ---- atomics. Threads are fibers of one host thread, so a read followed by a write is atomic. */
template <class T> struct pw_emu_same {
    using type = T;
};
template <class T, class F> PW_EMU_UNSEEN T pw_emu_change(T *p, F next)
{
    pw_emu_atomic(p, sizeof *p, __builtin_return_address(0));
    T old = *p;
    *p = next(old);
    return old;
}
template <class T> inline T atomicAdd(T *p, typename pw_emu_same<T>::type v)
{
    static_assert((T)0.5 == 0, "atomics on floating point make sums depend on the order of threads");
    return pw_emu_change(p, [v](T old) { return (T)(old + v); });
}
template <class T> inline T atomicMax(T *p, typename pw_emu_same<T>::type v)
{
    return pw_emu_change(p, [v](T old) { return old > v ? old : v; });
}
template <class T> inline T atomicMin(T *p, typename pw_emu_same<T>::type v)
{
    return pw_emu_change(p, [v](T old) { return old < v ? old : v; });
}
template <class T> inline T atomicExch(T *p, typename pw_emu_same<T>::type v)
{
    return pw_emu_change(p, [v](T) { return v; });
}
template <class T> inline T atomicOr(T *p, typename pw_emu_same<T>::type v)
{
    return pw_emu_change(p, [v](T old) { return (T)(old | v); });
}
template <class T>
inline T atomicCAS(T *p, typename pw_emu_same<T>::type expected, typename pw_emu_same<T>::type v)
{
    return pw_emu_change(p, [expected, v](T old) { return old == expected ? v : old; });
}

/* ---- loads and stores with cache hints */
template <class T> inline T __ldg(const T *p)
{
    return *p;
}
template <class T> inline T __ldcs(const T *p)
{
    return *p;
}
template <class T> inline T __ldcg(const T *p)
{
    return *p;
}
template <class T> inline void __stcs(T *p, T v)
{
    *p = v;
}
template <class T> inline void __stcg(T *p, T v)
{
    *p = v;
}

#endif
