/* selective.c - selective attention (Leviathan et al. 2024, arXiv 2410.02703). A token can decide that later
 * tokens need not read an earlier one: head 0 of each layer gives its votes besides its own attention.
 *
 *     v(k,j) = max(0, s_kj of head 0)     for 0 < j < k, and 0 otherwise
 *     score(i,j) = s_ij - sum over k < i of v(k,j)                  in all heads
 *
 * with s the scaled product of q and k. A vote counts from the next token on. No token votes on itself, so
 * every query can read its own key, nor on the first token, as in the paper.
 *
 * It has no parameters and no options. Of positions it says only that a key loses more the later the query;
 * the paper adds it to a model that has positions. Here an arm has one encoding, so this one is selection
 * with the causal mask alone. */
#include "model/pe.h"

const struct pw_pe pw_pe_selective = {
    .name = "selective",
    .summary = "earlier tokens vote by their scores in head 0 which keys later tokens should not read",
    .source = "Leviathan et al. 2024, arXiv 2410.02703",
    .aliases = {"selection"},
    .uses = PW_PE_VOTES,
    .scan = PW_SCAN_SELECT,
    .needs_mask = true,
};
