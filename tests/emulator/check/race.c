/* race.c - tracks initialised memory, and finds races.
 *
 * There is a cell for every two bytes, so that neighbours may write the halves of a word. It has the last
 * write and a summary of the reads: their block and thread, and the numbers of earlier barriers of the block
 * and fences of the warp. Two accesses of which one writes race, with four exceptions: the same thread did
 * both, they are of one block with a barrier between them, they are of one warp with a __syncwarp between
 * them, or both are atomic. Cells of an earlier launch (for shared memory: block) count as empty. */
#include "tests/emulator/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Who: a thread, and how far it had come. */
struct who {
    uint32_t serial, block;
    uint16_t thread, epoch, warp_epoch;
};

struct cell {
    struct who write, read;
    uint8_t written; /* which of the bytes, by this writer */
    bool atomic;
    uint8_t read_bytes;
    bool blocks, warps, lanes; /* more than one has read, as far as that is not settled by barriers */
    uint8_t known;             /* which bytes of shared memory hold something */
};

enum { CELL = 2 };

static struct cell *device, *shared;
static uint8_t *known; /* a bit for each byte of device memory */

static void *reserve(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("emulator: shadow memory");
        abort();
    }
    return p;
}

/* ---- what is initialised */

static bool bit(size_t offset)
{
    return known[offset / 8] >> offset % 8 & 1;
}

static void set_bit(size_t offset, bool as)
{
    uint8_t mask = (uint8_t)(1u << offset % 8);
    known[offset / 8] = as ? known[offset / 8] | mask : known[offset / 8] & (uint8_t)~mask;
}

static void mark(const void *p, size_t n, bool as)
{
    size_t at = pw_emu_device_offset(p), end = at + n;
    for (; at < end && at % 8 != 0; at++)
        set_bit(at, as);
    size_t bytes = (end - at) / 8;
    memset(known + at / 8, as ? 0xff : 0, bytes);
    for (at += bytes * 8; at < end; at++)
        set_bit(at, as);
}

static void allocated(const struct pw_emu_allocation *a)
{
    mark(a->p, a->n, false);
}

static void wrote(void *p, size_t n)
{
    mark(p, n, true);
}

static void copied(void *dst, const void *src, size_t n)
{
    size_t to = pw_emu_device_offset(dst), from = pw_emu_device_offset(src), i = 0;
    if (to % 8 == 0 && from % 8 == 0) {
        memmove(known + to / 8, known + from / 8, n / 8);
        i = n / 8 * 8;
    }
    for (; i < n; i++)
        set_bit(to + i, bit(from + i));
}

static const void *unknown(const void *p, size_t n)
{
    size_t offset = pw_emu_device_offset(p);
    for (size_t i = 0; i < n; i++)
        if (!bit(offset + i))
            return (const char *)p + i;
    return NULL;
}

static void atomic(const volatile void *p, unsigned size, void *pc)
{
    pw_emu_check_memory(&(struct pw_emu_access){(const char *)p, size, true, true, pc});
}

void pw_emu_check_begin(void)
{
    static const struct pw_emu_hooks hooks = {allocated, wrote, copied, unknown, atomic};
    if (known != NULL)
        return;
    known = reserve(PW_EMU_SPACE / 8);
    device = reserve(PW_EMU_SPACE / CELL * sizeof *device);
    shared = reserve(PW_EMU_SHARED_SPACE / CELL * sizeof *shared);
    pw_emu_hooks = &hooks;
}

/* ---- races */

static struct who myself(uint32_t serial)
{
    const struct pw_emu_self *s = &pw_emu_self;
    uint32_t block = s->block.x + s->grid_dim.x * (s->block.y + s->grid_dim.y * s->block.z);
    return (struct who){serial, block, (uint16_t)s->linear, (uint16_t)pw_emu_epoch,
                        (uint16_t)pw_emu_warp_epoch[s->warp]};
}

static bool same_warp(const struct who *a, const struct who *b)
{
    return a->thread / 32 == b->thread / 32;
}

/* Whether nothing orders the write before me. */
static bool races_with_write(const struct cell *c, const struct who *me)
{
    const struct who *w = &c->write;
    if (w->block != me->block)
        return true;
    return w->thread != me->thread && w->epoch == me->epoch &&
           !(same_warp(w, me) && w->warp_epoch < me->warp_epoch);
}

