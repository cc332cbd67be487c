/* tsan.c - the functions that gcc calls before loads and stores under -fsanitize=thread. */
#include "tests/emulator/check/check.h"

#pragma GCC visibility push(default)

void __tsan_init(void);
void __tsan_init(void)
{
    pw_emu_check_begin();
}

#define ACCESS(name, n, is_write)                                                                            \
    void name(void *p);                                                                                      \
    void name(void *p)                                                                                       \
    {                                                                                                        \
        pw_emu_check(p, n, is_write, __builtin_return_address(0));                                           \
    }

#define ACCESSES(n)                                                                                          \
    ACCESS(__tsan_read##n, n, false)                                                                         \
    ACCESS(__tsan_write##n, n, true)                                                                         \
    ACCESS(__tsan_volatile_read##n, n, false)                                                                \
    ACCESS(__tsan_volatile_write##n, n, true)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* Parts of structs, whose alignment is not guaranteed: byte by byte. */
static void part(const char *p, unsigned long n, bool write, void *pc)
{
    for (unsigned long i = 0; i < n; i++)
        pw_emu_check(p + i, 1, write, pc);
}

void __tsan_read_range(void *p, unsigned long n);
void __tsan_read_range(void *p, unsigned long n)
{
    part(p, n, false, __builtin_return_address(0));
}

void __tsan_write_range(void *p, unsigned long n);
void __tsan_write_range(void *p, unsigned long n)
{
    part(p, n, true, __builtin_return_address(0));
}

#define UNALIGNED(n)                                                                                         \
    void __tsan_unaligned_read##n(void *p);                                                                  \
    void __tsan_unaligned_read##n(void *p)                                                                   \
    {                                                                                                        \
        part(p, n, false, __builtin_return_address(0));                                                      \
    }                                                                                                        \
    void __tsan_unaligned_write##n(void *p);                                                                 \
    void __tsan_unaligned_write##n(void *p)                                                                  \
    {                                                                                                        \
        part(p, n, true, __builtin_return_address(0));                                                       \
    }

UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

#pragma GCC visibility pop
