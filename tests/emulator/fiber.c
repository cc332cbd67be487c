/* fiber.c - stacks, and the switch from one to another.
 *
 * A switch saves what the calling convention says a callee must keep, and nothing else: about ten
 * instructions, where swapcontext makes a system call. */
#include "emu_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK = PW_EMU_STACK, GUARD = 4096, STACKS = 1024 + 1 };

struct pw_emu_fiber pw_emu_main;

static struct pw_emu_fiber fibers[STACKS], *idle;
static int n_fibers;
static char *stacks;

#if defined(__x86_64__)
void pw_emu_switch(void **save, void *load);
__asm__(".text\n.p2align 4\n.globl pw_emu_switch\n.hidden pw_emu_switch\n.type pw_emu_switch,@function\n"
        "pw_emu_switch:\n"
        " pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        " movq %rsp,(%rdi)\n movq %rsi,%rsp\n"
        " popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n"
        ".size pw_emu_switch,.-pw_emu_switch\n");

static void *prepared(char *top, void (*entry)(void))
{
    void **sp = (void **)top;
    *--sp = NULL; /* where the entry would return to: keeps its stack aligned */
    memcpy(--sp, &entry, sizeof entry);
    for (int i = 0; i < 6; i++)
        *--sp = NULL;
    return sp;
}
#elif defined(__aarch64__)
void pw_emu_switch(void **save, void *load);
__asm__(".text\n.p2align 4\n.globl pw_emu_switch\n.hidden pw_emu_switch\n.type pw_emu_switch,%function\n"
        "pw_emu_switch:\n"
        " sub sp,sp,#176\n stp x19,x20,[sp]\n stp x21,x22,[sp,#16]\n stp x23,x24,[sp,#32]\n"
        " stp x25,x26,[sp,#48]\n stp x27,x28,[sp,#64]\n stp x29,x30,[sp,#80]\n stp d8,d9,[sp,#96]\n"
        " stp d10,d11,[sp,#112]\n stp d12,d13,[sp,#128]\n stp d14,d15,[sp,#144]\n"
        " mov x9,sp\n str x9,[x0]\n mov sp,x1\n"
        " ldp x19,x20,[sp]\n ldp x21,x22,[sp,#16]\n ldp x23,x24,[sp,#32]\n ldp x25,x26,[sp,#48]\n"
        " ldp x27,x28,[sp,#64]\n ldp x29,x30,[sp,#80]\n ldp d8,d9,[sp,#96]\n ldp d10,d11,[sp,#112]\n"
        " ldp d12,d13,[sp,#128]\n ldp d14,d15,[sp,#144]\n add sp,sp,#176\n ret\n"
        ".size pw_emu_switch,.-pw_emu_switch\n");

static void *prepared(char *top, void (*entry)(void))
{
    char *sp = top - 176;
    memset(sp, 0, 176);
    memcpy(sp + 88, &entry, sizeof entry); /* the link register's place */
    return sp;
}
#else
#error "fiber.c supports x86-64 and aarch64"
#endif

static void prepare(struct pw_emu_fiber *f, void (*entry)(void))
{
    PW_EMU_UNPOISON(f->base, f->size); /* frames that will never return */
    f->sp = prepared(f->base + f->size, entry);
}

struct pw_emu_fiber *pw_emu_fiber_take(void (*entry)(void))
{
    if (idle != NULL) {
        struct pw_emu_fiber *f = idle;
        idle = f->next;
        return f;
    }
    size_t each = STACK + GUARD;
    if (stacks == NULL) {
        stacks = mmap(NULL, each * STACKS, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED) {
            perror("emulator: stacks");
            abort();
        }
    }
    struct pw_emu_fiber *f = &fibers[n_fibers];
    char *start = stacks + each * (size_t)n_fibers++;
    mprotect(start, GUARD, PROT_NONE); /* a stack that grows too far stops here */
    f->base = start + GUARD;
    f->size = STACK;
    prepare(f, entry);
    return f;
}

void pw_emu_fiber_give(struct pw_emu_fiber *f)
{
    f->next = idle;
    idle = f;
}

void pw_emu_fiber_abandon(struct pw_emu_fiber *f, void (*entry)(void))
{
    prepare(f, entry);
    pw_emu_fiber_give(f);
}

#if defined(__SANITIZE_ADDRESS__)
/* The address sanitizer must know which stack it is on; it also tells the bounds of the one before. */
static const struct pw_emu_fiber *came_from;

static void arrived(void *fake)
{
    const void *base;
    size_t size;
    __sanitizer_finish_switch_fiber(fake, &base, &size);
    if (came_from == &pw_emu_main) {
        pw_emu_main.base = (char *)base;
        pw_emu_main.size = size;
    }
}

void pw_emu_fiber_swap(struct pw_emu_fiber *from, struct pw_emu_fiber *to)
{
    pw_emu.counts.switches++;
    came_from = from;
    __sanitizer_start_switch_fiber(&from->fake, to->base, to->size);
    pw_emu_switch(&from->sp, to->sp);
    arrived(from->fake);
}

void pw_emu_fiber_entered(void)
{
    arrived(NULL);
}
#else
void pw_emu_fiber_swap(struct pw_emu_fiber *from, struct pw_emu_fiber *to)
{
    pw_emu.counts.switches++;
    pw_emu_switch(&from->sp, to->sp);
}

void pw_emu_fiber_entered(void)
{
}
#endif