static bool races_with_reads(const struct cell *c, const struct who *me)
{
    const struct who *r = &c->read;
    if (r->block != me->block || c->blocks)
        return true;
    if (r->epoch != me->epoch)
        return false;
    if (c->warps || !same_warp(r, me))
        return true;
    return r->warp_epoch == me->warp_epoch && (c->lanes || r->thread != me->thread);
}

static void report_race(const struct pw_emu_access *a, const char *what, const struct who *other)
{
    char more[100];
    snprintf(more, sizeof more, "; %s by block %u thread %u before", what, other->block, other->thread);
    pw_emu_check_report("race", a, more);
}

static void note_read(struct cell *c, const struct who *me, uint8_t bytes)
{
    struct who *r = &c->read;
    if (r->serial != me->serial) {
        *r = *me;
        c->read_bytes = bytes;
        c->blocks = c->warps = c->lanes = false;
        return;
    }
    c->read_bytes |= bytes;
    if (r->block != me->block) {
        c->blocks = true;
        c->warps = c->lanes = false;
    } else if (r->epoch != me->epoch) {
        c->warps = c->lanes = false;
    } else if (!same_warp(r, me)) {
        c->warps = true;
    } else if (r->warp_epoch != me->warp_epoch) {
        c->lanes = false;
    } else if (r->thread != me->thread) {
        c->lanes = true;
    }
    *r = *me;
}

static void note_write(struct cell *c, const struct who *me, uint8_t bytes, bool is_atomic)
{
    struct who *w = &c->write;
    bool same = w->serial == me->serial && w->block == me->block && w->thread == me->thread &&
                w->epoch == me->epoch && c->atomic == is_atomic;
    c->written = same ? c->written | bytes : bytes;
    c->atomic = is_atomic;
    *w = *me;
}

/* The bytes of one cell; false: there is a finding. */
static bool visit(struct cell *c, const struct pw_emu_access *a, const struct who *me, uint8_t bytes)
{
    bool fine = true;
    if (c->write.serial == me->serial && c->written & bytes && !(a->atomic && c->atomic) &&
        races_with_write(c, me)) {
        report_race(a, "written", &c->write);
        fine = false;
    }
    if (a->write && c->read.serial == me->serial && c->read_bytes & bytes && races_with_reads(c, me)) {
        report_race(a, "read", &c->read);
        fine = false;
    }
    if (a->write)
        note_write(c, me, bytes, a->atomic);
    else
        note_read(c, me, bytes);
    return fine;
}

static void visit_all(struct cell *c, const struct pw_emu_access *a, const struct who *me)
{
    if (a->size == 1) {
        visit(c, a, me, (uintptr_t)a->p % CELL == 0 ? 1 : 2);
        return;
    }
    for (unsigned i = 0; i < a->size / CELL; i++)
        if (!visit(c + i, a, me, 3))
            break;
}

void pw_emu_check_device(const struct pw_emu_access *a)
{
    struct who me = myself((uint32_t)pw_emu_launch_number);
    size_t offset = pw_emu_device_offset(a->p);
    /* Aligned, so at most 8 bytes have their bits in one byte, and 16 in two. */
    unsigned all = a->size < 8 ? ((1u << a->size) - 1) << offset % 8 : 0xff;
    uint8_t *bits = known + offset / 8;
    bool set = (bits[0] & all) == all && (a->size < 16 || bits[1] == 0xff);
    if (!set && (!a->write || a->atomic))
        pw_emu_check_report("uninitialised", a, NULL);
    visit_all(device + offset / CELL, a, &me);
    if (a->write && !set) {
        bits[0] |= (uint8_t)all;
        if (a->size == 16)
            bits[1] = 0xff;
    }
}

/* The state of cells of shared memory; every block starts with empty cells. */
static bool known_in(struct cell *c, const struct pw_emu_access *a, const struct who *me)
{
    uint8_t all = a->size > 1 ? 3 : (uintptr_t)a->p % CELL == 0 ? 1 : 2;
    bool set = true;
    for (unsigned i = 0; i == 0 || i < a->size / CELL; i++) {
        if (c[i].write.serial != me->serial)
            c[i].known = 0;
        set &= (c[i].known & all) == all;
        if (a->write)
            c[i].known |= all;
    }
    return set;
}

void pw_emu_check_shared(const struct pw_emu_access *a)
{
    struct who me = myself((uint32_t)pw_emu_block_number);
    struct cell *c = shared + pw_emu_shared_offset(a->p) / CELL;
    if (!known_in(c, a, &me) && (!a->write || a->atomic))
        pw_emu_check_report("uninitialised", a, NULL);
    visit_all(c, a, &me);
}
