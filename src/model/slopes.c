/* slopes.c - the slopes of an encoding that has them (pe.h, kernels/backend.h): two numbers of each row and
 * head, made of q and k as attention reads them, that a distance is multiplied by.
 *
 * tune's stretch and gain change a distance and a slope by a factor. Both are factors of the fixed slopes
 * here, so the backend needs neither. */
#include "model/reads.h"

/* The learned numbers of layer l, in p or in a gradient of the same layout. */
struct place {
    size_t omega, query, key; /* PW_ABSENT: that part has no slopes */
};

static struct place find_layer(const struct pw_model *m, int l)
{
    size_t L = (size_t)m->cfg.layers, H = (size_t)m->cfg.heads, HD = H * (size_t)m->cfg.head_width;
    struct place at = {m->lay.pe + (size_t)l * H, PW_ABSENT, PW_ABSENT};
    size_t next = m->lay.pe + L * H;
    bool query, key;

    m->pe.pe->slopes(m->pe.o.bytes, &query, &key);
    if (query) {
        at.query = next + (size_t)l * HD;
        next += L * HD;
    }
    if (key)
        at.key = next + (size_t)l * HD;
    return at;
}

static struct pw_slopes slopes_of(const struct pw_model *m, int l)
{
    struct place at = find_layer(m, l);
    struct pw_slopes s = {.heads = m->cfg.heads,
                          .head_width = m->cfg.head_width,
                          .omega = m->p + at.omega,
                          .query = pw_at(m->p, at.query),
                          .key = pw_at(m->p, at.key)};
    double factor = (double)m->pe.tune.stretch * (double)m->pe.tune.gain;

    for (int h = 0; h < s.heads; h++)
        s.slope[h] = (float)(factor * pw_alibi_slope(h, s.heads));
    return s;
}

void pw_slopes_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                       struct pw_made *made, const struct pw_cache *cache, int R)
{
    size_t row = 2 * (size_t)m->cfg.heads;
    float *slopes = a->slopes;

    if (!pw_has_slopes(m))
        return;
    *made = (struct pw_made){.slopes = slopes};
    if (cache != NULL) {
        made->slopes = cache->slopes + (size_t)l * cache->cap * row;
        slopes = cache->slopes + ((size_t)l * cache->cap + (size_t)cache->T) * row;
    }
    struct pw_slopes s = slopes_of(m, l);
    m->ops->slopes_fwd(c, slopes, a->qkv, &s, R);
    attn->made = made;
}

void pw_slopes_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                        int l, int R)
{
    if (!pw_has_slopes(m))
        return;
    struct place at = find_layer(m, l);
    struct pw_slopes s = slopes_of(m, l);
    struct pw_slopes_grad d = {pw_grad_at(m, to, at.omega), pw_grad_at(m, to, at.query),
                               pw_grad_at(m, to, at.key)};
    m->ops->slopes_bwd(c, w->d_qkv, &d, w->d_slopes, w->acts[l].qkv, &s, R);
}
