/* codec_run.c - runs: metrics of many steps, each encoded as its difference from the one before.
 *
 * An event is encoded as a flag byte, its arm and replica, its time difference, the added operations, and its
 * values. The values are stored unchanged, because losses of neighbouring steps share too few bits to
 * compress. Time, number and step need a few bytes at most, and usually none. */
#include <string.h>

#include "sessions/codec_int.h"

/* The first byte: kind and flags. */
enum {
    KIND = 3,       /* index into kinds */
    NEXT = 1 << 2,  /* the number is the next one; else the difference follows */
    SAME = 1 << 3,  /* the step is the same */
    LATER = 1 << 4, /* the step is the next one; without SAME and LATER the difference follows */
    EARLY = 1 << 5, /* the clock was set back */
    FLOPS = 1 << 6, /* the total of operations follows; else the number added */
    UNUSED = 1 << 7
};

static const enum pw_event_kind kinds[] = {PW_EV_STEP, PW_EV_UPDATES, PW_EV_DIGEST};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool pw_run_takes(const struct pw_event *e)
{
    bool kind = false;
    for (int i = 0; i < KINDS; i++)
        kind = kind || e->kind == kinds[i];
    return kind && e->arm >= 1 && e->arm <= PW_MAX_ARMS && e->replica >= 0 && e->replica <= PW_MAX_REPLICAS &&
           (e->kind != PW_EV_UPDATES || (e->u.updates.n >= 0 && e->u.updates.n <= PW_MAX_BLOCKS));
}

/* Arm and replica in one byte: 6 arm + replica for replicas up to 5, which is all that the first sessions
 * could hold. Replicas 6 to 10 follow after those of every arm. */
enum { OLD_REPLICAS = 5, OLD_WHO = (PW_MAX_ARMS + 1) * (OLD_REPLICAS + 1) };
_Static_assert(OLD_WHO + (PW_MAX_ARMS + 1) * (PW_MAX_REPLICAS - OLD_REPLICAS) <= 256, "a byte holds them");

static uint64_t who_of(const struct pw_event *e)
{
    if (e->replica <= OLD_REPLICAS)
        return (uint64_t)(e->arm * (OLD_REPLICAS + 1) + e->replica);
    return (uint64_t)(OLD_WHO + e->arm * (PW_MAX_REPLICAS - OLD_REPLICAS) + e->replica - OLD_REPLICAS - 1);
}

static bool take_who(struct pw_event *e, int who)
{
    if (who < OLD_WHO) {
        e->arm = who / (OLD_REPLICAS + 1);
        e->replica = who % (OLD_REPLICAS + 1);
    } else {
        e->arm = (who - OLD_WHO) / (PW_MAX_REPLICAS - OLD_REPLICAS);
        e->replica = OLD_REPLICAS + 1 + (who - OLD_WHO) % (PW_MAX_REPLICAS - OLD_REPLICAS);
    }
    return e->arm >= 1 && e->arm <= PW_MAX_ARMS;
}

/* Return the operations counter of e's replica; replica 0 is read as 1. */
static double *flops_of(struct pw_run *r, const struct pw_event *e)
{
    return &r->flops[(e->arm - 1) * PW_MAX_REPLICAS + pw_event_replica(e) - 1];
}

/* Continue from e. */
static void remember(struct pw_run *r, const struct pw_event *e)
{
    r->first = r->n == 0 ? e->seq : r->first;
    r->n++;
    r->seq = e->seq;
    r->t_ns = e->t_ns;
    r->step = e->step;
    if (e->kind == PW_EV_STEP)
        *flops_of(r, e) = e->u.step.flops;
}

/* Write x - before as an integer to *more; false if it isn't an exact integer. */
static bool whole(double before, double x, uint64_t *more)
{
    const double most = 0x1p53; /* below this a double holds every integer */
    if (!(before >= 0 && before < most && x >= before && x < most))
        return false;
    *more = (uint64_t)(x - before);
    return pw_double_bits(before + (double)*more) == pw_double_bits(x);
}

/* ---- writing */

void pw_run_add(struct pw_run *r, const struct pw_event *e)
{
    struct pw_str *out = &r->bytes;
    int64_t steps = (int64_t)((uint64_t)e->step - (uint64_t)r->step);
    uint64_t more = 0;
    unsigned head = 0;
    while (kinds[head] != e->kind)
        head++;
    head |= e->seq == r->seq + 1 ? NEXT : 0;
    head |= steps == 0 ? SAME : steps == 1 ? LATER : 0;
    head |= e->t_ns < r->t_ns ? EARLY : 0;
    head |= e->kind == PW_EV_STEP && !whole(*flops_of(r, e), e->u.step.flops, &more) ? FLOPS : 0;
    pw_put_fixed(out, head, 1);
    pw_put_fixed(out, who_of(e), 1);
    if (!(head & NEXT))
        pw_put_varint(out, e->seq - r->seq);
    if (steps != 0 && steps != 1)
        pw_put_varint(out, pw_folded(steps));
    pw_put_varint(out, head & EARLY ? (uint64_t)r->t_ns - (uint64_t)e->t_ns
                                    : (uint64_t)e->t_ns - (uint64_t)r->t_ns);
    if (e->kind == PW_EV_STEP) {
        const struct pw_ev_step *s = &e->u.step;
        const float v[] = {s->loss, s->accuracy, s->lr, s->grad_norm};
        for (int i = 0; i < 4; i++)
            pw_put_fixed(out, pw_float_bits(v[i]), 4);
        if (head & FLOPS)
            pw_put_fixed(out, pw_double_bits(s->flops), 8);
        else
            pw_put_varint(out, more);
    } else if (e->kind == PW_EV_UPDATES) {
        pw_put_fixed(out, (uint64_t)e->u.updates.n, 1);
        for (int i = 0; i < e->u.updates.n; i++)
            pw_put_fixed(out, pw_float_bits(e->u.updates.ratio[i]), 4);
    } else {
        pw_put_fixed(out, e->u.digest[0], 8);
        pw_put_fixed(out, e->u.digest[1], 8);
    }
    remember(r, e);
}

