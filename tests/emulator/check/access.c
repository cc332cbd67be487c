/* access.c - where an access goes: device memory, shared memory, the thread's own; or nowhere that it may. */
#include "tests/emulator/check/check.h"

/* Of the last access, which the next is likely to be inside of, too. */
static const struct pw_emu_allocation *allocation_around(const char *p)
{
    static struct pw_emu_allocation last;
    static uint64_t when;
    if (when != pw_emu_allocation_changes || (size_t)(p - last.p) >= last.n) {
        const struct pw_emu_allocation *found = pw_emu_allocation_of(p);
        if (found == NULL)
            return NULL;
        last = *found;
        when = pw_emu_allocation_changes;
    }
    return &last;
}

static bool aligned(const struct pw_emu_access *a)
{
    if ((uintptr_t)a->p % a->size == 0)
        return true;
    pw_emu_check_report("misaligned", a, NULL);
    return false;
}

static void in_device(const struct pw_emu_access *a)
{
    const struct pw_emu_allocation *around = allocation_around(a->p);
    if (around == NULL || (size_t)(around->p + around->n - a->p) < a->size)
        pw_emu_check_report("bounds", a, NULL);
    else if (aligned(a))
        pw_emu_check_device(a, pw_emu_device_offset(a->p));
}

static void in_shared(const struct pw_emu_access *a, size_t offset)
{
    const struct pw_emu_array *array = pw_emu_shared_find(a->p, 0);
    if (array == NULL || array->offset + array->size - offset < a->size)
        pw_emu_check_report("bounds", a, NULL);
    else if (aligned(a))
        pw_emu_check_shared(a, offset);
}

void pw_emu_check(const struct pw_emu_access *a)
{
    size_t offset;
    if (pw_emu_running == NULL || pw_emu_on_stack(a->p))
        return;
    if (pw_emu_is_device(a->p)) {
        in_device(a);
    } else if (pw_emu_is_shared(a->p, &offset)) {
        in_shared(a, offset);
    } else {
        bool self = !a->write && (size_t)(a->p - (const char *)&pw_emu_self) < sizeof pw_emu_self;
        bool argument = (size_t)(a->p - (const char *)pw_emu_running) < pw_emu_running->size;
        bool constant = !a->write && pw_emu_in_image(a->p, a->pc);
        if (!self && !argument && !constant)
            pw_emu_check_report("host memory", a, NULL);
    }
}
