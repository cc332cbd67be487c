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
        pw_emu_check_device(a);
}

static const struct pw_emu_array *array_around(size_t offset)
{
    static struct pw_emu_array last;
    static unsigned long block;
    if (block != pw_emu_block_number || offset - last.offset >= last.size) {
        const struct pw_emu_array *found = pw_emu_shared_find(pw_emu_regions.shared + offset, 0);
        if (found == NULL)
            return NULL;
        last = *found;
        block = pw_emu_block_number;
    }
    return &last;
}

static void in_shared(const struct pw_emu_access *a)
{
    size_t offset = pw_emu_shared_offset(a->p);
    const struct pw_emu_array *array = array_around(offset);
    if (array == NULL || array->offset + array->size - offset < a->size)
        pw_emu_check_report("bounds", a, NULL);
    else if (aligned(a))
        pw_emu_check_shared(a);
}

static bool readable(const struct pw_emu_access *a)
{
    bool self = (size_t)(a->p - (const char *)&pw_emu_self) < sizeof pw_emu_self;
    bool argument = (size_t)(a->p - (const char *)pw_emu_running) < pw_emu_running->size;
    return !a->write && (self || argument || pw_emu_in_image(a->p, a->pc));
}

void pw_emu_check_memory(const struct pw_emu_access *a)
{
    if (pw_emu_running == NULL)
        return;
    if (pw_emu_device_offset(a->p) < PW_EMU_SPACE)
        in_device(a);
    else if (pw_emu_shared_offset(a->p) < PW_EMU_SHARED_SPACE)
        in_shared(a);
    else if (!readable(a))
        pw_emu_check_report("host memory", a, NULL);
}
