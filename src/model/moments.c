/* moments.c - which tensors have moments and a gradient, and where.
 *
 * Only tensors that steps change have them: with an adapter, or with trains=norms, that is a small part of a
 * model. A tensor gets its place before the first step that changes it and keeps it, because its moments
 * belong to its next step, whatever the steps between them change.
 *
 * A place has the tensor's offset within a tile of PW_TILE entries, and tensors share a tile only if they
 * share one among the parameters. The gradient's sum of squares goes by tiles (backend.h, reduce), and zeros
 * add nothing to it. So the sum in ascending order has the bits that it has over the gradient of a model. */
#include <assert.h>
#include <string.h>

#include "model/model_int.h"

/* Gives places to one tensor after the other. */
struct places {
    size_t left_out; /* entries of tiles without a place */
    size_t next;     /* the first tile behind the last tensor */
    size_t end;      /* of the last place */
};

static size_t place_next(struct places *at, const struct pw_param *p)
{
    size_t tile = p->offset / PW_TILE, n = pw_param_count(p);

    if (tile > at->next)
        at->left_out += (tile - at->next) * PW_TILE;
    at->next = (p->offset + n + PW_TILE - 1) / PW_TILE;
    at->end = p->offset - at->left_out + n;
    return at->end - n;
}

static size_t floats_with(const struct pw_param_layout *lay, pw_wants *wants, const void *arg)
{
    struct places at = {0};

    for (int i = 0; i < lay->n; i++)
        if (lay->params[i].place != PW_ABSENT || wants == NULL || wants(arg, i))
            place_next(&at, &lay->params[i]);
    return at.end;
}

void pw_places_set(struct pw_param_layout *lay, pw_wants *wants, const void *arg)
{
    struct places at = {0};

    for (int i = 0; i < lay->n; i++) {
        struct pw_param *p = &lay->params[i];
        if (p->place != PW_ABSENT || wants == NULL || wants(arg, i))
            p->place = place_next(&at, p);
    }
    lay->trained = at.end;
}

static bool lacks_some(const struct pw_param_layout *lay, pw_wants *wants, const void *arg)
{
    bool lacks = false;

    for (int i = 0; i < lay->n; i++)
        lacks = lacks || (lay->params[i].place == PW_ABSENT && (wants == NULL || wants(arg, i)));
    return lacks;
}

/* Moments and gradient; g is NULL if the slot is the gradient. */
struct buffers {
    float *m, *v, *g;
};

static void free_buffers(struct pw_model *m, const struct buffers *b)
{
    m->ops->free(m->be, b->m);
    m->ops->free(m->be, b->v);
    m->ops->free(m->be, b->g);
}

static enum pw_code alloc_buffers(struct pw_model *m, struct buffers *b, size_t floats, struct pw_err *err)
{
    size_t bytes = floats * sizeof(float);
    bool one = pw_model_one_slot(m);
    enum pw_code code = pw_memory_take(m, &b->m, bytes, err);

    if (code == PW_OK)
        code = pw_memory_take(m, &b->v, bytes, err);
    if (code == PW_OK && !one)
        code = pw_memory_take(m, &b->g, bytes, err);
    if (code == PW_OK && (b->m == NULL || b->v == NULL || (b->g == NULL && !one)))
        code = pw_fail(err, PW_ENOMEM, "out of memory: moments and gradient of %zu parameters need %zu MiB",
                       floats, (one ? 2 : 3) * bytes >> 20);
    return code;
}

static void copy_floats(struct pw_model *m, float *to, const float *from, size_t n)
{
    if (m->ops->copy != NULL)
        m->ops->copy(m->be, to, from, n * sizeof *to);
    else
        m->ops->upload(m->be, to, from, n * sizeof *to);
}

/* Puts larger buffers in place of the present ones. */
static void replace(struct pw_model *m, const struct buffers *b, pw_wants *wants, const void *arg)
{
    struct buffers old = {m->m, m->v, pw_model_one_slot(m) ? NULL : m->g};
    struct places at = {0};

    for (int i = 0; i < m->lay.n; i++) {
        struct pw_param *p = &m->lay.params[i];
        size_t was = p->place;
        if (was == PW_ABSENT && wants != NULL && !wants(arg, i))
            continue;
        p->place = place_next(&at, p);
        if (was == PW_ABSENT)
            continue;
        copy_floats(m, b->m + p->place, old.m + was, pw_param_count(p));
        copy_floats(m, b->v + p->place, old.v + was, pw_param_count(p));
    }
    m->lay.trained = at.end;
    m->ops->sync(m->be, NULL); /* the backend keeps the error for a later call */
    free_buffers(m, &old);
    m->m = b->m;
    m->v = b->v;
    if (!pw_model_one_slot(m))
        m->g = b->g;
}