void pw_run_clear(struct pw_run *r)
{
    struct pw_str bytes = r->bytes;
    pw_str_clear(&bytes);
    *r = (struct pw_run){.bytes = bytes};
}

void pw_run_fini(struct pw_run *r)
{
    pw_str_fini(&r->bytes);
    *r = (struct pw_run){0};
}

/* ---- reading */

void pw_run_open(struct pw_run_reader *r, const void *data, size_t n)
{
    *r = (struct pw_run_reader){.at = data};
    r->end = n > 0 ? r->at + n : r->at;
}

/* Return false if the input ends. */
static bool get_floats(struct pw_run_reader *r, float *v, int n)
{
    uint64_t bits;
    for (int i = 0; i < n; i++) {
        if (!pw_get_fixed(&r->at, r->end, &bits, 4))
            return false;
        v[i] = pw_bits_float(bits);
    }
    return true;
}

static bool get_payload(struct pw_run_reader *r, struct pw_event *e, unsigned head)
{
    float v[4];
    uint64_t u;
    if (e->kind == PW_EV_DIGEST)
        return pw_get_fixed(&r->at, r->end, &e->u.digest[0], 8) &&
               pw_get_fixed(&r->at, r->end, &e->u.digest[1], 8);
    if (e->kind == PW_EV_UPDATES) {
        if (!pw_get_fixed(&r->at, r->end, &u, 1) || u > PW_MAX_BLOCKS)
            return false;
        e->u.updates.n = (int)u;
        return get_floats(r, e->u.updates.ratio, (int)u);
    }
    if (!get_floats(r, v, 4))
        return false;
    e->u.step = (struct pw_ev_step){.loss = v[0], .accuracy = v[1], .lr = v[2], .grad_norm = v[3]};
    if (head & FLOPS) {
        if (!pw_get_fixed(&r->at, r->end, &u, 8))
            return false;
        e->u.step.flops = pw_bits_double(u);
        return true;
    }
    if (!pw_get_varint(&r->at, r->end, &u))
        return false;
    e->u.step.flops = *flops_of(&r->before, e) + (double)u;
    return true;
}

static bool get_event(struct pw_run_reader *r, struct pw_event *e)
{
    const struct pw_run *before = &r->before;
    uint64_t head, who, seq = 1, steps, t;
    if (!pw_get_fixed(&r->at, r->end, &head, 1) || !pw_get_fixed(&r->at, r->end, &who, 1) ||
        (head & KIND) >= KINDS || (head & UNUSED) || ((head & SAME) && (head & LATER)))
        return false;
    e->kind = kinds[head & KIND];
    if (!take_who(e, (int)who))
        return false;
    if (!(head & NEXT) && !pw_get_varint(&r->at, r->end, &seq))
        return false;
    e->seq = before->seq + seq;
    if (e->seq <= before->seq) /* numbers ascend */
        return false;
    steps = head & LATER ? pw_folded(1) : 0;
    if (!(head & (SAME | LATER)) && !pw_get_varint(&r->at, r->end, &steps))
        return false;
    e->step = (int64_t)((uint64_t)before->step + (uint64_t)pw_unfolded(steps));
    if (!pw_get_varint(&r->at, r->end, &t))
        return false;
    e->t_ns = (int64_t)((uint64_t)before->t_ns + (head & EARLY ? -t : t));
    return pw_event_placed(e) && get_payload(r, e, (unsigned)head);
}

struct pw_event *pw_run_event(void)
{
    _Static_assert(sizeof(struct pw_ev_updates) >= sizeof(struct pw_ev_step), "the largest payload of a run");
    return pw_event_new(PW_EV_UPDATES);
}

enum pw_code pw_run_next(struct pw_run_reader *r, struct pw_event *e, bool *got, struct pw_err *err)
{
    *got = r->at < r->end;
    if (!*got)
        return PW_OK;
    /* Clear the header and the largest payload only: this runs a million times. */
    memset(e, 0, offsetof(struct pw_event, u) + sizeof e->u.updates);
    if (!get_event(r, e)) {
        *got = false;
        r->at = r->end;
        return pw_fail(err, PW_EUSER, "a recorded run of metrics can't be read after its event %d",
                       r->before.n);
    }
    remember(&r->before, e);
    return PW_OK;
}
