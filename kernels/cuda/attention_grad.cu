/* attention_grad.cu - the gradients of attention in mode fast: the fused pass, and before and after it the
 * gradients of a bias by distance and of relative keys, from maps of dS. */
#include "kernels/cuda/attention_bwd.h"

enum {
    CHAINS = 32, /* parts of the sequences, for the gradient of the bias; fewer if their sums exceed SUMS */
    SUMS = 1 << 20,  /* floats */
    MAPS = 16 << 20, /* floats of dS at a time, or those of one sequence if it has more */
};

/* The plan: dS of `turn` sequences at a time, the gradient of the bias in `chains` partial sums. */
struct plan {
    size_t sums, maps, index, dots, by_row, keys; /* numbers of floats, consecutive in scratch */
    int turn, chains;
};

static struct plan plan_of(const struct pw_attend &a)
{
    struct plan p = {};
    size_t heads = (size_t)a.heads, longest = (size_t)a.longest;
    if ((a.bias == NULL && a.keys == NULL) || a.rows == 0)
        return p;
    size_t turn = MAPS / (heads * longest * longest);
    p.turn = turn < 1 ? 1 : turn < (size_t)a.n ? (int)turn : a.n;
    p.maps = heads * longest * (p.turn == a.n ? a.rows : (size_t)p.turn * longest);
    if (a.bias != NULL) {
        size_t sums = pw_bias_sums_floats(a), most = SUMS / sums < 1 ? 1 : SUMS / sums;
        p.chains = a.n < CHAINS ? a.n : CHAINS;
        p.chains = (size_t)p.chains < most ? p.chains : (int)most;
        p.sums = (size_t)p.chains * sums;
        p.index = pw_bias_index_ints(a);
    }
    p.dots = p.by_row = pw_relative_floats(a);
    p.keys = pw_relative_partial(a);
    return p;
}

size_t pw_cuda_attention_partial(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct plan p = plan_of(pw_attend_of(NULL, a, NULL, seqs));
    return p.sums + p.maps + p.index + p.dots + p.by_row + p.keys;
}

/* Pointers to the parts of scratch. */
struct parts {
    float *sums, *maps, *dots, *by_row, *keys;
    int *index;
};

static struct parts parts_of(const struct plan &p, float *partial)
{
    struct parts at = {};
    at.sums = partial;
    at.maps = at.sums + p.sums;
    at.index = (int *)(at.maps + p.maps);
    at.dots = at.maps + p.maps + p.index;
    at.by_row = at.dots + p.dots;
    at.keys = at.by_row + p.by_row;
    return at;
}

bool pw_cuda_attention_may_wait(const struct pw_attn *a, const struct pw_seqs *seqs)
{
    struct pw_attend all = pw_attend_of(NULL, a, NULL, seqs);
    return a->bias != NULL && plan_of(all).turn == all.n;
}

static cudaError_t bias_end(cudaStream_t s, float *d_bias, const struct pw_attend &a, const struct plan &plan,
                            const struct parts &at)
{
    return pw_chains_add(s, d_bias, at.sums, pw_bias_sums_floats(a), plan.chains);
}

cudaError_t pw_cuda_attention_bias_begin(cudaStream_t s, const struct pw_attn *attn, const int *pos,
                                         const struct pw_seqs *seqs, float *partial)
{
    struct pw_attend a = pw_attend_of(NULL, attn, pos, seqs);
    struct plan plan = plan_of(a);
    return a.rows > 0 ? pw_bias_index(s, parts_of(plan, partial).index, a) : cudaSuccess;
}

cudaError_t pw_cuda_attention_bias(cudaStream_t s, float *d_bias, const struct pw_attn *attn, const int *pos,
                                   const struct pw_seqs *seqs, float *partial)
{
    struct pw_attend a = pw_attend_of(NULL, attn, pos, seqs);
    struct plan plan = plan_of(a);
    struct parts at = parts_of(plan, partial);
    if (a.rows == 0)
        return cudaSuccess;
    cudaError_t e = pw_bias_sums(s, at.sums, at.maps, at.index, a, 0, a.n, plan.chains, false);
    return e == cudaSuccess ? bias_end(s, d_bias, a, plan, at) : e;
}

cudaError_t pw_cuda_attention_bwd_fast(cudaStream_t s, float *dqkv, uint16_t *copy, float *d_bias,
                                       float *d_keys, const float *dz, const float *z, const float *qkv,
                                       const float *save, const struct pw_attn *attn, const int *pos,
                                       const struct pw_seqs *seqs, float *partial, bool later, bool bf16)
{
    struct pw_turned_attend a = pw_turned_attend_of(qkv, attn, pos, seqs);
    struct pw_backward b = {dqkv, copy, dz, z, save, NULL};
    if (a.rows == 0)
        return cudaSuccess;
    struct plan plan = plan_of(a);
    struct parts at = parts_of(plan, partial);
    bool bias = d_bias != NULL && !later, maps = d_bias != NULL || a.keys != NULL;
    int turn = maps ? plan.turn : a.n;
    cudaError_t e = cudaSuccess;
    a.fours = a.fours && pw_fours(dqkv, dz, z, copy);
    b.ds = maps ? at.maps : NULL;
    if (a.keys != NULL) {
        e = pw_relative_dots(s, at.dots, a);
        a.dots = at.dots;
    }
    if (e == cudaSuccess && bias)
        e = pw_bias_index(s, at.index, a);
    for (int first = 0; first < a.n && e == cudaSuccess; first += turn) {
        int last = first + turn < a.n ? first + turn : a.n;
        e = pw_attention_bwd(s, b, a, first, last, bf16);
        if (e == cudaSuccess && bias)
            e = pw_bias_sums(s, at.sums, b.ds, at.index, a, first, last, plan.chains, first > 0);
        if (e == cudaSuccess && a.keys != NULL)
            e = pw_relative_sums(s, at.by_row, b.ds, a, first, last);
    }
    if (e == cudaSuccess && bias)
        e = bias_end(s, d_bias, a, plan, at);
    if (e == cudaSuccess && a.keys != NULL)
        e = pw_relative_dq(s, dqkv, copy, at.by_row, a);
    if (e == cudaSuccess && d_keys != NULL)
        e = pw_relative_dkeys(s, d_keys, at.by_row, a, at.keys);
    return e;
}
