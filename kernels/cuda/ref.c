/* ref.c - the mode ref: float32 on CUDA cores, in the order of additions that backend.h defines. Its bits
 * equal the cpu backend's, so devices are tested with it. It is not fast. */
#include "kernels/cuda/members.h"

/* Rounds a size up, so that the tensors after it are aligned for reads of four floats. */
static size_t up(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

size_t pw_cuda_ref_pack_floats(int out, int in, bool backward)
{
    (void)out;
    (void)in;
    (void)backward;
    return 0;
}

void pw_cuda_ref_prepare(struct pw_backend *be, const struct pw_mat *mats, int n)
{
    (void)be; /* weights are read unpacked */
    (void)mats;
    (void)n;
}

void pw_cuda_ref_norm_bwd(struct pw_ctx *c, float *dx, float *d_gain, float *d_bias, const float *dy,
                          const float *x, const float *stat, const float *gain, enum pw_norm kind,
                          float scale, int R, int C)
{
    PW_CUDA_DO(c, "norm_bwd",
               pw_cuda_norm_bwd_ref(c->stream, dx, d_gain, d_bias, dy, x, stat, gain, kind, scale, R, C));
}

void pw_cuda_ref_linear_fwd(struct pw_ctx *c, float *y, float *pre, const float *x, const struct pw_mat *m,
                            const float *bias, const float *residual, enum pw_act act, int R)
{
    PW_CUDA_DO(c, "linear_fwd",
               pw_cuda_linear_fwd_ref(c->stream, y, pre, x, m->w, bias, residual, act, R, m->in, m->out));
}

void pw_cuda_ref_linear_dx(struct pw_ctx *c, float *dx, const float *dy, const struct pw_mat *m,
                           enum pw_act act, const float *saved, float scale, int R)
{
    PW_CUDA_DO(c, "linear_dx",
               pw_cuda_linear_dx_ref(c->stream, dx, dy, m->w, act, saved, scale, R, m->in, m->out));
}

void pw_cuda_ref_linear_dw(struct pw_ctx *c, float *dw, float *d_bias, const float *dy, const float *x,
                           bool add, int out, int in, int R)
{
    PW_CUDA_DO(c, "linear_dw", pw_cuda_linear_dw_ref(c->stream, dw, d_bias, dy, x, add, out, in, R));
}

/* ---- attention */

size_t pw_cuda_turned_bytes(const struct pw_attn *a, size_t bytes, int R)
{
    size_t floats = 3 * (size_t)R * (size_t)a->heads * (size_t)a->head_width;
    return a->turn != NULL ? up(bytes) + floats * sizeof(float) : bytes;
}

void *pw_cuda_turned(struct pw_ctx *c, size_t bytes, const float **qkv, const struct pw_attn *a,
                     const int *pos, int R)
{
    char *room = pw_cuda_scratch(c, pw_cuda_turned_bytes(a, bytes, R));
    if (room == NULL || a->turn == NULL)
        return room;
    float *to = (float *)(room + up(bytes));
    PW_CUDA_DO(c, "rotate",
               pw_cuda_rotate(c->stream, to, *qkv, a->turn, pos, false, a->heads, a->head_width, R));
    *qkv = to;
    return room;
}

/* The probabilities, sequence by sequence [H,T,T]; then the derivatives of the function of scores, the shares
 * of a scan, the gates and the places of contextual positions, or the votes [T,T] of each sequence. A
 * function of scores that learns has the scores that it reads behind its derivatives. */
size_t pw_cuda_ref_attn_save_floats(const struct pw_attn *a, const int *start, int n_seqs)
{
    size_t n = 0, votes = 0;
    for (int s = 0; s < n_seqs; s++) {
        size_t T = (size_t)(start[s + 1] - start[s]);
        n += (size_t)a->heads * T * T;
        votes += a->scan.kind == PW_SCAN_SELECT ? T * T : 0;
    }
    bool two = a->score != NULL || a->scan.kind == PW_SCAN_STICK;
    bool three = (a->score != NULL && a->learned != NULL) || a->scan.kind == PW_SCAN_CONTEXT;
    return three ? 3 * n : two ? 2 * n : n + votes;
}

void pw_cuda_ref_attention_fwd(struct pw_ctx *c, float *z, float *save, const struct pw_maps *maps,
                               const float *qkv, const struct pw_attn *a, const int *pos,
                               const struct pw_seqs *s)
{
    size_t *at = pw_cuda_turned(c, pw_cuda_attention_at(a, s), &qkv, a, pos, s->rows);
    float *probs = maps != NULL ? maps->probs : NULL;
    PW_CUDA_DO(c, "attention_fwd", pw_cuda_attention_fwd_ref(c->stream, z, save, probs, qkv, a, pos, s, at));
    if (maps != NULL && maps->scores != NULL)
        PW_CUDA_DO(c, "scores", pw_cuda_scores(c->stream, maps->scores, qkv, a, pos, s, at));
}

/* The places of maps, followed by dS. */
static size_t bwd_bytes(const struct pw_attn *a, const struct pw_seqs *s)
{
    return up(pw_cuda_attention_at(a, s)) + pw_cuda_attention_ds(a, s) * sizeof(float);
}

/* Scratch of the operations that make wide q and k, or the rows of a walk, and their gradients. Planes are as
 * many as a head can have. */
static size_t made_bytes(const struct pw_attn *a, int R)
{
    int H = a->heads, D = a->head_width;
    struct pw_walk_rows walk = {.heads = H, .head_width = D, .taps = 1}; /* or more */
    if (a->walk != NULL)
        return pw_cuda_walk_bwd_floats(&walk, R) * sizeof(float);
    if (a->made == NULL || a->made->wide == NULL)
        return 0;
    struct pw_polar polar = {.heads = H, .head_width = D};
    struct pw_planes planes = {.heads = H, .head_width = D, .planes = D / 2};
    if (a->made->width > D)
        return pw_cuda_polar_bwd_floats(&polar, R) * sizeof(float);
    size_t rows = pw_cuda_planes_bwd_floats(&planes, R) * sizeof(float),
           make = pw_cuda_planes_make_bytes(H, D / 2, D);
    return rows > make ? rows : make;
}

size_t pw_cuda_ref_beside(const struct pw_attn *a, const struct pw_seqs *s, int widest)
{
    (void)widest; /* products need no scratch */
    size_t attention = pw_cuda_turned_bytes(a, bwd_bytes(a, s), s->rows), made = made_bytes(a, s->rows);
    return pw_cuda_room_for(attention > made ? attention : made);
}

void pw_cuda_ref_attention_bwd(struct pw_ctx *c, float *dqkv, float *d_bias, float *d_keys, float *d_terms,
                               const float *dz, const float *z, const float *qkv, const float *save,
                               const struct pw_attn *a, const int *pos, const struct pw_seqs *s)
{
    char *room = pw_cuda_turned(c, bwd_bytes(a, s), &qkv, a, pos, s->rows);
    (void)z;
    if (room == NULL)
        return;
    float *ds = (float *)(room + up(pw_cuda_attention_at(a, s)));
    PW_CUDA_DO(c, "attention_bwd",
               pw_cuda_attention_bwd_ref(c->stream, dqkv, d_bias, d_keys, d_terms, dz, qkv, save, a, pos, s,
                                         (size_t *)room, ds));
    if (a->turn != NULL && !a->turn->learned)
        PW_CUDA_DO(
            c, "rotate",
            pw_cuda_rotate(c->stream, dqkv, dqkv, a->turn, pos, true, a->heads, a->head_width, s->rows));
}
