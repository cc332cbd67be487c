/* reads.h - encodings that read the tokens (PW_PE_CONTENT in pe.h): what a model computes for them in each
 * layer, before attention and after its backward pass.
 *
 * These functions belong to the pass over a chunk: any worker, no failure but that of pw_gates_init. Without
 * such an encoding they do nothing. */
#ifndef PW_MODEL_READS_H
#define PW_MODEL_READS_H
#include "model/model_int.h"

/* The scan of layer l, if the encoding has one. cache: NULL, or that of the sequence in decoding. */
static inline struct pw_scan pw_scan_of(const struct pw_model *m, int l, const struct pw_cache *cache)
{
    struct pw_scan s = {.kind = m->pe.pe->scan};
    if (cache != NULL && cache->lost != NULL)
        s.lost = cache->lost + (size_t)l * pw_lost_at(cache->lost_rows);
    if (s.kind == PW_SCAN_CONTEXT) {
        s.n = m->pe.pe->scan_rows(m->pe.o.bytes);
        s.rows = m->p + m->lay.size - (size_t)(m->cfg.layers - l) * (size_t)m->cfg.head_width * (size_t)s.n;
    }
    return s;
}

/* ---- gates.c: the projection of an encoding with terms or a mix, and what becomes of it; without, nothing
 * happens. */
static inline bool pw_has_terms(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_TERMS) != 0;
}
/* Numbers that the projection makes of a row: one for each head, or its weights of a mix; 0: none. */
int pw_gate_columns(const struct pw_model *m);
/* Floats of a layer's bank of a mix. */
size_t pw_bank_floats(const struct pw_model *m);
/* Allocates the packs of the projections; the fini frees them. bytes: how much they take. */
enum pw_code pw_gates_init(struct pw_model *m, struct pw_err *err);
void pw_gates_fini(struct pw_model *m);
size_t pw_gates_bytes(const struct pw_model *m);
/* Prepares the packs from the parameters. */
void pw_gates_prepare(struct pw_model *m);
/* Computes the terms of layer l's R rows from its normed input a->n1, and sets attn->terms; with a cache they
 * continue those of its sequence. Or computes the weights of a mix, and sets attn->mix to *mix. */
void pw_gates_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_mix *mix, const struct pw_seqs *seqs, const struct pw_cache *cache, int R);
/* Sets attn's terms or mix for the backward pass of attention in layer l. */
void pw_gates_attend(struct pw_model *m, struct pw_work *w, const struct pw_slot *to, int l,
                     struct pw_attn *attn, struct pw_mix *mix);
/* Adds to the slot the gradients of layer l's projection, and to dx [R,C] that of its input, from what
 * attention's backward pass has written. */
void pw_gates_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const struct pw_seqs *seqs, float *dx, int R);

/* ---- slopes.c: the slopes of an encoding that has them; without, nothing happens. */
static inline bool pw_has_slopes(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_SLOPES) != 0;
}
/* Computes the slopes of layer l's R rows from a->qkv, and sets *made and attn->made. With a cache they are
 * kept there. */
void pw_slopes_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                       struct pw_made *made, const struct pw_cache *cache, int R);
/* Adds to the slot the gradients of layer l's directions and factors, and to w->d_qkv, from w->d_slopes. */
void pw_slopes_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                        int l, int R);

/* ---- polar.c: q and k of an encoding in polar form; without, nothing happens. */
static inline bool pw_is_polar(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_POLAR) != 0;
}
/* Computes the wide q and k of layer l's R rows from a->qkv, and sets *made and attn->made. */
void pw_polar_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_made *made, const int *pos, int R);
/* Returns the numbers of q and k that the content part of the scores has, in *made; NULL: those of a->qkv. In
 * evaluation only. */
const struct pw_made *pw_polar_content(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a,
                                       struct pw_made *made, int R);
/* Adds to the slot the gradient of layer l's phases, and sets q and k of w->d_qkv from w->d_wide. */
void pw_polar_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const int *pos, int R);

/* ---- planes.c: q and k turned in learned planes; without such an encoding, nothing happens. */
static inline bool pw_has_planes(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_PLANES) != 0;
}
/* Turns q and k of layer l's R rows from a->qkv, and sets *made and attn->made. */
void pw_planes_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                       struct pw_made *made, const int *pos, int R);
/* Adds to the slot the gradient of layer l's log_factor, and to d_unit that of its unit vectors, and sets q
 * and k of w->d_qkv from w->d_wide. */
void pw_planes_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                        float *d_unit, int l, const int *pos, int R);

/* Entries of a head of q and k that the encoding makes; 0: it makes none. */
static inline int pw_wide_width(const struct pw_model *m)
{
    return pw_is_polar(m) ? 2 * m->cfg.head_width : pw_has_planes(m) ? m->cfg.head_width : 0;
}
/* Does it make numbers of q and k (struct pw_made)? */
static inline bool pw_makes(const struct pw_model *m)
{
    return pw_has_slopes(m) || pw_wide_width(m) > 0;
}

/* ---- walks.c: the rows of an encoding with a walk; without, nothing happens. */
static inline bool pw_walks(const struct pw_model *m)
{
    return (m->pe.pe->uses & PW_PE_WALK) != 0;
}
/* Allocates the packs of the projections; the fini frees them. bytes: how much they take. */
enum pw_code pw_walks_init(struct pw_model *m, struct pw_err *err);
void pw_walks_fini(struct pw_model *m);
size_t pw_walks_bytes(const struct pw_model *m);
/* Prepares the packs from the parameters. */
void pw_walks_prepare(struct pw_model *m);
/* Sets the places of a walk's arrays for R rows; take returns room for n floats. */
void pw_walks_carve(const struct pw_model *m, struct pw_walk_acts *a, size_t R,
                    float *(*take)(void *arg, size_t n), void *arg);
/* Floats that a decoder keeps of a row. */
size_t pw_walk_row(const struct pw_model *m);
/* Computes the vectors and factors of layer l's R rows from a->n1, and sets *walk and attn->walk. With a
 * cache they are kept there. */
void pw_walks_forward(struct pw_model *m, struct pw_ctx *c, struct pw_acts *a, int l, struct pw_attn *attn,
                      struct pw_walk *walk, const struct pw_seqs *seqs, const struct pw_cache *cache, int R);
/* Sets *walk and attn->walk for the backward pass of attention in layer l. */
void pw_walks_attend(const struct pw_model *m, const struct pw_work *w, int l, struct pw_attn *attn,
                     struct pw_walk *walk);
/* Adds to the slot the gradients of layer l's parameters, and to dx [R,C] that of their input, from what
 * attention's backward pass has written. */
void pw_walks_backward(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                       int l, const struct pw_seqs *seqs, float *dx, int R);

#endif
