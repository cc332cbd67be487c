/* packed.c - models whose matrices live in their packs alone.
 *
 * A model that was made of files needs each weight once while no step changes a matrix. The forward pass
 * reads matrices from packs, so their place among the parameters keeps no memory, and access to it is
 * forbidden. Functions that need values read them back from the packs, which are exact. Steps that change
 * vectors alone (trains=norms, trains=encoding) add packs for the backward pass. The first step that changes
 * a matrix, and a change of the weights, end this state: then every matrix has its place, and its packs, in
 * float.
 *
 * Copies of such a model, for a fork or with another encoding, share the packs, which nothing writes.
 *
 * A pack has 16 bits an element where every value of the matrix has an exact form in bf16 or half precision,
 * as it has if the file stores it so. Products widen the elements, so all bits are those of packs in float.
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pages.h"
#include "base/progress.h"
#include "model/model_int.h"

bool pw_model_one_copy(const struct pw_backend_ops *ops)
{
    return ops->host && ops->unpack != NULL;
}

/* The matrices of the linear operations, and the embedding unless it is the head. */
static int n_mats(const struct pw_model *m)
{
    return pw_mats(&m->cfg) + (m->cfg.tied ? 0 : 1);
}

static size_t floats_of(const struct pw_mat *mat)
{
    return (size_t)mat->out * (size_t)mat->in;
}

static size_t pack_floats(const struct pw_model *m, const struct pw_mat *mat, enum pw_stored stored,
                          bool backward)
{
    size_t n = m->ops->mat_pack_floats(mat->out, mat->in, backward);
    n = stored == PW_STORED_F32 ? n : (n + 1) / 2;
    return pw_whole_lines(n);
}

/* Offset of a matrix among the parameters. */
static size_t offset_of(const struct pw_model *m, const struct pw_mat *mat)
{
    return (size_t)(mat->w - m->p);
}

static size_t reserved_floats(const struct pw_model *m)
{
    size_t sum = 0;

    for (int i = 0; i < n_mats(m); i++)
        sum += pack_floats(m, &m->mats[i], PW_STORED_F32, false);
    return sum;
}

/* The packs of one or several models. */
struct pw_packs {
    float *at;
    size_t floats;
    atomic_int models;
};

/* Reserves packs for one model. */
static enum pw_code reserve_packs(struct pw_model *m, struct pw_err *err)
{
    struct pw_packs *r = pw_alloc(1, sizeof *r);

    r->floats = reserved_floats(m);
    r->at = pw_pages_reserve(r->floats * sizeof(float));
    if (r->at == NULL) {
        free(r);
        return pw_fail(err, PW_ENOMEM, "out of memory for the packed weights");
    }
    pw_pages_huge(r->at, r->floats * sizeof(float));
    r->models = 1;
    m->reserve = r;
    m->pack = r->at;
    return PW_OK;
}

void pw_packed_fini(struct pw_model *m)
{
    struct pw_packs *r = m->reserve;

    m->reserve = NULL;
    m->pack = NULL;
    if (r == NULL || atomic_fetch_sub(&r->models, 1) > 1)
        return;
    pw_pages_free(r->at, r->floats * sizeof(float));
    free(r);
}

enum pw_code pw_packed_init(struct pw_model *m, struct pw_err *err)
{
    if (!m->cfg.tied)
        m->mats[n_mats(m) - 1] = (struct pw_mat){
            .w = m->p + m->lay.embed, .out = m->cfg.vocab, .in = pw_config_embed_width(&m->cfg)};
    for (int i = 0; i < n_mats(m); i++)
        pw_pages_close(m->p + offset_of(m, &m->mats[i]), floats_of(&m->mats[i]) * sizeof(float));
    return reserve_packs(m, err);
}

/* Returns the matrix with parameter `at`; NULL: none. *until receives where the matrix ends, or where the
 * next one begins. */
static struct pw_mat *mat_at(const struct pw_model *m, size_t at, size_t *until)
{
    *until = m->lay.size;
    for (int i = 0; i < n_mats(m); i++) {
        struct pw_mat *mat = &m->mats[i];
        size_t from = offset_of(m, mat), to = from + floats_of(mat);
        if (at >= from && at < to) {
            *until = to;
            return mat;
        }
        if (from > at && from < *until)
            *until = from;
    }
    return NULL;
}

