/* block.c - runs the threads of one block: barriers, collectives of warps, and the choice of the next thread.
 *
 * A thread begins on whatever stack is free, by a plain call. Only when it has to wait does it keep that
 * stack and the next thread gets another one; so kernels without barriers never switch. Threads that can
 * continue run before new ones begin; pw_emu_set_order sets the order. If no thread of a block can continue,
 * the block is reported with the places where its threads wait. */
#include "emu_int.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 1024, WARPS = THREADS / 32 };

enum thread_state { FRESH, RUNNING, READY, AT_BARRIER, IN_WARP, DONE };

struct thread {
    enum thread_state state;
    int vote;
    unsigned epoch;
    struct uint3 index;
    struct pw_emu_fiber *fiber;
    const char *what; /* it waits in, */
    struct pw_emu_site at;
};

/* A collective that some lanes of a warp have come to. */
struct meeting {
    unsigned mask, here;
    pw_emu_warp_fn fn;
    bool fence;
    const char *what;
    struct pw_emu_site at;
};

struct warp {
    unsigned lanes, done;
    int n_meetings;
    struct meeting meetings[32]; /* their masks are disjoint */
    void *brought[32];
};

struct pw_emu_self pw_emu_self;
unsigned pw_emu_epoch, pw_emu_warp_epoch[WARPS];

static const struct pw_emu_call *call;
static struct thread threads[THREADS];
static struct warp warps[WARPS];
static unsigned n_threads, n_done, n_waiting; /* at the barrier */
static unsigned order[THREADS], n_begun;
static unsigned ready[THREADS], ready_at, n_ready; /* a ring */
static unsigned current;
static struct pw_emu_fiber *fiber; /* the running one */

static const char *const barrier_names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                            "__syncthreads_or"};
static struct pw_emu_site barrier_at;
static enum pw_emu_vote barrier_kind;
static int barrier_result;

