/* pw_emu_launch.h - the emulated PW_SHARED, PW_DYN_SHARED and PW_LAUNCH of kernels/cuda/device.h.
 *
 * A shared array is allocated for each block instead of being static. So it has bounds and gaps around it,
 * and holds NaN at the start of a block. The header contains templates only, because it must not pull
 * compiled code of the C++ library into the plug-in. */
#ifndef PW_EMU_LAUNCH_H
#define PW_EMU_LAUNCH_H
#include <pw_emu_kernel.h>
#include <tuple>

#define PW_SHARED(type, name, ...)                                                                           \
    typedef type pw_emu_type_##name __VA_ARGS__;                                                             \
    static struct pw_emu_shared pw_emu_shared_##name = {#name, sizeof(pw_emu_type_##name),                   \
                                                        alignof(pw_emu_type_##name), 0, 0};                  \
    pw_emu_type_##name &name = *static_cast<pw_emu_type_##name *>(pw_emu_shared_array(&pw_emu_shared_##name))
#define PW_DYN_SHARED(type, name) type *name = static_cast<type *>(pw_emu_shared_dynamic())

template <class T> struct pw_same {
    using type = T;
};

template <class... P> struct pw_emu_call_of : pw_emu_call {
    void (*fn)(P...);
    std::tuple<P...> args;

    pw_emu_call_of(const char *name_, void (*fn_)(P...), P... args_) : fn(fn_), args(args_...)
    {
        name = name_;
        kernel = reinterpret_cast<const void *>(fn_);
        size = sizeof *this;
        run = [](const pw_emu_call *c) { /* arguments by value, so every thread has its own copy */
                                         const pw_emu_call_of *self = static_cast<const pw_emu_call_of *>(c);
                                         std::apply(self->fn, self->args);
        };
        destroy = [](pw_emu_call *c) { delete static_cast<pw_emu_call_of *>(c); };
    }
};

template <class... P>
inline cudaError_t pw_emu_call_kernel(const char *name, void (*fn)(P...), dim3 grid, dim3 block,
                                      size_t shared, cudaStream_t stream, typename pw_same<P>::type... args)
{
    return pw_emu_launch(new pw_emu_call_of<P...>(name, fn, args...), grid, block, shared, stream);
}

#define PW_LAUNCH(kernel, grid, block, shared, stream, ...)                                                  \
    pw_emu_call_kernel(#kernel, kernel, grid, block, shared, stream, ##__VA_ARGS__)

#endif