bool pw_packed_has(const struct pw_model *m, const struct pw_param *p)
{
    size_t until;

    return m->packed && mat_at(m, p->offset, &until) != NULL;
}

/* ---- the form of the elements */

static bool some_bf16(const float *x, size_t n)
{
    uint32_t low = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        low |= bits & 0xffff;
    }
    return low == 0;
}

/* Finite numbers of half precision: 11 bits from 2^-14 to below 2^16, or multiples of 2^-24. */
static bool some_f16(const float *x, size_t n)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        float size;
        memcpy(&u, x + i, sizeof u);
        u &= 0x7fffffff;
        memcpy(&size, &u, sizeof size);
        bool large = u >= 0x38800000; /* 2^-14 */
        float units = large ? 0 : size * 0x1p24f;
        wrong |= large ? u >= 0x47800000 || (u & 0x1fff) != 0 : units != (float)(int32_t)units;
    }
    return wrong == 0;
}

/* Have all values this form? Most matrices that lack it show that in their first values. */
static bool all_have(bool (*some)(const float *x, size_t n), const float *x, size_t n)
{
    enum { SOME = 1024 };
    bool all = true;

    for (size_t i = 0; i < n && all; i += SOME)
        all = some(x + i, n - i < SOME ? n - i : SOME);
    return all;
}

static enum pw_stored form_of(const float *x, size_t n)
{
    if (all_have(some_bf16, x, n))
        return PW_STORED_BF16;
    return all_have(some_f16, x, n) ? PW_STORED_F16 : PW_STORED_F32;
}

/* ---- filling */

/* Packs the values of a matrix behind the packs so far. */
static void pack(struct pw_model *m, struct pw_mat *mat, const float *values)
{
    mat->stored = form_of(values, floats_of(mat));
    mat->pack = m->pack + m->pack_floats;
    m->pack_floats += pack_floats(m, mat, mat->stored, false);
    assert(m->pack_floats <= m->reserve->floats);
    struct pw_mat filled = *mat;
    filled.w = values;
    m->ops->prepare(m->be, &filled, 1);
}

/* Memory for the values of one matrix. It stays for the next ones, unless it is much larger than they are. */
struct room {
    float *at;
    size_t floats;
};

static void free_room(struct room *r)
{
    pw_block_free(r->at, r->floats * sizeof *r->at);
    *r = (struct room){0};
}

static bool room_for(struct room *r, size_t n)
{
    if (r->floats >= n && r->floats <= 4 * n)
        return true;
    free_room(r);
    r->at = pw_block_take(n * sizeof *r->at);
    r->floats = r->at != NULL ? n : 0;
    return r->at != NULL;
}

static enum pw_code fill_tensor(struct pw_model *m, const struct pw_param *p, struct room *room,
                                pw_model_fill *fill, void *arg, struct pw_err *err)
{
    size_t end, begin = 0, n = pw_param_count(p);
    struct pw_mat *mat = mat_at(m, p->offset, &end);
    float *to = m->p + p->offset;
    bool filled = false;

    if (mat != NULL) { /* tensors of a joint matrix follow each other */
        begin = offset_of(m, mat);
        if (p->offset == begin && !room_for(room, floats_of(mat)))
            return pw_fail(err, PW_ENOMEM, "out of memory for a tensor of %zu MiB",
                           floats_of(mat) * sizeof(float) >> 20);
        to = room->at + (p->offset - begin);
    }
    enum pw_code code = fill(arg, p, to, &filled, err);
    if (code == PW_OK && !filled)
        pw_param_init(p, to, m->seed, 0, n);
    if (code == PW_OK && mat != NULL && p->offset + n == end)
        pack(m, mat, room->at);
    return code;
}

/* Embedding and head, the largest matrices of most models, come first: a matrix is there in float while it is
 * packed, and then few others are there. */
