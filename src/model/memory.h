/* memory.h - a model's weights and moments in memory: memory.c, moments.c, packed.c, adapter.c. A part of
 * model_int.h, whose conventions hold here. */
#ifndef PW_MEMORY_H
#define PW_MEMORY_H
#include "model/model.h"

struct pw_param_layout;
struct pw_slot;
struct pw_work;

/* Rounds floats up to whole cache lines. */
static inline size_t pw_whole_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* ---- memory.c */
/* Allocates the parameters, which are undefined then, and their packed copies; pw_memory_fini frees all. */
enum pw_code pw_memory_init(struct pw_model *m, bool packed, struct pw_err *err);
void pw_memory_fini(struct pw_model *m);
/* Sets the places of the packs of n matrices, first those for the forward pass, then those for linear_dx: one
 * after the other from `to` on. NULL: nowhere. Returns their floats. */
size_t pw_packs_place_both(const struct pw_backend_ops *ops, struct pw_mat *mats, int n, float *to);
/* Allocates memory of the backend for *to, unless it is there. Memory of the host is zeroed, which takes
 * seconds for gigabytes. *to stays NULL without memory. Fails if the work was cancelled. */
enum pw_code pw_memory_take(struct pw_model *m, float **to, size_t bytes, struct pw_err *err);
/* Allocates packs for the backward pass, unless they are there or the backend needs none. Those of a packed
 * model are filled, too. */
enum pw_code pw_packs_reserve_back(struct pw_model *m, struct pw_err *err);
/* pw_packed_end, with packs in float afterwards. Call before the matrices change. */
void pw_model_unpack(struct pw_model *m, bool keep);

/* ---- moments.c */
/* Is tensor i to have moments and a gradient? */
typedef bool pw_wants(const void *arg, int i);
/* Gives places among moments and gradients to these tensors, too (wants NULL: to all), and sets lay->trained.
 */
void pw_places_set(struct pw_param_layout *lay, pw_wants *wants, const void *arg);
/* Makes the model ready for steps that change these tensors (wants NULL: all): moments, zeroed, and a
 * gradient, where they are missing, and packs for the backward pass. Existing moments stay. The first step
 * does it, so that a model that is only looked at has its weights alone. On failure nothing has changed. */
enum pw_code pw_model_reserve(struct pw_model *m, pw_wants *wants, const void *arg, struct pw_err *err);
/* The same for the tensors that the next step changes (m->trains). */
enum pw_code pw_model_reserve_step(struct pw_model *m, struct pw_err *err);
/* Zeroes the moments of all tensors, or of the encoding's alone; may overwrite m->host. */
void pw_moments_clear(struct pw_model *m, bool pe_only);
/* Copies one of the moments, m->m or m->v, to or from the host, in the layout of the parameters: of tensors
 * without moments, get writes zeros and put reads nothing. */
void pw_moments_get(struct pw_model *m, float *to, const float *moment);
void pw_moments_put(struct pw_model *m, float *moment, const float *from);
/* Returns where the gradient of the parameter at an offset is in a slot; NULL if the current steps do not
 * change it, or for PW_ABSENT. */
float *pw_grad_at(const struct pw_model *m, const struct pw_slot *slot, size_t offset);
/* Returns the place of the encoding's first parameter, which is there if m->m is. */
size_t pw_pe_place(const struct pw_model *m);

/* ---- packed.c: matrices that live in their packs alone. While m->packed is true, only these functions read
 * a matrix's values, vectors stay in m->p, and nothing writes a matrix. */
/* Makes a model packed whose parameters are fresh pages, and reserves its packs. On failure pw_packed_fini is
 * needed, too. */
enum pw_code pw_packed_init(struct pw_model *m, struct pw_err *err);
/* pw_model_fill_all of such a model. */
enum pw_code pw_packed_fill(struct pw_model *m, int tensors, pw_model_fill *fill, void *arg,
                            struct pw_err *err);
/* Gives `next`, a fresh packed model of the same backend and the same matrices, the packs of `other`, which
 * both then use, and the other parameters below offset `end`. */
void pw_packed_share(struct pw_model *next, const struct pw_model *other, size_t end);
/* Frees the packs of a model that was packed, unless another model uses them. */
void pw_packed_fini(struct pw_model *m);
/* Is the tensor in a pack? */
bool pw_packed_has(const struct pw_model *m, const struct pw_param *p);
/* Allocates packs for the backward pass, in the form of those for the forward pass, and fills them. */
enum pw_code pw_packed_reserve_back(struct pw_model *m, struct pw_err *err);
/* Copies n parameters from offset on to out. */
void pw_packed_read(const struct pw_model *m, float *out, size_t offset, size_t n);
/* Returns the matrix of the embedding. */
const struct pw_mat *pw_packed_embed(const struct pw_model *m);
/* Ends this state: all parameters are in m->p again, or are undefined there without keep. The caller sets the
 * places of the packs, and marks them as stale. A no-op for other models. */
void pw_packed_end(struct pw_model *m, bool keep);

/* ---- adapter.c: all are no-ops, or return 0, without adapters */
/* Allocates room for matrices W + B A, and the packs of A and B; the fini frees them. bytes: how much they
 * take. */
enum pw_code pw_adapters_init(struct pw_model *m, struct pw_err *err);
void pw_adapters_fini(struct pw_model *m);
size_t pw_adapters_bytes(const struct pw_model *m);
/* Computes all W + B A from the parameters, and packs them. */
void pw_adapters_merge(struct pw_model *m);
/* Adds the gradients of A and B of matrix k of layer l to the slot, from those of its output dy [R,out] and
 * from its input x [R,in]. */
void pw_adapter_gradient(struct pw_model *m, struct pw_ctx *c, struct pw_work *w, const struct pw_slot *to,
                         int l, int k, const float *dy, const float *x, int R);

#endif
