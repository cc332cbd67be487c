/* ubsan.c - the functions that gcc calls if a kernel's behaviour is undefined: each record begins with the
 * place. */
#include "tests/emulator/check/check.h"

#include <stdlib.h>
#include <string.h>

struct place {
    const char *file;
    uint32_t line, column;
};

static void found(const struct place *at, const char *what)
{
    const char *slash = strrchr(at->file, '/');
    pw_emu_report("undefined", "%s at %s:%u, block %u,%u,%u thread %u", what,
                  slash != NULL ? slash + 1 : at->file, at->line, pw_emu_self.block.x, pw_emu_self.block.y,
                  pw_emu_self.block.z, pw_emu_self.linear);
}

#pragma GCC visibility push(default)

#define HANDLER(name, what)                                                                                  \
    void __ubsan_handle_##name(const struct place *at, uintptr_t a, uintptr_t b);                            \
    void __ubsan_handle_##name(const struct place *at, uintptr_t a, uintptr_t b)                             \
    {                                                                                                        \
        (void)a;                                                                                             \
        (void)b;                                                                                             \
        found(at, what);                                                                                     \
    }

HANDLER(type_mismatch_v1, "a null or misaligned pointer, or too small an object")
HANDLER(pointer_overflow, "a pointer leaves its object by far")
HANDLER(out_of_bounds, "an index beyond its array")
HANDLER(add_overflow, "an addition overflows")
HANDLER(sub_overflow, "a subtraction overflows")
HANDLER(mul_overflow, "a multiplication overflows")
HANDLER(negate_overflow, "a negation overflows")
HANDLER(divrem_overflow, "a division by zero, or that overflows")
HANDLER(shift_out_of_bounds, "a shift by too much")
HANDLER(float_cast_overflow, "a number is too large for its new type")
HANDLER(load_invalid_value, "a value that its type doesn't have")
HANDLER(vla_bound_not_positive, "an array without elements")
HANDLER(nonnull_arg, "a null argument")
HANDLER(nonnull_return_v1, "a null result")
HANDLER(invalid_builtin, "a builtin is given 0")

/* After these there is nothing to go on with. */
#define END(name, what)                                                                                      \
    void __ubsan_handle_##name(const struct place *at);                                                      \
    void __ubsan_handle_##name(const struct place *at)                                                       \
    {                                                                                                        \
        found(at, what);                                                                                     \
        abort();                                                                                             \
    }

END(missing_return, "a function ends without a result")
END(builtin_unreachable, "a place that is said to be unreachable")

#pragma GCC visibility pop