enum pw_code pw_packed_fill(struct pw_model *m, int tensors, pw_model_fill *fill, void *arg,
                            struct pw_err *err)
{
    struct room room = {0};
    enum pw_code code = PW_OK;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < tensors && code == PW_OK; i++) {
            const struct pw_param *p = &m->lay.params[i];
            bool first = p->offset == m->lay.embed || p->offset == m->lay.head;
            if (first != (pass == 0))
                continue;
            code = fill_tensor(m, p, &room, fill, arg, err);
            if (code == PW_OK)
                code = pw_progress_add(pw_param_count(p) * sizeof(float), err);
        }
    free_room(&room);
    return code;
}

void pw_packed_share(struct pw_model *next, const struct pw_model *other, size_t end)
{
    pw_packed_fini(next);
    next->reserve = other->reserve;
    atomic_fetch_add(&next->reserve->models, 1);
    next->pack = other->pack;
    next->pack_floats = other->pack_floats;
    for (int i = 0; i < n_mats(next); i++) {
        next->mats[i].pack = other->mats[i].pack;
        next->mats[i].stored = other->mats[i].stored;
    }
    for (size_t at = 0, until; at < end; at = until)
        if (mat_at(next, at, &until) == NULL) {
            until = until < end ? until : end;
            memcpy(next->p + at, other->p + at, (until - at) * sizeof(float));
        }
}

/* ---- the backward pass */

/* Sets the places of packs for linear_dx from `to` on; NULL: nowhere. Returns their floats. */
static size_t place_back(struct pw_model *m, float *to)
{
    size_t used = 0;

    for (int i = 0; i < pw_mats(&m->cfg); i++) {
        struct pw_mat *mat = &m->mats[i];
        mat->back = to != NULL ? to + used : NULL;
        used += pack_floats(m, mat, mat->stored, true);
    }
    return used;
}

enum pw_code pw_packed_reserve_back(struct pw_model *m, struct pw_err *err)
{
    enum pw_code code = pw_memory_take(m, &m->back, place_back(m, NULL) * sizeof(float), err);

    if (code != PW_OK)
        return code;
    if (m->back == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for the packed weights");
    place_back(m, m->back);
    m->ops->pack_back(m->be, m->mats, pw_mats(&m->cfg));
    return PW_OK;
}

/* ---- reading */

void pw_packed_read(const struct pw_model *m, float *out, size_t offset, size_t n)
{
    while (n > 0) {
        size_t until;
        const struct pw_mat *mat = mat_at(m, offset, &until);
        size_t some = until - offset < n ? until - offset : n;
        if (mat != NULL)
            m->ops->unpack(out, mat, offset - offset_of(m, mat), some);
        else
            memcpy(out, m->p + offset, some * sizeof *out);
        out += some;
        offset += some;
        n -= some;
    }
}

const struct pw_mat *pw_packed_embed(const struct pw_model *m)
{
    return m->cfg.tied ? pw_end_mat(m, PW_END_HEAD) : &m->mats[n_mats(m) - 1];
}

size_t pw_model_one_copy_bytes(const struct pw_model *m)
{
    size_t floats = m->lay.size;

    if (!m->packed)
        return 0;
    for (int i = 0; i < n_mats(m); i++)
        floats -= floats_of(&m->mats[i]);
    return (floats + m->pack_floats) * sizeof(float);
}

void pw_packed_end(struct pw_model *m, bool keep)
{
    if (!m->packed)
        return;
    pw_pages_open(m->p, m->lay.size * sizeof(float));
    pw_pages_huge(m->p, m->lay.size * sizeof(float));
    for (int i = 0; i < n_mats(m); i++) {
        struct pw_mat *mat = &m->mats[i];
        if (keep)
            m->ops->unpack(m->p + offset_of(m, mat), mat, 0, floats_of(mat));
        mat->stored = PW_STORED_F32;
        mat->back = NULL;
    }
    m->packed = false;
    m->ops->free(m->be, m->back);
    m->back = NULL;
    if (m->reserve->models == 1) {
        pw_pages_drop(m->pack, m->reserve->floats * sizeof(float));
        return;
    }
    pw_packed_fini(m); /* other models need these packs */
    if (reserve_packs(m, NULL) != PW_OK)
        pw_exhausted(reserved_floats(m) * sizeof(float));
}