/* Is one of these tensors in a pack, which no step can change? */
static bool changes_packs(const struct pw_model *m, pw_wants *wants, const void *arg)
{
    bool changes = false;

    for (int i = 0; i < m->lay.n && m->packed; i++)
        changes = changes || ((wants == NULL || wants(arg, i)) && pw_packed_has(m, &m->lay.params[i]));
    return changes;
}

enum pw_code pw_model_reserve(struct pw_model *m, pw_wants *wants, const void *arg, struct pw_err *err)
{
    struct buffers b = {0};
    bool lacks = lacks_some(&m->lay, wants, arg);

    if (lacks && changes_packs(m, wants, arg))
        pw_model_unpack(m, true);
    enum pw_code code = pw_packs_reserve_back(m, err);
    if (code != PW_OK || !lacks)
        return code;
    code = alloc_buffers(m, &b, floats_with(&m->lay, wants, arg), err);
    if (code == PW_OK)
        replace(m, &b, wants, arg);
    else
        free_buffers(m, &b);
    return code;
}

static bool step_changes(const void *arg, int i)
{
    const struct pw_model *m = arg;

    return pw_param_trains(&m->lay.params[i], (enum pw_trains)m->trains);
}

enum pw_code pw_model_reserve_step(struct pw_model *m, struct pw_err *err)
{
    return pw_model_reserve(m, step_changes, m, err);
}

unsigned pw_model_kinds(const struct pw_model *m)
{
    unsigned kinds = 0;

    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        int narrowest = PW_TRAINS_ALL;
        if (p->place == PW_ABSENT)
            continue;
        for (int trains = PW_TRAINS_NORMS; trains <= PW_TRAINS_ADAPTER; trains++)
            narrowest = pw_param_trains(p, (enum pw_trains)trains) ? trains : narrowest;
        kinds |= pw_trains_kind(p->pe ? PW_TRAINS_ENCODING : narrowest);
    }
    return kinds;
}

void pw_moments_clear(struct pw_model *m, bool pe_only)
{
    for (int i = pe_only ? m->lay.n_core : 0; m->m != NULL && i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        size_t bytes = pw_param_count(p) * sizeof *m->host;
        if (p->place == PW_ABSENT)
            continue;
        memset(m->host, 0, bytes);
        m->ops->upload(m->be, m->m + p->place, m->host, bytes);
        m->ops->upload(m->be, m->v + p->place, m->host, bytes);
    }
}

void pw_moments_get(struct pw_model *m, float *to, const float *moment)
{
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        size_t bytes = pw_param_count(p) * sizeof *to;
        if (p->place != PW_ABSENT)
            m->ops->download(m->be, to + p->offset, moment + p->place, bytes);
        else
            memset(to + p->offset, 0, bytes);
    }
}

void pw_moments_put(struct pw_model *m, float *moment, const float *from)
{
    for (int i = 0; i < m->lay.n; i++) {
        const struct pw_param *p = &m->lay.params[i];
        if (p->place != PW_ABSENT)
            m->ops->upload(m->be, moment + p->place, from + p->offset, pw_param_count(p) * sizeof *from);
    }
}

/* Returns the tensor with the parameter at an offset. */
static const struct pw_param *tensor_at(const struct pw_param_layout *lay, size_t offset)
{
    int low = 0, high = lay->n;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (lay->params[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return &lay->params[low];
}

float *pw_grad_at(const struct pw_model *m, const struct pw_slot *slot, size_t offset)
{
    if (offset == PW_ABSENT)
        return NULL;
    const struct pw_param *p = tensor_at(&m->lay, offset);
    if (!pw_param_trains(p, (enum pw_trains)m->trains))
        return NULL;
    assert(p->place != PW_ABSENT);
    return slot->grad + p->place + (offset - p->offset);
}

size_t pw_pe_place(const struct pw_model *m)
{
    return m->lay.params[m->lay.n_core].place;
}
