/* ablate.c - heads with replaced output, in every pass of a model.
 *
 * The replaced tensor is z, the head's own D numbers per row, before W_o mixes the heads. This removes
 * exactly what the head writes to the stream. (A slice of W_o's output belongs to no single head; to ablate
 * that slice is a common mistake.) The attention itself is still computed, so its map stays visible.
 *
 * The replacement is constant: a row of a table per position, or zeros. So in the backward pass the gradient
 * of z ends there. The head's query, key and value weights, and its entries in a learned bias, get no
 * gradient. The columns of W_o for this head see the constant as input: no gradient with zeros, some with a
 * table. AdamW still moves all these weights by momentum and decay.
 *
 * Training, evaluation, inspection and cached decoding share the same two places (forward.c, backward.c). A
 * table is indexed by position alone, so cached decoding has the bits of the whole sequence, with any threads
 * and chunks. Without replaced heads this file changes no number. */
#include <assert.h>
#include <stdlib.h>

#include "model/model_int.h"

static struct pw_replaced *head_of(const struct pw_model *m, int l, int h)
{
    assert(l >= 0 && l < m->cfg.layers && h >= 0 && h < m->cfg.heads);
    return m->replaced != NULL ? &m->replaced[l * m->cfg.heads + h] : NULL;
}

static size_t table_bytes(const struct pw_model *m)
{
    return (size_t)m->cfg.context * m->cfg.head_width * sizeof(float);
}

/* Call after a change: earlier results of passes are out of date. */
static void changed(struct pw_model *m)
{
    pw_model_abandon(m);
    pw_model_changed(m);
    pw_model_formed(m);
}

/* Replaces one head; frees an earlier replacement. */
static enum pw_code replace(struct pw_model *m, struct pw_replaced *head, uint8_t as, const float *table,
                            struct pw_err *err)
{
    float *copy = table != NULL ? m->ops->alloc(m->be, table_bytes(m)) : NULL;

    if (table != NULL && copy == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for a head's replacement");
    if (table != NULL)
        m->ops->upload(m->be, copy, table, table_bytes(m));
    m->ops->free(m->be, head->table);
    *head = (struct pw_replaced){.as = as, .table = copy};
    return m->ops->sync(m->be, err);
}

static struct pw_replaced *make_list(const struct pw_model *m, struct pw_err *err)
{
    struct pw_replaced *list = calloc((size_t)m->cfg.layers * m->cfg.heads, sizeof *list);

    if (list == NULL)
        pw_fail(err, PW_ENOMEM, "out of memory for a head's replacement");
    return list;
}

/* Does the list replace any head? */
static bool replaces(const struct pw_model *m, const struct pw_replaced *list)
{
    for (int i = 0; i < m->cfg.layers * m->cfg.heads; i++)
        if (list[i].as)
            return true;
    return false;
}

/* A list without heads is freed, because images have the list: they must not depend on the past. */
static void drop_empty_list(struct pw_model *m)
{
    if (!replaces(m, m->replaced))
        pw_replaced_fini(m);
}

enum pw_code pw_model_replace_head(struct pw_model *m, int l, int h, uint8_t as, const float *table,
                                   struct pw_err *err)
{
    enum pw_code code;

    assert(as > 0);
    if (m->replaced == NULL)
        m->replaced = make_list(m, err);
    if (m->replaced == NULL)
        return PW_ENOMEM;
    code = replace(m, head_of(m, l, h), as, table, err);
    drop_empty_list(m);
    changed(m);
    return code;
}

void pw_model_restore_head(struct pw_model *m, int l, int h)
{
    struct pw_replaced *head = head_of(m, l, h);

    if (head == NULL || head->as == 0)
        return;
    m->ops->free(m->be, head->table);
    *head = (struct pw_replaced){0};
    drop_empty_list(m);
    changed(m);
}

uint8_t pw_model_replaced(const struct pw_model *m, int l, int h)
{
    const struct pw_replaced *head = head_of(m, l, h);

    return head != NULL ? head->as : 0;
}

void pw_replaced_put(const struct pw_model *m, struct pw_ctx *c, float *z, int l, const int *pos, int R,
                     bool gradient)
{
    for (int h = 0; m->replaced != NULL && h < m->cfg.heads; h++) {
        const struct pw_replaced *head = head_of(m, l, h);
        if (head->as)
            m->ops->put_head(c, z, gradient ? NULL : head->table, pos, h, m->cfg.heads, m->cfg.head_width, R);
    }
}

enum pw_code pw_replaced_copy(struct pw_model *to, struct pw_model *from, struct pw_err *err)
{
    float *table = from->replaced != NULL ? malloc(table_bytes(from)) : NULL;
    enum pw_code code = PW_OK;

    if (from->replaced != NULL && table == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory for a head's replacement");
    for (int i = 0; from->replaced != NULL && code == PW_OK && i < from->cfg.layers * from->cfg.heads; i++) {
        const struct pw_replaced *head = &from->replaced[i];
        if (!head->as)
            continue;
        if (head->table != NULL)
            from->ops->download(from->be, table, head->table, table_bytes(from));
        code = from->ops->sync(from->be, err);
        if (code == PW_OK)
            code = pw_model_replace_head(to, i / to->cfg.heads, i % to->cfg.heads, head->as,
                                         head->table != NULL ? table : NULL, err);
    }
    free(table);
    return code;
}

void pw_replaced_free(struct pw_model *m, struct pw_replaced *list)
{
    for (int i = 0; list != NULL && i < m->cfg.layers * m->cfg.heads; i++)
        m->ops->free(m->be, list[i].table);
    free(list);
}

enum pw_code pw_replaced_make(struct pw_replaced **out, struct pw_model *m, const int64_t *as,
                              const int64_t *at, const float *tables, struct pw_err *err)
{
    size_t floats = table_bytes(m) / sizeof *tables;
    enum pw_code code = PW_OK;

    *out = make_list(m, err);
    if (*out == NULL)
        return PW_ENOMEM;
    for (int i = 0; i < m->cfg.layers * m->cfg.heads && code == PW_OK; i++)
        if (as[i] > 0)
            code = replace(m, &(*out)[i], (uint8_t)as[i], at[i] < 0 ? NULL : tables + (size_t)at[i] * floats,
                           err);
    if (code == PW_OK && replaces(m, *out))
        return PW_OK;
    pw_replaced_free(m, *out);
    *out = NULL;
    return code;
}

void pw_replaced_join(struct pw_model *m, struct pw_replaced *made)
{
    for (int i = 0; m->replaced != NULL && made != NULL && i < m->cfg.layers * m->cfg.heads; i++) {
        struct pw_replaced own = m->replaced[i];
        if (!made[i].as)
            continue;
        m->replaced[i] = made[i];
        made[i] = own;
    }
    if (m->replaced != NULL)
        pw_replaced_free(m, made);
    else
        m->replaced = made;
    changed(m);
}

void pw_replaced_take(struct pw_model *m, struct pw_replaced *list)
{
    pw_replaced_fini(m);
    m->replaced = list;
    changed(m);
}

void pw_replaced_fini(struct pw_model *m)
{
    pw_replaced_free(m, m->replaced);
    m->replaced = NULL;
}
