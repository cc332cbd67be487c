/* shared.c - the shared memory of the running block: arrays one after the other, with gaps between them. */
#include "emu_int.h"

#include <string.h>

enum { SPACE = PW_EMU_SHARED_SPACE, GAP = 32, ARRAYS = 64 };

static char space[SPACE] __attribute__((aligned(256)));
static struct pw_emu_array arrays[ARRAYS]; /* [0]: the dynamic one */
static int n_arrays;
static size_t used, in_all, allowed;

static void *add(const char *name, size_t size, size_t align)
{
    size_t at = (used + GAP + align - 1) / align * align;
    in_all += size;
    if (in_all > allowed)
        pw_emu_report("launch", "%zu bytes of shared memory with %s, of %zu", in_all, name, allowed);
    if (at + size > SPACE || n_arrays == ARRAYS) {
        pw_emu_report("launch", "more shared memory than the emulator has, at %s", name);
        return space;
    }
    arrays[n_arrays++] = (struct pw_emu_array){name, at, size};
    used = at + size;
    PW_EMU_UNPOISON(space + at, size);
    memset(space + at, 0xff, size); /* NaN, so that no kernel relies on zeros */
    return space + at;
}

void pw_emu_shared_begin(size_t dynamic, size_t limit)
{
    pw_emu_regions.shared = space;
    PW_EMU_POISON(space, SPACE);
    used = in_all = 0;
    allowed = limit;
    n_arrays = 0;
    add("the dynamic shared memory", dynamic, 1024);
}

void *pw_emu_shared_array(struct pw_emu_shared *s)
{
    if (s->block != pw_emu_block_number) {
        size_t align = s->align < 16 ? 16 : s->align;
        char *p = add(s->name, s->size, align);
        s->block = pw_emu_block_number;
        s->offset = (size_t)(p - space);
    }
    return space + s->offset;
}

void *pw_emu_shared_dynamic(void)
{
    return space + arrays[0].offset;
}

const struct pw_emu_array *pw_emu_shared_find(const void *p, size_t near)
{
    size_t offset = (size_t)((const char *)p - space);
    for (int i = 0; i < n_arrays; i++)
        if (offset + near >= arrays[i].offset && offset < arrays[i].offset + arrays[i].size + near)
            return &arrays[i];
    return NULL;
}
