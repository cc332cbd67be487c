/* flops.c - the work of a training step, counted from shapes. Arms of different size or encoding are compared
 * at equal budgets of it.
 *
 * The convention of Kaplan et al. 2020, section 2.1: a multiply-add is two operations, and the backward pass
 * costs twice the forward pass, so
 *
 *   matrices   6 * (rows * L * (2*C*HD + 2*C*KD + 2*C*F) + scored * C*V), with 3*C*F if the MLP is gated, and
 *              scored * E*V + (rows + scored) * C*E with embed_width=E
 *   attention 12 * L * HD * pairs       q.k and the sum over v, 2 * HD * pairs multiply-adds a layer; 18 if
 *                                       the encoding makes q and k twice as wide (pope)
 *
 * The ragged batch counts as it is: no padding, and the head at scored rows only. Of the query-key pairs
 * those count that the mask shows: T(T+1)/2 for a causal sequence of T, T*T without the mask. Embedding,
 * norms, activations, softmax, the encoding with its gates, adapters and optimiser are not counted: together
 * they are a few per cent, and differ between machines. Nor does it count that steps can leave out gradients
 * (trains=). */
#include "model/model.h"

int64_t pw_model_flops(const struct pw_config *cfg, const struct pw_pe *pe, const struct pw_batch *b)
{
    int64_t C = cfg->width, HD = (int64_t)cfg->heads * cfg->head_width, F = cfg->ffn, pairs = 0;
    int64_t KD = (int64_t)pw_config_kv_heads(cfg) * cfg->head_width, mlp = (cfg->gated ? 3 : 2) * C * F;

    for (int s = 0; s < b->n_seqs; s++) {
        int64_t T = b->start[s + 1] - b->start[s];
        pairs += cfg->causal ? T * (T + 1) / 2 : T * T;
    }
    int64_t E = pw_config_embed_width(cfg), ends = b->n_scored * E * cfg->vocab;
    if (cfg->embed_width > 0)
        ends += (b->n_rows + b->n_scored) * C * E;
    return 6 * (b->n_rows * cfg->layers * (2 * C * HD + 2 * C * KD + mlp) + ends) +
           (pe->uses & PW_PE_POLAR ? 18 : 12) * cfg->layers * HD * pairs;
}
