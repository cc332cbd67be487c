/* pw_emu_launch.h - PW_SHARED, PW_DYN_SHARED and PW_LAUNCH of kernels/cuda/device.h, emulated.
 *
 * Shared arrays are allocated for each block, not static: so they have bounds, gaps between them, and are
 * full of NaN at the start. Templates only: this header must not bring code of the library's own. */
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
        run = [](const pw_emu_call *c) { /* by value: every thread has its own copy */
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