static bool same_site(struct pw_emu_site a, struct pw_emu_site b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* ---- who goes on */

static void become(unsigned i)
{
    struct thread *t = &threads[i];
    current = i;
    pw_emu_self.thread = t->index;
    pw_emu_self.linear = i;
    pw_emu_self.lane = i & 31;
    pw_emu_self.warp = i >> 5;
    pw_emu_epoch = t->epoch;
    t->state = RUNNING;
}

static void resume(unsigned *list, unsigned n)
{
    if (pw_emu.order == PW_EMU_SHUFFLE)
        pw_emu_shuffle(list, n);
    for (unsigned k = 0; k < n; k++) {
        unsigned i = list[pw_emu.order == PW_EMU_REVERSE ? n - 1 - k : k];
        threads[i].state = READY;
        ready[(ready_at + n_ready++) % THREADS] = i;
    }
}

static void go_to(struct pw_emu_fiber *to)
{
    struct pw_emu_fiber *from = fiber;
    fiber = to;
    pw_emu_regions.stack = to->base;
    if (from != to)
        pw_emu_fiber_swap(from, to);
}

static void fiber_entry(void);

/* The running fiber has to wait, or has nothing to do: returns when it is its turn. */
static void let_others(void)
{
    if (n_ready > 0) {
        unsigned i = ready[ready_at];
        ready_at = (ready_at + 1) % THREADS;
        n_ready--;
        become(i);
        go_to(threads[i].fiber);
    } else if (n_begun < n_threads) {
        go_to(pw_emu_fiber_take(fiber_entry));
    } else {
        go_to(&pw_emu_main); /* all are done, or no thread can continue */
    }
}

/* ---- the barrier of the block */

static void release_barrier(void)
{
    if (n_done > 0)
        pw_emu_report("barrier", "%u of %u threads of block %u,%u,%u have left before the barrier at %s:%d",
                      n_done, n_threads, pw_emu_self.block.x, pw_emu_self.block.y, pw_emu_self.block.z,
                      base_name(barrier_at.file), barrier_at.line);
    int count = 0;
    bool all = true, orders = pw_emu_orders(barrier_at, barrier_names[barrier_kind]);
    unsigned list[THREADS], n = 0;
    for (unsigned i = 0; i < n_threads; i++) {
        if (threads[i].state != AT_BARRIER)
            continue;
        count += threads[i].vote;
        all &= threads[i].vote;
        threads[i].epoch += orders;
        list[n++] = i;
    }
    barrier_result = barrier_kind == PW_EMU_COUNT ? count : barrier_kind == PW_EMU_AND ? all : count > 0;
    n_waiting = 0;
    resume(list, n);
}

int pw_emu_barrier(int vote, enum pw_emu_vote kind, struct pw_emu_site at)
{
    if (n_waiting == 0) {
        barrier_at = at;
        barrier_kind = kind;
    } else if (!same_site(barrier_at, at)) {
        pw_emu_report("barrier", "threads of block %u,%u,%u wait at different barriers: %s:%d and %s:%d",
                      pw_emu_self.block.x, pw_emu_self.block.y, pw_emu_self.block.z,
                      base_name(barrier_at.file), barrier_at.line, base_name(at.file), at.line);
    }
    struct thread *t = &threads[current];
    t->state = AT_BARRIER;
    t->vote = vote != 0;
    t->what = barrier_names[kind];
    t->at = at;
    if (++n_waiting + n_done == n_threads)
        release_barrier();
    let_others();
    return barrier_result;
}

/* ---- collectives of a warp */

static void report_lanes(const struct warp *w, unsigned mask, const char *what, struct pw_emu_site at)
{
    const char *wrong = mask & w->done ? "lanes that have left" : "lanes that don't exist";
    pw_emu_report("warp", "%s at %s:%d waits for %s (mask %08x, block %u,%u,%u warp %u)", what,
                  base_name(at.file), at.line, wrong, mask, pw_emu_self.block.x, pw_emu_self.block.y,
                  pw_emu_self.block.z, current >> 5);
}

static struct meeting *meeting_of(struct warp *w, const struct meeting *new)
{
    for (int i = 0; i < w->n_meetings; i++) {
        struct meeting *m = &w->meetings[i];
        if (!(m->mask & new->mask))
            continue;
        if (m->mask != new->mask || m->fn != new->fn || !same_site(m->at, new->at))
            pw_emu_report("warp",
                          "lanes diverge: %s (mask %08x) at %s:%d and %s (mask %08x) at %s:%d "
                          "(block %u,%u,%u warp %u)",
                          m->what, m->mask, base_name(m->at.file), m->at.line, new->what, new->mask,
                          base_name(new->at.file), new->at.line, pw_emu_self.block.x, pw_emu_self.block.y,
                          pw_emu_self.block.z, current >> 5);
        return m;
    }
    w->meetings[w->n_meetings] = *new;
    return &w->meetings[w->n_meetings++];
}

void pw_emu_warp(unsigned mask, pw_emu_warp_fn fn, void *mine, bool fence, const char *what,
                 struct pw_emu_site at)
{
    unsigned in_warp = current >> 5, lane = current & 31;
    struct warp *w = &warps[in_warp];
    if (!(mask >> lane & 1)) {
        pw_emu_report("warp", "lane %u calls %s at %s:%d, but is not in its mask %08x", lane, what,
                      base_name(at.file), at.line, mask);
        mask |= 1u << lane;
    }
    if (mask & ~(w->lanes & ~w->done)) {
        report_lanes(w, mask, what, at);
        mask &= w->lanes & ~w->done;
    }
    struct meeting *m = meeting_of(w, &(struct meeting){mask, 0, fn, fence, what, at});
    w->brought[lane] = mine;
    m->here |= 1u << lane;
    struct thread *t = &threads[current];
    t->state = IN_WARP;
    t->what = what;
    t->at = at;
    if (m->here == m->mask) {
        m->fn(w->brought, m->mask);
        if (m->fence && pw_emu_orders(m->at, m->what))
            pw_emu_warp_epoch[in_warp]++;
        unsigned list[32], n = 0;
        for (unsigned l = 0; l < 32; l++)
            if (m->mask >> l & 1)
                list[n++] = in_warp * 32 + l;
        *m = w->meetings[--w->n_meetings];
        resume(list, n);
    }
    let_others();
}

void pw_emu_bad_source(const char *what, int source)
{
    pw_emu_report("warp", "%s: source lane %d is not in the mask (block %u,%u,%u warp %u)", what, source,
                  pw_emu_self.block.x, pw_emu_self.block.y, pw_emu_self.block.z, current >> 5);
}

void pw_emu_atomic(const volatile void *p, unsigned size, void *pc)
{
    if (pw_emu_hooks != NULL)
        pw_emu_hooks->atomic(p, size, pc);
}

/* ---- the block */

static void fiber_entry(void)
{
    pw_emu_fiber_entered();
    for (;;) {
        while (n_ready == 0 && n_begun < n_threads) {
            unsigned i = order[n_begun++];
            threads[i].fiber = fiber;
            become(i);
            call->run(call);
            threads[i].state = DONE;
            warps[i >> 5].done |= 1u << (i & 31);
            n_done++;
            if (n_waiting > 0 && n_waiting + n_done == n_threads)
                release_barrier();
        }
        pw_emu_fiber_give(fiber);
        let_others(); /* comes back when the fiber is taken again */
    }
}

static void report_stuck(void)
{
    char where[400] = "";
    size_t used = 0;
    for (unsigned i = 0; i < n_threads && used < sizeof where - 1; i++) {
        const struct thread *t = &threads[i];
        if (t->state != AT_BARRIER && t->state != IN_WARP)
            continue;
        unsigned first = i;
        while (i + 1 < n_threads && threads[i + 1].state == t->state && same_site(threads[i + 1].at, t->at))
            i++;
        int n = snprintf(where + used, sizeof where - used, "%sthreads %u-%u in %s at %s:%d",
                         used > 0 ? "; " : "", first, i, t->what, base_name(t->at.file), t->at.line);
        used += (size_t)n;
    }
    pw_emu_report("deadlock", "block %u,%u,%u: %s", pw_emu_self.block.x, pw_emu_self.block.y,
                  pw_emu_self.block.z, where);
}

static void begin(const struct pw_emu_call *c, unsigned n)
{
    call = c;
    n_threads = n;
    n_done = n_waiting = n_begun = 0;
    ready_at = n_ready = 0;
    struct dim3 dim = pw_emu_self.block_dim;
    for (unsigned i = 0; i < n; i++) {
        threads[i].state = FRESH;
        threads[i].epoch = 0;
        threads[i].index = (struct uint3){i % dim.x, i / dim.x % dim.y, i / dim.x / dim.y};
        order[i] = pw_emu.order == PW_EMU_REVERSE ? n - 1 - i : i;
    }
    if (pw_emu.order == PW_EMU_SHUFFLE)
        pw_emu_shuffle(order, n);
    for (unsigned i = 0; i * 32 < n; i++) {
        unsigned lanes = n - i * 32;
        warps[i].lanes = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
        warps[i].done = 0;
        warps[i].n_meetings = 0;
        pw_emu_warp_epoch[i] = 0;
    }
}

void pw_emu_block_run(const struct pw_emu_call *c, unsigned n)
{
    begin(c, n);
    fiber = &pw_emu_main;
    go_to(pw_emu_fiber_take(fiber_entry));
    if (n_done == n_threads)
        return;
    report_stuck();
    for (unsigned i = 0; i < n_threads; i++)
        if (threads[i].state == AT_BARRIER || threads[i].state == IN_WARP)
            pw_emu_fiber_abandon(threads[i].fiber, fiber_entry);
}
