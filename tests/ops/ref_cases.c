/* ref_cases.c - the table of cases: families of operations, each with its tolerance against double
 * precision. */
#include "tests/ops/ref_cases.h"

const struct ref_case ref_cases[] = {
    {"linear", ref_case_linear, true, 2e-5, false},
    {"norm", ref_case_norm, false, 2e-5, false},
    {"embed", ref_case_embed, false, 2e-5, false},
    {"rotate", ref_case_rotate, false, 1e-6, false},
    {"turn back", ref_case_turn_bwd, false, 2e-5, false},
    {"attention", ref_case_attention, false, 2e-5, false},
    {"attention wide", ref_case_attention_wide, false, 2e-5, false},
    {"gather", ref_case_gather, false, 1e-6, false},
    {"fire", ref_case_fire, false, 2e-5, false},
    {"expr", ref_case_expr, false, 0.0, false},
    {"loss", ref_case_loss, false, 2e-6, false},
    {"add", ref_case_add, false, 1e-6, false},
    {"optimiser", ref_case_optimiser, true, 5e-6, false},
    {"digest", ref_case_digest, true, 0.0, false},
    {"cached", ref_case_cached, false, 2e-5, false},
    {"cached wide", ref_case_cached_wide, false, 2e-5, false},
    {"dropout", ref_case_dropout, false, 1e-6, false},
    {"gate", ref_case_gate, false, 2e-6, false},
    {"heads", ref_case_heads, false, 2e-5, false},
    {"cap", ref_case_cap, false, 5e-6, false},
    {"put", ref_case_put, false, 0.0, false},
    {"terms", ref_case_terms, false, 2e-6, true},
    {"attention terms", ref_case_attention_terms, false, 2e-5, true},
    {"cached terms", ref_case_cached_terms, false, 2e-5, true},
    {NULL, NULL, false, 0.0, false},
};
