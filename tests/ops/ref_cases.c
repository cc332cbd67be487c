/* ref_cases.c - the table of cases: families of operations, each with its tolerance against double
 * precision. */
#include "tests/ops/ref_cases.h"

const struct ref_case ref_cases[] = {
    {"linear", ref_case_linear, true, 2e-5},
    {"norm", ref_case_norm, false, 2e-5},
    {"embed", ref_case_embed, false, 2e-5},
    {"rotate", ref_case_rotate, false, 1e-6},
    {"turn back", ref_case_turn_bwd, false, 2e-5},
    {"attention", ref_case_attention, false, 2e-5},
    {"attention wide", ref_case_attention_wide, false, 2e-5},
    {"gather", ref_case_gather, false, 1e-6},
    {"fire", ref_case_fire, false, 2e-5},
    {"expr", ref_case_expr, false, 0.0},
    {"loss", ref_case_loss, false, 2e-6},
    {"add", ref_case_add, false, 1e-6},
    {"optimiser", ref_case_optimiser, true, 5e-6},
    {"digest", ref_case_digest, true, 0.0},
    {"cached", ref_case_cached, false, 2e-5},
    {"cached wide", ref_case_cached_wide, false, 2e-5},
    {"dropout", ref_case_dropout, false, 1e-6},
    {"gate", ref_case_gate, false, 2e-6},
    {"heads", ref_case_heads, false, 2e-5},
    {"cap", ref_case_cap, false, 5e-6},
    {"put", ref_case_put, false, 0.0},
    {"terms", ref_case_terms, false, 2e-6},
    {"attention terms", ref_case_attention_terms, false, 2e-5},
    {"cached terms", ref_case_cached_terms, false, 2e-5},
    {"attention mix", ref_case_attention_mix, false, 2e-5},
    {"cached mix", ref_case_cached_mix, false, 2e-5},
    {"slopes", ref_case_slopes, false, 2e-5},
    {"attention slopes", ref_case_attention_slopes, false, 5e-4}, /* of distances up to 70 */
    {"cached slopes", ref_case_cached_slopes, false, 5e-5},
    {NULL, NULL, false, 0.0},
};

const struct ref_case ref_scan_cases[] = {
    {"stick", ref_case_stick, false, 2e-5},
    {"cached stick", ref_case_cached_stick, false, 2e-5},
    {"context", ref_case_context, false, 5e-4},
    {"cached context", ref_case_cached_context, false, 2e-4},
    {NULL, NULL, false, 0.0},
};
